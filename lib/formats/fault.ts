/*
 * A fault at a place of a text, in whichever language it is, and the words for what was found there.
 */
import type { Diagnostic } from '@/lib/base/diagnostic'
import type { Json } from '@/lib/base/json'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'

/** `name` points at the member's name instead of its value. */
export interface Fault {
  path: GraphPath
  code: string
  message: string
  mend: string
  severity?: Diagnostic['severity']
  what?: 'name' | 'value'
}

/** A member is there and is not what it must be; `expected` in a person's words. */
export function wrongType(path: GraphPath, found: Json | undefined, expected: string): Fault {
  return {
    path,
    code: 'wrong_type',
    message: `${quoted(String(path.at(-1)))} is ${shown(found)}; ${expected} was expected.`,
    mend: `Write ${expected}.`,
  }
}

/** What kind of value it is: "a list". */
export function kindOf(value: Json | undefined): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'boolean' ? String(value) : `a ${typeof value === 'string' ? 'text' : typeof value}`
}

/** Short values themselves, of others their kind. */
export function shown(value: Json | undefined): string {
  return typeof value === 'string' ? quoted(value) : typeof value === 'number' ? String(value) : kindOf(value)
}
