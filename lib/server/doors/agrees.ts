/*
 * A body says what is asked for, and only the token is signed. Where the token says it too, both must say the same: so a
 * token that somebody else got hold of serves for nothing but what its agent meant by it.
 */
import { Problem } from '@/lib/base/problem'
import { bareId } from '@/lib/ect/aerr-words'
import type { Claims } from '@/lib/ect/claims'
import { readClaim } from '@/lib/ect/vocabulary'
import type { Severity } from '@/lib/engine/facts'
import type { RollbackScope } from '@/lib/rollback/terms'
import type { Caller } from './caller'

/** Throws Problem `ect_claim_invalid` where the token names another rollback, checkpoint or scope. Ids as they were written. */
export function mustAskFor(
  { signed }: Caller,
  asked: { rollbackId: string; checkpointId: string; scope: RollbackScope },
): void {
  if (!signed) return
  const { claims } = signed
  mustBe(claims, 'rollback_id', asked.rollbackId)
  mustBe(claims, 'checkpoint_id', asked.checkpointId)
  mustBe(claims, 'scope', asked.scope)
  const { ext, exec_act, par } = claims
  const cascade = readClaim(ext, 'cascade')
  if (typeof cascade === 'boolean' && cascade === (asked.scope === 'single')) {
    throw otherwise(`"cascade" is ${cascade}`, `the scope ${asked.scope}`)
  }
  // Under ATD the checkpoint is the token's parent; a cascade token's parent is the error (NOTES 4).
  if (exec_act !== 'atd:rollback_request' || par.length === 0) return
  const checkpoint = bareId(asked.checkpointId)
  if (!par.includes(checkpoint)) throw otherwise(`the parent is ${par[0]}`, `the checkpoint ${checkpoint}`)
}

/** Throws Problem `ect_claim_invalid` where the token tells of another checkpoint or another severity. */
export function mustTellOf({ signed }: Caller, told: { checkpointId: string; severity: Severity }): void {
  if (!signed) return
  mustBe(signed.claims, 'checkpoint_id', told.checkpointId)
  mustBe(signed.claims, 'severity', told.severity)
}

function mustBe({ ext }: Claims, claim: string, said: string): void {
  const signed = readClaim(ext, claim)
  if (typeof signed !== 'string' || bareId(signed) === bareId(said)) return
  throw otherwise(`"${claim}" is ${JSON.stringify(signed.slice(0, 80))}`, JSON.stringify(said.slice(0, 80)))
}

function otherwise(signed: string, said: string): Problem {
  return new Problem(
    'ect_claim_invalid',
    `In the token ${signed}, and the body asks for ${said}; what is signed and what is sent must be the same.`,
  )
}
