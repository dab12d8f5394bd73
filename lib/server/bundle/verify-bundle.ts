/*
 * Verifying a bundle, offline: it needs the file, and at best keys from somewhere else. From the outside in, and the
 * first thing that does not hold is named; nothing further in is believed.
 *
 *   frame ─▶ statement's signature ─▶ manifest ─▶ each entry's bytes ─▶ ledger, token by token ─▶ heads ─▶ graph, values
 *
 * Where an entry's bytes are wrong and the entry is the ledger, the token is named, since that is what one wants to know.
 */
import { createHash } from 'node:crypto'
import { canonicalJson } from '@/lib/base/canonical-json'
import { type Hash, sha256 } from '@/lib/base/hash'
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { Problem, type ProblemCode } from '@/lib/base/problem'
import { decodeJws, payloadOf, unverifiedPayload } from '@/lib/ect/jws'
import { keyFor, parseKeySet, type VerificationKey, type VerificationKeys } from '@/lib/ect/keys'
import type { LedgerEntry, LedgerHead } from '@/lib/ect/ledger-verify'
import { verifyLedgerNode } from '@/lib/ect/ledger-verify-node'
import { checkSignatureSync } from '@/lib/ect/verify-node'
import {
  bundleMaxBytes,
  bundleType,
  bundleVersion,
  entryName,
  fixedEntries,
  type Manifest,
  valueEntry,
} from './bundle'
import { readTar, type TarEntry } from './tar'

/** A key, and how people compare it: RFC 7638, base64url of SHA-256. */
export interface NamedKey {
  kid: string
  thumbprint: string
}

export interface BundleFailure {
  /** The entry that does not hold, or the one before it; empty when the file is no bundle at all. */
  entry: string
  /** The token that does not hold, from 1. */
  seq?: number
  jti?: string
  code: ProblemCode
  sentence: string
}

export type BundleVerdict =
  | {
      holds: true
      run: string
      workflow: string
      tokens: number
      heads: number
      values: number
      madeAt: number
      /** True when the run ended and a signed head covers its end. */
      signedBy: NamedKey
      /** True when the keys were given by the one who asks; else they came in the bundle. */
      keysGiven: boolean
      keys: NamedKey[]
    }
  | { holds: false; failure: BundleFailure }

export interface VerifyBundleOptions {
  /** Keys the reader trusts. Without them the bundle's own are used, which proves that it is whole, not whose it is. */
  keys?: VerificationKeys
  onProgress?: (done: number, total: number) => void
}

/** Verifies a whole bundle. Never throws for what the file says. */
export async function verifyBundle(
  file: Uint8Array,
  options: VerifyBundleOptions = {},
): Promise<BundleVerdict> {
  try {
    return await verified(file, options)
  } catch (error) {
    if (error instanceof Doubt) return { holds: false, failure: error.failure }
    if (error instanceof Problem) {
      return {
        holds: false,
        failure: { entry: String(error.data.entry ?? ''), code: error.code, sentence: `${error.message}.` },
      }
    }
    throw error
  }
}

async function verified(file: Uint8Array, options: VerifyBundleOptions): Promise<BundleVerdict> {
  if (file.length > bundleMaxBytes) {
    throw new Problem(
      'bundle_invalid',
      `The file has ${file.length} bytes; a bundle has at most ${bundleMaxBytes}`,
    )
  }
  refuseOtherFiles(file)
  const entries = readTar(file)
  for (const [at, name] of fixedEntries.entries()) {
    if (entries[at]?.name !== name) {
      doubt(name, `The bundle's entry ${at + 1} is ${quoted(entries[at]?.name)}; expected "${name}"`)
    }
  }
  const content = (name: string) => entries[fixedEntries.indexOf(name)]?.content ?? new Uint8Array()
  const ownKeys = () => ownKeySet(content(entryName.keys))
  const { signedBy, manifestHash } = statementOf(content(entryName.statement), content(entryName.manifest), {
    keys: options.keys ?? ownKeys,
    keysEntry: content(entryName.keys),
  })
  if (sha256(content(entryName.manifest)) !== manifestHash) {
    doubt(entryName.manifest, 'The manifest is not the one that was signed')
  }
  const manifest = parseManifest(content(entryName.manifest))
  const keys = options.keys ?? ownKeys()
  await compareEntries(manifest, entries.slice(2), keys)

  const rows = jsonLines<LedgerEntry>(entryName.ledger, content(entryName.ledger))
  const heads = jsonLines<LedgerHead>(entryName.heads, content(entryName.heads))
  const verdict = await verifyLedgerNode(
    { wid: manifest.wid, rows, heads, keys },
    options.onProgress ? { onProgress: options.onProgress } : {},
  )
  if (!verdict.holds) throw new Doubt(ledgerDoubt(verdict.failure, verdict.tokens < rows.length))
  if (rows.length !== manifest.tokens) {
    doubt(entryName.ledger, `The ledger has ${rows.length} tokens; the manifest says ${manifest.tokens}`)
  }
  checkGraph(manifest, content(entryName.graph), rows)
  checkValues(entries.slice(fixedEntries.length))
  return {
    holds: true,
    run: manifest.run,
    workflow: manifest.workflow.name,
    tokens: verdict.tokens,
    heads: verdict.heads,
    values: entries.length - fixedEntries.length,
    madeAt: manifest.madeAt * 1000,
    signedBy: named(signedBy),
    keysGiven: options.keys !== undefined,
    keys: [...keys.values()].map(named),
  }
}

/**
 * Who hands in a picture is told that it is no bundle, and not what is wrong with its tar headers. A bundle that was
 * damaged in one place still shows the name of its first entry, or tar's mark and the names of others.
 */
function refuseOtherFiles(file: Uint8Array): void {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  if (bytes.subarray(0, 512).includes(entryName.statement)) return
  const isTar = bytes.toString('latin1', 257, 262) === 'ustar'
  if (isTar && fixedEntries.some((name) => bytes.includes(name))) return
  const found =
    bytes.length === 0
      ? 'the file is empty'
      : isTar
        ? 'it is a tar file with other entries'
        : 'it does not begin as one does'
  throw new Problem(
    'bundle_invalid',
    `This is not a Holdpoint bundle: ${found}; expected a file that "holdpoint export" or the console's export wrote`,
  )
}

/** The key that signed the statement, and the manifest's hash it vouches for. */
function statementOf(
  statement: Uint8Array,
  manifest: Uint8Array,
  from: { keys: VerificationKeys | (() => VerificationKeys); keysEntry: Uint8Array },
): { signedBy: VerificationKey; manifestHash: unknown } {
  try {
    const jws = decodeJws(textOf(statement), [bundleType])
    const signedBy = keyFor(jws.header, typeof from.keys === 'function' ? from.keys() : from.keys)
    if (!checkSignatureSync(jws, signedBy)) {
      throw new Problem(
        'ect_signature_invalid',
        `The signature of the manifest does not hold under the key ${signedBy.kid}`,
      )
    }
    return { signedBy, manifestHash: payloadOf(jws).manifest }
  } catch (error) {
    // When the bundle's own keys were changed, it is they that do not hold, and not what they no longer verify.
    if (typeof from.keys === 'function') blameKeys(statement, manifest, from.keysEntry)
    if (error instanceof Problem) doubt(entryName.statement, error.message, error.code)
    throw error
  }
}

/** Throws a Doubt about keys.json when the manifest that the statement speaks of lists other keys. Believes nothing. */
function blameKeys(statement: Uint8Array, manifest: Uint8Array, keys: Uint8Array): void {
  let listed: unknown
  try {
    if (unverifiedPayload(textOf(statement), [bundleType]).manifest !== sha256(manifest)) return
    const { entries } = JSON.parse(textOf(manifest)) as Manifest
    listed = entries.find(({ name }) => name === entryName.keys)?.sha256
  } catch {
    return
  }
  if (listed !== sha256(keys)) doubt(entryName.keys, 'The keys are not those that the manifest lists')
}

/** A signature says who wrote it, not that they wrote it well: its shape is checked all the same. */
function parseManifest(content: Uint8Array): Manifest {
  let json: unknown
  try {
    json = JSON.parse(textOf(content))
  } catch {
    doubt(entryName.manifest, 'The manifest is not JSON')
  }
  if (!isJsonObject(json)) doubt(entryName.manifest, 'The manifest is not a JSON object')
  if (json.bundle !== bundleVersion) {
    doubt(
      entryName.manifest,
      `The bundle has the version ${quoted(json.bundle)}; this program reads ${bundleVersion}`,
    )
  }
  const { run, wid, workflow, tokens, madeAt, entries } = json
  const isWhole =
    [run, wid].every((member) => typeof member === 'string') &&
    [tokens, madeAt].every(Number.isSafeInteger) &&
    isJsonObject(workflow) &&
    [workflow.name, workflow.version].every((member) => typeof member === 'string') &&
    Array.isArray(entries) &&
    entries.every((entry) => isJsonObject(entry) && typeof entry.name === 'string')
  if (!isWhole) doubt(entryName.manifest, 'The manifest lacks members that every manifest has')
  return json as unknown as Manifest
}

/** Names, order, sizes and hashes, exactly as the manifest says. */
async function compareEntries(
  manifest: Manifest,
  entries: TarEntry[],
  keys: VerificationKeys,
): Promise<void> {
  for (const [at, listed] of manifest.entries.entries()) {
    const entry = entries[at]
    if (entry?.name !== listed.name) {
      doubt(
        listed.name,
        `The manifest lists "${listed.name}" here, and the bundle has ${quoted(entry?.name)}`,
      )
    }
    if (entry.content.length === listed.size && sha256(entry.content) === listed.sha256) continue
    if (entry.name === entryName.ledger) await blameToken(manifest.wid, entry.content, keys)
    doubt(listed.name, `The bytes of "${listed.name}" are not those that the manifest lists`)
  }
  const more = entries[manifest.entries.length]
  if (more) doubt(more.name, `The bundle has an entry "${more.name}" that the manifest does not list`)
}

/** The ledger's bytes were changed: throws a Doubt about the token where it shows, if it shows in one. */
async function blameToken(wid: string, ledger: Uint8Array, keys: VerificationKeys): Promise<void> {
  const rows = jsonLines<LedgerEntry>(entryName.ledger, ledger)
  const verdict = await verifyLedgerNode({ wid, rows, heads: [], keys })
  if (!verdict.holds && verdict.failure.code !== 'ledger_tail_cut')
    throw new Doubt(ledgerDoubt(verdict.failure, true))
}

function ledgerDoubt(
  failure: { seq: number; jti?: string; code: ProblemCode; sentence: string },
  isToken: boolean,
): BundleFailure {
  const where = isToken
    ? `Token ${failure.seq}${failure.jti ? ` (${failure.jti})` : ''}`
    : `Head ${failure.seq}`
  return {
    entry: isToken ? entryName.ledger : entryName.heads,
    seq: failure.seq,
    ...(failure.jti === undefined ? {} : { jti: failure.jti }),
    code: failure.code,
    sentence: `${where} does not hold: ${failure.sentence}.`,
  }
}

/** The graph is the version that the run's first token is pinned to. */
function checkGraph(manifest: Manifest, graph: Uint8Array, rows: readonly LedgerEntry[]): void {
  const version = sha256(graph)
  if (version !== manifest.workflow.version) {
    doubt(entryName.graph, 'The graph is not the workflow version that the manifest names')
  }
  const first = rows[0]
  if (first && !carries(unverifiedPayload(first.token), version)) {
    doubt(entryName.graph, 'The graph is not the workflow version that the first token is pinned to')
  }
}

function carries(value: unknown, hash: Hash): boolean {
  if (value === hash) return true
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).some((member) => carries(member, hash))
  )
}

function checkValues(values: TarEntry[]): void {
  for (const { name, content } of values) {
    if (name !== valueEntry(sha256(content)))
      doubt(name, `The value "${name}" does not have the hash it is named by`)
  }
}

function ownKeySet(content: Uint8Array): VerificationKeys {
  let json: unknown
  try {
    json = JSON.parse(textOf(content))
  } catch {
    doubt(entryName.keys, 'The keys are not JSON')
  }
  return parseKeySet(json)
}

/** One JSON object a line, every line ended. */
function jsonLines<Row>(name: string, content: Uint8Array): Row[] {
  const text = textOf(content)
  if (text !== '' && !text.endsWith('\n')) doubt(name, `The last line of "${name}" does not end`)
  return text
    .split('\n')
    .slice(0, -1)
    .map((line, at) => {
      let json: unknown
      try {
        json = JSON.parse(line)
      } catch {
        json = undefined
      }
      if (!isJsonObject(json) || !isRow(json))
        doubt(name, `Line ${at + 1} of "${name}" is not a ledger's`, undefined, at + 1)
      return json as Row
    })
}

function isRow(row: JsonObject): boolean {
  const { seq, token, prevHash, hash, jws } = row
  if (!Number.isSafeInteger(seq)) return false
  return typeof jws === 'string' || [token, prevHash, hash].every((member) => typeof member === 'string')
}

function named({ kid, jwk }: VerificationKey): NamedKey {
  return { kid, thumbprint: createHash('sha256').update(canonicalJson(jwk)).digest('base64url') }
}

function textOf(content: Uint8Array): string {
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('utf8')
}

function quoted(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(String(value).slice(0, 80))
}

class Doubt extends Error {
  readonly failure: BundleFailure
  constructor(failure: BundleFailure) {
    super(failure.sentence)
    this.failure = failure
  }
}

function doubt(entry: string, sentence: string, code: ProblemCode = 'bundle_invalid', seq?: number): never {
  throw new Doubt({ entry, ...(seq === undefined ? {} : { seq }), code, sentence: `${sentence}.` })
}
