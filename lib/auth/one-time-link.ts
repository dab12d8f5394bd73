import { randomBytes } from 'node:crypto'
import { type Hash, sha256 } from '@/lib/base/hash'

/** What goes into a one-time link: 32 random octets, and the hash that is kept of them, which needs no salt. */
export function newLinkToken(): { token: string; hash: Hash } {
  const token = randomBytes(32).toString('base64url')
  return { token, hash: sha256(token) }
}
