import { isJsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { isHash } from './chain'
import { isUuid } from './claims'
import { quote } from './quote'

/**
 * The signed head of a ledger: "token `seq` of this run has chain hash `hash`". The chain alone cannot tell that its
 * tail was cut off; a head signed past the cut can. Written at the run's end and every 1,000 tokens; `typ` is
 * `hp-head+jwt`, so that a head is never taken for a token nor a token for a head.
 */
export interface HeadClaims {
  wid: string
  seq: number
  hash: string
  /** Whole seconds. */
  iat: number
}

/** A head is due every so many tokens. */
export const HEAD_EVERY_TOKENS = 1000

/** The claims of a head's payload. Throws Problem `ledger_broken`. */
export function parseHeadClaims(json: unknown): HeadClaims {
  if (isJsonObject(json)) {
    const { wid, seq, hash, iat } = json
    if (isUuid(wid) && isHash(hash) && isCount(seq) && seq > 0 && isCount(iat)) return { wid, seq, hash, iat }
  }
  throw new Problem('ledger_broken', `A signed head carries ${quote(json)} that is not {wid, seq, hash, iat}`)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
