/*
 * A stored value as screens read it. What a value is, its media type says; whether it really is that, its bytes. Nothing
 * of it is ever run: text is text, HTML too, and what is neither text nor JSON is bytes with a size and a head in hex.
 */
import type { Json } from '@/lib/base/json'

export type ValueContent =
  | { is: 'json'; json: Json; text: string }
  | { is: 'text'; text: string }
  | { is: 'bytes'; bytes: Uint8Array }

/** A media type without its parameters, in lower case. */
function typeOf(mediaType: string): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase()
}

export function isJsonType(mediaType: string): boolean {
  return /^application\/(.+\+)?json$/.test(typeOf(mediaType))
}

/** What the bytes are. `cut`: they are only the beginning, and may end inside a character. */
export function contentOf(mediaType: string, bytes: Uint8Array, cut = false): ValueContent {
  const text = textOf(bytes, cut)
  if (text === undefined) return { is: 'bytes', bytes }
  if (!isJsonType(mediaType) || cut) return { is: 'text', text }
  try {
    return { is: 'json', json: JSON.parse(text) as Json, text }
  } catch {
    // It says that it is JSON and is not: it is shown as what it is.
    return { is: 'text', text }
  }
}

function textOf(bytes: Uint8Array, cut: boolean): string | undefined {
  try {
    // `stream` keeps a character that was cut in half back, instead of calling all of it bytes.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: cut })
    return text.slice(0, 4_096).includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

const bytesPerRow = 16

/** The first bytes as people read them: place, hex, and the letters among them. At most `most` rows. */
export function hexRows(bytes: Uint8Array, most: number): string[] {
  const rows: string[] = []
  for (let at = 0; at < bytes.length && rows.length < most; at += bytesPerRow) {
    const row = [...bytes.subarray(at, at + bytesPerRow)]
    const hex = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
    const letters = row.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : '·')).join('')
    rows.push(`${at.toString(16).padStart(8, '0')}  ${hex.padEnd(bytesPerRow * 3 - 1)}  ${letters}`)
  }
  return rows
}

/** Sizes as people say them: `312 B`, `4.1 kB`, `20.0 MB`. */
export function sizeWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
