/*
 * What a schema refuses, in this product's words. zod's own sentences speak of "input", "received undefined" and of
 * regular expressions; people who fill in a form or write a workflow are told what is missing, what was found and what
 * was expected. Values themselves are never repeated: an input may hold a secret.
 */
import type { z } from 'zod'
import { quoted } from './graph-problem'

type Issue = z.core.$ZodIssue

/** Values listed in a sentence; more of them help nobody. */
const maxListed = 20
const maxWordsLength = 300

/**
 * One refusal as the end of a sentence about its place, without a full stop: `is missing`, `is a number; text was
 * expected`. `whole` is what was checked; `asked` is what the author of the schema says of the place, if anything.
 */
export function issueWords(issue: Issue, whole: unknown, asked?: string): string {
  const found = valueAtPath(whole, issue.path)
  const own = ownWords(issue)
  if (found === undefined && issue.code !== 'custom') return own ? `is missing. ${own}` : 'is missing'
  return own ? `is not as it should be: ${own}` : libraryWords(issue, found, asked)
}

/** Of which values one is expected: `"warm", "dry"`. */
export function listedValues(values: readonly unknown[]): string {
  const listed = values
    .slice(0, maxListed)
    .map((value) => (typeof value === 'string' ? quoted(value) : String(JSON.stringify(value) ?? value)))
  return `${listed.join(', ')}${values.length > maxListed ? ', …' : ''}`
}

/** A text that goes on in a sentence: without the full stop at its end. */
export function withoutStop(text: string): string {
  return text.trim().replace(/\.+$/, '')
}

/** What the schema's author wrote for this refusal, or undefined where the library speaks. */
function ownWords({ message }: Issue): string | undefined {
  const isLibrary =
    /^(Invalid (input|string|option|number|key|value|[a-z0-9 ]+$)|Too (small|big): |Unrecognized )/
  if (message === '' || message === 'Invalid input' || isLibrary.test(message)) return undefined
  return withoutStop(message).slice(0, maxWordsLength)
}

function libraryWords(issue: Issue, found: unknown, asked: string | undefined): string {
  switch (issue.code) {
    case 'invalid_type':
      return `is ${typeWords(found)}; ${expectedWords[issue.expected] ?? issue.expected} was expected`
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${listedValues(issue.values)}`
        : `is not one of ${listedValues(issue.values)}`
    case 'too_small':
      return `must ${boundWords(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)}`
    case 'too_big':
      return `must ${boundWords(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)}`
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_format':
      return formatWords(issue, asked)
    case 'invalid_union':
      return unionWords(issue, found)
    default:
      return asked ? askedFor(asked) : 'is not what is asked for here'
  }
}

function formatWords(issue: Extract<Issue, { code: 'invalid_format' }>, asked: string | undefined): string {
  if (asked) return askedFor(asked)
  const named = formats[issue.format]
  if (named) return `is not ${named}`
  const pattern = issue.pattern ? ` (pattern ${issue.pattern.slice(0, 120)})` : ''
  return `does not have the form the workflow asks for${pattern}`
}

function askedFor(asked: string): string {
  return `is not as asked for: ${withoutStop(asked).slice(0, maxWordsLength)}`
}

/** Where each alternative wants another type, the types; else no more than that none fits. */
function unionWords(issue: Extract<Issue, { code: 'invalid_union' }>, found: unknown): string {
  const wanted = issue.errors.map(([first, ...more]) =>
    first?.code === 'invalid_type' && first.path.length === 0 && more.length === 0
      ? expectedWords[first.expected]
      : undefined,
  )
  return wanted.length > 0 && wanted.every((words) => words !== undefined)
    ? `is ${typeWords(found)}; ${wanted.join(' or ')} was expected`
    : 'has none of the forms that are accepted here'
}

const expectedWords: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  tuple: 'a list',
  null: 'null',
  never: 'nothing',
}

const formats: Record<string, string> = {
  email: 'an e-mail address',
  url: 'an address (URL)',
  uuid: 'a UUID',
  guid: 'a UUID',
  date: 'a date such as 2026-01-31',
  datetime: 'a point in time such as 2026-01-31T12:00:00Z',
  time: 'a time of day such as 12:00:00',
  duration: 'a duration such as PT5M',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  cidrv4: 'an IPv4 range such as 10.0.0.0/8',
  cidrv6: 'an IPv6 range such as fd00::/8',
  base64: 'base64',
  base64url: 'base64url',
}

function typeWords(found: unknown): string {
  if (found === null) return 'null'
  if (Array.isArray(found)) return 'a list'
  switch (typeof found) {
    case 'string':
      return 'text'
    case 'number':
      return 'a number'
    case 'boolean':
      return found ? 'true' : 'false'
    default:
      return 'an object'
  }
}

function boundWords(origin: string, which: string, bound: number | bigint): string {
  const number = bound.toLocaleString('en-US')
  const counted = { string: 'character', array: 'entr', tuple: 'entr', set: 'entr', object: 'member' }[origin]
  if (counted === undefined) return `be ${which} ${number}`
  const plural = counted === 'entr' ? 'entries' : `${counted}s`
  return `have ${which} ${number} ${Number(bound) !== 1 ? plural : counted === 'entr' ? 'entry' : counted}`
}

function valueAtPath(whole: unknown, path: readonly PropertyKey[]): unknown {
  let here = whole
  for (const part of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, part)) return undefined
    here = (here as Record<PropertyKey, unknown>)[part]
  }
  return here
}
