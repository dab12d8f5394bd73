import { encodeBase64url } from '@/lib/ect/base64url'

/** Whether the bytes are what the hash says; undefined where this browser keeps its hashing closed (plain http). */
export async function isHashOf(bytes: Uint8Array, hash: string): Promise<boolean | undefined> {
  if (!globalThis.crypto?.subtle) return undefined
  const digest = await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)
  return encodeBase64url(new Uint8Array(digest)) === hash
}
