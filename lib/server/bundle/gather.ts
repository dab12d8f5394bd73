/*
 * Reading what goes into a bundle, once, from a store that goes on being written. A parent's ledger is read before its
 * children's, so whatever of a child the parent speaks of is there when the child is read; children that began after
 * their parent was read are left for another time. So the bundle shows one state that the runs really were in.
 *
 * Nothing large is kept: of a ledger its fold and notes, of a value its size. The bytes are read again when they are
 * written (write-bundle.ts), and they are the same then, since rows and values never change.
 */
import { createHash } from 'node:crypto'
import { canonicalJson } from '@/lib/base/canonical-json'
import { type Hash, sha256 } from '@/lib/base/hash'
import { type RunId, runIdOf } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import { firstPrevHashSync } from '@/lib/ect/chain-node'
import type { Jwks } from '@/lib/ect/keys'
import type { FactOf } from '@/lib/engine/facts'
import {
  derivedMediaType,
  type LedgerRow,
  type LedgerStore,
  type RunHeader,
  type SignedHead,
  type WorkflowRecord,
} from '@/lib/engine/ports'
import { readWorkflow } from '@/lib/formats/format'
import type { Store } from '@/lib/store/store'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { type GraphIndex, indexGraph } from '@/lib/workflow/graph-index'
import { type AgentKeys, agentsIn } from './agents'
import {
  type BundledWorkflow,
  bundledRunsMax,
  bundledValuesMax,
  bundleMaxBytes,
  type LeftOut,
  type Reference,
  type Relation,
} from './bundle'
import { type Evidence, NamedValues, type RunEvidence, RunReader } from './evidence'

export interface BundleSources {
  store: Pick<Store, 'ledger' | 'workflows' | 'runs'>
  keys: Jwks
  /** Public keys of agents. Absent: none are known. */
  agentKeys?: AgentKeys
}

export interface BundleWish {
  /** The ledgers of the runs it was forked from too, with the runs below them. */
  withForks?: boolean
  /** Values of more bytes are left out and listed. */
  valueMaxBytes?: number
  /** Told from time to time how many tokens and values were read. */
  onProgress?: (progress: { tokens: number; values: number }) => void
}

/** A workflow version as it is kept. */
export interface GatheredWorkflow {
  about: BundledWorkflow
  /** Canonical text of the graph. */
  graph: Uint8Array
  /** Absent where nobody wrote it. */
  text?: Uint8Array
}

/** The lines of a run's ledger and heads, by size and hash. */
export interface GatheredRun {
  evidence: RunEvidence
  ledger: { size: number; sha256: Hash }
  heads: readonly SignedHead[]
}

export interface Gathered {
  evidence: Evidence
  runs: GatheredRun[]
  workflows: GatheredWorkflow[]
  keys: Jwks
  agents: ReadonlyMap<string, Jwks>
}

/** Reading is work for this thread: whoever waits for an answer gets a turn after this many. */
const rowsPerRead = 500
const childrenPerRead = 500
/** Room for manifest, report, keys and tar headers beside ledgers and values. */
const otherBytes = 64 * 1024 * 1024

/**
 * Reads a run with the runs below it and all that their tokens name. Throws Problem `not_found`, `too_large`,
 * `workflow_invalid`.
 */
export async function gather(
  runId: RunId,
  { store, keys, agentKeys }: BundleSources,
  wish: BundleWish = {},
): Promise<Gathered> {
  const reading = new Reading(store, wish)
  await reading.tree(runId, 'exported')
  const root = reading.runs[0] as GatheredRun
  const start = startOf(root.evidence)
  const forkedFrom = start && forkReference(start)
  if (forkedFrom && wish.withForks) forkedFrom.included = await reading.original(forkedFrom.run)
  const begunBy = start && parentReference(start, root.evidence)
  const values = await reading.values()
  const workflows = [...reading.workflows.values()].sort((a, b) =>
    a.about.version < b.about.version ? -1 : 1,
  )
  const runs = reading.runs
  const at = Math.max(...runs.map(({ evidence }) => evidence.notes.at(-1)?.at ?? 0))
  const evidence: Evidence = {
    runs: runs.map((run) => run.evidence),
    workflows: workflows.map(({ about }) => about),
    ...(forkedFrom && { forkedFrom }),
    ...(begunBy && { begunBy }),
    ...values,
    at,
    async value(hash) {
      return values.values.has(hash) ? (await store.ledger.value(hash))?.bytes : undefined
    },
  }
  const agents = (await agentKeys?.(await agentsIn(evidence))) ?? new Map()
  return { evidence, runs, workflows, keys, agents }
}

/** What a run's first token says. */
export function startOf({ notes }: Pick<RunEvidence, 'notes'>): FactOf<'workflow_start'> | undefined {
  const fact = notes[0]?.fact
  return fact?.type === 'workflow_start' ? fact : undefined
}

/** The run it was forked from, as its first token says. */
export function forkReference(start: FactOf<'workflow_start'>): Reference | undefined {
  const { forkWid: wid, forkSeq: seq, par } = start
  if (wid === undefined) return undefined
  const place = { run: runIdOf(wid), wid, jti: par[0] ?? '', included: false }
  return seq === undefined ? place : { ...place, seq }
}

/** The run that began an exported child, as its first token says: a reference, for its ledger is another bundle's. */
export function parentReference(
  start: FactOf<'workflow_start'>,
  { relation }: Pick<RunEvidence, 'relation'>,
): Reference | undefined {
  if (start.parentWid === undefined || relation !== 'exported') return undefined
  return { run: runIdOf(start.parentWid), wid: start.parentWid, jti: start.par[0] ?? '', included: false }
}

class Reading {
  readonly runs: GatheredRun[] = []
  readonly workflows = new Map<Hash, GatheredWorkflow>()
  readonly #graphs = new Map<Hash, GraphIndex>()
  readonly #named = new NamedValues()
  readonly #store: BundleSources['store']
  readonly #wish: BundleWish
  readonly #seen = new Set<RunId>()
  #tokens = 0
  #bytes = otherBytes

  constructor(store: BundleSources['store'], wish: BundleWish) {
    this.#store = store
    this.#wish = wish
  }

  /** A run and all below it, each after the one whose step began it. */
  async tree(runId: RunId, relation: Relation): Promise<void> {
    const first = await this.#run(runId, relation)
    let level = [first]
    while (level.length > 0) {
      const next: GatheredRun[] = []
      for (const above of level) {
        for (const child of await this.#childrenOf(above)) next.push(child)
      }
      level = next
    }
  }

  /** The runs it was forked from, the nearest first. False when the first of them is not here. */
  async original(runId: RunId): Promise<boolean> {
    let next: RunId | undefined = runId
    let found = false
    while (next && !this.#seen.has(next) && (await this.#store.ledger.header(next))) {
      await this.tree(next, 'original')
      found = true
      const read = this.runs.find(({ evidence }) => evidence.run === next)
      const start = read && startOf(read.evidence)
      next = start && forkReference(start)?.run
    }
    return found || this.#seen.has(runId)
  }

  async #childrenOf({ evidence: above }: GatheredRun): Promise<GatheredRun[]> {
    const records: { runId: RunId; startedAt: number }[] = []
    let cursor: string | undefined
    do {
      const page = await this.#store.runs.list({ parent: above.run }, { limit: childrenPerRead, cursor })
      records.push(...page.items)
      cursor = page.next
      if (this.#seen.size + records.length > bundledRunsMax) throw tooManyRuns(above.run)
    } while (cursor !== undefined)
    records.sort((a, b) => a.startedAt - b.startedAt || (a.runId < b.runId ? -1 : 1))
    const children: GatheredRun[] = []
    for (const { runId } of records) {
      if (this.#seen.has(runId)) continue
      const [first] = await this.#store.ledger.rows(runId, 0, 1)
      if (first && followsFrom(first, above)) children.push(await this.#run(runId, 'child'))
    }
    return children
  }

  async #run(runId: RunId, relation: Relation): Promise<GatheredRun> {
    const { ledger } = this.#store
    this.#seen.add(runId)
    const header = await ledger.header(runId)
    if (!header) {
      throw new Problem(
        'not_found',
        `There is no run ${runId} here; holdpoint export takes a run's id, run_…`,
      )
    }
    const graph = await this.#graph(header)
    const reader = new RunReader(runId, graph, this.#named)
    const digest = createHash('sha256')
    let size = 0
    let lastHash: Hash = firstPrevHashSync(header.wid)
    for (let after = 0; ; ) {
      const page = await ledger.rows(runId, after, rowsPerRead)
      const lines = ledgerLines(page)
      digest.update(lines)
      size += lines.length
      for (const row of page) reader.add(row)
      lastHash = page.at(-1)?.hash ?? lastHash
      this.#tokens += page.length
      this.#told()
      after += page.length
      if (page.length < rowsPerRead) break
      // Folding is work for this thread: whoever waits for an answer gets a turn.
      await new Promise((resolve) => setImmediate(resolve))
    }
    const { notes, seqOf, folded, timeline } = reader
    const heads = (await ledger.heads(runId)).filter(({ seq }) => seq <= notes.length)
    this.#bytes += size
    if (this.#bytes > bundleMaxBytes) throw tooLarge(runId)
    const { wid, version, workflowName: workflow, startedBy, parent } = header
    const gathered: GatheredRun = {
      evidence: {
        ...{ run: runId, wid, relation, version, workflow, startedBy },
        ...(parent && { parent }),
        ...{ tokens: notes.length, heads: heads.length, lastHash },
        // What was reported into it grew its graph.
        ...{ notes, seqOf, graph: folded.graph, folded, timeline },
      },
      ledger: { size, sha256: digest.digest('base64url') },
      heads,
    }
    this.runs.push(gathered)
    return gathered
  }

  async #graph(header: RunHeader): Promise<GraphIndex> {
    const { version, runId } = header
    const known = this.#graphs.get(version)
    if (known) return known
    const record = await this.#store.workflows.get(version)
    if (!record)
      throw new Problem('not_found', `The workflow version ${version} of ${runId} is not stored here`)
    const { graph, text } = await graphOf(record, this.#store.ledger)
    const { source, ...about } = record
    const isWritten = record.mediaType !== derivedMediaType
    this.workflows.set(version, { about, graph: text, ...(isWritten && { text: utf8(source) }) })
    const index = indexGraph(graph)
    this.#graphs.set(version, index)
    return index
  }

  /** The sizes of all values that are stored and go in, and what does not. The largest give way where there is no room. */
  async values(): Promise<Pick<Evidence, 'values' | 'leftOut'>> {
    const { ledger } = this.#store
    const found: { hash: Hash; size: number; mediaType: string }[] = []
    const leftOut: LeftOut[] = [...this.#named.sealed].map(([hash, { run, seq }]) => ({
      ...{ hash, why: 'sealed' as const, run, seq },
    }))
    let read = 0
    for (const [hash, { run, seq, certain }] of this.#named.values) {
      // What only looks like a value's name may be a checkpoint's; a value is never sealed under its own hash.
      if (this.#named.sealed.has(hash) && !certain) continue
      const value = await ledger.value(hash)
      if (value && sha256(value.bytes) === hash) {
        found.push({ hash, size: value.bytes.length, mediaType: value.mediaType })
      } else if (certain) leftOut.push({ hash, why: 'not_stored', run, seq })
      read += 1
      if (read % 200 === 0) this.#told(read)
    }
    found.sort((a, b) => a.size - b.size || (a.hash < b.hash ? -1 : 1))
    const values: (typeof found)[number][] = []
    for (const value of found) {
      this.#bytes += value.size + 1024
      const fits = value.size <= (this.#wish.valueMaxBytes ?? Number.POSITIVE_INFINITY)
      if (fits && this.#bytes <= bundleMaxBytes && values.length < bundledValuesMax) {
        values.push(value)
        continue
      }
      const { run, seq } = this.#named.values.get(value.hash) as { run: RunId; seq: number }
      leftOut.push({ hash: value.hash, why: 'too_large', size: value.size, run, seq })
    }
    this.#told(read)
    leftOut.sort((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0))
    values.sort((a, b) => (a.hash < b.hash ? -1 : 1))
    return {
      values: new Map(values.map(({ hash, size, mediaType }) => [hash, { size, mediaType }])),
      leftOut,
    }
  }

  #told(values = 0): void {
    this.#wish.onProgress?.({ tokens: this.#tokens, values })
  }
}

/** Its first token follows one that was read: it had begun in the state that is shown. */
function followsFrom(first: LedgerRow, above: RunEvidence): boolean {
  const reader = new RunReader(first.runId, above.graph, new NamedValues())
  const { par } = reader.add(first)
  return par.some((jti) => above.seqOf.has(jti))
}

/** The graph as it is stored under its version, or else as the version's text reads. Throws Problem `workflow_invalid`. */
async function graphOf(
  record: WorkflowRecord,
  ledger: LedgerStore,
): Promise<{ graph: WorkflowGraph; text: Uint8Array }> {
  const stored = await ledger.value(record.version)
  const isDerived = record.mediaType === derivedMediaType
  const text = stored?.bytes ?? utf8(isDerived ? record.source : readCanonically(record.source))
  if (sha256(text) === record.version) {
    return { graph: JSON.parse(Buffer.from(text).toString('utf8')) as WorkflowGraph, text }
  }
  throw new Problem(
    'workflow_invalid',
    `The text of "${record.name}" is no longer read into the graph it was imported as; export it with the version of Holdpoint that ran it`,
    { version: record.version },
  )
}

function readCanonically(source: string): string {
  const { graph } = readWorkflow(source)
  return graph ? canonicalJson(graph) : ''
}

/** Ledger rows as the bundle has them: one JSON object a line, every line ended. */
export function ledgerLines(rows: readonly LedgerRow[]): Uint8Array {
  return utf8(
    rows
      .map(
        ({ seq, jti, prevHash, hash, token }) => `${JSON.stringify({ seq, jti, prevHash, hash, token })}\n`,
      )
      .join(''),
  )
}

function utf8(text: string): Uint8Array {
  return Buffer.from(text, 'utf8')
}

function tooManyRuns(run: RunId): Problem {
  return new Problem(
    'too_large',
    `More than ${bundledRunsMax} runs stand below ${run}, the most a bundle holds; export the runs below it on their own`,
  )
}

function tooLarge(run: RunId): Problem {
  return new Problem(
    'too_large',
    `With the ledger of ${run} the bundle is larger than ${bundleMaxBytes} bytes, the most it may be; export the runs below on their own`,
  )
}
