import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultLimits, Meter } from './limits'
import { Matcher, runesOf } from './re2-match'
import { BuiltinError, RegoFailed } from './refusal'

function find(pattern: string, text: string): string[] | undefined {
  const runes = runesOf(text)
  const match = new Matcher(pattern).match(runes, 0, new Meter(defaultLimits))
  if (!match) return undefined
  return Array.from({ length: match.slots.length / 2 }, (_, i) => {
    const [from = -1, to = -1] = match.slots.slice(2 * i, 2 * i + 2)
    return from < 0 ? '' : String.fromCodePoint(...runes.slice(from, to))
  })
}

describe('patterns in RE2 syntax', () => {
  it.each<[string, string, string[] | undefined]>([
    ['a+?', 'aaa', ['a']],
    ['(?U)a+', 'aaa', ['a']],
    ['(a|ab)(c|bcd)(d*)', 'abcd', ['abcd', 'a', 'bcd', '']],
    ['^\\d{2,3}$', '123', ['123']],
    ['\\d', '٣', undefined],
    ['(?i)straße', 'x', undefined],
    ['(?i)KEY', 'key', ['key']],
    ['(?i)k', '\u212a', ['\u212a']],
    ['[^a]', '\n', ['\n']],
    ['.', '\n', undefined],
    ['(?s).', '\n', ['\n']],
    ['(?m)^b$', 'a\nb\nc', ['b']],
    ['^b$', 'a\nb', undefined],
    ['\\bfoo\\b', 'a foo.', ['foo']],
    ['[[:alpha:]]+', '12ab', ['ab']],
    ['\\p{Greek}+', 'aβγ', ['βγ']],
    ['\\Qa.b\\E+', 'a.bb', ['a.bb']],
    ['(?P<year>\\d+)-(\\d+)', '2026-11', ['2026-11', '2026', '11']],
    ['a{,2}', 'a{,2}', ['a{,2}']],
    ['😀.', '😀é', ['😀é']],
    ['(a*)*', 'b', ['', '']],
    ['x*', '', ['']],
  ])('%s on %j', (pattern, text, wanted) => {
    if (pattern === '(?i)straße') expect(() => find(pattern, text)).toThrow('not ASCII')
    else expect(find(pattern, text)).toEqual(wanted)
  })

  it.each([
    '(?=a)',
    '(?!a)',
    '(?<=a)b',
    '(a)\\1',
    'a**',
    '*a',
    '[b-a]',
    'a{2,1}',
    'a{1001}',
    '(',
    'a)',
    '[a',
    '\\y',
    '(?z)a',
  ])('refuses %s as RE2 does', (pattern) => {
    expect(() => new Matcher(pattern)).toThrow(BuiltinError)
  })

  it('bounds what a pattern may grow to', () => {
    expect(() => new Matcher('((a{100}){100}){100}')).toThrow(RegoFailed)
    expect(() => new Matcher('('.repeat(1_000) + ')'.repeat(1_000))).toThrow(RegoFailed)
  })

  it('finds what JavaScript finds where the two languages agree', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '.',
      '[ab]',
      '[^a]',
      '(a)',
      '(a|b)',
      '(ab|a)',
      'a?',
      'b*',
      'a+',
      '(a|b)+',
      'b{1,2}',
      'a+?',
      '^',
      '$',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), fc.stringMatching(/^[abc]{0,8}$/), (pieces, text) => {
        const found = new RegExp(pieces.join(''), 's').exec(text)
        // Groups inside of repeats keep other captures in JavaScript; the whole match is the same.
        expect(find(`(?s)${pieces.join('')}`, text)?.[0]).toBe(found?.[0])
      }),
      { numRuns: 2_000 },
    )
  })
})
