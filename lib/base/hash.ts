import { hash } from 'node:crypto'
import { canonicalJson } from './canonical-json'

/** base64url without padding of a SHA-256, 43 characters: the one spelling of a hash in tokens and stores. */
export type Hash = string

/** SHA-256 of raw octets (text is hashed as UTF-8), base64url without padding. */
export function sha256(data: string | Uint8Array): Hash {
  return hash('sha256', data, 'base64url')
}

/** The hash of a JSON value's canonical text. */
export function hashJson(value: unknown): Hash {
  return sha256(canonicalJson(value))
}

/** True when the text has the shape of a Hash. */
export function isHash(text: unknown): text is Hash {
  return typeof text === 'string' && /^[A-Za-z0-9_-]{43}$/.test(text)
}
