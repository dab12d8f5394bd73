import { shortValue } from '@/lib/view/short-value'
import { contentOf, hexRows } from '@/lib/view/value-content'

/** Bytes of a value that are looked at for its first lines. */
const lookedAtBytes = 256 * 1024
const hexRowsShown = 16

/**
 * A value as text: its beginning, at most `chars` characters of it, or one short line when that is 0. Bytes that are no
 * text are shown in hex.
 */
export function entryText(mediaType: string, bytes: Uint8Array, chars: number): string {
  const isCut = bytes.length > lookedAtBytes
  const content = contentOf(mediaType, bytes.subarray(0, lookedAtBytes), isCut)
  if (chars === 0) return shortValue(content, bytes.length)
  if (content.is === 'bytes') return hexRows(content.bytes, hexRowsShown).join('\n')
  const text = content.is === 'json' ? JSON.stringify(content.json, null, 2) : content.text
  return text.length <= chars ? text : `${text.slice(0, chars).replace(/[\ud800-\udbff]$/, '')}…`
}
