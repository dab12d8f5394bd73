/*
 * What a breaker costs: a call that does nothing, through a closed circuit and through an open one, beside opossum and
 * cockatiel in the same process. Ours is the whole book (lib/worker/circuits.ts): the look for other processes' changes,
 * the window, the calls counted for the store; and the pure decision alone. Then what one more token costs the detection
 * of cascades after a thousand and after a hundred thousand.
 */
import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleAll } from 'cockatiel'
import CircuitBreaker from 'opossum'
import { mintUuid } from '@/lib/base/ids'
import { type CascadeInput, CascadeWatch } from '@/lib/breaker/cascade'
import { defaultPolicy, newCircuit, outcome, permit } from '@/lib/breaker/circuit'
import { CallWindow } from '@/lib/breaker/window'
import { EffectFailed } from '@/lib/runners/runner'
import { timerOfTurns } from '@/lib/server/system-timer'
import { memoryStore } from '@/lib/store/memory'
import { CircuitBook } from '@/lib/worker/circuits'
import { atMost, type Benchmark, type Figure, median, shown } from './figures'

const caller = 'workflow:bench'
const downstream = 'backend:bench'
const policy = { ...defaultPolicy, minCalls: 4 }

type Fire = () => Promise<unknown>

export const breaker: Benchmark = {
  group: 'breaker',
  async measure(say, quick) {
    const calls = quick ? 20_000 : 200_000
    const rounds = quick ? 3 : 9
    const closed = await beside(
      {
        ours: await ourBreaker(false),
        opossum: await opossumBreaker(false),
        cockatiel: await cockatielBreaker(false),
      },
      calls,
      rounds,
    )
    say(`closed: ${spoken(closed)}`)
    const open = await beside(
      {
        ours: await ourBreaker(true),
        opossum: await opossumBreaker(true),
        cockatiel: await cockatielBreaker(true),
      },
      calls / 20,
      rounds,
    )
    say(`open: ${spoken(open)}`)
    const pure = decisionAlone(calls, rounds)
    const few = perToken(1_000, rounds)
    const many = perToken(100_000, quick ? 2 : 5)
    say(`detection: ${ns(few)} a token of 1,000, ${ns(many)} of 100,000`)
    return [
      ...figuresOf('a call through a closed circuit', closed),
      ...figuresOf('a call refused by an open circuit', open),
      shown('breaker, the decision and the count alone, closed', pure, 'ns'),
      shown('cascade detection: one more token after 1,000', few, 'ns'),
      shown('cascade detection: one more token after 100,000', many, 'ns'),
      atMost(2, 'cascade detection: a token after 100,000 beside one after 1,000', many / few, 'times'),
    ] satisfies Figure[]
  },
}

function spoken({ ours, opossum, cockatiel }: Rounds): string {
  return `ours ${ns(median(ours))}, opossum ${ns(median(opossum))}, cockatiel ${ns(median(cockatiel))}`
}

function ns(value: number): string {
  return `${Math.round(value)} ns`
}

type Name = 'ours' | 'opossum' | 'cockatiel'

/** Nanoseconds of a call in each round. */
type Rounds = Record<Name, number[]>

function figuresOf(what: string, rounds: Rounds): Figure[] {
  const { ours, opossum, cockatiel } = rounds
  return [
    shown(`breaker, ${what}`, median(ours), 'ns'),
    shown(`opossum, ${what}`, median(opossum), 'ns'),
    shown(`cockatiel, ${what}`, median(cockatiel), 'ns'),
    atMost(1, `breaker beside opossum, ${what}`, besideOf(ours, opossum), 'times'),
    atMost(1, `breaker beside cockatiel, ${what}`, besideOf(ours, cockatiel), 'times'),
  ]
}

/** The median of the ratios of each round: what else the machine does in a round meets both. */
function besideOf(ours: number[], theirs: number[]): number {
  return median(ours.map((ns, round) => ns / (theirs[round] ?? Number.NaN)))
}

/** In turns, each round in short pieces of each, after one round that warms up. */
async function beside(all: Record<Name, Fire>, calls: number, rounds: number): Promise<Rounds> {
  const times: Rounds = { ours: [], opossum: [], cockatiel: [] }
  const names = Object.keys(times) as Name[]
  const pieces = 20
  const each = Math.ceil(calls / pieces)
  for (let round = -1; round < rounds; round++) {
    const spent = { ours: 0, opossum: 0, cockatiel: 0 }
    for (let piece = 0; piece < pieces; piece++) {
      for (const name of names) {
        const fire = all[name]
        const from = performance.now()
        for (let call = 0; call < each; call++) await fire()
        spent[name] += performance.now() - from
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    if (round >= 0) for (const name of names) times[name].push((spent[name] * 1e6) / (each * pieces))
  }
  return times
}

const well = async () => 1
const broken = async () => {
  throw new EffectFailed('unreachable', 'no')
}
const swallow = () => undefined

async function ourBreaker(isOpen: boolean): Promise<Fire> {
  const store = memoryStore(timerOfTurns)
  const book = new CircuitBook({
    store: store.circuits,
    othersWrote: () => 0,
    signer: {
      iss: 'spiffe://bench/holdpoint',
      aud: 'spiffe://bench/holdpoint',
      sign: () => 'a.b.c',
      signHead: () => '',
    },
    // Its second never comes: what is measured is the call.
    timer: { now: timerOfTurns.now, waitUntil: () => new Promise(() => undefined) },
    mint: mintUuid,
    log: { info: swallow, warn: swallow, error: swallow },
  })
  const who = {}
  const judge = {}
  if (!isOpen) return () => book.through(caller, downstream, policy, who, well, judge)
  for (let call = 0; call < policy.minCalls; call++) {
    await book.through(caller, downstream, policy, who, broken, judge).catch(swallow)
  }
  return () => book.through(caller, downstream, policy, who, well, judge).catch(swallow)
}

async function opossumBreaker(isOpen: boolean): Promise<Fire> {
  const options = {
    timeout: false as const,
    rollingCountTimeout: 60_000,
    rollingCountBuckets: 60,
    volumeThreshold: 4,
    errorThresholdPercentage: 50,
    resetTimeout: 3_600_000,
  }
  const made = new CircuitBreaker(isOpen ? broken : well, options)
  if (!isOpen) return () => made.fire()
  for (let call = 0; call < 5; call++) await made.fire().catch(swallow)
  if (!made.opened) throw new Error('opossum did not open')
  return () => made.fire().catch(swallow)
}

async function cockatielBreaker(isOpen: boolean): Promise<Fire> {
  const { SamplingBreaker } = await import('cockatiel')
  const made = circuitBreaker(handleAll, {
    halfOpenAfter: 3_600_000,
    // Its sampling breaker asks for a rate of calls before it opens; what is refused costs the same either way.
    breaker: isOpen
      ? new ConsecutiveBreaker(4)
      : new SamplingBreaker({ threshold: 0.5, duration: 60_000, minimumRps: 1 }),
  })
  if (!isOpen) return () => made.execute(well)
  for (let call = 0; call < 5; call++) await made.execute(broken).catch(swallow)
  if (made.state !== CircuitState.Open) throw new Error('cockatiel did not open')
  return () => made.execute(well).catch(swallow)
}

function decisionAlone(calls: number, rounds: number): number {
  const state = newCircuit(Date.now())
  const window = new CallWindow(60)
  const ended = { ok: true, at: Date.now() }
  const times: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const from = performance.now()
    for (let call = 0; call < calls; call++) {
      const now = Date.now()
      if (!permit(state, now, '', policy).pass) throw new Error('A healthy circuit refused a call')
      window.add(true, now)
      outcome(state, window.counts, ended, policy)
    }
    times.push(((performance.now() - from) * 1e6) / calls)
  }
  return median(times.slice(1))
}

/** A run as tokens tell of it: steps begin in a fan, every third fails, and some of what follows fails too. */
function tokensOf(count: number): CascadeInput[] {
  const at = Date.now()
  return Array.from({ length: count }, (_, index): CascadeInput => {
    const fan = Math.floor(index / 10)
    const par = index < 10 ? ['start'] : [`t${index - 10}`, `t${index - (index % 10) - 1}`]
    const says = index % 3 === 0 ? 'failed' : index % 7 === 0 ? 'done' : 'began'
    return {
      kind: 'token',
      run: `run_${fan % 50}`,
      token: `t${index}`,
      at: at + index * 10,
      par,
      node: `n${index % 200}`,
      says,
    }
  })
}

/** Pieces so short that most of them are over before the machine does something else. */
const pieceTokens = 50
const pieces = 200

/** What one more token costs a watch that was told of so many before. */
function perToken(count: number, rounds: number): number {
  const tokens = tokensOf(count + pieces * pieceTokens)
  const times: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const watch = new CascadeWatch()
    let at = 0
    for (; at < count; at++) watch.add(tokens[at] as CascadeInput)
    for (let piece = 0; piece < pieces; piece++) {
      const from = performance.now()
      for (const end = at + pieceTokens; at < end; at++) watch.add(tokens[at] as CascadeInput)
      // The first round warms up.
      if (round > 0) times.push(((performance.now() - from) * 1e6) / pieceTokens)
    }
  }
  return median(times)
}
