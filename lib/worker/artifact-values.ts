/*
 * Artifacts as they are kept and read. A text is kept as its own bytes and JSON in its canonical form, so that the hash
 * a token names is the hash of the thing itself; pictures, sound and the like come as base64 and are kept as the bytes they
 * stand for.
 */
import { canonicalJson } from '@/lib/base/canonical-json'
import { sha256 } from '@/lib/base/hash'
import type { Json } from '@/lib/base/json'
import type { LedgerStore, StoredValue } from '@/lib/engine/ports'
import type { ArtifactWrite } from '@/lib/engine/run'
import { EffectFailed } from '@/lib/runners/runner'
import type { ArtifactDeclaration } from '@/lib/workflow/graph'

/** Of one writing. */
export const maxArtifactBytes = 33_554_432

/** The value to keep for a slot. Throws EffectFailed `too_large` past 32 MiB. */
export function storedArtifact({ name, mediaType }: ArtifactDeclaration, value: Json): StoredValue {
  const bytes = bytesOf(mediaType, value)
  if (bytes.byteLength > maxArtifactBytes) {
    throw new EffectFailed(
      'too_large',
      `The artifact ${name} would have ${bytes.byteLength.toLocaleString('en')} bytes; at most ${maxArtifactBytes.toLocaleString('en')} are kept. Write where it lies instead.`,
      { errorType: 'constraint_violation' },
    )
  }
  return { hash: sha256(bytes), mediaType: isJsonType(mediaType) ? 'application/json' : mediaType, bytes }
}

function bytesOf(mediaType: string, value: Json): Uint8Array {
  if (isJsonType(mediaType)) return Buffer.from(canonicalJson(value))
  const text = typeof value === 'string' ? value : canonicalJson(value)
  const isBase64 =
    isBinaryType(mediaType) && /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)
  return Buffer.from(text, isBase64 ? 'base64' : 'utf8')
}

/** What an artifact is: of an `append` slot a list of JSON values, or its texts with a line break between (NOTES 15). */
export async function artifactValue(
  ledger: Pick<LedgerStore, 'value'>,
  writes: readonly Pick<ArtifactWrite, 'value' | 'mediaType' | 'mode'>[],
): Promise<Json | undefined> {
  const [first] = writes
  if (!first) return undefined
  const values: Json[] = []
  for (const { value, mediaType } of writes) {
    const stored = await ledger.value(value)
    if (stored) values.push(readValue(mediaType, stored.bytes))
  }
  // Whoever forks a run gives the whole of an `append` slot; what is added later follows it.
  const whole = first.mode === 'replace' ? values.shift() : undefined
  if (values.length === 0) return whole
  if (!isJsonType(first.mediaType))
    return [...(whole === undefined ? [] : [whole]), ...values].map(String).join('\n')
  const listed = Array.isArray(whole) ? whole : whole === undefined ? [] : [whole]
  return [...listed, ...values]
}

function readValue(mediaType: string, bytes: Uint8Array): Json {
  const text = Buffer.from(bytes)
  if (isJsonType(mediaType)) return JSON.parse(text.toString()) as Json
  if (!isBinaryType(mediaType)) return text.toString()
  return `(${mediaType}, ${bytes.byteLength.toLocaleString('en')} bytes)`
}

/** Types that no text is of: any other value is taken as it is written, however much it looks like base64. */
function isBinaryType(mediaType: string): boolean {
  return /^(?!image\/svg)(?:(?:image|audio|video|font)\/|application\/(?:octet-stream|pdf|zip|gzip|wasm)\b)/i.test(
    mediaType,
  )
}

function isJsonType(mediaType: string): boolean {
  return /[/+]json\s*(;|$)/i.test(mediaType)
}
