/*
 * Bundles of the first edition: one run, its workflow's text and graph beside it, and no report. They are not written any
 * more; whoever kept one can still verify and open it.
 *
 *   manifest.jws, manifest.json, keys.json, workflow.txt, graph.json, ledger.jsonl, heads.jsonl, values/<hash>
 *
 * The frame, the statement's signature and the manifest's hash were checked before this (verify-bundle.ts).
 */
import { type Hash, sha256 } from '@/lib/base/hash'
import { isJsonObject } from '@/lib/base/json'
import { unverifiedPayload } from '@/lib/ect/jws'
import type { VerificationKeys } from '@/lib/ect/keys'
import type { LedgerEntry, LedgerHead } from '@/lib/ect/ledger-verify'
import { verifyLedgerNode } from '@/lib/ect/ledger-verify-node'
import { valueEntry } from './bundle'
import { Doubt, doubt, ledgerDoubt, quoted } from './doubt'
import { allLines, isHeadLine, isLedgerLine } from './lines'
import type { TarEntry } from './tar'

export const firstEdition = 1

/** Names of the entries that every bundle of that edition has, in their order. */
export const firstEditionEntries = {
  statement: 'manifest.jws',
  manifest: 'manifest.json',
  keys: 'keys.json',
  workflow: 'workflow.txt',
  graph: 'graph.json',
  ledger: 'ledger.jsonl',
  heads: 'heads.jsonl',
} as const
const entryName = firstEditionEntries
const fixedEntries: readonly string[] = Object.values(entryName)

export interface FirstManifest {
  bundle: typeof firstEdition
  run: string
  wid: string
  workflow: { name: string; version: Hash; mediaType: string }
  tokens: number
  /** Whole seconds since the epoch. */
  madeAt: number
  entries: { name: string; size: number; sha256: Hash }[]
}

/** What held of it. */
export interface FirstVerified {
  manifest: FirstManifest
  tokens: number
  heads: number
  values: number
}

/** Verifies what the manifest lists. Throws Doubt for the first thing that does not hold. */
export async function verifyFirstEdition(
  entries: TarEntry[],
  json: unknown,
  keys: VerificationKeys,
  onProgress?: (done: number, total: number) => void,
): Promise<FirstVerified> {
  for (const [at, name] of fixedEntries.entries()) {
    if (entries[at]?.name !== name) {
      doubt(name, `The bundle's entry ${at + 1} is ${quoted(entries[at]?.name)}; expected "${name}"`)
    }
  }
  const content = (name: string) => entries[fixedEntries.indexOf(name)]?.content ?? new Uint8Array()
  const manifest = parseManifest(json)
  await compareEntries(manifest, entries.slice(2), keys)
  const rows = allLines<LedgerEntry>(entryName.ledger, content(entryName.ledger), isLedgerLine)
  const heads = allLines<LedgerHead>(entryName.heads, content(entryName.heads), isHeadLine)
  const verdict = await verifyLedgerNode(
    { wid: manifest.wid, rows, heads, keys },
    onProgress ? { onProgress } : {},
  )
  if (!verdict.holds) throw new Doubt(ledgerDoubt(verdict.failure, verdict.tokens < rows.length, entryName))
  if (rows.length !== manifest.tokens) {
    doubt(entryName.ledger, `The ledger has ${rows.length} tokens; the manifest says ${manifest.tokens}`)
  }
  checkGraph(manifest, content(entryName.graph), rows)
  const values = entries.slice(fixedEntries.length)
  checkValues(values)
  return { manifest, tokens: verdict.tokens, heads: verdict.heads, values: values.length }
}

/** A signature says who wrote it, not that they wrote it well: its shape is checked all the same. */
function parseManifest(json: unknown): FirstManifest {
  if (!isJsonObject(json)) doubt(entryName.manifest, 'The manifest is not a JSON object')
  const { run, wid, workflow, tokens, madeAt, entries } = json
  const isWhole =
    [run, wid].every((member) => typeof member === 'string') &&
    [tokens, madeAt].every(Number.isSafeInteger) &&
    isJsonObject(workflow) &&
    [workflow.name, workflow.version].every((member) => typeof member === 'string') &&
    Array.isArray(entries) &&
    entries.every((entry) => isJsonObject(entry) && typeof entry.name === 'string')
  if (!isWhole) doubt(entryName.manifest, 'The manifest lacks members that every manifest has')
  return json as unknown as FirstManifest
}

/** Names, order, sizes and hashes, exactly as the manifest says. */
async function compareEntries(
  manifest: FirstManifest,
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
  const rows = allLines<LedgerEntry>(entryName.ledger, ledger, isLedgerLine)
  const verdict = await verifyLedgerNode({ wid, rows, heads: [], keys })
  if (!verdict.holds && verdict.failure.code !== 'ledger_tail_cut')
    throw new Doubt(ledgerDoubt(verdict.failure, true, entryName))
}

/** The graph is the version that the run's first token is pinned to. */
function checkGraph(manifest: FirstManifest, graph: Uint8Array, rows: readonly LedgerEntry[]): void {
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
