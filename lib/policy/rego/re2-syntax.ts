/*
 * Regular expressions in Go's syntax (RE2), read into a tree. What RE2 refuses is no pattern here either, above all
 * backreferences and look-around; what RE2 takes and this reader does not know ends with RegoFailed.
 */
import { BuiltinError, RegoFailed } from './refusal'

/** Says whether a code point belongs. */
export type CharSet = (code: number) => boolean

export type Pattern =
  | { kind: 'empty' }
  | { kind: 'char'; set: CharSet }
  | { kind: 'start' | 'end' | 'lineStart' | 'lineEnd' | 'boundary' | 'noBoundary' }
  | { kind: 'sequence'; items: Pattern[] }
  | { kind: 'choice'; items: Pattern[] }
  | { kind: 'repeat'; item: Pattern; least: number; most: number; greedy: boolean }
  | { kind: 'group'; item: Pattern; index: number }

/** Longest pattern that is read, in characters. */
const longest = 5_000
/** RE2's own bound on counts. */
const mostRepeats = 1_000

interface Flags {
  fold: boolean
  multiline: boolean
  dotAll: boolean
  ungreedy: boolean
}

/** Reads a pattern; gives its tree, the number of groups and their names. Throws BuiltinError for what is no pattern. */
export function readPattern(text: string): { pattern: Pattern; groups: number; names: Map<string, number> } {
  if (text.length > longest)
    throw new RegoFailed('eval_bound', `A pattern of more than ${longest} characters`)
  const reader = new Reader([...text])
  const pattern = reader.whole()
  return { pattern, groups: reader.groups, names: reader.names }
}

class Reader {
  #at = 0
  #depth = 0
  groups = 0
  readonly names = new Map<string, number>()
  #flags: Flags = { fold: false, multiline: false, dotAll: false, ungreedy: false }

  constructor(readonly runes: string[]) {}

  whole(): Pattern {
    const pattern = this.#choice()
    if (this.#at < this.runes.length) this.#wrong('unexpected )')
    return pattern
  }

  #wrong(what: string): never {
    throw new BuiltinError(`error parsing regexp: ${what}`)
  }

  get #next(): string | undefined {
    return this.runes[this.#at]
  }

  #skip(text: string): boolean {
    const runes = [...text]
    if (!runes.every((rune, i) => this.runes[this.#at + i] === rune)) return false
    this.#at += runes.length
    return true
  }

  #choice(): Pattern {
    this.#depth += 1
    if (this.#depth > 200) throw new RegoFailed('eval_bound', 'A pattern nests deeper than 200 levels')
    const items = [this.#sequence()]
    while (this.#skip('|')) items.push(this.#sequence())
    this.#depth -= 1
    return items.length === 1 ? (items[0] as Pattern) : { kind: 'choice', items }
  }

  #sequence(): Pattern {
    const items: Pattern[] = []
    while (this.#next !== undefined && this.#next !== '|' && this.#next !== ')') {
      const item = this.#atom()
      if (item) items.push(this.#repeated(item))
    }
    return items.length === 1 ? (items[0] as Pattern) : { kind: 'sequence', items }
  }

  #repeated(item: Pattern): Pattern {
    const count = this.#count()
    if (!count) return item
    const lazy = this.#skip('?')
    if (this.#count()) this.#wrong('invalid nested repetition operator')
    if (count[0] > mostRepeats || (count[1] !== Number.POSITIVE_INFINITY && count[1] > mostRepeats))
      this.#wrong('invalid repeat count')
    if (count[1] < count[0]) this.#wrong('invalid repeat count')
    return { kind: 'repeat', item, least: count[0], most: count[1], greedy: lazy === this.#flags.ungreedy }
  }

  #count(): [number, number] | undefined {
    if (this.#skip('*')) return [0, Number.POSITIVE_INFINITY]
    if (this.#skip('+')) return [1, Number.POSITIVE_INFINITY]
    if (this.#skip('?')) return [0, 1]
    if (this.#next !== '{') return undefined
    const rest = this.runes.slice(this.#at, this.#at + 30).join('')
    const found = /^\{(\d+)(,(\d*))?\}/.exec(rest)
    if (!found) return undefined
    // A brace that counts nothing is taken as itself by RE2: numbers with leading zeros are such.
    if (/^0\d/.test(found[1] ?? '') || /^0\d/.test(found[3] ?? '')) return undefined
    this.#at += found[0].length
    const least = Number(found[1])
    if (found[2] === undefined) return [least, least]
    return [least, found[3] === '' ? Number.POSITIVE_INFINITY : Number(found[3])]
  }

  /** Undefined for what stands for nothing: flags, an empty \Q\E. */
  #atom(): Pattern | undefined {
    const rune = this.#next as string
    switch (rune) {
      case '(':
        return this.#group()
      case '[':
        return { kind: 'char', set: this.#bracket() }
      case '.':
        this.#at += 1
        return { kind: 'char', set: this.#flags.dotAll ? () => true : (code) => code !== 10 }
      case '^':
        this.#at += 1
        return { kind: this.#flags.multiline ? 'lineStart' : 'start' }
      case '$':
        this.#at += 1
        return { kind: this.#flags.multiline ? 'lineEnd' : 'end' }
      case '*':
      case '+':
      case '?':
        return this.#wrong('missing argument to repetition operator')
      case '\\':
        return this.#escape()
    }
    if (rune === '{' && this.#countAhead()) this.#wrong('missing argument to repetition operator')
    this.#at += 1
    return this.#literal(rune.codePointAt(0) as number)
  }

  #countAhead(): boolean {
    const from = this.#at
    const found = this.#count() !== undefined
    this.#at = from
    return found
  }

  #literal(code: number): Pattern {
    return { kind: 'char', set: this.#fold((one) => one === code, [code]) }
  }

  /** Without case, a set takes the other case of its members as well. */
  #fold(set: CharSet, literals?: number[]): CharSet {
    if (!this.#flags.fold) return set
    // Sets that reach beyond ASCII would need the cases of every script.
    if (literals?.some((code) => code > 127))
      throw new RegoFailed(
        'eval_unsupported',
        'A pattern without case with letters that are not ASCII is not known here',
      )
    return (code) => set(code) || casesOf(code).some(set)
  }

  #group(): Pattern | undefined {
    this.#at += 1
    const outer = { ...this.#flags }
    if (!this.#skip('?')) return this.#captured(undefined, outer)
    if (
      this.#skip('P<') ||
      (this.#next === '<' && !'=!'.includes(this.runes[this.#at + 1] ?? '=') && this.#skip('<'))
    ) {
      const end = this.runes.indexOf('>', this.#at)
      const name = end < 0 ? '' : this.runes.slice(this.#at, end).join('')
      if (!/^\w+$/.test(name) || this.names.has(name)) this.#wrong('invalid named capture')
      this.#at = end + 1
      return this.#captured(name, outer)
    }
    return this.#flagged(outer)
  }

  #captured(name: string | undefined, outer: Flags): Pattern {
    this.groups += 1
    const index = this.groups
    if (name !== undefined) this.names.set(name, index)
    return { kind: 'group', item: this.#closed(outer), index }
  }

  #closed(outer: Flags): Pattern {
    const item = this.#choice()
    if (!this.#skip(')')) this.#wrong('missing closing )')
    this.#flags = outer
    return item
  }

  #flagged(outer: Flags): Pattern | undefined {
    const flags = { ...this.#flags }
    let on = true
    let seen = false
    for (;;) {
      const rune = this.#next
      this.#at += 1
      const key = ({ i: 'fold', m: 'multiline', s: 'dotAll', U: 'ungreedy' } as const)[rune ?? '']
      if (key) {
        flags[key] = on
        seen = true
      } else if (rune === '-' && on) {
        on = false
        seen = false
      } else if ((rune === ')' || rune === ':') && (on || seen)) {
        this.#flags = flags
        if (rune === ')') return undefined
        return this.#closed(outer)
      } else return this.#wrong('invalid or unsupported Perl syntax')
    }
  }

  #escape(): Pattern | undefined {
    const rune = this.runes[this.#at + 1]
    const assertions = { A: 'start', z: 'end', b: 'boundary', B: 'noBoundary' } as const
    if (rune !== undefined && rune in assertions) {
      this.#at += 2
      return { kind: assertions[rune as keyof typeof assertions] }
    }
    if (rune === 'Q') return this.#quoted()
    if (rune === 'C') throw new RegoFailed('eval_unsupported', 'A pattern with \\C is not known here')
    const set = this.#classEscape()
    if (set) return { kind: 'char', set: this.#fold(set) }
    return this.#literal(this.#charEscape())
  }

  #quoted(): Pattern {
    this.#at += 2
    const items: Pattern[] = []
    while (this.#next !== undefined && !this.#skip('\\E')) {
      items.push(this.#literal((this.#next as string).codePointAt(0) as number))
      this.#at += 1
    }
    // What counts after the quotation counts its last character alone.
    const last = items.pop()
    if (last) return { kind: 'sequence', items: [...items, this.#repeated(last)] }
    if (this.#countAhead())
      throw new RegoFailed('eval_unsupported', 'A count after an empty \\Q\\E is not known here')
    return { kind: 'sequence', items }
  }

  /** \d \s \w \p and their opposites, when one stands here. */
  #classEscape(): CharSet | undefined {
    const rune = this.runes[this.#at + 1] ?? ''
    const perl = perlClasses[rune.toLowerCase()]
    if (perl) {
      this.#at += 2
      if (rune !== rune.toLowerCase()) this.#refuseFolded()
      return rune === rune.toLowerCase() ? perl : (code) => !perl(code)
    }
    if (rune !== 'p' && rune !== 'P') return undefined
    this.#refuseFolded()
    this.#at += 2
    return this.#unicode(rune === 'P')
  }

  /** Folding such a class takes tables that are not here. */
  #refuseFolded(): void {
    if (this.#flags.fold)
      throw new RegoFailed('eval_unsupported', 'A pattern without case with such a class is not known here')
  }

  #unicode(negated: boolean): CharSet {
    let name = this.#next ?? this.#wrong('invalid character class range')
    this.#at += 1
    if (name === '{') {
      const end = this.runes.indexOf('}', this.#at)
      if (end < 0) this.#wrong('invalid character class range')
      name = this.runes.slice(this.#at, end).join('')
      this.#at = end + 1
    }
    const opposite = negated !== name.startsWith('^')
    const set = unicodeClass(name.replace(/^\^/, ''))
    return opposite ? (code) => !set(code) : set
  }

  #charEscape(): number {
    this.#at += 1
    const rune = this.#next ?? this.#wrong('trailing backslash at end of expression')
    this.#at += 1
    const simple: Record<string, number> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 }
    if (rune in simple) return simple[rune] as number
    if (rune === 'x') return this.#hex()
    if (/[0-7]/.test(rune)) {
      if (rune !== '0' && !/[0-7]/.test(this.#next ?? '')) this.#wrong('invalid escape sequence')
      let digits = rune
      while (digits.length < 3 && /[0-7]/.test(this.#next ?? '')) digits += this.runes[this.#at++]
      return Number.parseInt(digits, 8)
    }
    const code = rune.codePointAt(0) as number
    if (code < 128 && !/[A-Za-z0-9]/.test(rune)) return code
    return this.#wrong('invalid escape sequence')
  }

  #hex(): number {
    let digits: string
    if (this.#skip('{')) {
      const end = this.runes.indexOf('}', this.#at)
      digits = end < 0 ? '' : this.runes.slice(this.#at, end).join('')
      this.#at = end + 1
    } else {
      digits = this.runes.slice(this.#at, this.#at + 2).join('')
      this.#at += 2
      if (digits.length < 2) this.#wrong('invalid escape sequence')
    }
    const code = /^[0-9A-Fa-f]{1,6}$/.test(digits) ? Number.parseInt(digits, 16) : Number.POSITIVE_INFINITY
    return code <= 0x10ffff ? code : this.#wrong('invalid escape sequence')
  }

  #bracket(): CharSet {
    this.#at += 1
    const negated = this.#skip('^')
    const sets: CharSet[] = []
    for (let first = true; first || this.#next !== ']'; first = false) {
      if (this.#next === undefined) this.#wrong('missing closing ]')
      sets.push(this.#bracketItem(first))
    }
    this.#at += 1
    // RE2's flags leave newlines in negated sets, so [^a] takes them.
    return negated ? (code) => !sets.some((set) => set(code)) : (code) => sets.some((set) => set(code))
  }

  #bracketItem(first: boolean): CharSet {
    if (this.#next === '-' && !first && this.runes[this.#at + 1] !== ']')
      this.#wrong('invalid character class range')
    const posix = /^\[:(\^?)(\w+):\]/.exec(this.runes.slice(this.#at, this.#at + 20).join(''))
    if (posix) {
      const name = posix[2] as string
      const set = Object.hasOwn(posixClasses, name)
        ? (posixClasses[name] as CharSet)
        : this.#wrong('invalid character class range')
      if (posix[1]) this.#refuseFolded()
      this.#at += posix[0].length
      return this.#fold(posix[1] ? (code) => !set(code) : set)
    }
    if (this.#next === '\\') {
      const set = this.#classEscape()
      if (set) return this.#fold(set)
    }
    const low = this.#bracketChar()
    if (this.#next !== '-' || this.runes[this.#at + 1] === ']' || this.runes[this.#at + 1] === undefined)
      return this.#fold((code) => code === low, [low])
    this.#at += 1
    const high = this.#bracketChar()
    if (high < low) this.#wrong('invalid character class range')
    return this.#fold((code) => code >= low && code <= high, [low, high])
  }

  #bracketChar(): number {
    if (this.#next === '\\') return this.#charEscape()
    const rune = this.#next ?? this.#wrong('missing closing ]')
    this.#at += 1
    return rune.codePointAt(0) as number
  }
}

const between =
  (low: string, high: string): CharSet =>
  (code) =>
    code >= low.charCodeAt(0) && code <= high.charCodeAt(0)
const digit = between('0', '9')
const upper = between('A', 'Z')
const lower = between('a', 'z')
export const wordChar: CharSet = (code) => digit(code) || upper(code) || lower(code) || code === 95

const perlClasses: Record<string, CharSet> = {
  d: digit,
  s: (code) => code === 9 || code === 10 || code === 12 || code === 13 || code === 32,
  w: wordChar,
}

const posixClasses: Record<string, CharSet> = {
  alnum: (code) => digit(code) || upper(code) || lower(code),
  alpha: (code) => upper(code) || lower(code),
  ascii: (code) => code < 128,
  blank: (code) => code === 9 || code === 32,
  cntrl: (code) => code < 32 || code === 127,
  digit,
  graph: (code) => code > 32 && code < 127,
  lower,
  print: (code) => code >= 32 && code < 127,
  punct: (code) => code > 32 && code < 127 && !digit(code) && !upper(code) && !lower(code),
  space: (code) => (code >= 9 && code <= 13) || code === 32,
  upper,
  word: wordChar,
  xdigit: (code) => digit(code) || between('A', 'F')(code) || between('a', 'f')(code),
}

const categories = new Set(
  'C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs'.split(
    ' ',
  ),
)
const scripts = new Set(
  'Arabic Armenian Bengali Cyrillic Devanagari Georgian Greek Han Hangul Hebrew Hiragana Katakana Latin Thai Common'.split(
    ' ',
  ),
)

function unicodeClass(name: string): CharSet {
  if (name === 'Any') return () => true
  const known = categories.has(name) ? `\\p{${name}}` : scripts.has(name) ? `\\p{Script=${name}}` : undefined
  if (known === undefined || name === 'C')
    throw new RegoFailed('eval_unsupported', `The class \\p{${name}} is not known here`)
  const set = new RegExp(known, 'u')
  return (code) => set.test(String.fromCodePoint(code))
}

/** The other cases of a code point by simple folding, as far as ASCII takes part: two signs fold to a letter of it. */
function casesOf(code: number): number[] {
  if (code === 0x212a) return [75, 107]
  if (code === 0x17f) return [83, 115]
  if (upper(code)) return [code + 32, ...(code === 75 ? [0x212a] : code === 83 ? [0x17f] : [])]
  if (lower(code)) return [code - 32, ...(code === 107 ? [0x212a] : code === 115 ? [0x17f] : [])]
  return []
}
