/*
 * The text of a pack as a value with places, whichever of its two languages it is in, and the way to tell faults of it.
 */
import type { Diagnostic } from '@/lib/base/diagnostic'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import type { GraphPath } from '@/lib/workflow/graph-problem'
import type { Fault } from '../fault'
import { lineTable } from '../line-table'
import { maxTextBytes, readStrictJson } from '../strict-json'
import { pointerOf, type Tell, telling } from '../tell'
import { readYaml } from './yaml-source'

export type PackLanguage = 'yaml' | 'json'

export interface PackSource {
  language: PackLanguage
  /** Absent when the text cannot be read, or holds no object. */
  value?: JsonObject
  diagnostics: Diagnostic[]
  tell: Tell
  /** The diagnostic of a fault, without telling it. */
  placed(fault: Fault): Diagnostic
}

/**
 * Reads a text as YAML or JSON. Codes begin with `promptpack_`; at most 100 diagnostics are kept, and an error is never
 * left out for a warning's sake. Never throws.
 */
export function readPackSource(text: string, filename = ''): PackSource {
  const language = languageOf(text, filename)
  const { value, diagnostics, placeOf } = language === 'json' ? readJson(text) : readYamlText(text)
  const { tell, placed } = telling('promptpack', diagnostics, placeOf)
  if (value !== undefined && diagnostics.length === 0 && !isJsonObject(value))
    tell({
      path: [],
      code: 'no_object',
      message: 'The text is no object; a pack has members such as id, name, prompts and workflow.',
      mend: 'Write the members of a pack.',
    })
  const isWhole = diagnostics.length === 0 && isJsonObject(value)
  return { language, ...(isWhole ? { value } : {}), diagnostics, tell, placed }
}

/** A name that ends in .yaml or .json decides; else a text that begins as JSON objects do is JSON. */
export function languageOf(text: string, filename = ''): PackLanguage {
  if (/\.ya?ml$/i.test(filename)) return 'yaml'
  if (/\.json$/i.test(filename)) return 'json'
  return /^\uFEFF?\s*\{\s*["}]/.test(text) ? 'json' : 'yaml'
}

interface Readable {
  value?: Json
  diagnostics: Diagnostic[]
  placeOf(path: GraphPath, what: 'name' | 'value'): { line: number; column: number }
}

function readJson(text: string): Readable {
  const source = readStrictJson(text, 'promptpack', {})
  const reserved = source.value === undefined ? undefined : protoPath(source.value)
  if (reserved)
    source.diagnostics.push({
      severity: 'error',
      code: 'promptpack_bad_name',
      message: '"__proto__" is reserved and cannot be a name.',
      mend: 'Choose another name.',
      ...source.placeOf(reserved, 'name'),
      path: pointerOf(reserved),
    })
  return source
}

function protoPath(value: Json): GraphPath | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const inside = name === '__proto__' ? [] : protoPath(member)
    if (inside) return [Array.isArray(value) ? Number(name) : name, ...inside]
  }
  return undefined
}

function readYamlText(text: string): Readable {
  const lines = lineTable(text)
  const fault = outside(text)
  if (fault)
    return {
      diagnostics: [{ severity: 'error', ...fault, line: 1, column: 1, path: '' }],
      placeOf: () => lines.at(0),
    }
  // A byte order mark is no part of the document; a space would indent its first line.
  const shift = text.startsWith('\uFEFF') ? 1 : 0
  const { value, faults, offsetOf } = readYaml(text.slice(shift))
  const diagnostics = faults.map(
    ({ offset, code, message, mend, path }): Diagnostic => ({
      severity: 'error',
      code: `promptpack_${code}`,
      message,
      mend,
      ...lines.at(offset + shift),
      path,
    }),
  )
  return {
    ...(value === undefined ? {} : { value }),
    diagnostics,
    placeOf: (path, what) => lines.at(path.length === 0 ? 0 : offsetOf(path, what) + shift),
  }
}

function outside(text: string): { code: string; message: string; mend: string } | undefined {
  const isLong =
    text.length > maxTextBytes ||
    (text.length * 3 > maxTextBytes && new TextEncoder().encode(text).length > maxTextBytes)
  if (isLong)
    return {
      code: 'promptpack_too_long',
      message: 'The text is longer than 8 MiB, which is more than any pack within the bounds needs.',
      mend: 'Split the pack into smaller ones.',
    }
  if (text.isWellFormed()) return undefined
  return {
    code: 'promptpack_half_character',
    message: 'The text holds one half of a surrogate pair, which is no character.',
    mend: 'Write both halves, or neither.',
  }
}
