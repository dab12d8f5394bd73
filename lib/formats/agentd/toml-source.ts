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
import { lineTable } from '../line-table'
import { escaped, maxDepth, maxDiagnostics, maxTextBytes } from '../strict-json'
import { locate, offsetOf, type Place } from './toml-places'

/** A fault at a place of the document. `name` points at the key instead of its value. */
export interface Fault {
  path: GraphPath
  code: string
  message: string
  mend: string
  severity?: Diagnostic['severity']
  what?: 'name' | 'value'
}

export type Tell = (fault: Fault) => void

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
  const placed = ({ path, code, message, mend, severity, what }: Fault): Diagnostic => ({
    severity: severity ?? 'error',
    code: `agentd_${code}`,
    message,
    mend,
    ...placeOf(path, what ?? 'value'),
    path: path.map((part) => `/${escaped(String(part))}`).join(''),
  })
  const tell: Tell = (fault) => {
    if (diagnostics.length < maxDiagnostics) diagnostics.push(placed(fault))
    else if (fault.severity !== 'warning') {
      const warning = diagnostics.findLastIndex(({ severity }) => severity === 'warning')
      if (warning >= 0) diagnostics[warning] = placed(fault)
    }
  }
  const value = withinBounds(toml, lines, tell, diagnostics) ? parsed(toml, diagnostics) : undefined
  if (value) tellUnkeepable(value, [], tell)
  return { ...(diagnostics.length === 0 ? { value } : {}), diagnostics, tell, placed }
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
      message: `The text is not TOML: ${isToml ? parserWords(error) : 'it cannot be read'}.`,
      mend: 'Correct the text here; what follows is read once it is TOML.',
      line: isToml ? error.line : 1,
      column: isToml ? error.column : 1,
      path: '',
    })
    return undefined
  }
}

/** The parser's own words, without its picture of the text. */
function parserWords(error: TomlError): string {
  const [first = ''] = error.message.split('\n')
  return first.replace(/^Invalid TOML document:\s*/, '').slice(0, 200) || 'a syntax error'
}

function tellUnkeepable(value: Json | TomlDate, path: GraphPath, tell: Tell): void {
  const fault = value instanceof TomlDate ? dateFault : numberFault(value)
  if (fault) tell({ path, code: 'no_value', ...fault })
  else if (Array.isArray(value))
    for (const [at, entry] of value.entries()) tellUnkeepable(entry, [...path, at], tell)
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) tellUnkeepable(member, [...path, name], tell)
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
