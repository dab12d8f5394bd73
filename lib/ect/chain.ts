import { webCrypto } from './verify'

/*
 * The chain of one run. Each entry's hash covers the one before it, so a token cannot be changed, taken out or put in
 * without every later hash being wrong:
 *
 *   prevHash(1) = SHA-256(wid)
 *   hash(n)     = SHA-256(prevHash(n) + "." + token(n))
 *   prevHash(n) = hash(n - 1)
 *
 * Hashes are base64url of SHA-256 over ASCII text. The server's synchronous twin is chain-node.ts.
 */

/** The text whose SHA-256 is an entry's hash. */
export function chainText(prevHash: string, token: string): string {
  return `${prevHash}.${token}`
}

/** The `prevHash` of a run's first entry, with WebCrypto. */
export async function firstPrevHash(wid: string): Promise<string> {
  return webCrypto.sha256(wid)
}

/** An entry's hash, with WebCrypto. */
export async function chainHash(prevHash: string, token: string): Promise<string> {
  return webCrypto.sha256(chainText(prevHash, token))
}

/** True when the text has the shape of a hash. */
export function isHash(text: unknown): text is string {
  return typeof text === 'string' && /^[A-Za-z0-9_-]{43}$/.test(text)
}
