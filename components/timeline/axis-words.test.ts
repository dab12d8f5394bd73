import { describe, expect, it } from 'vitest'
import { scaleOf, wholeView } from '@/lib/view/timeline/scale'
import { axisWords, letterPx } from './axis-words'

const at = (clock: string) => new Date(`2026-11-21T${clock}`).getTime()
const texts = (from: string, to: string, widthPx = 800) =>
  axisWords(scaleOf(at(from), at(to), []), wholeView(widthPx)).map(({ text }) => text)

describe('the times under a film', () => {
  it('begin in full, then say minutes and the half ones between', () => {
    expect(texts('09:11:30', '09:14:40')).toEqual([
      '09:11:30',
      '09:12',
      ':30',
      '09:13',
      ':30',
      '09:14',
      ':30',
    ])
  })

  it('say thousandths where the film is a second long', () => {
    expect(texts('09:11:30.000', '09:11:31.000')[1]).toBe('.200')
  })

  it('say the day where one begins', () => {
    expect(
      axisWords(scaleOf(at('22:00:00'), at('23:00:00') + 4 * 3_600_000, []), wholeView(800)).map(
        (one) => one.text,
      ),
    ).toContain('22 Nov')
  })

  it('never touch one another', () => {
    for (let widthPx = 100; widthPx < 1200; widthPx += 37) {
      const words = axisWords(scaleOf(at('09:11:31'), at('09:14:40'), []), wholeView(widthPx))
      for (const [index, word] of words.entries()) {
        const before = words[index - 1]
        if (before) expect(word.x).toBeGreaterThan(before.x + before.text.length * letterPx)
      }
    }
  })
})
