/*
 * A process for the tests: node --import tsx lib/worker/testing/circuit-caller.ts DATA URL CALLER
 *
 * Calls the URL through the breaker that it shares with every other process on the data folder, again and again until it
 * is killed, and writes a line for each call: `well`, `failed`, or why it was refused.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { mintUuid } from '@/lib/base/ids'
import { defaultPolicy } from '@/lib/breaker/circuit'
import type { Caller } from '@/lib/breaker/terms'
import { EffectFailed } from '@/lib/runners/runner'
import { openStore } from '@/lib/store/open'
import { CircuitBook } from '@/lib/worker/circuits'

const [data = '', url = '', caller = 'workflow:storm'] = process.argv.slice(2)
const store = await openStore(data)
const loud = (fact: object, sentence: string) => console.error(sentence, fact)
const book = new CircuitBook({
  store: store.circuits,
  othersWrote: store.ledger.othersWrote,
  signer: {
    iss: 'spiffe://test/holdpoint',
    aud: 'spiffe://test/holdpoint',
    sign: () => 'a.b.c',
    signHead: () => '',
  },
  timer: {
    now: Date.now,
    waitUntil: (until, signal) => delay(until - Date.now(), undefined, { signal }).catch(() => undefined),
  },
  mint: mintUuid,
  log: { info: loud, warn: loud, error: loud },
  // Whoever started it answers, in the store.
  approval: async () => ({ state: 'open' as const }),
})
const policy = { ...defaultPolicy, minCalls: 4, cooldownS: 1 }

for (;;) {
  let said = 'well'
  try {
    const call = () => fetch(url, { signal: AbortSignal.timeout(30_000) })
    const failed = (answer: Response) => answer.status >= 500
    const answer = await book.through(caller as Caller, 'host:127.0.0.1:1', policy, {}, call, { failed })
    if (failed(answer)) said = 'failed'
  } catch (error) {
    said = error instanceof EffectFailed && error.refusal ? error.refusal.because : 'failed'
  }
  process.stdout.write(`${said}\n`)
  await delay(5)
}
