import type { JsonObject } from '@/lib/base/json'
import { decodeJws, TOKEN_TYPES, unverifiedPayload } from '@/lib/ect/jws'

/** A token as it reads. Nothing of it was verified. */
export interface ReadToken {
  compact: string
  header: { alg: string; kid: string }
  claims: JsonObject
}

/** Reads a compact token; undefined for what is none. */
export function readToken(text: string): ReadToken | undefined {
  const compact = text.trim()
  try {
    const { header } = decodeJws(compact, TOKEN_TYPES)
    return { compact, header, claims: unverifiedPayload(compact) }
  } catch {
    return undefined
  }
}
