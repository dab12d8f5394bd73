import { expect, it } from 'vitest'
import { boundedTalk, clipped, type TurnMessage, toolMessage, turnMessage } from './prompt-talk'

const call = (id: string, chars: number): TurnMessage => ({
  role: 'assistant',
  text: 'I write.',
  uses: [{ id, name: 'save', args: { text: 'x'.repeat(chars) } }],
})
const result = (id: string, chars: number) =>
  toolMessage({ id, name: 'save', args: {} }, { found: 'y'.repeat(chars) })

it('keeps a talk within a mebibyte: the oldest contents go first, calls and results stay paired', () => {
  const talk = Array.from({ length: 40 }, (_, at) => [call(`c${at}`, 60_000), result(`c${at}`, 100)]).flat()
  const kept = boundedTalk(talk)
  expect(kept).toHaveLength(80)
  expect(JSON.stringify(kept).length).toBeLessThan(1_200_000)
  expect(kept[0]).toMatchObject({ text: '(dropped to make room)', uses: [{ id: 'c0', args: {} }] })
  expect(kept.at(-2)).toEqual(talk.at(-2))
  for (const message of kept) expect(turnMessage.safeParse(message).success).toBe(true)
})

it('cuts one message that is too long, never through a character', () => {
  const text = `${'a'.repeat(65_535)}😀${'b'.repeat(10)}`
  expect(clipped(text)).toMatch(/^a{65535}… \(\d+ more characters\)$/)
  expect(clipped('short')).toBe('short')
})

it('begins anew at a turn where there are too many messages', () => {
  const turn = (at: number): TurnMessage[] => [
    { role: 'user', text: `turn ${at}` },
    call(`c${at}`, 1),
    result(`c${at}`, 1),
  ]
  const kept = boundedTalk(Array.from({ length: 500 }, (_, at) => turn(at)).flat())
  expect(kept.length).toBeLessThanOrEqual(1_000)
  expect(kept[0]).toMatchObject({ role: 'user' })
  expect(kept.at(-1)).toMatchObject({ role: 'tool', id: 'c499' })
})
