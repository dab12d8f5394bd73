import { Problem } from '@/lib/base/problem'
import { type Claims, parseClaims } from './claims'
import type { DecodedJws } from './jws'
import { payloadOf } from './jws'
import type { VerificationKey } from './keys'
import { quote } from './quote'

/** Clocks of two machines may differ by this much. */
export const SKEW_S = 30
/** A live request's token may be at most this old, whatever its `exp` says (NOTES 1). */
export const LIVE_MAX_AGE_S = 15 * 60
/** How long a token for a live request lives. */
export const LIVE_TTL_S = 10 * 60

/**
 * What a token is verified for. `live`: a request that arrives now, at one of our names. `ledger`: a token read back
 * years later, where `exp` has long passed and says nothing; with `nowMs` it still may not come from the future.
 */
export type Moment =
  | { mode: 'live'; nowMs: number; audience: string | readonly string[] }
  | { mode: 'ledger'; nowMs?: number }

/**
 * The claims of a JWS whose signature holds, checked for the moment. One function for the browser and the server.
 * Throws Problem as `parseClaims`, and `ect_from_future`, `ect_too_old`, `ect_expired`, `ect_audience`.
 */
export function checkedClaims(jws: DecodedJws, moment: Moment): Claims {
  const claims = parseClaims(payloadOf(jws))
  if (moment.nowMs !== undefined) checkNotFuture(claims, moment.nowMs)
  if (moment.mode === 'live') checkLive(claims, moment.nowMs, moment.audience)
  return claims
}

function checkNotFuture(claims: Claims, nowMs: number): void {
  const aheadS = claims.iat - Math.floor(nowMs / 1000)
  if (aheadS <= SKEW_S) return
  throw new Problem(
    'ect_from_future',
    `"iat" lies ${aheadS} s in the future; ${SKEW_S} s of clock difference are tolerated, so set the signer's clock`,
    { jti: claims.jti },
  )
}

function checkLive(claims: Claims, nowMs: number, audience: string | readonly string[]): void {
  const nowS = Math.floor(nowMs / 1000)
  if (nowS - claims.iat > LIVE_MAX_AGE_S) {
    throw new Problem(
      'ect_too_old',
      `The token was issued ${nowS - claims.iat} s ago; a request's token may be at most ${LIVE_MAX_AGE_S} s old`,
      { jti: claims.jti },
    )
  }
  if (nowS >= claims.exp) {
    throw new Problem('ect_expired', `"exp" passed ${nowS - claims.exp} s ago; send a fresh token`, {
      jti: claims.jti,
    })
  }
  const meant = typeof claims.aud === 'string' ? [claims.aud] : claims.aud
  const ours = typeof audience === 'string' ? [audience] : audience
  if (meant.some((name) => ours.includes(name))) return
  throw new Problem(
    'ect_audience',
    `The token is meant for ${quote(meant[0])}${meant.length > 1 ? ` and ${meant.length - 1} more` : ''}; expected ${ours.map(quote).join(' or ')}`,
    { jti: claims.jti },
  )
}

/**
 * Throws Problem `ect_key_revoked` for a key that had ended: of a live request's token by now, of one in a ledger when it
 * was issued.
 */
export function checkKeyEnd(
  { kid, endedAt }: VerificationKey,
  { iat, jti }: Pick<Claims, 'iat' | 'jti'>,
  moment: Moment,
): void {
  if (endedAt === undefined) return
  const over = moment.mode === 'live' ? moment.nowMs >= endedAt : (iat - SKEW_S) * 1000 > endedAt
  if (!over) return
  throw new Problem(
    'ect_key_revoked',
    `The key ${quote(kid)} signs nothing since ${new Date(endedAt).toISOString()}: it was revoked or is published no more; sign with one that is good`,
    { kid: quote(kid), jti },
  )
}

/** The refusal of a signature that does not verify under the key its header names. */
export function signatureInvalid(jws: DecodedJws): Problem {
  return new Problem(
    'ect_signature_invalid',
    `The signature does not verify under the key ${quote(jws.header.kid)}: the token was changed, or another key signed it`,
    { kid: quote(jws.header.kid) },
  )
}
