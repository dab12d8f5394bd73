import { describe, expect, it } from 'vitest'
import type { DrawnBar } from '@/lib/view/timeline/terms'
import { placeWords } from './bar-words'

const tenPxALetter = (text: string) => text.length * 10

function bar(x: number, width: number, label: string, more: Partial<DrawnBar> = {}): DrawnBar {
  return {
    x,
    width,
    track: 0,
    shown: 'done',
    count: 1,
    from: 1,
    to: 2,
    open: false,
    bar: { node: label, visit: 1, attempt: 1, label, words: 'done', shown: 'done', from: 1, fromAt: 0 },
    ...more,
  }
}

describe('the words of a bar', () => {
  it('stand in it when they fit', () => {
    expect(placeWords([bar(0, 60, 'plan')], 500, tenPxALetter)).toEqual([{ text: 'plan', where: 'in', x: 0 }])
  })

  it('stand right of a bar that is too narrow, where there is room up to the next', () => {
    const [first, second] = placeWords([bar(0, 10, 'plan'), bar(70, 10, 'test')], 500, tenPxALetter)
    expect(first).toEqual({ text: 'plan', where: 'beside', x: 16 })
    expect(second).toEqual({ text: 'test', where: 'beside', x: 86 })
  })

  it('stand left of it at the end of the track', () => {
    expect(placeWords([bar(480, 20, 'probe')], 500, tenPxALetter)).toEqual([
      { text: 'probe', where: 'beside', x: 424 },
    ])
  })

  it('are left out rather than drawn over a neighbour', () => {
    const [first, second] = placeWords([bar(0, 10, 'plan'), bar(20, 480, 'test')], 500, tenPxALetter)
    expect(first).toBeUndefined()
    expect(second?.where).toBe('in')
  })

  it('are cut off in a bar that holds a part of them, where there is no room beside it', () => {
    const [first] = placeWords([bar(0, 60, 'plan-failover'), bar(62, 438, 'test')], 500, tenPxALetter)
    expect(first).toEqual({ text: 'plan-failover', where: 'in', x: 0 })
  })

  it('say that a person is waited for, and how often the step was come to, where there is room', () => {
    const waiting = { shown: 'waiting', waitsFor: 'person' } as const
    const wide = bar(0, 400, 'peer', waiting)
    wide.bar.visit = 2
    expect(placeWords([wide], 500, tenPxALetter)[0]?.text).toBe('peer, visit 2: waiting for a person')
    expect(placeWords([bar(0, 80, 'peer', waiting)], 500, tenPxALetter)[0]?.text).toBe('peer')
  })

  it('do not repeat the name of a line that is the step’s own', () => {
    const waiting = bar(100, 10, 'peer', { shown: 'waiting', waitsFor: 'person' })
    const words = placeWords([bar(0, 60, 'peer'), waiting], 500, tenPxALetter, true)
    expect(words).toEqual([undefined, { text: 'waiting for a person', where: 'beside', x: 116 }])
  })

  it('are none on a bar that stands for several', () => {
    expect(placeWords([bar(0, 100, 'plan', { count: 3 })], 500, tenPxALetter)).toEqual([undefined])
  })
})
