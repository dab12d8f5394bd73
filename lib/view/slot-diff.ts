/*
 * A slot at two moments. Of a `replace` slot the one value is compared with the other. Of an `append` slot the entries
 * are: those that both share need not be read at all, only those that came (or, across a rollback or between two runs,
 * went) are, so a log of 50,000 entries is compared by what was added to it.
 */
import { type ComparedValue, type ValueDiff, valueDiff } from './diff/value-diff'
import { isJsonType } from './value-content'

/** Entries of one side that are read; more are not told apart on one screen. */
export const maxEntries = 100
/** Of what both share, the last entries are shown before what was added. */
const entriesAround = 2

export interface EntryRef {
  hash: string
  mediaType: string
}

/** What of two sides has to be read, and how many entries before that are the same. */
export interface SlotWindow<T extends EntryRef> {
  before: T[]
  after: T[]
  sameBefore: number
  /** Entries at the end that are left out. */
  leftOut: number
}

/** The entries of two sides that differ, with a few before them. */
export function slotWindow<T extends EntryRef>(before: readonly T[], after: readonly T[]): SlotWindow<T> {
  let shared = 0
  while (shared < before.length && shared < after.length && before[shared]?.hash === after[shared]?.hash)
    shared++
  const from = Math.max(0, shared - entriesAround)
  const cut = (side: readonly T[]) => side.slice(from, from + maxEntries)
  const left = (side: readonly T[]) => Math.max(0, side.length - from - maxEntries)
  return { before: cut(before), after: cut(after), sameBefore: from, leftOut: left(before) + left(after) }
}

/**
 * The diff of what was read. NOTES 15: an `append` slot of JSON is a list, of text its entries with a line break between.
 * Undefined stands for a slot that is missing.
 */
export function slotDiff(
  mode: 'replace' | 'append',
  before: readonly ComparedValue[] | undefined,
  after: readonly ComparedValue[] | undefined,
): ValueDiff {
  if (mode === 'replace') return valueDiff(before?.[0], after?.[0])
  return valueDiff(before && joined(before), after && joined(after))
}

function joined(entries: readonly ComparedValue[]): ComparedValue {
  const mediaType = entries[0]?.mediaType ?? 'text/plain'
  const isJson = entries.every((entry) => isJsonType(entry.mediaType)) && entries.length > 0
  const breaks = new TextEncoder().encode(isJson ? ',' : '\n')
  const parts = entries.flatMap(({ bytes }, at) => (at === 0 ? [bytes] : [breaks, bytes]))
  if (isJson) {
    const [open, close] = ['[', ']'].map((text) => new TextEncoder().encode(text)) as [Uint8Array, Uint8Array]
    parts.unshift(open)
    parts.push(close)
  }
  return { mediaType, bytes: concatenated(parts) }
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
