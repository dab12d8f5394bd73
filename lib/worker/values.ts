import { canonicalJson } from '@/lib/base/canonical-json'
import { sha256 } from '@/lib/base/hash'
import type { Json } from '@/lib/base/json'
import type { StoredValue } from '@/lib/engine/ports'

/** A JSON value as it is stored: its canonical text, named by that text's hash. */
export function jsonValue(json: Json | object): StoredValue {
  const text = canonicalJson(json)
  return { hash: sha256(text), mediaType: 'application/json', bytes: Buffer.from(text, 'utf8') }
}
