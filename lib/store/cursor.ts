import { Problem } from '@/lib/base/problem'
import type { PageAsk } from './store'

/** Rows on one page at most. */
const maxPageRows = 500

/** What a cursor remembers: the sort key of the last row of its page. Numbers are times; null is "no deadline". */
export type SortKey = (string | number | null)[]

/** An opaque cursor, base64url. `list` names the list it belongs to. */
export function writeCursor(list: string, key: SortKey): string {
  return Buffer.from(JSON.stringify([list, ...key])).toString('base64url')
}

/**
 * The sort key in a cursor. Throws Problem `cursor_invalid` when the text was not written by `writeCursor` for this
 * list. `shape` says of each part what it may be: `s`tring, `n`umber, number `or null`.
 */
export function readCursor(list: string, shape: ('s' | 'n' | 'n?')[], cursor: string): SortKey {
  let parts: unknown
  try {
    parts = cursor.length <= 500 ? JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) : undefined
  } catch {
    parts = undefined
  }
  const key = Array.isArray(parts) && parts[0] === list ? parts.slice(1) : []
  const fits = shape.every((kind, index) => {
    const part: unknown = key[index]
    if (kind === 's') return typeof part === 'string'
    return Number.isSafeInteger(part) || (kind === 'n?' && part === null)
  })
  if (fits && key.length === shape.length) return key
  throw new Problem(
    'cursor_invalid',
    `The cursor "${cursor.slice(0, 40)}" was not given out by this list; start again without a cursor`,
  )
}

/** The number of rows of a page. Throws Problem `bad_request` outside 1 to 500. */
export function pageRows(page: PageAsk): number {
  if (Number.isInteger(page.limit) && page.limit >= 1 && page.limit <= maxPageRows) return page.limit
  throw new Problem('bad_request', `A page of ${page.limit} rows was asked for; ask for 1 to ${maxPageRows}`)
}
