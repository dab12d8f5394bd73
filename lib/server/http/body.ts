/*
 * Bodies at the door. A body is kept only as far as its bound, so that a 50 MB upload takes no more memory than that; it is
 * decoded strictly; and its nesting is counted before it is parsed.
 */
import type { z } from 'zod'
import type { Json } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { keepable } from '@/lib/runners/kept-output'

const mebibyte = 1_048_576
/** Enough for any command; uploads name their own bound. */
export const defaultMaxBodyBytes = mebibyte
/** Deeper than any document here: workflow descriptors nest about ten levels. */
export const maxJsonDepth = 64

/** Of a body that is too large so much is read and thrown away: who is cut off while sending never reads why. */
const mostThrownAwayBytes = 128 * mebibyte

/** Reads a body of at most `maxBytes`. Throws Problem `body_too_large`. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (!request.body) return new Uint8Array()
  const reader = request.body.getReader()
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > maxBytes) return refuseLonger(reader, maxBytes)
  const chunks: Uint8Array[] = []
  let size = 0
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.byteLength
    if (size > maxBytes) return refuseLonger(reader, maxBytes)
    chunks.push(read.value)
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks)
}

async function refuseLonger(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<never> {
  let left = mostThrownAwayBytes
  for (let read = await reader.read(); !read.done && left > 0; read = await reader.read()) {
    left -= read.value.byteLength
  }
  await reader.cancel().catch(() => undefined)
  throw tooLarge(maxBytes)
}

function tooLarge(maxBytes: number): Problem {
  return new Problem(
    'body_too_large',
    `The body is longer than ${sizeWords(maxBytes)}, the most that is taken here; send less.`,
    { maxBytes },
  )
}

/** `1000 bytes`, `64 KiB (65536 bytes)`: whole units where the bytes make some. */
function sizeWords(bytes: number): string {
  const [unit, size] = bytes % mebibyte === 0 ? ['MiB', mebibyte] : ['KiB', 1024]
  return bytes > 0 && bytes % size === 0 ? `${bytes / size} ${unit} (${bytes} bytes)` : `${bytes} bytes`
}

/** The media type without parameters, lower case. Throws Problem `unsupported_media_type` when it is not one of `accepted`. */
export function mediaTypeOf(request: Request, accepted: readonly string[]): string {
  const header = request.headers.get('content-type') ?? ''
  const type = (header.split(';', 1)[0] as string).trim().toLowerCase()
  if (accepted.includes(type)) return type
  const found = type === '' ? 'no content type' : `content type ${JSON.stringify(type.slice(0, 80))}`
  throw new Problem('unsupported_media_type', `The body has ${found}; send ${accepted.join(' or ')}.`, {
    accepted,
  })
}

/** Parses UTF-8 JSON. Throws Problem `body_not_json`; parsers' own words stay out, because they quote the body. */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes)
  const depth = depthOf(text)
  if (depth > maxJsonDepth) {
    throw new Problem('body_not_json', `The body nests deeper than ${maxJsonDepth} levels; flatten it.`, {
      maxJsonDepth,
    })
  }
  const value = parsed(text)
  if (keepable(value) === value) return value
  throw new Problem(
    'body_not_json',
    'The body holds half a character or a number too large for a number; send values that can be kept.',
  )
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    const found = text.trim() === '' ? 'is empty' : 'is not JSON'
    throw new Problem('body_not_json', `The body ${found}; send one JSON value.`)
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Problem('body_not_json', 'The body is not UTF-8; send JSON in UTF-8.')
  }
}

/** How deep objects and lists nest, by counting brackets outside strings; right for JSON, and bounded for anything else. */
export function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (inString) {
      if (c === 0x5c) i++
      else if (c === 0x22) inString = false
    } else if (c === 0x22) inString = true
    else if (c === 0x7b || c === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (c === 0x7d || c === 0x5d) depth--
  }
  return deepest
}

/** At most this many complaints travel back; a body can be wrong in a million places. */
const maxIssues = 50

/** The value, believed from here on. Throws Problem `bad_request` with every complaint and its place at once. */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown, what: 'body' | 'query'): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issues = result.error.issues.slice(0, maxIssues).map((issue) => ({
    path: `/${issue.path.map(String).join('/')}`,
    message: issue.message,
  }))
  const first = issues[0] ?? { path: '/', message: 'it does not fit' }
  const more = result.error.issues.length > 1 ? ` (and ${result.error.issues.length - 1} more)` : ''
  throw new Problem('bad_request', `The ${what} does not fit at ${first.path}: ${first.message}${more}.`, {
    issues,
  })
}
