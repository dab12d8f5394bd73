/* What is asked of the worker that reads values, and what it answers. */
import type { ValueDiff } from '@/lib/view/diff/value-diff'
import type { ValuePage } from '@/lib/view/value-pages'

/** A stored value, by a run that speaks of it. */
export interface StoredRef {
  run: string
  hash: string
  mediaType: string
}

export type ValueQuestion =
  /** A side without entries is empty; without a side the slot is missing. */
  | { ask: 'compare'; mode: 'replace' | 'append'; before?: StoredRef[]; after?: StoredRef[] }
  | { ask: 'page'; ref: StoredRef; from: number }

export interface Comparison {
  diff: ValueDiff
  /** Whether all bytes that were compared are what the ledger's hashes say; `unknown` where this browser cannot hash. */
  hashes: 'match' | 'differ' | 'unknown'
}

export type ValueAnswer =
  | { kind: 'compared'; comparison: Comparison }
  | { kind: 'page'; page: ValuePage }
  | { kind: 'failed'; code: string; sentence: string; status: number }
