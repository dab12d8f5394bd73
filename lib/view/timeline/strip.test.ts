import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashJson } from '@/lib/base/hash'
import type { Fact } from '@/lib/engine/facts'
import {
  approvalAsked,
  approved,
  begun,
  done,
  failed,
  historyBegins,
  historyOf,
  started,
  type Word,
} from '@/lib/engine/histories'
import { randomGraph, randomWords } from '@/lib/engine/random-history'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { RunFold } from '../run-fold'
import { blankLedger } from './blank-ledger'
import { barAt, barsBetween, marksBetween, summaryOf, ticksBetween } from './drawn'
import { noteworthyBeside, tokenBeside, transitionBeside } from './navigate'
import { film, playSpeeds } from './play'
import {
  atOf,
  axisBetween,
  breaksBetween,
  brushed,
  following,
  panned,
  ScaleMaker,
  scaleOf,
  wholeView,
  xOf,
  zoomed,
} from './scale'
import type { Lane } from './terms'
import type { Timeline } from './timeline'

const hourMs = 3_600_000

/** A timeline with tokens at these seconds. */
function tokensAt(graph: WorkflowGraph, words: readonly Word[], seconds: readonly number[]): Timeline {
  const facts = historyOf(graph, words).facts.map(
    (fact, index): Fact => ({ ...fact, at: historyBegins + Math.round((seconds[index] ?? 0) * 1000) }),
  )
  const fold = new RunFold(graph)
  fold.add(blankLedger(facts))
  return fold.timeline
}

const steps = (count: number): Word[] =>
  Array.from({ length: count }, (_, at) => (at % 2 === 0 ? started('a') : done('a')))
const one = graphOf({ a: {} })
const evenly = (count: number, seconds: number) => Array.from({ length: count }, (_, at) => at * seconds)
const timeline = (seconds: readonly number[]) =>
  tokensAt(one, [begun(), ...steps(seconds.length - 1)], seconds)
const place = (seconds: number) => historyBegins + seconds * 1000

describe('a scale', () => {
  it('draws to scale what has no idle time, however slow', () => {
    const scale = new ScaleMaker(timeline(evenly(5, 600))).scale()
    expect(scale.breaks).toEqual([])
    expect([0, 600, 1200, 2400].map((s) => scale.placeOf(place(s)))).toEqual([0, 0.25, 0.5, 1])
  })

  it('draws three hours in which nothing happened as a short break, and says how long it was', () => {
    const scale = new ScaleMaker(timeline([0, 10, 20, 20 + 3 * 3600, 30 + 3 * 3600])).scale()
    expect(scale.breaks).toHaveLength(1)
    expect(scale.breaks[0]).toMatchObject({ fromAt: place(20), after: 3 })
    const [drawn] = breaksBetween(scale, wholeView(1_000))
    expect(drawn?.lastedMs).toBe(3 * hourMs)
    expect(drawn?.width).toBeCloseTo(30)
    expect(scale.placeOf(place(20))).toBeCloseTo((2 / 3) * 0.97)
  })

  it('collapses every night of a run that works by day, though its days are longer', () => {
    const days = [0, 1, 2].flatMap((day) => evenly(200, 300).map((s) => day * 24 * 3600 + s))
    const scale = new ScaleMaker(timeline(days)).scale()
    expect(scale.breaks.map(({ after }) => after)).toEqual([200, 400])
  })

  it('keeps all breaks together to less than a third of the strip', () => {
    const seconds = Array.from({ length: 40 }, (_, at) => Math.floor(at / 2) * 7200 + (at % 2))
    const scale = new ScaleMaker(timeline(seconds)).scale()
    expect(scale.breaks).toHaveLength(19)
    const share = scale.breaks.reduce((sum, { fromPlace, toPlace }) => sum + toPlace - fromPlace, 0)
    expect(share).toBeCloseTo(0.3)
    expect(scale.placeOf(scale.toAt)).toBe(1)
  })

  it('goes on to now, collapsing the time since the last token', () => {
    const maker = new ScaleMaker(timeline([0, 1, 2, 3]))
    const scale = maker.scale({ until: place(3) + 5 * hourMs, idleMs: 60_000 })
    expect(scale.breaks).toMatchObject([{ after: 4, fromAt: place(3) }])
    expect(maker.scale({ until: place(3) + 5 * hourMs, idleMs: 60_000 })).toBe(scale)
    expect(maker.scale({ until: place(4) }).toAt).toBe(place(4))
  })

  it('is its own way back, for any gaps', () => {
    const gaps = fc.array(fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 10 ** 9 })), {
      minLength: 1,
      maxLength: 30,
    })
    fc.assert(
      fc.property(gaps, fc.double({ min: 0, max: 1, noNaN: true }), (ms, share) => {
        const seconds = [0]
        for (const gap of ms) seconds.push((seconds.at(-1) ?? 0) + gap / 1000)
        const made = timeline(seconds)
        const scale = new ScaleMaker(made).scale()
        const at = scale.fromAt + share * (scale.toAt - scale.fromAt)
        const there = scale.placeOf(at)
        expect(there).toBeGreaterThanOrEqual(0)
        expect(there).toBeLessThanOrEqual(1)
        const span = scale.toAt - scale.fromAt
        if (span > 0) expect(Math.abs(scale.timeAt(there) - at)).toBeLessThanOrEqual(1e-6 * span + 1e-3)
        let before = -1
        for (const time of made.times) {
          const now = scale.placeOf(time)
          expect(now).toBeGreaterThanOrEqual(before)
          before = now
        }
      }),
    )
  })

  it('of one token, or none, is a scale all the same', () => {
    for (const seconds of [[], [0]]) {
      const scale = new ScaleMaker(timeline(seconds)).scale()
      expect(Number.isFinite(scale.placeOf(place(5)))).toBe(true)
      expect(scale.timeAt(0.5)).toBe(scale.fromAt)
      expect(axisBetween(scale, wholeView(800)).ticks.length).toBeLessThan(20)
    }
    expect(new ScaleMaker(new RunFold(one).timeline).scale().breaks).toEqual([])
  })
})

describe('a view', () => {
  const scale = scaleOf(0, 100_000, [])
  const whole = wholeView(1_000)

  it('zooms about the pixel under the pointer, and no further out than all', () => {
    const near = zoomed(scale, whole, 4, 250)
    expect(atOf(scale, near, 250)).toBeCloseTo(atOf(scale, whole, 250))
    expect(near.to - near.from).toBeCloseTo(0.25)
    expect(zoomed(scale, near, 0.01, 250)).toEqual(whole)
    const nearest = zoomed(scale, whole, 1e9, 500)
    expect(atOf(scale, nearest, 1_000) - atOf(scale, nearest, 0)).toBeCloseTo(20)
  })

  it('moves, is brushed, and follows a moment, without leaving the strip', () => {
    const near = zoomed(scale, whole, 4, 0)
    expect(panned(near, 1_000)).toMatchObject({ from: 0.25, to: 0.5 })
    expect(panned(near, -1_000).from).toBe(0)
    expect(brushed(scale, whole, 0.8, 0.6)).toMatchObject({ from: 0.6 })
    const followed = following(scale, near, 60_000)
    expect(xOf(scale, followed, 60_000)).toBeCloseTo(976)
    expect(following(scale, near, 10_000)).toBe(near)
  })

  it('has round moments along it, none in a break', () => {
    const { stepMs, ticks } = axisBetween(scale, whole, 100)
    expect(stepMs).toBe(10_000)
    expect(ticks.map(({ at }) => at)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((n) => n * 10_000))
    const broken = scaleOf(0, 100_000 + hourMs, [{ fromAt: 50_000, toAt: 50_000 + hourMs, after: 1 }])
    for (const { at } of axisBetween(broken, whole, 100).ticks) {
      expect(at <= 50_000 || at >= 50_000 + hourMs).toBe(true)
    }
  })
})

describe('what is drawn', () => {
  it('is each bar, where there is room', () => {
    const made = timeline([0, 0, 10, 10, 20])
    const scale = new ScaleMaker(made).scale()
    const drawn = barsBetween(made.lanes('node')[0] as Lane, scale, wholeView(200))
    expect(drawn.map(({ x, width, count, shown }) => [x, width, count, shown])).toEqual([
      [0, 100, 1, 'done'],
      [100, 100, 1, 'done'],
    ])
  })

  it('is one bar for what would share a pixel, which shows the worst of them', () => {
    const words = Array.from({ length: 500 }, (_, at) => [
      started('a'),
      at === 250 ? failed('a') : done('a'),
    ]).flat()
    const made = tokensAt(one, [begun(), ...words], evenly(1_001, 0.1))
    const lane = made.lanes('node')[0] as Lane
    const drawn = barsBetween(lane, new ScaleMaker(made).scale(), wholeView(50))
    expect(drawn.length).toBeLessThanOrEqual(50)
    expect(drawn.reduce((sum, { count }) => sum + count, 0)).toBe(500)
    const bad = drawn.filter(({ shown }) => shown === 'failed')
    expect(bad).toHaveLength(1)
    expect(bad[0]?.bar).toMatchObject({ shown: 'failed', from: 502 })
    const few = barsBetween(lane, new ScaleMaker(made).scale(), wholeView(500), { maxBars: 10 })
    expect(few.length).toBeLessThanOrEqual(10)
  })

  it('leaves no bar, token or mark out, and never more than fit, for any run and view', () => {
    const someView = fc.tuple(
      fc.double({ min: 0, max: 0.9, noNaN: true }),
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      fc.integer({ min: 1, max: 400 }),
    )
    fc.assert(
      fc.property(randomGraph, randomWords, someView, (graph, words, [from, span, widthPx]) => {
        const made = tokensAt(graph, words, evenly(words.length, 0.5))
        const scale = new ScaleMaker(made).scale()
        const view = { from, to: Math.min(1, from + span), widthPx }
        for (const by of ['node', 'agent'] as const) {
          for (const lane of made.lanes(by)) {
            const drawn = barsBetween(lane, scale, view)
            expect(drawn.length).toBeLessThanOrEqual(lane.tracks.length * (widthPx + 1))
            for (const bar of drawn) {
              expect(bar.x).toBeGreaterThanOrEqual(0)
              expect(bar.x).toBeLessThanOrEqual(widthPx)
              expect(bar.width).toBeGreaterThanOrEqual(1)
            }
            const all = barsBetween(lane, scale, wholeView(widthPx))
            expect(all.reduce((sum, { count }) => sum + count, 0)).toBe(lane.tracks.flat().length)
          }
        }
        const ticks = ticksBetween(made, scale, wholeView(widthPx))
        expect(ticks.map(({ from: first }) => first)).toEqual([
          ...(made.seq > 0 ? [1] : []),
          ...ticks.slice(0, -1).map(({ to }) => to + 1),
        ])
        expect(ticks.at(-1)?.to ?? 0).toBe(made.seq)
        expect(ticks.length).toBeLessThanOrEqual(widthPx / 2 + 2)
        const marks = marksBetween(made, 'error', scale, wholeView(widthPx))
        expect(marks.reduce((sum, { count }) => sum + count, 0)).toBe(made.marks('error').length)
        const columns = summaryOf(made, scale, 17)
        expect(columns.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(made.seq)
        expect(columns.reduce((sum, { errors }) => sum + errors, 0)).toBe(made.marks('error').length)
      }),
      { numRuns: 80 },
    )
  })

  it('draws what still runs up to now', () => {
    const made = timeline([0, 0])
    const scale = new ScaleMaker(made).scale({ until: place(10) })
    const [bar] = barsBetween(made.lanes('node')[0] as Lane, scale, wholeView(100))
    expect(bar).toMatchObject({ x: 0, width: 100, open: true, shown: 'running' })
    expect(barAt(made.lanes('node')[0] as Lane, 2)).toMatchObject({ from: 2 })
    expect(barAt(made.lanes('node')[0] as Lane, 1)).toBeUndefined()
  })
})

describe('stepping', () => {
  const graph = graphOf({ a: {}, b: {} }, ['a>b'])
  const wrote =
    (artifact: string): Word =>
    () => ({
      type: 'artifact_set',
      node: 'a',
      visit: 1,
      artifact,
      value: hashJson(1),
      mediaType: 'text/plain',
      mode: 'replace',
      by: 'engine',
    })
  //       1        2             3                4               5          6                7            8             9
  const words = [
    begun(),
    started('a'),
    wrote('report'),
    wrote('log'),
    done('a'),
    approvalAsked('b'),
    approved('b'),
    started('b'),
    failed('b'),
  ]
  const made = tokensAt(graph, words, evenly(words.length, 1))

  it('goes from token to token, and stays at the ends', () => {
    expect(tokenBeside(made, 4, 'next')).toBe(5)
    expect(tokenBeside(made, 9, 'next')).toBe(9)
    expect(tokenBeside(made, 1, 'previous')).toBe(1)
    expect(tokenBeside(new RunFold(graph).timeline, 0, 'next')).toBe(0)
  })

  it('goes from transition to transition', () => {
    expect(transitionBeside(made, 1, 'next')).toBe(2)
    expect(transitionBeside(made, 2, 'next')).toBe(8)
    expect(transitionBeside(made, 8, 'next')).toBeUndefined()
    expect(transitionBeside(made, 8, 'previous')).toBe(2)
  })

  it('jumps to the next error, human act or change of the chosen artifact', () => {
    const from = (seq: number, direction: 'next' | 'previous', artifact?: string) =>
      noteworthyBeside(made, seq, direction, artifact)
    expect(from(1, 'next', 'log')).toMatchObject({ seq: 4, kind: 'artifact', artifact: 'log' })
    expect(from(1, 'next')).toMatchObject({ seq: 3 })
    expect(from(4, 'next', 'log')).toMatchObject({ seq: 7, kind: 'person', words: 'approved' })
    expect(from(7, 'next', 'log')).toMatchObject({ seq: 9, kind: 'error' })
    expect(from(9, 'next')).toBeUndefined()
    expect(from(9, 'previous', 'report')).toMatchObject({ seq: 7 })
    expect(from(7, 'previous', 'report')).toMatchObject({ seq: 3 })
  })
})

describe('a film', () => {
  const made = timeline([0, 1, 2, 2 + 7200, 3 + 7200])
  const scale = new ScaleMaker(made).scale()

  it('shows each token when its time has come, faster by its speed', () => {
    const slow = film(made, scale, 1, 1)
    expect(slow(0)).toMatchObject({ seq: 1, at: place(0), over: false })
    expect(slow(1_500)).toMatchObject({ seq: 2, at: place(1.5) })
    const fast = film(made, scale, 1, 64)
    expect(fast(1_000 / 64).seq).toBe(2)
  })

  it('passes over idle time in half a second, at any speed', () => {
    for (const speed of playSpeeds) {
      const play = film(made, scale, 3, speed)
      expect(play(499).seq).toBe(3)
      expect(play(501).seq).toBe(4)
    }
  })

  it('ends with the last token, and begins anew from there', () => {
    const play = film(made, scale, 1, 1)
    expect(play(60_000)).toMatchObject({ seq: 5, over: true })
    expect(film(made, scale, 5, 1)(0)).toMatchObject({ seq: 1, over: false })
    expect(film(new RunFold(one).timeline, scale, 0, 1)(10)).toEqual({ seq: 0, at: 0, over: true })
  })
})
