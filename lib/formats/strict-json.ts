/*
 * JSON text as a value with places. Strict: what RFC 8259 does not have is an error with a sentence of its own, and so
 * is what would be lost on the way to a value and back (doubled names, digits beyond a double, half characters).
 *
 * A hostile text costs little: one pass over its tokens first refuses depth and size, and only a text within the
 * bounds becomes a tree.
 *
 *   text ──scan──▶ too long, too deep, too many? stop ──parse──▶ syntax errors? stop ──walk──▶ doubled names, numbers
 */
import { createScanner, type Node, type ParseError, parseTree } from 'jsonc-parser'
import type { Diagnostic } from '@/lib/base/diagnostic'
import type { Json } from '@/lib/base/json'
import { maxDiagnostics } from './kept-diagnostics'
import { lineTable } from './line-table'

export const maxTextBytes = 8 * 1024 * 1024
export const maxDepth = 64
/** 5,000 nodes of 40 values and 20,000 edges of 8 fit. */
export const maxValues = 400_000

/** Puts diagnostics in the order of the text. */
export function byPlace(a: Diagnostic, b: Diagnostic): number {
  return a.line - b.line || a.column - b.column
}

export interface SourceText {
  /** Absent when the text is no JSON or beyond the bounds. */
  value?: Json
  diagnostics: Diagnostic[]
  /** The place of a member or element, or of the nearest thing around it that exists. */
  placeOf(path: readonly (string | number)[], what?: 'name' | 'value'): { line: number; column: number }
}

/** Bounds on lists at the top level, by member name: `{ nodes: 5000 }`. */
export type ListBounds = Readonly<Record<string, number>>

/** Reads a JSON text. Codes begin with `prefix` and an underscore. */
export function readStrictJson(text: string, prefix: string, bounds: ListBounds): SourceText {
  const diagnostics: Diagnostic[] = []
  const lines = lineTable(text)
  const say: Say = (offset, code, message, mend, path = '') => {
    if (diagnostics.length < maxDiagnostics)
      diagnostics.push({
        severity: 'error',
        code: `${prefix}_${code}`,
        message,
        mend,
        ...lines.at(offset),
        path,
      })
  }
  const nowhere = { diagnostics, placeOf: () => ({ line: 1, column: 1 }) }
  if (!withinLength(text, say)) return nowhere
  // A byte order mark is no part of JSON, yet editors write it; a space has the same length.
  const json = text.startsWith('\uFEFF') ? ` ${text.slice(1)}` : text
  if (json.trim() === '') {
    say(0, 'empty', 'The text is empty.', 'Write a workflow.')
    return nowhere
  }
  if (!scan(json, bounds, say)) return nowhere
  const root = parse(json, say)
  if (!root) return nowhere
  checkTree(root, json, say)
  const value = jsonOf(root)
  if (diagnostics.length === 0) crossCheck(json, say)
  return { value, diagnostics, placeOf: (path, what) => lines.at(offsetOf(root, path, what ?? 'value')) }
}

type Say = (offset: number, code: string, message: string, mend: string, path?: string) => void

function withinLength(text: string, say: Say): boolean {
  const tooLong =
    text.length > maxTextBytes ||
    (text.length * 3 > maxTextBytes && new TextEncoder().encode(text).length > maxTextBytes)
  if (!tooLong) return true
  say(
    0,
    'too_long',
    'The text is longer than 8 MiB, which is more than any workflow within the bounds needs.',
    'Split the workflow into smaller ones.',
  )
  return false
}

// jsonc-parser's token kinds; its enum is ambient and cannot be imported under isolated modules.
const token = { openBrace: 1, closeBrace: 2, openBracket: 3, closeBracket: 4, comma: 5, string: 10 } as const
const firstValueToken = 7
const lastValueToken = 11
const lineComment = 12
const blockComment = 13
const lineBreak = 14
const trivia = 15
const endOfFile = 17

/** One pass over the tokens: bounds, comments, trailing commas. False when the text is not worth a tree. */
function scan(text: string, bounds: ListBounds, say: Say): boolean {
  const scanner = createScanner(text, false)
  const lists = topLevelLists(bounds)
  let depth = 0
  let values = 0
  let commaAt = -1
  for (let kind: number = scanner.scan(); kind !== endOfFile; kind = scanner.scan()) {
    if (kind === lineBreak || kind === trivia) continue
    const offset = scanner.getTokenOffset()
    if (kind === lineComment || kind === blockComment) {
      say(offset, 'comment', 'JSON has no comments, and one begins here.', 'Remove the comment.')
      continue
    }
    const closes = kind === token.closeBrace || kind === token.closeBracket
    if (closes && commaAt >= 0)
      say(commaAt, 'trailing_comma', 'Nothing follows this comma.', 'Remove the comma.')
    commaAt = kind === token.comma ? offset : -1
    if (kind === token.openBrace || kind === token.openBracket) depth++
    if (depth > maxDepth) {
      say(offset, 'too_deep', `The text is nested deeper than ${maxDepth} levels.`, 'Flatten it.')
      return false
    }
    if (kind === token.openBrace || kind === token.openBracket || isValue(kind)) values++
    if (values > maxValues) {
      say(
        offset,
        'too_many_values',
        `The text holds more than ${maxValues.toLocaleString('en-US')} values.`,
        'Split the workflow into smaller ones.',
      )
      return false
    }
    const full = lists.take(kind, depth, () => scanner.getTokenValue())
    if (full) {
      const bound = (bounds[full] ?? 0).toLocaleString('en-US')
      say(
        offset,
        `too_many_${full}`,
        `The list "${full}" goes on past ${bound} entries; at most ${bound} are accepted.`,
        'Split the workflow into smaller ones.',
        `/${full}`,
      )
      return false
    }
    if (closes) depth--
  }
  return true
}

function isValue(kind: number): boolean {
  return kind >= firstValueToken && kind <= lastValueToken
}

/** Counts the entries of the bounded lists at the top level while tokens pass; names a list that is over. */
function topLevelLists(bounds: ListBounds) {
  let name = ''
  let inList = ''
  let entries = 0
  return {
    take(kind: number, depth: number, text: () => string): string | undefined {
      if (depth === 1) {
        if (kind === token.string) name = text()
        inList = ''
        return undefined
      }
      if (depth === 2 && kind === token.openBracket && inList === '') {
        inList = Object.hasOwn(bounds, name) ? name : '(another)'
        entries = 1
      } else if (depth === 2 && kind === token.comma && inList !== '') entries++
      else if (depth === 2 && kind === token.closeBracket) inList = ''
      return Object.hasOwn(bounds, inList) && entries > (bounds[inList] ?? 0) ? inList : undefined
    },
  }
}

const syntaxWords: Record<number, [message: string, mend: string]> = {
  1: ['This is not a JSON value.', 'Write a string, number, true, false, null, object or list.'],
  2: ['This number is not written as JSON writes numbers.', 'Write it without a leading zero or plus sign.'],
  3: ['A member name in quotation marks was expected here.', 'Write the name in double quotation marks.'],
  4: ['A value was expected here.', 'Write a value, or remove what calls for one.'],
  5: ['A colon was expected after the member name.', 'Write a colon between name and value.'],
  6: ['A comma was expected here.', 'Separate the entries with a comma.'],
  7: ['A closing brace was expected here.', 'Close the object with "}".'],
  8: ['A closing bracket was expected here.', 'Close the list with "]".'],
  9: ['The text goes on after its end.', 'Remove what follows the first value.'],
  12: ['This string has no end on its line.', 'Close it with a double quotation mark.'],
  13: ['This number breaks off.', 'Write its digits.'],
  14: ['This escape is no Unicode character.', 'Write \\u and four hexadecimal digits.'],
  15: ['This escape does not exist in JSON.', 'Use \\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u.'],
  16: ['A control character stands in this string.', 'Write it as an escape, such as \\n or \\t.'],
}
const commentErrors = new Set([10, 11])

function parse(text: string, say: Say): Node | undefined {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true, disallowComments: false })
  // One slip makes the parser stumble again right behind it; what it says first is what it means.
  const syntax = errors.filter(({ error, offset }, at) => {
    const before = errors[at - 1]
    return !commentErrors.has(error) && !(before && offset <= before.offset + before.length)
  })
  for (const error of syntax.slice(0, 20)) {
    const [message, mend] = syntaxWords[error.error] ?? ['This is not JSON.', 'Correct the syntax.']
    say(error.offset, 'not_json', `The text is not JSON. ${message}`, mend)
  }
  if (syntax.length > 0) return undefined
  if (!root) say(0, 'empty', 'The text holds no JSON value.', 'Write a workflow.')
  return root
}

/** The parser's word is not enough: the text must also be JSON for everybody else. */
function crossCheck(text: string, say: Say): void {
  try {
    JSON.parse(text)
  } catch (error) {
    const words = error instanceof Error ? error.message.slice(0, 120) : 'unreadable'
    say(0, 'not_json', `The text is not JSON: ${words}.`, 'Correct the syntax.')
  }
}

function checkTree(node: Node, text: string, say: Say, path = ''): void {
  if (node.type === 'object') {
    const names = new Set<string>()
    for (const property of node.children ?? []) {
      const [key, value] = property.children ?? []
      if (!key) continue
      const name = String(key.value)
      const inside = `${path}/${escaped(name)}`
      if (names.has(name))
        say(
          key.offset,
          'duplicate_name',
          `The name ${JSON.stringify(name.slice(0, 80))} stands twice in this object; only one of the two would count.`,
          'Remove one of the two.',
          inside,
        )
      names.add(name)
      if (hasHalf(name)) sayHalf(key.offset, inside, say)
      if (value) checkTree(value, text, say, inside)
    }
  } else if (node.type === 'array') {
    for (const [at, child] of (node.children ?? []).entries()) checkTree(child, text, say, `${path}/${at}`)
  } else if (node.type === 'number') {
    const written = text.slice(node.offset, node.offset + node.length)
    if (!holdsExactly(written))
      say(
        node.offset,
        'number_inexact',
        `The number ${written.slice(0, 60)} cannot be kept exactly; it would become ${Number(written)}.`,
        'Write it with fewer digits, or as a string.',
        path,
      )
  } else if (node.type === 'string' && hasHalf(String(node.value))) sayHalf(node.offset, path, say)
}

function hasHalf(text: string): boolean {
  return /\p{Surrogate}/u.test(text)
}

function sayHalf(offset: number, path: string, say: Say): void {
  say(
    offset,
    'half_character',
    'This string holds one half of a surrogate pair, which is no character.',
    'Write both halves, or neither.',
    path,
  )
}

/** True when a double gives back the decimal value that was written, though maybe in other digits. */
export function holdsExactly(written: string): boolean {
  const number = Number(written)
  return Number.isFinite(number) && decimal(written) === decimal(String(number))
}

/** A decimal number as its significant digits and the power of ten of the last of them. */
function decimal(text: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)
  if (!match) return text
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  const power = Number(exponent) - fraction.length + (digits.length - significant.length)
  return `${sign}${significant}e${power}`
}

/** The tree's value, with own members only: `__proto__` is a name like any other. At most `maxDepth` calls deep. */
function jsonOf(node: Node): Json {
  if (node.type === 'array') return (node.children ?? []).map(jsonOf)
  if (node.type !== 'object') return node.value as Json
  return Object.fromEntries(
    (node.children ?? []).map((property) => {
      const [key, value] = property.children ?? []
      return [String(key?.value), value ? jsonOf(value) : null]
    }),
  )
}

function offsetOf(root: Node, path: readonly (string | number)[], what: 'name' | 'value'): number {
  let at = root
  for (const [depth, part] of path.entries()) {
    const next = at.type === 'array' ? at.children?.[Number(part)] : member(at, String(part))
    if (!next) break
    const isLast = depth === path.length - 1
    if (next.type === 'property') {
      const [key, value] = next.children ?? []
      if (isLast && what === 'name') return key?.offset ?? next.offset
      if (!value) return next.offset
      at = value
    } else at = next
  }
  return at.offset
}

function member(object: Node, name: string): Node | undefined {
  if (object.type !== 'object') return undefined
  return object.children?.find((property) => property.children?.[0]?.value === name)
}

/** One part of a JSON pointer (RFC 6901). */
export function escaped(part: string): string {
  return part.replaceAll('~', '~0').replaceAll('/', '~1')
}
