/*
 * Writing a bundle in two passes. The first (gather.ts) reads everything once and keeps sizes and hashes; from them
 * follows the manifest, which stands first. The second streams the file: one page of a ledger or one value at a time is
 * in memory, however large the run.
 */
import { canonicalJson } from '@/lib/base/canonical-json'
import { type Hash, sha256 } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { version as program } from '@/lib/base/version'
import { HEAD_TYPES } from '@/lib/ect/jws'
import type { SigningKey } from '@/lib/ect/sign'
import type { LedgerStore } from '@/lib/engine/ports'
import { agentsText } from './agents'
import {
  agentsEntry,
  type BundledRun,
  bundleEdition,
  bundleType,
  entryName,
  type Manifest,
  runEntries,
  type Statement,
  valueEntry,
  workflowEntries,
} from './bundle'
import { decisionsOf, reportClaims } from './claims'
import type { RunEvidence } from './evidence'
import { type Gathered, type GatheredRun, ledgerLines } from './gather'
import { renderReport } from './report/report'
import { signSteadily } from './steady-signature'
import { type TarPart, tarBytes, tarStream } from './tar'

interface Part extends TarPart {
  sha256: Hash
  mediaType?: string
}

/** A bundle that is about to be written: what is in it is settled, and its bytes follow. */
export interface PlannedBundle {
  manifest: Manifest
  /** Bytes of the file. */
  size: number
  /** The file, piece by piece. May be called again: it is the same file. */
  stream(): AsyncGenerator<Uint8Array>
}

const rowsPerRead = 2_000
/** Pieces are sent on in about this size: headers and small values would be a thousand tiny writes. */
const pieceBytes = 256 * 1024

/** Settles what the bundle says. The same state and key give the same bytes. Throws Problem `too_large`, `key_unusable`. */
export async function planBundle(
  found: Gathered,
  ledger: LedgerStore,
  key: SigningKey,
): Promise<PlannedBundle> {
  const gathered = withLastHeads(found, key)
  const parts = await partsOf(gathered, ledger)
  const manifest = manifestOf(gathered, parts)
  const text = utf8(canonicalJson(manifest))
  const statement: Statement = {
    wid: manifest.wid,
    manifest: sha256(text),
    iat: Math.floor(manifest.at / 1000),
  }
  const signed = utf8(signSteadily(bundleType, { ...statement } as JsonObject, key))
  const all = [fixed(entryName.statement, signed), fixed(entryName.manifest, text), ...parts]
  return {
    manifest,
    size: tarBytes(all.map(({ size }) => size)),
    stream: () => inPieces(tarStream(all)),
  }
}

/**
 * Each ledger with a signed head of its last token. A run writes one at its end and every 1,000 tokens; of one that goes
 * on, or in which something came after its end, the bundle says itself how far it went.
 */
function withLastHeads(gathered: Gathered, key: SigningKey): Gathered {
  const runs = gathered.runs.map((run): GatheredRun => {
    const { wid, tokens: seq, lastHash: hash, notes } = run.evidence
    if (seq === 0 || run.heads.at(-1)?.seq === seq) return run
    const claims = { wid, seq, hash, iat: Math.floor((notes.at(-1)?.at ?? 0) / 1000) }
    const heads = [...run.heads, { seq, jws: signSteadily(HEAD_TYPES[0], claims, key) }]
    return { ...run, heads, evidence: { ...run.evidence, heads: heads.length } }
  })
  const evidence = { ...gathered.evidence, runs: runs.map((run) => run.evidence) }
  return { ...gathered, runs, evidence }
}

function manifestOf({ evidence }: Gathered, parts: readonly Part[]): Manifest {
  const root = evidence.runs[0] as RunEvidence
  const { run, wid, version } = root
  const workflow = evidence.workflows.find((one) => one.version === version)
  const { forkedFrom, begunBy, leftOut, at } = evidence
  return {
    bundle: bundleEdition,
    program,
    run,
    wid,
    workflow: { name: root.workflow, version, mediaType: workflow?.mediaType ?? '' },
    at,
    tokens: evidence.runs.reduce((sum, { tokens }) => sum + tokens, 0),
    runs: evidence.runs.map(bundledRun),
    workflows: evidence.workflows,
    ...(forkedFrom && { forkedFrom }),
    ...(begunBy && { begunBy }),
    leftOut,
    entries: parts.map(({ name, size, sha256, mediaType }) => ({
      ...{ name, size, sha256 },
      ...(mediaType !== undefined && { mediaType }),
    })),
  }
}

function bundledRun(evidence: RunEvidence): BundledRun {
  const { run, wid, relation, version, workflow, startedBy, parent, tokens, heads, lastHash } = evidence
  return {
    run,
    wid,
    relation,
    version,
    workflow,
    startedBy,
    ...(parent && { parent }),
    tokens,
    heads,
    lastHash,
  }
}

async function partsOf(gathered: Gathered, ledger: LedgerStore): Promise<Part[]> {
  const { evidence, runs, workflows, keys, agents } = gathered
  return [
    fixed(entryName.report, utf8(await renderReport(evidence))),
    fixed(entryName.claims, utf8(canonicalJson(reportClaims(evidence)))),
    fixed(entryName.decisions, utf8(canonicalJson({ decisions: decisionsOf(evidence) }))),
    fixed(entryName.keys, utf8(canonicalJson(keys))),
    ...(agents.size > 0 ? [fixed(agentsEntry, utf8(agentsText(agents)))] : []),
    ...workflows.flatMap(({ about, graph, text }) => {
      const names = workflowEntries(about.version)
      return [fixed(names.graph, graph), ...(text ? [fixed(names.text, text)] : [])]
    }),
    ...runs.flatMap((run) => runParts(run, ledger)),
    ...[...evidence.values].map(
      ([hash, { size, mediaType }]): Part => ({
        ...{ name: valueEntry(hash), size, sha256: hash, mediaType },
        content: () => storedBytes(ledger, hash),
      }),
    ),
  ]
}

function runParts({ evidence, ledger: lines, heads }: GatheredRun, ledger: LedgerStore): Part[] {
  const { run, tokens } = evidence
  const names = runEntries(run)
  const headLines = heads.map(({ seq, jws }) => `${JSON.stringify({ seq, jws })}\n`).join('')
  return [
    { name: names.ledger, ...lines, content: () => ledgerOf(ledger, run, tokens) },
    fixed(names.heads, utf8(headLines)),
  ]
}

async function* ledgerOf(ledger: LedgerStore, run: RunId, tokens: number): AsyncGenerator<Uint8Array> {
  for (let after = 0; after < tokens; after += rowsPerRead) {
    yield ledgerLines(await ledger.rows(run, after, Math.min(rowsPerRead, tokens - after)))
  }
}

async function* storedBytes(ledger: LedgerStore, hash: Hash): AsyncGenerator<Uint8Array> {
  const value = await ledger.value(hash)
  if (!value) throw new Problem('not_found', `The value ${hash} was there and is not any more`)
  yield value.bytes
}

function fixed(name: string, content: Uint8Array): Part {
  return { name, size: content.length, sha256: sha256(content), content: () => [content] }
}

async function* inPieces(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = []
  let bytes = 0
  for await (const piece of stream) {
    waiting.push(piece)
    bytes += piece.length
    if (bytes < pieceBytes) continue
    yield waiting.length === 1 ? piece : Buffer.concat(waiting)
    waiting = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(waiting)
}

function utf8(text: string): Uint8Array {
  return Buffer.from(text, 'utf8')
}
