/** Entries with one JSON object a line, read a page at a time: a ledger of 50,000 tokens is never one text. */
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { depthOf } from '../http/body'
import { doubt } from './doubt'

/** A token has 32,768 characters at most, and stands in a small object. */
const lineMaxBytes = 64 * 1024
const lineMaxDepth = 3

type Check = (row: JsonObject) => boolean

/** Pages of rows, in order. Throws Doubt about the first line that is not one. */
export function* pagesOf<Row>(
  name: string,
  content: Uint8Array,
  isRow: Check,
  rowsPerPage = 2_000,
): Generator<Row[]> {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  let page: Row[] = []
  let line = 0
  for (let at = 0; at < bytes.length; ) {
    line += 1
    const end = bytes.indexOf(10, at)
    if (end < 0) doubt(name, `The last line of "${name}" does not end`)
    if (end - at > lineMaxBytes) {
      doubt(name, `Line ${line} of "${name}" has more than ${lineMaxBytes} bytes`, undefined, line)
    }
    page.push(rowOf<Row>(name, bytes.toString('utf8', at, end), line, isRow))
    at = end + 1
    if (page.length < rowsPerPage) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

/** All rows at once. */
export function allLines<Row>(name: string, content: Uint8Array, isRow: Check): Row[] {
  return [...pagesOf<Row>(name, content, isRow)].flat()
}

function rowOf<Row>(name: string, text: string, line: number, isRow: Check): Row {
  let json: unknown
  try {
    json = depthOf(text) > lineMaxDepth ? undefined : JSON.parse(text)
  } catch {
    json = undefined
  }
  if (!isJsonObject(json) || !isRow(json))
    doubt(name, `Line ${line} of "${name}" is not a ledger's`, undefined, line)
  return json as Row
}

export function isLedgerLine({ seq, token, prevHash, hash }: JsonObject): boolean {
  return Number.isSafeInteger(seq) && [token, prevHash, hash].every((member) => typeof member === 'string')
}

export function isHeadLine({ seq, jws }: JsonObject): boolean {
  return Number.isSafeInteger(seq) && typeof jws === 'string'
}
