import type { ProblemCode } from '@/lib/base/problem'

/** One thing that does not hold. */
export interface BundleFailure {
  /** The entry that does not hold, or the one before it; empty when the file is no bundle at all. */
  entry: string
  /** The token that does not hold, from 1. */
  seq?: number
  jti?: string
  code: ProblemCode
  sentence: string
}

/** Thrown inside the verifier alone: what does not hold, and nothing further in is believed. */
export class Doubt extends Error {
  readonly failure: BundleFailure
  constructor(failure: BundleFailure) {
    super(failure.sentence)
    this.failure = failure
  }
}

/** Throws a Doubt about an entry. The sentence comes without its full stop. */
export function doubt(
  entry: string,
  sentence: string,
  code: ProblemCode = 'bundle_invalid',
  seq?: number,
): never {
  throw new Doubt({ entry, ...(seq === undefined ? {} : { seq }), code, sentence: `${sentence}.` })
}

/** What a ledger's verifier found, as a fault of the entry it stands in. `isToken`: it is about a row, not a head. */
export function ledgerDoubt(
  failure: { seq: number; jti?: string; code: ProblemCode; sentence: string },
  isToken: boolean,
  entries: { ledger: string; heads: string },
): BundleFailure {
  const { seq, jti, code, sentence } = failure
  const where = isToken ? `Token ${seq}${jti ? ` (${jti})` : ''}` : `Head ${seq}`
  return {
    entry: isToken ? entries.ledger : entries.heads,
    seq,
    ...(jti === undefined ? {} : { jti }),
    code,
    sentence: `${where} does not hold: ${sentence}.`,
  }
}

/** Something from a file, as a sentence quotes it. */
export function quoted(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(String(value).slice(0, 80))
}
