import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RunId } from '@/lib/base/ids'
import { mintUuid } from '@/lib/base/ids'
import { defaultPolicy } from '@/lib/breaker/circuit'
import type { Caller, CircuitChange, CircuitPolicy, Downstream } from '@/lib/breaker/terms'
import { chainHashSync, firstPrevHashSync } from '@/lib/ect/chain-node'
import { parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import type { CircuitName } from '@/lib/engine/circuit-ports'
import { EffectFailed } from '@/lib/runners/runner'
import { memoryStore } from '@/lib/store/memory'
import type { Store } from '@/lib/store/store'
import { circuitId } from './circuit-entry'
import type { CircuitPorts, HeldQuestion, SharedFailure } from './circuit-ports'
import { eventOfClaims, foldCircuit } from './circuit-tokens'
import { CircuitBook } from './circuits'

const caller: Caller = 'workflow:failover'
const b: Downstream = 'spiffe://example.com/agent/b'
const policy: CircuitPolicy = { ...defaultPolicy, minCalls: 4 }
const run = 'run_7f3a0c1e5b1d4c1e9d2a0c1e5b1dc2e1' as RunId

/** Time that passes when a test says so; whoever waits is woken in order. */
class Hands {
  at = 1_700_000_000_000
  #waiting: { until: number; resolve: () => void }[] = []
  readonly now = () => this.at
  readonly waitUntil = (until: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal.aborted) return resolve()
      const woken = () => {
        signal.removeEventListener('abort', woken)
        resolve()
      }
      this.#waiting.push({ until, resolve: woken })
      signal.addEventListener('abort', woken)
    })

  async pass(seconds: number) {
    const end = this.at + seconds * 1000
    for (;;) {
      this.#waiting.sort((one, two) => one.until - two.until)
      const [next] = this.#waiting
      if (!next || next.until > end) break
      this.#waiting.shift()
      this.at = Math.max(this.at, next.until)
      next.resolve()
      await turns()
    }
    this.at = end
  }
}

/** Lets everything that is under way in memory come to rest. */
async function turns() {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

let hands: Hands
let store: Store
let books: CircuitBook[]

function book(more: Partial<CircuitPorts> = {}): CircuitBook {
  const made = new CircuitBook({
    store: store.circuits,
    signer: { iss: 'spiffe://h/holdpoint', aud: 'spiffe://h/holdpoint', sign: unsigned, signHead: () => '' },
    timer: hands,
    mint: mintUuid,
    log: { info: () => undefined, warn: () => undefined, error: (_data, sentence) => expect.fail(sentence) },
    ...more,
  })
  books.push(made)
  return made
}

/** The claims as they would be signed. */
function unsigned(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ typ: 'wimse-exec+jwt', alg: 'ES256', kid: 'k' })}.${part(claims)}.${'A'.repeat(86)}`
}

beforeEach(() => {
  hands = new Hands()
  store = memoryStore(hands)
  books = []
})
afterEach(() => Promise.all(books.map((one) => one.close())))

const well = async () => 'well'
const broken = async (): Promise<string> => {
  throw new EffectFailed('unreachable', 'POST to b could not connect', { retriable: true })
}

async function times(
  count: number,
  circuits: CircuitBook,
  call: () => Promise<string>,
  who = {},
  from = caller,
) {
  const ended: unknown[] = []
  for (let at = 0; at < count; at++) {
    ended.push(await circuits.through(from, b, policy, who, call).catch((error: unknown) => error))
  }
  return ended
}

async function refusalOf(circuits: CircuitBook, from = caller): Promise<EffectFailed> {
  let called = false
  const error = await circuits
    .through(from, b, policy, {}, async () => {
      called = true
    })
    .catch((thrown: unknown) => thrown)
  expect(called).toBe(false)
  if (error instanceof EffectFailed && error.refusal) return error
  throw new Error('It was not refused')
}

async function status(from: string = caller) {
  return (await store.circuits.get(circuitId(from, b)))?.state.calculated.status
}

describe('a call through its circuit', () => {
  it('is refused before anything is sent, once too many have failed', async () => {
    const circuits = book()
    await times(4, circuits, broken)
    const error = await refusalOf(circuits)
    expect(error).toMatchObject({ code: 'circuit_open', retriable: true, errorType: 'upstream_cascade' })
    expect(error.message).toBe(
      `Calls to ${b} are held off by a breaker: too many calls failed, and its cooldown is not over`,
    )
    const [last] = await store.circuits.tokens(circuitId(caller, b), { limit: 1 })
    expect(error.refusal).toEqual({
      circuit: circuitId(caller, b),
      caller,
      downstream: b,
      because: 'open',
      errorRate: 1,
      windowS: 60,
      cooldownS: 30,
      retryAt: hands.at + 30_000,
      change: last?.jti,
    })
  })

  it('tells the run whose call changed the circuit, and nobody else', async () => {
    const circuits = book()
    const told: CircuitChange[] = []
    const who = { runId: run, node: 'ask', visit: 1, changed: (change: CircuitChange) => told.push(change) }
    await times(6, circuits, broken, who)
    await hands.pass(30)
    await times(1, circuits, well, who)
    expect(told.map(({ to }) => to)).toEqual(['open', 'half_open', 'closed'])
    expect(told[0]).toMatchObject({ errorRate: 1, calls: 4, failures: 4, cooldownS: 30, reopened: 0 })
  })

  it('keeps a refusal by policy, an answer of no, and our own end of it from counting as failures', async () => {
    const circuits = book()
    const denied = new EffectFailed('policy_denied', 'no', { errorType: 'constraint_violation' })
    const refused = new EffectFailed('backend_refused', 'no', { answered: true })
    const lost = AbortSignal.abort()
    for (const error of [denied, refused, new TypeError('a fault of ours')]) {
      await times(5, circuits, () => Promise.reject(error))
    }
    await times(5, circuits, broken, { lost })
    expect(await status()).toBe('closed')
    await circuits.flush()
    expect(await store.circuits.callCounts(circuitId(caller, b), 0)).toEqual({ calls: 5, failures: 0 })
  })

  it('counts an answer that says the downstream is unwell', async () => {
    const circuits = book()
    const answer = { status: 503 }
    const ask = () =>
      circuits.through(caller, b, policy, {}, async () => answer, { failed: (said) => said.status >= 500 })
    for (let at = 0; at < 4; at++) expect(await ask()).toBe(answer)
    await refusalOf(circuits)
  })

  it('closes by a verified answer alone', async () => {
    const circuits = book()
    await times(4, circuits, broken)
    await hands.pass(30)
    const answered = await circuits.through(caller, b, policy, {}, well, { verified: async () => false })
    expect(answered).toBe('well')
    expect((await refusalOf(circuits)).refusal).toMatchObject({ because: 'open', cooldownS: 60 })
    await hands.pass(60)
    await circuits.through(caller, b, policy, {}, well, { verified: async () => true })
    expect(await status()).toBe('closed')
    expect(await times(1, circuits, well)).toEqual(['well'])
  })

  it('takes a probe whose answer cannot be checked as failed', async () => {
    const circuits = book()
    await times(4, circuits, broken)
    await hands.pass(30)
    await circuits.through(caller, b, policy, {}, well, {
      verified: () => Promise.reject(new Error('no keys')),
    })
    expect(await status()).toBe('open')
  })

  it('goes whatever the circuit says when it takes something back', async () => {
    const circuits = book()
    await times(4, circuits, broken)
    expect(await circuits.counted(caller, b, policy, {}, well)).toBe('well')
    expect(await status()).toBe('open')
  })

  it('keeps circuits of two workflows apart', async () => {
    const circuits = book()
    await times(4, circuits, broken)
    expect(await times(1, circuits, well, {}, 'workflow:other')).toEqual(['well'])
  })

  it('counts what it refused', async () => {
    const circuits = book()
    await times(4, circuits, broken)
    await refusalOf(circuits)
    await refusalOf(circuits)
    await circuits.flush()
    const calls = await store.circuits.calls(0, circuitId(caller, b))
    expect(calls).toMatchObject([{ calls: 4, failed: 4, rejected: 2 }])
  })
})

describe('one probe', () => {
  it('of fifty callers at once, also over several processes', async () => {
    const [one, two] = [book({ othersWrote: () => hands.at }), book({ othersWrote: () => hands.at })]
    await times(4, one, broken)
    await hands.pass(30)
    let under = 0
    let most = 0
    let sent = 0
    let answer: () => void = () => undefined
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    const call = async () => {
      sent++
      under++
      most = Math.max(most, under)
      await answered
      under--
      return 'well'
    }
    const calls = Array.from({ length: 50 }, (_, at) =>
      (at % 2 === 0 ? one : two).through(caller, b, policy, {}, call),
    )
    const ended = Promise.allSettled(calls)
    await turns()
    expect(sent).toBe(1)
    answer()
    const outcomes = await ended
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1)
    expect(most).toBe(1)
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    expect(new Set(reasons.map(({ refusal }) => refusal.because))).toEqual(new Set(['probing']))
    expect(await status()).toBe('closed')
  })

  it('counts as failed when its process dies with it', async () => {
    const [one, two] = [book(), book({ othersWrote: () => hands.at })]
    await times(4, one, broken)
    await hands.pass(30)
    void one.through(caller, b, policy, {}, () => new Promise(() => undefined))
    await turns()
    expect((await refusalOf(two)).refusal).toMatchObject({ because: 'probing', retryAt: hands.at + 60_000 })
    await hands.pass(60)
    expect((await refusalOf(two)).refusal).toMatchObject({ because: 'open', cooldownS: 60 })
    await hands.pass(60)
    expect(await times(1, two, well)).toEqual(['well'])
  })
})

describe('the store behind it', () => {
  it('keeps the state over a restart', async () => {
    await times(4, book(), broken)
    const again = book()
    expect((await refusalOf(again)).refusal).toMatchObject({ because: 'open', retryAt: hands.at + 30_000 })
  })

  it('lets two processes judge by the calls of both', async () => {
    const [one, two] = [book({ othersWrote: () => hands.at }), book({ othersWrote: () => hands.at })]
    await times(2, one, broken)
    hands.at += 1
    await times(2, two, broken)
    expect(await status()).toBe('open')
    hands.at += 1
    await refusalOf(one)
  })

  it('begins to count anew once it has closed, in every process', async () => {
    const [one, two] = [book({ othersWrote: () => hands.at }), book({ othersWrote: () => hands.at })]
    await times(3, two, broken)
    await times(4, one, broken)
    await hands.pass(30)
    await times(1, one, well)
    hands.at += 1_000
    await times(3, two, broken)
    expect(await status()).toBe('closed')
  })

  it('holds a chain whose fold is the state', async () => {
    const circuits = book()
    await times(4, circuits, broken, { runId: run, node: 'ask' })
    const id = circuitId(caller, b)
    await circuits.force(id, { to: 'open', by: 'person:ada', reason: 'INC-2214', until: hands.at + 60_000 })
    await circuits.lift(id, { by: 'person:ada', reason: 'mended' })
    for (const call of [broken, broken, well]) {
      await hands.pass(300)
      await times(1, circuits, call)
    }
    const tokens = (await store.circuits.tokens(id, { limit: 100 })).reverse()
    const record = await store.circuits.get(id)
    let prevHash = firstPrevHashSync(record?.wid ?? '')
    let parents: string[] = []
    for (const { token, jti, prevHash: said, hash } of tokens) {
      const claims = parseClaims(unverifiedPayload(token))
      expect(claims).toMatchObject({ jti, wid: record?.wid, par: parents })
      expect([said, hash]).toEqual([prevHash, chainHashSync(prevHash, token)])
      prevHash = hash
      parents = [jti]
    }
    expect(record?.lastHash).toBe(prevHash)
    const events = tokens.map(({ token }) => eventOfClaims(parseClaims(unverifiedPayload(token))))
    expect(events.map(({ type }) => type.replace('circuit_', ''))).toEqual([
      'open',
      'forced',
      'lifted',
      'probe',
      'open',
      'probe',
      'open',
      'probe',
      'close',
    ])
    const { policy: _, ...state } = record?.state ?? { calculated: undefined }
    expect(foldCircuit(events)).toEqual(state)
    expect(parseClaims(unverifiedPayload(tokens[0]?.token ?? '')).ext).toMatchObject({
      'atd.downstream_agent': b,
      'atd.error_rate': 1,
      'atd.window_s': 60,
      'hp.run': run,
    })
  })

  it('forgets calls after an hour', async () => {
    const circuits = book()
    await times(2, circuits, well)
    await hands.pass(3_700)
    expect(await store.circuits.calls(0)).toEqual([])
  })
})

describe('a person', () => {
  const id = circuitId(caller, b)
  const said = { by: 'person:ada', reason: 'INC-2214' }

  it('holds it open for a time, and it goes on by itself after that', async () => {
    const circuits = book()
    await times(1, circuits, well)
    await circuits.force(id, { ...said, to: 'open', until: hands.at + 60_000 })
    expect((await refusalOf(circuits)).refusal).toMatchObject({
      because: 'forced',
      retryAt: hands.at + 60_000,
    })
    await hands.pass(60)
    expect(await times(1, circuits, well)).toEqual(['well'])
  })

  it('closes it, and whoever waits is told', async () => {
    const free: [CircuitName, string][] = []
    const circuits = book({ onFree: async (circuit, by) => void free.push([circuit, by]) })
    await times(4, circuits, broken)
    await circuits.force(id, { ...said, to: 'closed', until: hands.at + 60_000 })
    expect(free).toMatchObject([[{ id, downstream: b }, 'person:ada']])
    expect(await times(1, circuits, well)).toEqual(['well'])
  })

  it('cannot lift what is not forced', async () => {
    const circuits = book()
    await times(1, circuits, well)
    await expect(circuits.lift(id, said)).rejects.toMatchObject({
      code: 'run_moved_on',
      message: 'Nothing is forced on this breaker.',
    })
    await expect(circuits.lift('none', said)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('one question', () => {
  const asked: SharedFailure[] = []
  let decided: HeldQuestion
  /** Questions that closed without an answer. */
  const withdrawn = new Set<string>()
  const asking = () => ({
    onShared: async (shared: SharedFailure) => {
      asked.push(shared)
      return { runId: run, approval: `appr_${asked.length}` }
    },
    approval: async (id: string): Promise<HeldQuestion> =>
      withdrawn.has(id) ? { state: 'void', sentence: `What ${id} asked` } : decided,
    othersWrote: () => hands.at,
  })
  const open = async (circuits: CircuitBook, workflows: number) => {
    for (let at = 0; at < workflows; at++) {
      await times(4, circuits, broken, { runId: run, node: 'ask', visit: 1 }, `workflow:w${at}`)
    }
    await turns()
  }
  beforeEach(() => {
    asked.length = 0
    withdrawn.clear()
    decided = { state: 'open' }
  })

  it('for fifty workflows on one failing agent, and no probe while it is open', async () => {
    const circuits = book(asking())
    const other = book(asking())
    await open(circuits, 49)
    await times(4, other, broken, { runId: run }, 'workflow:w49')
    await turns()
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatchObject({
      downstream: b,
      runId: run,
      node: 'ask',
      because: 'several',
      callers: ['workflow:w0', 'workflow:w1', 'workflow:w2'],
      sentence: `3 breakers on b opened within a minute; its probes are held until you decide`,
    })
    await hands.pass(120)
    expect((await refusalOf(circuits, 'workflow:w7')).refusal).toMatchObject({ because: 'held' })
    expect((await refusalOf(other, 'workflow:w7')).refusal).toMatchObject({ because: 'held' })
  })

  /** Held, asked about, and answered with release once every cooldown is over. */
  const released = async (circuits: CircuitBook) => {
    await open(circuits, 3)
    await hands.pass(60)
    decided = { state: 'decided', verdict: 'release', by: 'person:ada' }
    await hands.pass(2)
    decided = { state: 'open' }
  }

  it('answered with release lets probes go, and whoever waits is told', async () => {
    const free: string[] = []
    const circuits = book({ ...asking(), onFree: async ({ caller: who }) => void free.push(who) })
    await released(circuits)
    expect(free.sort()).toEqual(['workflow:w0', 'workflow:w1', 'workflow:w2'])
    for (const from of free) expect(await times(1, circuits, well, {}, from as Caller)).toEqual(['well'])
    await hands.pass(2)
    expect((await store.circuits.news(0)).holds).toEqual([])
  })

  it('answered with release is asked again by the first probe that fails, and no other goes', async () => {
    const [circuits, other] = [book(asking()), book(asking())]
    await released(circuits)
    await hands.pass(2)
    expect(await times(1, circuits, well, {}, 'workflow:w0')).toEqual(['well'])
    await times(1, circuits, broken, { runId: run, node: 'look', visit: 2 }, 'workflow:w1')
    for (const one of [circuits, other]) {
      expect((await refusalOf(one, 'workflow:w2')).refusal).toMatchObject({ because: 'held' })
    }
    await turns()
    expect(asked).toHaveLength(2)
    expect(asked[1]).toMatchObject({
      because: 'probe',
      node: 'look',
      visit: 2,
      sentence: 'The probe of b failed: POST to b could not connect; no other goes until you decide',
    })
    expect((await store.circuits.news(0)).holds).toMatchObject([{ approval: 'appr_2', runId: run }])
  })

  it('answered with release lets one go at a time, and none after it in the same round when it fails', async () => {
    const [circuits, other] = [book(asking()), book(asking())]
    await released(circuits)
    await hands.pass(2)
    let fails: () => void = () => undefined
    const failing = new Promise<void>((resolve) => {
      fails = resolve
    })
    let sent = 0
    const call = async () => {
      sent++
      await failing
      return broken()
    }
    const calls = ['w0', 'w1', 'w2'].flatMap((name) =>
      [circuits, other].map((one) => one.through(`workflow:${name}`, b, policy, { runId: run }, call)),
    )
    const ended = Promise.allSettled(calls)
    await turns()
    fails()
    await hands.pass(3)
    const reasons = (await ended).flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason] : [],
    )
    expect([sent, asked.length]).toEqual([1, 2])
    const refused = reasons.flatMap(({ refusal }) => (refusal ? [refusal.because] : []))
    expect(refused).toHaveLength(5)
    expect(refused.filter((because) => because === 'held').length).toBeGreaterThan(0)
    expect((await refusalOf(other, 'workflow:w2')).refusal).toMatchObject({ because: 'held' })
  })

  it('says of a probe that answered what was wrong with its answer', async () => {
    const circuits = book(asking())
    for (const [judge, said] of [
      [{ failed: () => true }, 'its answer says that it is unwell'],
      [{ verified: () => false }, 'its answer is not proved to be its own'],
    ] as const) {
      asked.length = 0
      await released(circuits)
      await hands.pass(300)
      await circuits.through('workflow:w0', b, policy, { runId: run }, well, judge)
      await turns()
      expect(asked.at(-1)?.sentence).toBe(`The probe of b failed: ${said}; no other goes until you decide`)
    }
  })

  it('is asked again about a probe that was let go and never came back', async () => {
    const circuits = book(asking())
    await released(circuits)
    void circuits.through('workflow:w0', b, policy, { runId: run }, () => new Promise(() => undefined))
    await turns()
    await hands.pass(60)
    const other = book(asking())
    await other.through('workflow:w0', b, policy, { runId: run }, well).catch(() => undefined)
    await turns()
    expect(asked.at(-1)?.sentence).toBe(
      'The probe of b failed: nothing came back within 60 s; no other goes until you decide',
    )
    expect((await refusalOf(other, 'workflow:w1')).refusal).toMatchObject({ because: 'held' })
  })

  it('remembers for ten minutes that probes were let go, if nobody sends one', async () => {
    const circuits = book(asking())
    await released(circuits)
    expect((await store.circuits.news(0)).holds).toHaveLength(1)
    await hands.pass(602)
    expect((await store.circuits.news(0)).holds).toEqual([])
  })

  it('answered with hold keeps its circuits open for an hour, by that person', async () => {
    const circuits = book(asking())
    await open(circuits, 3)
    decided = { state: 'decided', verdict: 'hold', by: 'person:ada' }
    await hands.pass(2)
    const record = await store.circuits.get(circuitId('workflow:w1', b))
    expect(record?.state.forced).toMatchObject({
      to: 'open',
      by: 'person:ada',
      reason: `Held open while ${b} keeps failing`,
    })
    await hands.pass(3_000)
    expect((await refusalOf(circuits, 'workflow:w1')).refusal).toMatchObject({ because: 'forced' })
    expect((await store.circuits.news(0)).holds).toEqual([])
  })

  it('that nobody answered before its run ended is asked again once, in its words, and no probe goes', async () => {
    const [circuits, other] = [book(asking()), book(asking())]
    await open(circuits, 3)
    await refusalOf(other, 'workflow:w1')
    withdrawn.add('appr_1')
    await hands.pass(300)
    expect(asked).toHaveLength(2)
    expect(asked[1]).toMatchObject({ because: 'unanswered', downstream: b, sentence: 'What appr_1 asked' })
    expect(asked[1]?.node).toBeUndefined()
    expect((await store.circuits.news(0)).holds).toMatchObject([{ approval: 'appr_2' }])
    for (const one of [circuits, other]) {
      expect((await refusalOf(one, 'workflow:w1')).refusal).toMatchObject({ because: 'held' })
    }
  })

  it('is asked by another process when the one that was to ask it again dies', async () => {
    await open(book(asking()), 3)
    const [hold] = (await store.circuits.news(0)).holds
    if (!hold) throw new Error('Nothing is held')
    await Promise.all(books.splice(0).map((one) => one.close()))
    // What a process leaves that dies between the two.
    withdrawn.add('appr_1')
    expect(await store.circuits.askHoldAnew(hold, hands.at)).toBe(true)
    const others = [book(asking()), book(asking())] as const
    for (const one of others) await refusalOf(one, 'workflow:w1')
    await hands.pass(59)
    expect(asked).toHaveLength(1)
    await hands.pass(5)
    expect(asked).toHaveLength(2)
    expect(asked[1]?.sentence).toBe('b keeps failing; its probes are held until you decide')
    expect((await refusalOf(others[1], 'workflow:w1')).refusal).toMatchObject({ because: 'held' })
  })

  it('that could not be asked holds its probes, and is asked a minute later', async () => {
    const faults: string[] = []
    const log = {
      info: () => undefined,
      warn: () => undefined,
      error: (_: object, said: string) => void faults.push(said),
    }
    let isBroken = true
    const circuits = book({
      ...asking(),
      log,
      async onShared(shared) {
        if (isBroken) throw new Error('The disk is full')
        asked.push(shared)
        return { runId: run, approval: 'appr_1' }
      },
    })
    await open(circuits, 3)
    expect(faults).toEqual([`Could not ask about ${b}; trying again`])
    isBroken = false
    await hands.pass(50)
    expect((await refusalOf(circuits, 'workflow:w1')).refusal).toMatchObject({ because: 'held' })
    await hands.pass(20)
    expect(asked).toMatchObject([{ because: 'unanswered' }])
  })

  it('that no run can ask holds nothing, and the log says so', async () => {
    const said: string[] = []
    const log = {
      info: (_: object, what: string) => void said.push(what),
      warn: () => undefined,
      error: () => undefined,
    }
    let canAsk = true
    const { onShared } = asking()
    const mute = {
      ...asking(),
      log,
      onShared: async (shared: SharedFailure) => (canAsk ? onShared(shared) : undefined),
    }
    const circuits = book(mute)
    await open(circuits, 3)
    canAsk = false
    withdrawn.add('appr_1')
    await hands.pass(32)
    expect(said).toEqual([`Probes of ${b} are held no longer: no run waits behind it that could ask people`])
    expect((await store.circuits.news(0)).holds).toEqual([])
    expect(await times(1, circuits, well, {}, 'workflow:w1')).toEqual(['well'])
  })

  it('is asked too when one circuit opens again for the third time', async () => {
    const circuits = book(asking())
    await times(4, circuits, broken, { runId: run })
    for (let probe = 1; probe <= 3; probe++) {
      expect(asked).toHaveLength(0)
      await hands.pass(300)
      await times(1, circuits, broken, { runId: run })
    }
    await turns()
    expect(asked).toMatchObject([
      {
        because: 'again',
        reopened: 3,
        sentence: `The breaker on b opened again after 3 probes; its probes are held until you decide`,
      },
    ])
  })

  it('is asked once when the third probe fails that a person had go, in the run that opened it', async () => {
    const circuits = book(asking())
    await times(4, circuits, broken, { runId: run, node: 'look', visit: 2 })
    const who = { by: 'person:ada', opener: { runId: run, node: 'look', visit: 2 } }
    const id = circuitId(caller, b)
    const probe = () => circuits.probe(id, who, broken, {}).catch((error: EffectFailed) => error)
    for (let failed = 0; failed < 3; failed++) {
      expect(asked).toEqual([])
      await hands.pass(300)
      await probe()
    }
    await turns()
    expect(asked).toMatchObject([{ ...who.opener, because: 'again', reopened: 3, afterEnd: true }])
    await hands.pass(300)
    expect(await probe()).toMatchObject({ refusal: { because: 'held' } })
    // Let go, it fails again: the question is about this probe, in the same run.
    decided = { state: 'decided', verdict: 'release', by: 'person:ada' }
    await hands.pass(2)
    await probe()
    await turns()
    expect(asked.slice(1)).toMatchObject([{ ...who.opener, because: 'probe', afterEnd: true }])
  })

  it('is asked when the third probe never came back', async () => {
    const circuits = book(asking())
    await times(4, circuits, broken, { runId: run })
    for (let probe = 1; probe <= 2; probe++) {
      await hands.pass(300)
      await times(1, circuits, broken, { runId: run })
    }
    await hands.pass(300)
    const lost = circuits.through(
      caller,
      b,
      policy,
      { runId: run },
      () => new Promise<never>(() => undefined),
    )
    void lost.catch(() => undefined)
    await turns()
    await hands.pass(61)
    expect(asked).toEqual([])
    // Whoever calls next finds it lost.
    expect(await times(1, circuits, well, { runId: run })).toMatchObject([{ code: 'circuit_open' }])
    await turns()
    expect(asked).toMatchObject([{ because: 'again', reopened: 3 }])
  })
})
