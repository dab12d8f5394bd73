const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const NOT_A_DIGIT = 64
const digits = new Uint8Array(128).fill(NOT_A_DIGIT)
for (let at = 0; at < ALPHABET.length; at++) digits[ALPHABET.charCodeAt(at)] = at

/**
 * The octets of base64url text without padding (RFC 4648 section 5), or undefined when it is not the one canonical
 * spelling of them: padding, other characters, an impossible length, or spare bits that are not zero. Platform
 * decoders accept all of these, and a token with two spellings has two hashes and slips past a check for replay.
 */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  const tail = text.length % 4
  if (tail === 1) return undefined
  const octets = new Uint8Array(Math.floor((text.length * 3) / 4))
  let bits = 0
  let held = 0
  let to = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const digit = code < 128 ? (digits[code] as number) : NOT_A_DIGIT
    if (digit === NOT_A_DIGIT) return undefined
    bits = ((bits << 6) | digit) & 0xffff
    held += 6
    if (held < 8) continue
    held -= 8
    octets[to++] = (bits >> held) & 0xff
  }
  return (bits & ((1 << held) - 1)) === 0 ? octets : undefined
}

/** base64url without padding. */
export function encodeBase64url(octets: Uint8Array): string {
  let text = ''
  for (let at = 0; at < octets.length; at += 3) {
    const [a, b, c] = [octets[at] as number, octets[at + 1], octets[at + 2]]
    text += ALPHABET.charAt(a >> 2) + ALPHABET.charAt(((a & 3) << 4) | ((b ?? 0) >> 4))
    if (b !== undefined) text += ALPHABET.charAt(((b & 15) << 2) | ((c ?? 0) >> 6))
    if (c !== undefined) text += ALPHABET.charAt(c & 63)
  }
  return text
}
