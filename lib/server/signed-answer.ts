import { keysOfAgent } from '@/lib/auth/agents'
import { verifyTokenSync } from '@/lib/ect/verify-node'
import { readClaim } from '@/lib/ect/vocabulary'
import type { SignedAnswer } from '@/lib/runners/runner'
import type { AgentRecord } from '@/lib/store/agents'

/**
 * What a token says that this agent signed just now, for this audience, with a key that still counts; undefined where
 * any of that is not so. `now` is ms since the epoch.
 */
export function answerSignedBy(
  agent: AgentRecord | undefined,
  token: string,
  audience: string,
  now: number,
): SignedAnswer | undefined {
  if (!agent || agent.removedAt !== undefined) return undefined
  try {
    const { kid, claims } = verifyTokenSync(token, keysOfAgent(agent), {
      mode: 'live',
      nowMs: now,
      audience,
    })
    if (claims.iss !== agent.id || agent.revoked[kid] !== undefined) return undefined
    const status = readClaim(claims.ext, 'status')
    return {
      wid: claims.wid,
      par: claims.par,
      ...(claims.out_hash !== undefined && { outHash: claims.out_hash }),
      ...(typeof status === 'string' && { status }),
    }
  } catch {
    return undefined
  }
}
