/*
 * What a reviewer waits for when two positions are compared: the trace of a long run, which of its artifacts differ
 * between two rows far apart, two whole runs beside each other, and the diff of large values. Times are processor time:
 * the trace is the page's own, values are compared in a worker.
 */
import { compareRuns } from '@/lib/view/compare-runs'
import { type ComparedValue, valueDiff } from '@/lib/view/diff/value-diff'
import { RunFold } from '@/lib/view/run-fold'
import { blankLedger } from '@/lib/view/timeline/blank-ledger'
import { TraceView } from '@/lib/view/trace-view'
import { atMost, type Benchmark, type Figure, median, shown } from './figures'
import { seeded, walkHistory } from './walk-history'

const sizes = [
  { transitions: 1_000, states: 20 },
  { transitions: 10_000, states: 200 },
  { transitions: 50_000, states: 2_000 },
]
const pairs = 200
const rounds = 5

export const diff: Benchmark = {
  group: 'diff',
  async measure(say, quick) {
    const figures: Figure[] = []
    for (const { transitions, states } of quick ? sizes.slice(0, 2) : sizes) {
      say(`a trace of ${transitions.toLocaleString('en')} transitions`)
      figures.push(...traced(transitions, states))
    }
    say('the diff of large values')
    figures.push(...values(quick))
    return figures
  },
}

function traced(transitions: number, states: number): Figure[] {
  const name = `diff ${transitions.toLocaleString('en')} transitions`
  const fold = new RunFold(walkHistory(transitions, states).graph)
  const wire = blankLedger(walkHistory(transitions, states).facts)
  fold.add(wire.slice(0, -1))
  const whole = timesOf(rounds, () => new TraceView(fold).update())
  const view = new TraceView(fold).update()
  fold.add(wire)
  const more = busyMs(() => view.update())
  const chance = seeded(11)
  const rowAt = () => view.rows[Math.floor(chance() * view.rows.length)]
  const apart = timesOf(pairs, () => {
    const [a, b] = [rowAt(), rowAt()]
    return a && b && view.columns.filter((_, column) => !view.isSame(a, b, column)).length
  })
  const other = new TraceView(fold).update()
  const runs = timesOf(rounds, () => compareRuns(view, other))
  return [
    atMost(200, `${name}: the trace`, median(whole), 'ms'),
    atMost(10, `${name}: the trace after one more token`, more, 'ms'),
    atMost(50, `${name}: which artifacts differ between two positions, slowest`, Math.max(...apart), 'ms'),
    shown(`${name}: two such runs beside each other`, median(runs), 'ms'),
  ]
}

function values(quick: boolean): Figure[] {
  const lines = (count: number, word: (n: number) => string) =>
    text(Array.from({ length: count }, (_, n) => word(n)).join('\n'))
  const line = (n: number) => `case ${n % 997} of suite ${n}: passed in ${(n * 7) % 1_000} ms`
  // 25 bytes and more a line.
  const million = 22_000
  const before = lines(million, line)
  const few = lines(million, (n) => (n % 200 === 0 ? `${line(n)}, again` : line(n)))
  const others = lines(million, (n) => `x${n} ${line(n * 31)}`)
  const cases = (mark: (n: number) => number) =>
    json({
      suite: 'planner',
      cases: Array.from({ length: 12_000 }, (_, n) => ({
        id: n,
        name: `case ${n}`,
        ms: mark(n),
        tags: ['a', 'b'],
      })),
    })
  const report = cases((n) => n)
  const measured: [string, ComparedValue, ComparedValue][] = [
    ['1 MB of text, 110 lines changed', before, few],
    ['1 MB of text, every line changed', before, others],
    ['1 MB of JSON, 60 items changed', report, cases((n) => (n % 200 === 0 ? -n : n))],
    ['1 MB of JSON, every item changed', report, cases((n) => n + 1)],
  ]
  const figures = measured.map(([what, a, b]) =>
    atMost(1_000, `diff ${what}`, median(timesOf(3, () => valueDiff(a, b))), 'ms'),
  )
  if (quick) return figures
  const large = lines(20 * million, line)
  const mended = lines(20 * million, (n) => (n === 200_000 ? 'mended' : line(n)))
  return [
    ...figures,
    shown(
      'diff 20 MB of text, one line changed',
      busyMs(() => valueDiff(large, mended)),
      'ms',
    ),
  ]
}

const utf8 = new TextEncoder()
const text = (value: string): ComparedValue => ({ mediaType: 'text/plain', bytes: utf8.encode(value) })
const json = (value: unknown): ComparedValue => ({
  mediaType: 'application/json',
  bytes: utf8.encode(JSON.stringify(value)),
})

function timesOf(count: number, work: () => unknown): number[] {
  return Array.from({ length: count }, () => busyMs(work))
}

/** Processor time of the work; what else the machine does meanwhile is not in it. */
function busyMs(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
