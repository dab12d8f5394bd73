/*
 * TOML text as a value with places. smol-toml reads the values and says what is no TOML; where a value stands is only
 * looked up when something is to be said of it (toml-places.ts), so a text without faults never pays for it.
 *
 * What TOML can say and JSON cannot is refused by place: dates, and numbers that are not finite.
 */
import { parse, TomlDate, TomlError } from 'smol-toml'
import type { Diagnostic } from '@/lib/base/diagnostic'
import type { Json, JsonObject } from '@/lib/base/json'
import type { GraphPath } from '@/lib/workflow/graph-problem'
import type { Fault } from '../fault'
import { lineTable } from '../line-table'
import { maxDepth, maxTextBytes } from '../strict-json'
import { type Tell, telling } from '../tell'
import { dottedKeys } from './key-bounds'
import { locate, offsetOf, type Place } from './toml-places'

export interface TomlSource {
  /** Absent when the text is no TOML, or holds what cannot be kept. */
  value?: JsonObject
  diagnostics: Diagnostic[]
  tell: Tell
  /** The diagnostic of a fault, without telling it. */
  placed(fault: Fault): Diagnostic
}

/**
 * Reads a TOML text. Codes begin with `agentd_`; at most 100 diagnostics are kept, and an error is never left out for
 * a warning's sake, so that none of them means none was found. Never throws.
 */
export function readToml(text: string): TomlSource {
  const diagnostics: Diagnostic[] = []
  // A byte order mark is no part of TOML, yet editors write it; a space has the same length.
  const toml = text.startsWith('\uFEFF') ? ` ${text.slice(1)}` : text
  const lines = lineTable(toml)
  let places: Place | undefined
  const placeOf = (path: GraphPath, what: 'name' | 'value') => {
    if (path.length === 0) return { line: 1, column: 1 }
    places ??= locate(toml)
    return lines.at(offsetOf(places, path, what))
  }
  const { tell, placed } = telling('agentd', diagnostics, placeOf)
  const document = withinBounds(toml, lines, tell, diagnostics) ? parsed(toml, diagnostics) : undefined
  const value = document && (plain(document, [], tell) as JsonObject)
  return { ...(diagnostics.length === 0 ? { value } : {}), diagnostics, tell, placed }
}

/** 5,000 nodes of 30 values and 20,000 edges of 4 fit, with their tables. The parser takes long beyond that. */
const maxAssignments = 300_000
const maxTables = 100_000

/** How often a text occurs, counted to one more than `most`. */
function countOf(wanted: string, text: string, most: number): number {
  let count = 0
  for (let at = text.indexOf(wanted); at >= 0 && count <= most; at = text.indexOf(wanted, at + wanted.length))
    count++
  return count
}

function withinBounds(
  toml: string,
  lines: ReturnType<typeof lineTable>,
  tell: Tell,
  diagnostics: Diagnostic[],
): boolean {
  const tooLong =
    toml.length > maxTextBytes ||
    (toml.length * 3 > maxTextBytes && new TextEncoder().encode(toml).length > maxTextBytes)
  if (tooLong) {
    tell({
      path: [],
      code: 'too_long',
      message: 'The text is longer than 8 MiB, which is more than any workflow within the bounds needs.',
      mend: 'Split the workflow into smaller ones.',
    })
    return false
  }
  if (countOf('=', toml, maxAssignments) > maxAssignments || countOf('\n[', toml, maxTables) > maxTables) {
    tell({
      path: [],
      code: 'too_many_values',
      message: `The text holds more than ${maxAssignments.toLocaleString('en-US')} values or ${maxTables.toLocaleString('en-US')} tables, which is more than any workflow within the bounds needs.`,
      mend: 'Split the workflow into smaller ones.',
    })
    return false
  }
  const keys = dottedKeys(toml)
  if (keys.longest > maxDepth || keys.total > maxAssignments) {
    const isDeep = keys.longest > maxDepth
    diagnostics.push({
      severity: 'error',
      code: isDeep ? 'agentd_no_value' : 'agentd_too_many_values',
      message: isDeep
        ? depthFault.message
        : `The keys of the text have more than ${maxAssignments.toLocaleString('en-US')} parts, which is more than any workflow within the bounds needs.`,
      mend: isDeep ? depthFault.mend : 'Split the workflow into smaller ones.',
      ...lines.at(isDeep ? keys.at : 0),
      path: '',
    })
    return false
  }
  const half = /\p{Surrogate}/u.exec(toml)
  if (!half) return true
  diagnostics.push({
    severity: 'error',
    code: 'agentd_half_character',
    message: 'The text holds one half of a surrogate pair, which is no character.',
    mend: 'Write both halves, or neither.',
    ...lines.at(half.index),
    path: '',
  })
  return false
}

function parsed(toml: string, diagnostics: Diagnostic[]): JsonObject | undefined {
  try {
    return parse(toml, { maxDepth }) as JsonObject
  } catch (error) {
    const isToml = error instanceof TomlError
    diagnostics.push({
      severity: 'error',
      code: 'agentd_not_toml',
      message: `The text is not TOML: ${isToml ? parserWords(error, toml) : 'it cannot be read'}.`,
      mend: 'Correct the text here; what follows is read once it is TOML.',
      line: isToml ? error.line : 1,
      column: isToml ? error.column : 1,
      path: '',
    })
    return undefined
  }
}

/** The parser's own words, without its picture of the text. */
function parserWords(error: TomlError, toml: string): string {
  const [first = ''] = error.message.split('\n')
  const line = toml.split(/\r?\n/, error.line)[error.line - 1] ?? ''
  if (first.includes('control characters are not allowed in strings') && error.column > line.length)
    return 'a text in quotation marks is not closed on its line'
  return first.replace(/^Invalid TOML document:\s*/, '').slice(0, 200) || 'a syntax error'
}

/**
 * The parser's value in objects of the ordinary kind, which can be handed to a browser. What cannot be kept is told and
 * becomes null. `path` is worked on and left as it was.
 */
function plain(value: Json | TomlDate, path: GraphPath, tell: Tell): Json {
  const fault =
    value instanceof TomlDate ? dateFault : path.length > maxDepth ? depthFault : numberFault(value)
  if (fault) {
    tell({ path: [...path], code: 'no_value', ...fault })
    return null
  }
  if (typeof value !== 'object' || value === null) return value
  const inside = (part: string | number, member: Json) => {
    path.push(part)
    const kept = plain(member, path, tell)
    path.pop()
    return kept
  }
  if (Array.isArray(value)) return value.map((entry, at) => inside(at, entry))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inside(name, member)]))
}

const depthFault = {
  message: `The text is nested deeper than ${maxDepth} levels.`,
  mend: 'Flatten it.',
}

const dateFault = {
  message: 'A date stands here; workflows have no dates.',
  mend: 'Write it in quotation marks.',
}

function numberFault(value: unknown): { message: string; mend: string } | undefined {
  if (typeof value !== 'number' || Number.isFinite(value)) return undefined
  return {
    message: 'A number stands here that is infinite, or none at all.',
    mend: 'Write a number of ordinary size.',
  }
}
