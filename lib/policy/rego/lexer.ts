/*
 * Text into tokens. White space separates nothing by itself, but a reference may not have any inside, and statements
 * of a body end at a line's end; so every token says what stood before it.
 */

import { parseNumber, type RegoNumber } from './numbers'
import { type Diagnostics, type Place, RegoFailed } from './refusal'

export type TokenKind = 'name' | 'keyword' | 'number' | 'string' | 'mark' | 'end'

export interface Token extends Place {
  kind: TokenKind
  /** The name, keyword or mark; for strings and numbers the text as written. */
  text: string
  value?: string | RegoNumber
  /** White space or a comment stood before it. */
  spaced: boolean
  /** A line ended before it. */
  fresh: boolean
}

const keywords = new Set(
  'package import default not with as some every else if in contains null true false'.split(' '),
)

const marks = [':=', '==', '!=', '<=', '>=', ...'=<>+-*/%&|()[]{},;:.']

/** True for a word that has a meaning of its own in Rego v1. */
export function isKeyword(word: string): boolean {
  return keywords.has(word)
}

const space = /[ \t\r\n]+|#[^\n]*/y
const name = /[A-Za-z_][A-Za-z0-9_]*/y
const number = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const text = /"(?:[^"\\\n]|\\.)*"/y
const raw = /`[^`]*`/y

/** Reads a source into tokens, the last of kind `end`. What is no token is added to `diagnostics` and ends the reading. */
export function tokensOf(source: string, whole: string, diagnostics: Diagnostics): Token[] {
  const tokens: Token[] = []
  const reader = new Reader(source, whole)
  for (;;) {
    const token = reader.next(diagnostics)
    tokens.push(token)
    if (token.kind === 'end') return tokens
  }
}

class Reader {
  #at = 0
  #line = 1
  #lineStart = 0

  constructor(
    readonly source: string,
    readonly whole: string,
  ) {}

  next(diagnostics: Diagnostics): Token {
    const { spaced, fresh } = this.#skipSpace()
    const place: Place = { source: this.source, line: this.#line, column: this.#at - this.#lineStart + 1 }
    const base = { ...place, spaced, fresh }
    if (this.#at >= this.whole.length) return { ...base, kind: 'end', text: '' }
    const refuse = (message: string): Token => {
      diagnostics.add('rego_parse_error', message, place)
      this.#at = this.whole.length
      return { ...base, kind: 'end', text: '' }
    }
    const first = this.whole[this.#at] as string
    if (first === '$' && /["`]/.test(this.whole[this.#at + 1] ?? '')) {
      diagnostics.add(
        'rego_unsupported',
        'Template strings are not known here; build the text with sprintf',
        place,
      )
      this.#at = this.whole.length
      return { ...base, kind: 'end', text: '' }
    }
    const word = this.#take(name)
    if (word !== undefined) return { ...base, kind: keywords.has(word) ? 'keyword' : 'name', text: word }
    const digits = this.#take(number)
    if (digits !== undefined) return this.#number(digits, base, refuse)
    if (first === '"') {
      const quoted = this.#take(text)
      if (quoted === undefined) return refuse('A string is not closed on its line')
      const value = unquoted(quoted)
      if (value === undefined) return refuse(`${quoted.slice(0, 40)} is not a string as JSON writes it`)
      return { ...base, kind: 'string', text: quoted, value }
    }
    if (first === '`') {
      const quoted = this.#take(raw)
      if (quoted === undefined) return refuse('A raw string is not closed')
      // Go's scanner keeps the text between the quotes as it is.
      return { ...base, kind: 'string', text: quoted, value: quoted.slice(1, -1).toWellFormed() }
    }
    const mark = marks.find((one) => this.whole.startsWith(one, this.#at))
    if (mark === undefined) return refuse(`${JSON.stringify(first)} starts no token of Rego`)
    this.#at += mark.length
    return { ...base, kind: 'mark', text: mark }
  }

  #number(digits: string, base: Omit<Token, 'kind' | 'text'>, refuse: (message: string) => Token): Token {
    if (/^0\d/.test(digits)) return refuse(`${digits} starts with a zero; write the number without it`)
    if (/^[A-Za-z_]/.test(this.whole.slice(this.#at, this.#at + 1)))
      return refuse(`${digits}${this.whole[this.#at]} is neither a number nor a name`)
    let value: RegoNumber | undefined
    try {
      value = parseNumber(digits)
    } catch (cause) {
      if (!(cause instanceof RegoFailed)) throw cause
    }
    return value
      ? { ...base, kind: 'number', text: digits, value }
      : refuse(`${digits.slice(0, 40)} is too big a number`)
  }

  #skipSpace(): { spaced: boolean; fresh: boolean } {
    const from = this.#at
    const line = this.#line
    for (let piece = this.#take(space); piece !== undefined; piece = this.#take(space));
    return { spaced: this.#at > from, fresh: this.#line > line }
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.whole)?.[0]
    if (found === undefined) return undefined
    for (let i = found.indexOf('\n'); i >= 0; i = found.indexOf('\n', i + 1)) {
      this.#line += 1
      this.#lineStart = this.#at + i + 1
    }
    this.#at += found.length
    return found
  }
}

function unquoted(quoted: string): string | undefined {
  try {
    return (JSON.parse(quoted) as string).toWellFormed()
  } catch {
    return undefined
  }
}
