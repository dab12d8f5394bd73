/* What is asked of the worker that reads values, and what it answers. */
import type { ValueDiff } from '@/lib/view/diff/value-diff'
import type { ValuePage } from '@/lib/view/value-pages'

/** A stored value, by a run that speaks of it. */
export interface StoredRef {
  run: string
  hash: string
  mediaType: string
}

/** One side of a comparison; no entries means that the slot is missing. */
export interface StoredSlot {
  entries: StoredRef[]
}

export type ValueQuestion =
  | {
      ask: 'compare'
      mode: 'replace' | 'append'
      before: StoredSlot | undefined
      after: StoredSlot | undefined
    }
  | { ask: 'page'; ref: StoredRef; from: number; count: number }

export interface Comparison {
  diff: ValueDiff
  /** Whether all bytes that were compared are what the ledger's hashes say; `unknown` where this browser cannot hash. */
  hashes: 'match' | 'differ' | 'unknown'
  /** Entries at the beginning that both sides share and that are not in the diff. */
  sameBefore: number
  /** Entries that are not in the diff because there are too many. */
  leftOut: number
}

export type ValueAnswer =
  | { kind: 'compared'; comparison: Comparison }
  | { kind: 'page'; page: ValuePage }
  | { kind: 'failed'; code: string; sentence: string; status: number }
