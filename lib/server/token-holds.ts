import { sha256 } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import { unverifiedPayload } from '@/lib/ect/jws'
import type { VerificationKeys } from '@/lib/ect/keys'
import { verifyTokenSync } from '@/lib/ect/verify-node'
import type { LedgerStore } from '@/lib/engine/ports'

/** Twice the checkpoints of the largest plan. Then all are verified anew. */
const maxRemembered = 20_000

/** What the octets of a token were found to be. */
interface Verified {
  iss: string
  jti: string
  keys: VerificationKeys
}

/**
 * Says whether the ledger holds a token of a run and its signature holds. A rollback asks three times about each
 * checkpoint: for its plan, its vote and its act. In the ledger's mode a signature holds or not whatever the time is, so
 * the same octets under the same keys are verified once. The row is read each time, and the keys are asked for: where one
 * octet or one key is another, it is verified anew.
 */
export function tokenHoldsIn(
  ledger: Pick<LedgerStore, 'row'>,
  keysOf: (iss: string) => Promise<VerificationKeys>,
): (runId: RunId, jti: string) => Promise<boolean> {
  const remembered = new Map<string, Verified>()
  return async (runId, jti) => {
    const row = await ledger.row(runId, jti)
    if (!row) return false
    const octets = sha256(row.token)
    const before = remembered.get(octets)
    try {
      if (before && before.keys === (await keysOf(before.iss))) return before.jti === jti
      const { iss } = unverifiedPayload(row.token)
      if (typeof iss !== 'string') return false
      const keys = await keysOf(iss)
      const { claims } = verifyTokenSync(row.token, keys, { mode: 'ledger' })
      if (remembered.size >= maxRemembered) remembered.clear()
      remembered.set(octets, { iss, jti: claims.jti, keys })
      return claims.jti === jti
    } catch {
      return false
    }
  }
}
