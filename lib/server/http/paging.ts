/*
 * Lists come in pages. A cursor is where the next page begins: opaque to whoever holds it, and worth nothing but that
 * place, so it needs no signature; what comes back is parsed like any other input.
 */
import type { z } from 'zod'
import { Problem } from '@/lib/base/problem'
import { parseWith } from './body'

export const defaultItemsPerPage = 50
export const maxItemsPerPage = 200
const maxCursorLength = 1_000

export interface PageRequest {
  limit: number
  cursor?: string
}

/** `limit` (1 to 200, 50 unless said) and `cursor` of a list request. Throws Problem `bad_request`. */
export function pageOf(url: URL): PageRequest {
  const asked = url.searchParams.get('limit')
  const limit = asked === null ? defaultItemsPerPage : Number(asked)
  if (!Number.isInteger(limit) || limit < 1 || limit > maxItemsPerPage) {
    throw new Problem(
      'bad_request',
      `"limit" is ${JSON.stringify(asked?.slice(0, 40))}; give a whole number from 1 to ${maxItemsPerPage}.`,
    )
  }
  const cursor = url.searchParams.get('cursor')
  return cursor === null ? { limit } : { limit, cursor }
}

/** A cursor from the place it names. */
export function cursorFor(place: unknown): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url')
}

/** The place a cursor names. Throws Problem `cursor_invalid` for anything this list did not give out. */
export function placeOf<T>(cursor: string, schema: z.ZodType<T>): T {
  try {
    if (cursor.length > maxCursorLength) throw new RangeError('too long')
    return schema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')))
  } catch {
    throw new Problem(
      'cursor_invalid',
      'The "cursor" is not one that this list gave out; begin again without it.',
    )
  }
}

/** Query parameters through a schema of strings. A parameter given twice is refused rather than half read. */
export function queryOf<T>(url: URL, schema: z.ZodType<T>): T {
  const values: Record<string, string> = Object.create(null)
  for (const [name, value] of url.searchParams) {
    if (name in values)
      throw new Problem(
        'bad_request',
        `The query has ${JSON.stringify(name.slice(0, 40))} twice; give it once.`,
      )
    values[name] = value
  }
  return parseWith(schema, { ...values }, 'query')
}
