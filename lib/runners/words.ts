/*
 * Texts that people read before deciding. What comes from outside (paths, URLs, agents' sentences) is made harmless:
 * no control characters, no characters that reorder a line, and a bound on its length.
 */

export const maxSentenceChars = 300
export const maxPreviewBytes = 262_144

// C0, C1, line and paragraph separators, zero-width and bidirectional controls: what can hide or reorder words.
const invisible = /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff]+/gu

/** One harmless line of at most `maxChars` characters. */
export function oneLine(text: string, maxChars = maxSentenceChars): string {
  const line = text
    .slice(0, maxChars * 4)
    .replace(invisible, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()
  // A cut through a surrogate pair would leave half a character, which has no canonical text.
  return line.length > maxChars ? `${line.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, '')}…` : line
}

/** `1,234 bytes`, `1 byte`. */
export function bytesInWords(count: number): string {
  return count === 1 ? '1 byte' : `${count.toLocaleString('en-US')} bytes`
}

/** The text of bytes that are UTF-8 without NUL, or undefined: binary. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Cut to what a preview may show; says so at the end. */
export function previewText(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.byteLength <= maxPreviewBytes) return text
  const kept = new TextDecoder().decode(bytes.subarray(0, maxPreviewBytes - 200)).replace(/\ufffd$/, '')
  return `${kept}\n… ${bytesInWords(bytes.byteLength)} in all; the rest is not shown.`
}
