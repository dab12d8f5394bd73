/*
 * Bundles that lie: entries are changed, and everything around them is made to agree, signature included, as only the
 * installation itself could. What is noticed then is noticed from the inside.
 */
import { canonicalJson } from '@/lib/base/canonical-json'
import { sha256 } from '@/lib/base/hash'
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import type { SigningKey } from '@/lib/ect/sign'
import { bundleType, entryName, type Manifest } from '../bundle'
import { signSteadily } from '../steady-signature'
import { readTar, type TarEntry, tarStream } from '../tar'

/** The file that these entries make. */
export async function tarOf(entries: readonly TarEntry[]): Promise<Buffer> {
  const parts = entries.map(({ name, content }) => ({ name, size: content.length, content: () => [content] }))
  const pieces: Uint8Array[] = []
  for await (const piece of tarStream(parts)) pieces.push(piece)
  return Buffer.concat(pieces)
}

export interface Lie {
  /** New contents by name; `undefined` takes the entry out; a new name puts one in at the end. */
  entries?: Record<string, string | Uint8Array | undefined>
  manifest?: (manifest: Manifest) => void
}

/** The bundle with a lie in it that its signature covers. */
export async function forged(
  file: Uint8Array,
  key: SigningKey,
  { entries = {}, manifest: change }: Lie,
): Promise<Buffer> {
  const before = readTar(file)
  const manifest = JSON.parse(textOf(before, entryName.manifest)) as Manifest
  const mediaTypes = new Map(manifest.entries.map(({ name, mediaType }) => [name, mediaType]))
  const added = Object.keys(entries).filter((name) => !before.some((entry) => entry.name === name))
  const kept: TarEntry[] = [...before.slice(2), ...added.map((name) => ({ name, content: new Uint8Array() }))]
    .filter(({ name }) => !(name in entries) || entries[name] !== undefined)
    .map((entry) => (entry.name in entries ? { ...entry, content: bytesOf(entries[entry.name]) } : entry))
  manifest.entries = kept.map(({ name, content }) => {
    const mediaType = mediaTypes.get(name) ?? (name.startsWith('values/') ? 'application/json' : undefined)
    return { name, size: content.length, sha256: sha256(content), ...(mediaType && { mediaType }) }
  })
  change?.(manifest)
  const text = Buffer.from(canonicalJson(manifest))
  const statement = { wid: manifest.wid, manifest: sha256(text), iat: Math.floor(manifest.at / 1000) }
  return tarOf([
    { name: entryName.statement, content: Buffer.from(signSteadily(bundleType, statement, key)) },
    { name: entryName.manifest, content: text },
    ...kept,
  ])
}

/** An entry of a bundle as text. */
export function textOf(entries: readonly TarEntry[], name: string): string {
  return Buffer.from(entries.find((entry) => entry.name === name)?.content ?? []).toString('utf8')
}

/** An entry's JSON, changed. */
export function changedJson(file: Uint8Array, name: string, change: (json: JsonObject) => void): string {
  const json: unknown = JSON.parse(textOf(readTar(file), name))
  if (!isJsonObject(json)) throw new Error(`${name} is no JSON object`)
  change(json)
  return canonicalJson(json)
}

function bytesOf(content: string | Uint8Array | undefined): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content) : (content ?? new Uint8Array())
}
