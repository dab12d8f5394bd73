/*
 * The scrubber and the strip, at sizes that people meet and at the largest there are: reading a ledger into a fold with
 * its timeline, showing random positions of it, stepping, and drawing all of it at once. Times are how
 * long a page's own thread would be kept from answering.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { RunFold, tokensAtOnce } from '@/lib/view/run-fold'
import { blankLedger } from '@/lib/view/timeline/blank-ledger'
import { barsBetween, marksBetween, summaryOf, ticksBetween } from '@/lib/view/timeline/drawn'
import { ScaleMaker, wholeView } from '@/lib/view/timeline/scale'
import { atMost, type Benchmark, type Figure, median, shown } from './figures'
import { seeded, type WalkHistory, walkHistory } from './walk-history'

const sizes = [
  { transitions: 1_000, states: 20 },
  { transitions: 10_000, states: 200 },
  { transitions: 50_000, states: 2_000 },
]

/** Lanes out of sight are not drawn; a lane is 20 px high, and so many fill a screen. */
const lanesOnScreen = 50

export const scrub: Benchmark = {
  group: 'scrub',
  async measure(say, quick) {
    const figures: Figure[] = []
    for (const { transitions, states } of quick ? sizes.slice(0, 2) : sizes) {
      say(
        `a walk of ${transitions.toLocaleString('en')} transitions through ${states.toLocaleString('en')} states`,
      )
      figures.push(...measureOne(walkHistory(transitions, states), quick ? 100 : 400, say))
    }
    return figures
  },
}

function measureOne(history: WalkHistory, positions: number, say: (line: string) => void): Figure[] {
  const name = `scrub ${history.transitions.toLocaleString('en')} transitions`
  const wire = blankLedger(history.facts)
  const gc = collector()
  gc()
  const before = process.memoryUsage().heapUsed
  const fold = new RunFold(history.graph)
  const pages: number[] = []
  for (let from = 0; from < wire.length; from += tokensAtOnce) {
    pages.push(busyMs(() => fold.add(wire.slice(from, from + tokensAtOnce))))
  }
  // A page shows the run as it is now before anybody goes back.
  if (fold.frame.nodes.size === 0) throw new Error('Nothing was shown')
  gc()
  const heldMb = (process.memoryUsage().heapUsed - before) / 2 ** 20
  const chance = seeded(7)
  const random = timesOf(positions, () => {
    const moment = fold.at(1 + Math.floor(chance() * fold.seq))
    if (moment.frame.nodes.size === 0) throw new Error('Nothing was shown')
    moment.visit(moment.place?.node ?? '')
    return moment.gauges
  })
  let seq = Math.floor(fold.seq / 2)
  const forward = timesOf(positions, () => fold.at(++seq).frame)
  const back = timesOf(positions, () => fold.at(--seq).frame)
  const { timeline } = fold
  const draw = timesOf(20, () => {
    // Made anew each time, as after a token of a live run.
    const scale = new ScaleMaker(timeline).scale()
    const view = wholeView(1_200)
    let drawn = 0
    for (const lane of timeline.lanes('node').slice(0, lanesOnScreen))
      drawn += barsBetween(lane, scale, view).length
    for (const lane of timeline.lanes('agent')) drawn += barsBetween(lane, scale, view).length
    drawn += ticksBetween(timeline, scale, view).length
    for (const kind of ['error', 'person', 'artifact', 'transition'] as const) {
      drawn += marksBetween(timeline, kind, scale, view).length
    }
    return drawn + summaryOf(timeline, scale, 600).length
  })
  say(
    `${wire.length.toLocaleString('en')} tokens: read in ${Math.round(sum(pages))} ms, ` +
      `a position ${part(random, 0.5).toFixed(1)} ms, ${Math.round(heldMb)} MB`,
  )
  return [
    shown(`${name}: tokens`, wire.length, 'tokens'),
    shown(`${name}: read into a fold with its timeline`, sum(pages), 'ms'),
    atMost(
      200,
      `${name}: the slowest ${tokensAtOnce.toLocaleString('en')} tokens of that`,
      Math.max(...pages),
      'ms',
    ),
    shown(`${name}: any position, p50`, part(random, 0.5), 'ms'),
    atMost(50, `${name}: any position, p99`, part(random, 0.99), 'ms'),
    shown(`${name}: a token on, p50`, part(forward, 0.5), 'ms'),
    shown(`${name}: a token back, p50`, part(back, 0.5), 'ms'),
    atMost(50, `${name}: a token back, p99`, part(back, 0.99), 'ms'),
    atMost(50, `${name}: what the strip draws of the whole run`, median(draw), 'ms'),
    shown(`${name}: memory, tokens and all`, heldMb, 'MB'),
  ]
}

function timesOf(rounds: number, work: () => unknown): number[] {
  return Array.from({ length: rounds }, () => busyMs(work))
}

/**
 * How long the work kept this thread: at most the time that passed, of which other programs may have had a part, and at
 * most the processor time of the process, of which the collector's own threads may have had one.
 */
function busyMs(work: () => unknown): number {
  const cpu = process.cpuUsage()
  const from = performance.now()
  work()
  const passed = performance.now() - from
  const { user, system } = process.cpuUsage(cpu)
  return Math.min(passed, (user + system) / 1_000)
}

/** The time that so large a part of them is at most. */
function part(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

function sum(times: readonly number[]): number {
  return times.reduce((total, ms) => total + ms, 0)
}

function collector(): () => void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  return typeof collect === 'function' ? () => collect() : () => {}
}
