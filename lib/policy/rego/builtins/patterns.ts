/** Regular expressions and globs. */
import type { Term } from '../ast'
import type { Meter } from '../limits'
import type { RegoNumber } from '../numbers'
import { type Match, Matcher, runesOf, textOf } from '../re2-match'
import type { Pattern } from '../re2-syntax'
import { BuiltinError, type Place, RegoFailed } from '../refusal'
import { isArray, type Value } from '../values'
import { type Builtin, builtin, integerOperand, stringsIn } from './builtin'

/** Longest text that is matched, in characters. */
const longestText = 1_000_000

const matchers = new Map<string, Matcher>()

function matcherFor(pattern: string): Matcher {
  const known = matchers.get(pattern)
  if (known) return known
  const matcher = new Matcher(pattern)
  if (matchers.size >= 200) matchers.clear()
  matchers.set(pattern, matcher)
  return matcher
}

function bounded(text: string): number[] {
  if (text.length > longestText)
    throw new RegoFailed('eval_bound', `A text of more than ${longestText} characters to match`)
  return runesOf(text)
}

function limitOf(number: RegoNumber): number {
  const limit = integerOperand(number, 3)
  return limit < 0 ? Number.POSITIVE_INFINITY : limit
}

function findAll(
  pattern: string,
  text: string,
  limit: number,
  meter: Meter,
): { runes: number[]; matches: Match[] } {
  const runes = bounded(text)
  return { runes, matches: matcherFor(pattern).all(runes, limit, meter) }
}

function slot(runes: readonly number[], match: Match, group: number): string {
  const [from = -1, to = -1] = match.slots.slice(2 * group, 2 * group + 2)
  return from < 0 || to < 0 ? '' : textOf(runes, from, to)
}

function groupsOf(runes: readonly number[], match: Match): Value {
  return Array.from({ length: match.slots.length / 2 }, (_, i) => slot(runes, match, i))
}

/** Go's Split: the pieces between matches; an empty match at the very start or end separates nothing. */
function split(pattern: string, text: string, meter: Meter): Value {
  if (pattern.length > 0 && text.length === 0) {
    matcherFor(pattern)
    return ['']
  }
  const { runes, matches } = findAll(pattern, text, Number.POSITIVE_INFINITY, meter)
  const pieces: Value[] = []
  let from = 0
  let to = 0
  for (const match of matches) {
    const [start, end] = match.slots as [number, number]
    to = start
    if (end !== 0) pieces.push(textOf(runes, from, to))
    from = end
  }
  if (to !== runes.length) pieces.push(textOf(runes, from, runes.length))
  return pieces
}

/**
 * OPA looks for each next match in what is left, so that ^ holds there again; releases before it did not. Where the
 * two ways differ, and where a pattern matches nothing at all, there is no answer.
 */
function replace(text: string, pattern: string, template: string, meter: Meter): Value {
  const { runes, matches } = findAll(pattern, text, Number.POSITIVE_INFINITY, meter)
  const matcher = matcherFor(pattern)
  let out = ''
  let from = 0
  for (const match of matches) {
    const [start, end] = match.slots as [number, number]
    const alone = matcher.match(runes.slice(from), 0, meter)
    if (start === end || !alone || alone.slots.some((slot, i) => slot >= 0 && slot + from !== match.slots[i]))
      throw new RegoFailed(
        'eval_unsupported',
        'regex.replace with a pattern that depends on where it starts is not known here',
      )
    out += textOf(runes, from, start) + expanded(template, runes, match, matcher)
    from = end
    if (out.length > 10_000_000)
      throw new RegoFailed('eval_bound', 'A replacement made a text of more than 10,000,000 characters')
  }
  if (matches.length > 0 && matcher.match(runes.slice(from), 0, meter))
    throw new RegoFailed(
      'eval_unsupported',
      'regex.replace with a pattern that depends on where it starts is not known here',
    )
  return out + textOf(runes, from, runes.length)
}

/** $1, $name, ${name} and $$ in a replacement, as Go's Expand has them. */
function expanded(template: string, runes: readonly number[], match: Match, matcher: Matcher): string {
  return template.replace(
    /\$(?:\$|\{(\w+)\}|(\w+))/g,
    (whole, braced: string | undefined, bare: string | undefined) => {
      const name = braced ?? bare
      if (name === undefined) return whole === '$$' ? '$' : whole
      const group = /^\d+$/.test(name) ? (/^0\d/.test(name) ? -1 : Number(name)) : matcher.names.get(name)
      return group === undefined || group < 0 || group > matcher.groups ? '' : slot(runes, match, group)
    },
  )
}

/** A constant pattern is read before anything runs. */
function checkPattern(at: number): Builtin['check'] {
  return (args: Term[], refuse: (message: string, place: Place) => void) => {
    const pattern = args[at]
    if (pattern?.kind !== 'scalar' || typeof pattern.value !== 'string') return
    try {
      new Matcher(pattern.value)
    } catch (cause) {
      if (cause instanceof RegoFailed) refuse(`This pattern cannot be used: ${cause.message}`, pattern.at)
      else if (!(cause instanceof BuiltinError)) throw cause
    }
  }
}

// --- regex.template_match ------------------------------------------------------------------------------------------

/** A text with patterns between two delimiters, matched as a whole. */
function templateMatch(template: string, text: string, open: string, close: string, meter: Meter): Value {
  // Delimiters are single bytes.
  for (const delimiter of [open, close])
    if (delimiter.length !== 1 || delimiter.charCodeAt(0) > 127)
      throw new BuiltinError('a delimiter has to be exactly one character long')
  if (open === close)
    throw new RegoFailed('eval_unsupported', 'A template with one delimiter for both ends is not known here')
  const quote = (plain: string): string => plain.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&')
  let pattern = '^'
  let level = 0
  let from = 0
  const runes = [...template]
  for (const [i, rune] of runes.entries()) {
    if (rune === open) {
      if (level === 0) {
        pattern += quote(runes.slice(from, i).join(''))
        from = i + 1
      }
      level += 1
    } else if (rune === close) {
      level -= 1
      if (level < 0) throw new BuiltinError('unbalanced braces')
      if (level === 0) {
        const part = runes.slice(from, i).join('')
        matcherFor(`^${part}$`)
        pattern += `(${part})`
        from = i + 1
      }
    }
  }
  if (level !== 0) throw new BuiltinError('unbalanced braces')
  pattern += `${quote(runes.slice(from).join(''))}$`
  return matcherFor(pattern).match(bounded(text), 0, meter) !== undefined
}

// --- globs ---------------------------------------------------------------------------------------------------------

/** Reads a glob: * ? ** [a-z] [!abc] {a,b} and \\ before a character that is meant itself. */
class GlobReader {
  #at = 0
  readonly #runes: string[]
  readonly #separators: Set<number>

  constructor(text: string, separators: string[]) {
    this.#runes = [...text]
    this.#separators = new Set(separators.map((one) => one.codePointAt(0) as number))
  }

  whole(): Pattern {
    const pattern = this.#sequence(0)
    return { kind: 'sequence', items: [{ kind: 'start' }, pattern, { kind: 'end' }] }
  }

  #sequence(depth: number): Pattern {
    if (depth > 20) throw new RegoFailed('eval_bound', 'A glob nests deeper than 20 levels')
    const items: Pattern[] = []
    while (this.#at < this.#runes.length) {
      const rune = this.#runes[this.#at] as string
      if (depth > 0 && (rune === ',' || rune === '}')) break
      this.#at += 1
      items.push(this.#item(rune, depth))
    }
    return { kind: 'sequence', items }
  }

  #item(rune: string, depth: number): Pattern {
    const noSeparator = (code: number): boolean => !this.#separators.has(code)
    if (rune === '?') return { kind: 'char', set: noSeparator }
    if (rune === '[') return { kind: 'char', set: this.#bracket() }
    if (rune === '{') return this.#choice(depth)
    if (rune === '\\') return this.#escaped()
    if (rune !== '*') return charOf(rune)
    let stars = 1
    while (this.#runes[this.#at] === '*') {
      stars += 1
      this.#at += 1
    }
    const set = stars > 1 ? () => true : noSeparator
    return {
      kind: 'repeat',
      item: { kind: 'char', set },
      least: 0,
      most: Number.POSITIVE_INFINITY,
      greedy: true,
    }
  }

  #escaped(): Pattern {
    const rune = this.#runes[this.#at]
    if (rune === undefined)
      throw new RegoFailed('eval_unsupported', 'A glob that ends with \\ is not known here')
    this.#at += 1
    return charOf(rune)
  }

  #choice(depth: number): Pattern {
    const items = [this.#sequence(depth + 1)]
    while (this.#runes[this.#at] === ',') {
      this.#at += 1
      items.push(this.#sequence(depth + 1))
    }
    if (this.#runes[this.#at] !== '}') throw new BuiltinError('a glob has no closing }')
    this.#at += 1
    return { kind: 'choice', items }
  }

  #bracket(): (code: number) => boolean {
    const end = this.#runes.indexOf(']', this.#at)
    if (end < 0) throw new BuiltinError('a glob has no closing ]')
    let inner = this.#runes.slice(this.#at, end)
    this.#at = end + 1
    const negated = inner[0] === '!'
    if (negated) inner = inner.slice(1)
    const plain = inner.length > 0 && inner.every((rune) => !'\\-![*?{}^,'.includes(rune))
    const range =
      inner.length === 3 &&
      inner[1] === '-' &&
      /[A-Za-z0-9]/.test(inner[0] as string) &&
      /[A-Za-z0-9]/.test(inner[2] as string)
    if (!plain && !range)
      throw new RegoFailed(
        'eval_unsupported',
        `The set [${inner.join('').slice(0, 40)}] in a glob is not known here`,
      )
    const codes = inner.map((rune) => rune.codePointAt(0) as number)
    const [low = 0, , high = 0] = codes
    if (range && high < low) throw new BuiltinError('a range in a glob ends before it starts')
    return (code) => (range ? code >= low && code <= high : codes.includes(code)) !== negated
  }
}

function charOf(rune: string): Pattern {
  const wanted = rune.codePointAt(0)
  return { kind: 'char', set: (code) => code === wanted }
}

function glob(pattern: string, delimiters: Value, text: string, meter: Meter): Value {
  if (pattern.length > 5_000) throw new RegoFailed('eval_bound', 'A glob of more than 5,000 characters')
  let separators: string[] = []
  if (isArray(delimiters)) {
    separators = stringsIn(delimiters, 2)
    for (const one of separators)
      if ([...one].length !== 1)
        throw new RegoFailed('eval_unsupported', 'A delimiter of a glob must be one character')
    if (separators.length === 0) separators = ['.']
  }
  const matcher = Matcher.of(new GlobReader(pattern, separators).whole())
  return matcher.match(bounded(text), 0, meter) !== undefined
}

export const patternBuiltins: Builtin[] = [
  builtin(
    'regex.match',
    ['s', 's'],
    'b',
    ({ meter }, pattern: string, text: string) =>
      matcherFor(pattern).match(bounded(text), 0, meter) !== undefined,
    checkPattern(0),
  ),
  builtin('regex.is_valid', ['*'], 'b', (_, pattern: Value) => {
    if (typeof pattern !== 'string') return false
    try {
      matcherFor(pattern)
      return true
    } catch (cause) {
      if (cause instanceof BuiltinError) return false
      throw cause
    }
  }),
  builtin(
    'regex.split',
    ['s', 's'],
    'a',
    ({ meter }, pattern: string, text: string) => split(pattern, text, meter),
    checkPattern(0),
  ),
  builtin(
    'regex.find_n',
    ['s', 's', 'n'],
    'a',
    ({ meter }, pattern: string, text: string, count: RegoNumber) => {
      const { runes, matches } = findAll(pattern, text, limitOf(count), meter)
      return matches.map((match) => slot(runes, match, 0))
    },
    checkPattern(0),
  ),
  builtin(
    'regex.find_all_string_submatch_n',
    ['s', 's', 'n'],
    'a',
    ({ meter }, pattern: string, text: string, count: RegoNumber) => {
      const { runes, matches } = findAll(pattern, text, limitOf(count), meter)
      return matches.map((match) => groupsOf(runes, match))
    },
    checkPattern(0),
  ),
  builtin(
    'regex.replace',
    ['s', 's', 's'],
    's',
    ({ meter }, text: string, pattern: string, by: string) => replace(text, pattern, by, meter),
    checkPattern(1),
  ),
  builtin(
    'regex.template_match',
    ['s', 's', 's', 's'],
    'b',
    ({ meter }, template: string, text: string, open: string, close: string) =>
      templateMatch(template, text, open, close, meter),
  ),
  builtin(
    'glob.match',
    ['s', 'za', 's'],
    'b',
    ({ meter }, pattern: string, delimiters: Value, text: string) => glob(pattern, delimiters, text, meter),
  ),
  builtin('glob.quote_meta', ['s'], 's', (_, pattern: string) => pattern.replace(/[*?\\[\]{}]/g, '\\$&')),
]
