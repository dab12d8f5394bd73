/*
 * Sending signals (AERR section 5): POST BASE/aerr/error to each agent that is to be told, with a token signed for that
 * try. What waits is in the store, written with its error; this loop only takes what is due:
 *
 *   waiting ─▶ taken (a try counts) ─▶ answered 2xx ─▶ told
 *      ▲                                   │
 *      ╰── 1 s, doubled to 60 s ◀── no answer, 5xx, 408, 429 ── after 10 tries, or any other refusal ─▶ given up
 *
 * Several workers on one store share the work: a signal that is taken is nobody else's for a minute. The agent knows the
 * same signal by its error id, so one whose answer was lost is told twice and hears once.
 */
import { sha256 } from '@/lib/base/hash'
import { widOf } from '@/lib/base/ids'
import { spell } from '@/lib/ect/vocabulary'
import type { SignalRecord, SignalStore } from '@/lib/engine/signal-ports'
import { EffectFailed } from '@/lib/runners/runner'
import { type HttpAnswer, judgedTarget, send } from '@/lib/runners/send'
import { oneLine, textOf } from '@/lib/runners/words'
import type { WorkerPorts } from './ports'

export const signalTries = 10
const backoffMs = { first: 1000, longest: 60_000 }
const answerWithinMs = 10_000
/** Longer than a try may take: until then it is nobody else's. */
const takenMs = 60_000
const takenAtOnce = 20
/** Another process may have written one. */
const idleLookMs = 5000

type SignalEnd = Pick<SignalRecord, 'state' | 'nextAt' | 'answer'>

/** Sends until `draining` fires; resolves when the tries under way are over. */
export async function sendSignals(
  ports: WorkerPorts,
  signals: SignalStore,
  draining: AbortSignal,
): Promise<void> {
  const { book, timer, log } = ports
  let wake = new AbortController()
  const stop = () => wake.abort()
  const off = book.onSignals(stop)
  draining.addEventListener('abort', stop)
  try {
    while (!draining.aborted) {
      wake = new AbortController()
      let until = timer.now() + idleLookMs
      try {
        const due = await signals.take(timer.now(), takenAtOnce, timer.now() + takenMs)
        await Promise.all(due.map((signal) => sendOne(ports, signals, signal)))
        if (due.length === takenAtOnce) continue
        until = Math.min(until, (await signals.nextDue()) ?? until)
      } catch (error) {
        const fault = error instanceof Error ? error.message : 'unknown'
        log.warn({ fault }, 'Signals could not be looked for; trying again')
      }
      if (!draining.aborted) await timer.waitUntil(until, wake.signal)
    }
  } finally {
    draining.removeEventListener('abort', stop)
    off()
  }
}

async function sendOne(ports: WorkerPorts, signals: SignalStore, signal: SignalRecord): Promise<void> {
  const end = await endOf(ports, signal)
  await signals.tell(signal.id, end)
  if (end.state !== 'given_up') return
  const { runId, agent, errorJti } = signal
  ports.log.warn(
    { run: runId, agent, error: errorJti },
    `${agent} was not told of an error in ${runId}: ${end.answer}`,
  )
}

async function endOf(ports: WorkerPorts, signal: SignalRecord): Promise<SignalEnd> {
  try {
    const said = await posted(ports, signal)
    if (said === undefined) return givenUp('The agent is registered no more')
    if (said.status >= 200 && said.status < 300) {
      return { state: 'told', nextAt: null, answer: `Answered ${said.status}` }
    }
    const answer = oneLine(`Answered ${said.status}${reasonIn(said)}`, 300)
    const isFinal = said.status < 500 && said.status !== 408 && said.status !== 429
    return isFinal ? givenUp(answer) : againAfter(ports, signal, answer)
  } catch (error) {
    if (!(error instanceof EffectFailed)) throw error
    return againAfter(ports, signal, error.message)
  }
}

function givenUp(answer: string): SignalEnd {
  return { state: 'given_up', nextAt: null, answer }
}

function againAfter({ timer }: WorkerPorts, { attempts }: SignalRecord, answer: string): SignalEnd {
  if (attempts >= signalTries) return givenUp(`${answer} (after ${attempts} tries)`)
  const waitMs = Math.min(backoffMs.first * 2 ** (attempts - 1), backoffMs.longest)
  return { state: 'waiting', nextAt: timer.now() + waitMs, answer }
}

/** The agent's answer; undefined when it is registered no more. */
async function posted(ports: WorkerPorts, signal: SignalRecord): Promise<HttpAnswer | undefined> {
  const { timer } = ports
  const directory = ports.agents(widOf(signal.runId))
  const agent = await directory.find(signal.agent)
  if (!agent) return undefined
  const body = Buffer.from(signal.body)
  const { severity, error_type } = JSON.parse(signal.body) as { severity: string; error_type: string }
  const token = await directory.requestToken({
    aud: agent.id,
    act: spell('error', 'atd'),
    par: [signal.errorJti],
    // Whoever catches the token cannot send another body with it.
    ext: { 'atd.severity': severity, 'atd.error_type': error_type, 'hp.body_hash': sha256(body) },
  })
  const own = new URL(agent.baseUrl)
  const port = own.port || (own.protocol === 'https:' ? '443' : '80')
  // An administrator registered the address, so a private one is fine, and only that one.
  const privateTargets = [`${own.hostname}:${port}`]
  const [late, over] = [new AbortController(), new AbortController()]
  const since = timer.now()
  void timer.waitUntil(since + answerWithinMs, over.signal).then(() => late.abort())
  try {
    return await send({
      method: 'POST',
      target: judgedTarget(`${agent.baseUrl.replace(/\/+$/, '')}/aerr/error`, privateTargets),
      headers: { 'content-type': 'application/json', 'execution-context': token, 'user-agent': 'Holdpoint' },
      body,
      privateTargets,
      signal: late.signal,
    })
  } finally {
    over.abort()
  }
}

/** The agent's own words for its refusal, where they are problem details. */
function reasonIn({ body }: HttpAnswer): string {
  try {
    const said = JSON.parse(textOf(body) ?? '') as { detail?: unknown }
    return typeof said.detail === 'string' ? `: ${said.detail}` : ''
  } catch {
    return ''
  }
}
