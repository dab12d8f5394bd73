import { canonicalJson } from '@/lib/base/canonical-json'
import { type Hash, isHash, sha256 } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import { unverifiedPayload } from '@/lib/ect/jws'
import type { Jwks } from '@/lib/ect/keys'
import { type SigningKey, signJson } from '@/lib/ect/sign'
import type {
  LedgerRow,
  LedgerStore,
  RunHeader,
  SignedHead,
  WorkflowRecord,
  WorkflowStore,
} from '@/lib/engine/ports'
import { readWorkflow } from '@/lib/formats/format'
import { nodeKind } from '@/lib/nodes/registry'
import {
  bundleMaxBytes,
  bundleType,
  bundleVersion,
  entryName,
  type Manifest,
  type Statement,
  valueEntry,
} from './bundle'
import { type TarEntry, tarPieces } from './tar'

const rowsPerRead = 2_000

/** What a bundle is made of. */
export interface BundleContents {
  header: RunHeader
  workflow: WorkflowRecord
  /** The graph's canonical text. */
  graph: Uint8Array
  rows: readonly LedgerRow[]
  heads: readonly SignedHead[]
  values: readonly { hash: Hash; bytes: Uint8Array }[]
  keys: Jwks
}

/** What `collectBundle` reads from. */
export interface BundleSources {
  ledger: LedgerStore
  workflows: WorkflowStore
  keys: Jwks
}

/**
 * Reads a run with everything its tokens name. The ledger is read up to where it is when this begins; a run that goes
 * on meanwhile is exported as it was then. Throws Problem `not_found`, `too_large`.
 */
export async function collectBundle(runId: RunId, sources: BundleSources): Promise<BundleContents> {
  const { ledger, workflows } = sources
  const header = await ledger.header(runId)
  if (!header)
    throw new Problem('not_found', `There is no run ${runId} here; holdpoint export takes a run's id, run_…`)
  const workflow = await workflows.get(header.version)
  if (!workflow)
    throw new Problem('not_found', `The workflow version ${header.version} of ${runId} is not stored here`)
  const rows = await allRows(ledger, runId)
  const last = rows.length
  const heads = (await ledger.heads(runId)).filter(({ seq }) => seq <= last)
  const graph = await graphOf(workflow, ledger)
  const values = await namedValues(ledger, rows)
  return { header, workflow, graph, rows, heads, values, keys: sources.keys }
}

/** The graph as it is stored under its version, or else as the version's text reads. Throws Problem `workflow_invalid`. */
async function graphOf(workflow: WorkflowRecord, ledger: LedgerStore): Promise<Uint8Array> {
  const stored = await ledger.value(workflow.version)
  if (stored) return stored.bytes
  const { graph } = readWorkflow(workflow.source, undefined, nodeKind)
  const text = utf8(graph ? canonicalJson(graph) : '')
  if (sha256(text) === workflow.version) return text
  throw new Problem(
    'workflow_invalid',
    `The text of "${workflow.name}" is no longer read into the graph it was imported as; export it with the version of Holdpoint that ran it`,
    { version: workflow.version },
  )
}

async function allRows(ledger: LedgerStore, runId: RunId): Promise<LedgerRow[]> {
  const rows: LedgerRow[] = []
  for (;;) {
    const page = await ledger.rows(runId, rows.length, rowsPerRead)
    rows.push(...page)
    if (page.length < rowsPerRead) return rows
  }
}

/** Every stored value whose hash a token carries, by hash. A snapshot's hash names no stored value and is passed over. */
async function namedValues(
  ledger: LedgerStore,
  rows: readonly LedgerRow[],
): Promise<{ hash: Hash; bytes: Uint8Array }[]> {
  const hashes = new Set<Hash>()
  for (const { token } of rows) gatherHashes(unverifiedPayload(token), hashes)
  const values: { hash: Hash; bytes: Uint8Array }[] = []
  let total = 0
  for (const hash of [...hashes].sort()) {
    const value = await ledger.value(hash)
    if (!value) continue
    total += value.bytes.length
    if (total > bundleMaxBytes) {
      throw new Problem(
        'too_large',
        `The run's values are larger than ${bundleMaxBytes} bytes, the most a bundle holds`,
      )
    }
    values.push({ hash, bytes: value.bytes })
  }
  return values
}

function gatherHashes(value: unknown, into: Set<Hash>): void {
  if (isHash(value)) into.add(value)
  else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) gatherHashes(member, into)
  }
}

/** The bundle, as pieces to be written one after another. `now` in ms since the epoch. */
export function writeBundle(contents: BundleContents, key: SigningKey, now: number): Uint8Array[] {
  const entries = entriesOf(contents)
  const madeAt = Math.floor(now / 1000)
  const { header, workflow, rows } = contents
  const manifest: Manifest = {
    bundle: bundleVersion,
    run: header.runId,
    wid: header.wid,
    workflow: { name: workflow.name, version: workflow.version, mediaType: workflow.mediaType },
    tokens: rows.length,
    madeAt,
    entries: entries.map(({ name, content }) => ({ name, size: content.length, sha256: sha256(content) })),
  }
  const manifestText = utf8(canonicalJson(manifest))
  const statement: Statement = { wid: header.wid, manifest: sha256(manifestText), iat: madeAt }
  return tarPieces([
    { name: entryName.statement, content: utf8(signJson(bundleType, { ...statement }, key)) },
    { name: entryName.manifest, content: manifestText },
    ...entries,
  ])
}

function entriesOf({ workflow, graph, rows, heads, values, keys }: BundleContents): TarEntry[] {
  return [
    { name: entryName.keys, content: utf8(canonicalJson(keys)) },
    { name: entryName.workflow, content: utf8(workflow.source) },
    { name: entryName.graph, content: graph },
    {
      name: entryName.ledger,
      content: lines(
        rows.map(({ seq, jti, prevHash, hash, token }) => ({ seq, jti, prevHash, hash, token })),
      ),
    },
    { name: entryName.heads, content: lines(heads.map(({ seq, jws }) => ({ seq, jws }))) },
    ...values.map(({ hash, bytes }) => ({ name: valueEntry(hash), content: bytes })),
  ]
}

function lines(rows: readonly object[]): Uint8Array {
  return utf8(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
}

function utf8(text: string): Uint8Array {
  return Buffer.from(text, 'utf8')
}
