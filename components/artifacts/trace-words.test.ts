import { expect, it } from 'vitest'
import { changeWords, fromTo, sinceStart, unchangedWords } from './trace-words'

it('says when a row was reached as people read clocks', () => {
  expect([0, 38_200, 130_000, 848_000, 6_720_000].map(sinceStart)).toEqual([
    '0.0 s',
    '38.2 s',
    '2:10',
    '14:08',
    '1:52:00',
  ])
})
it('says what became of a value, and once what both have', () => {
  expect(fromTo('2/5 pass', '5/5 pass')).toBe('2/5 to 5/5 pass')
  expect(fromTo('abc123', 'def456')).toBe('abc123 to def456')
  expect(fromTo('same', 'same')).toBe('both same')
})
it('tells missing from everything else', () => {
  const column = { name: 'log', of: 'artifact', mode: 'append', mediaType: 'text/plain' } as const
  const value = (count: number) => ({ last: { hash: `h${count}`, mediaType: '' }, count, changed: false })
  const none = { count: 0, changed: false }
  expect(changeWords(column, none, value(1))).toBe('missing at A')
  expect(changeWords(column, value(1), none)).toBe('missing at B')
  expect(changeWords(column, value(1), value(2))).toBe('1 entry more')
  expect(changeWords({ ...column, mode: 'replace' }, value(1), value(2))).toBeUndefined()
})
it('does not call the same what is missing at both', () => {
  const [commit, report] = [
    { name: 'commit', missing: false },
    { name: 'report', missing: true },
  ]
  expect(unchangedWords([report, commit])).toEqual(['The same: commit', 'Missing at both: report'])
  expect(unchangedWords([report])).toEqual(['Missing at both: report'])
  expect(unchangedWords([])).toEqual([])
})
