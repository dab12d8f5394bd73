/** Texts. Positions and lengths count code points, as Go's runes do. */
import { isPlain, numberOf, type RegoNumber, wholePart } from '../numbers'
import { BuiltinError, RegoFailed } from '../refusal'
import type { RegoObject, RegoSet, Value } from '../values'
import { type Builtin, builtin, integerOperand, stringsIn } from './builtin'
import { checkFormat, sprintf } from './sprintf'

type List = readonly Value[] | RegoSet

function indexes(base: string, search: string): number[] {
  if (search === '') throw new BuiltinError('empty search character')
  const runes = [...base]
  const wanted = [...search]
  const found: number[] = []
  for (let i = 0; i + wanted.length <= runes.length; i += 1)
    if (wanted.every((rune, j) => runes[i + j] === rune)) found.push(i)
  return found
}

function substring(base: string, offset: RegoNumber, length: RegoNumber): Value {
  const start = integerOperand(offset, 2)
  const size = integerOperand(length, 3)
  if (start < 0) throw new BuiltinError('negative offset')
  const runes = [...base]
  if (start >= runes.length) return ''
  return runes.slice(start, size < 0 ? undefined : start + size).join('')
}

/** Case changed rune by rune, as Go does; a rune whose other case is several runes is not guessed at. */
function cased(text: string, change: (rune: string) => string): string {
  return [...text]
    .map((rune) => {
      const changed = change(rune)
      if (rune === 'ß') return rune
      if (rune === 'İ') return changed === 'İ' ? 'İ' : 'i'
      if ([...changed].length > 1)
        throw new RegoFailed('eval_unsupported', `The other case of ${rune} is not known here`)
      return changed
    })
    .join('')
}

function replaceAll(text: string, pairs: [string, string][]): string {
  if (pairs.some(([from]) => from === '')) return replaceEmpty(text, pairs)
  let out = ''
  for (let i = 0; i < text.length; ) {
    const pair = pairs.find(([from]) => text.startsWith(from, i))
    out += pair ? pair[1] : text[i]
    if (out.length > 10_000_000)
      throw new RegoFailed('eval_bound', 'A replacement made a text of more than 10,000,000 characters')
    i += pair ? pair[0].length : 1
  }
  return out
}

function replaceEmpty(text: string, pairs: [string, string][]): string {
  if (pairs.length > 1 || !/^[\0-\x7f]*$/.test(text))
    throw new RegoFailed('eval_unsupported', 'Replacing an empty text here is not known')
  const put = (pairs[0] as [string, string])[1]
  return put + [...text].map((rune) => rune + put).join('')
}

function replacements(patterns: RegoObject): [string, string][] {
  return [...patterns.sorted].map(([from, to]) => {
    if (typeof from !== 'string' || typeof to !== 'string')
      throw new BuiltinError('operand 1 must have texts as keys and values', 'eval_type_error')
    return [from, to]
  })
}

function split(text: string, by: string): Value {
  return by === '' ? [...text] : text.split(by)
}

function trimmed(text: string, cutset: string, start: boolean, end: boolean): string {
  const cut = new Set(cutset)
  const runes = [...text]
  let from = 0
  let to = runes.length
  if (start) while (from < to && cut.has(runes[from] as string)) from += 1
  if (end) while (to > from && cut.has(runes[to - 1] as string)) to -= 1
  return runes.slice(from, to).join('')
}

function formatInt(number: RegoNumber, base: RegoNumber): Value {
  const radix = isPlain(base) ? Number(base.text) : 0
  if (![2, 8, 10, 16].includes(radix) || base.text !== `${radix}`)
    throw new BuiltinError('operand 2 must be one of {2, 8, 10, 16}')
  return wholePart(number).toString(radix)
}

function texts(value: Value, position: number): string[] {
  return typeof value === 'string' ? [value] : stringsIn(value as List, position)
}

function concat(by: string, list: List): Value {
  return stringsIn(list, 2).join(by)
}

function countOf(text: string, part: string): Value {
  return numberOf(part === '' ? [...text].length + 1 : text.split(part).length - 1)
}

/** A built-in over two texts. */
function pair(name: string, result: string, work: (a: string, b: string) => Value): Builtin {
  return builtin(name, ['s', 's'], result, (_, a: string, b: string) => work(a, b))
}

export const stringBuiltins: Builtin[] = [
  builtin('concat', ['s', 'at'], 's', (_, by: string, list: List) => concat(by, list)),
  pair('contains', 'b', (a, b) => a.includes(b)),
  pair('startswith', 'b', (a, b) => a.startsWith(b)),
  pair('endswith', 'b', (a, b) => a.endsWith(b)),
  pair('indexof', 'n', (a, b) => numberOf(indexes(a, b)[0] ?? -1)),
  pair('indexof_n', 'a', (a, b) => indexes(a, b).map(numberOf)),
  builtin('lower', ['s'], 's', (_, text: string) => cased(text, (rune) => rune.toLowerCase())),
  builtin('upper', ['s'], 's', (_, text: string) => cased(text, (rune) => rune.toUpperCase())),
  builtin('replace', ['s', 's', 's'], 's', (_, text: string, from: string, to: string) =>
    replaceAll(text, [[from, to]]),
  ),
  builtin('strings.replace_n', ['o', 's'], 's', (_, patterns: RegoObject, text: string) =>
    replaceAll(text, replacements(patterns)),
  ),
  pair('split', 'a', split),
  builtin('substring', ['s', 'n', 'n'], 's', (_, text: string, offset: RegoNumber, length: RegoNumber) =>
    substring(text, offset, length),
  ),
  pair('trim', 's', (text, cut) => trimmed(text, cut, true, true)),
  pair('trim_left', 's', (text, cut) => trimmed(text, cut, true, false)),
  pair('trim_right', 's', (text, cut) => trimmed(text, cut, false, true)),
  pair('trim_prefix', 's', (text, part) => (text.startsWith(part) ? text.slice(part.length) : text)),
  pair('trim_suffix', 's', (text, part) =>
    text.endsWith(part) ? text.slice(0, text.length - part.length) : text,
  ),
  builtin('trim_space', ['s'], 's', (_, text: string) =>
    text.replace(/^\p{White_Space}+/u, '').replace(/(?<!\p{White_Space})\p{White_Space}+$/u, ''),
  ),
  builtin('strings.reverse', ['s'], 's', (_, text: string) => [...text].reverse().join('')),
  pair('strings.count', 'n', countOf),
  builtin('strings.any_prefix_match', ['sat', 'sat'], 'b', (_, a: Value, b: Value) => {
    const starts = texts(b, 2)
    return texts(a, 1).some((text) => starts.some((start) => text.startsWith(start)))
  }),
  builtin('strings.any_suffix_match', ['sat', 'sat'], 'b', (_, a: Value, b: Value) => {
    const ends = texts(b, 2)
    return texts(a, 1).some((text) => ends.some((end) => text.endsWith(end)))
  }),
  builtin('format_int', ['n', 'n'], 's', (_, number: RegoNumber, base: RegoNumber) =>
    formatInt(number, base),
  ),
  builtin(
    'sprintf',
    ['s', 'a'],
    's',
    (_, format: string, values: readonly Value[]) => sprintf(format, values),
    checkFormat,
  ),
]
