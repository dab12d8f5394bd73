/*
 * Putting a bundle's runs into an empty store, to be looked at. What is written is what was verified: rows, heads and
 * values byte for byte; lists are folded from them as always. No entry's name becomes a path, and nothing is written
 * until the whole file was read. A bundle that does not verify is shown as far as it can be read, and no further.
 */
import { canonicalJson } from '@/lib/base/canonical-json'
import { type Hash, sha256 } from '@/lib/base/hash'
import { runIdOf } from '@/lib/base/ids'
import { isProblem, Problem } from '@/lib/base/problem'
import type { LedgerEntry, LedgerHead } from '@/lib/ect/ledger-verify'
import { type Commit, derivedMediaType, type LedgerRow, type WorkflowRecord } from '@/lib/engine/ports'
import { approvalProjectionOf, projectionOf } from '@/lib/engine/projection'
import { readWorkflow } from '@/lib/formats/format'
import type { Store } from '@/lib/store/store'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { type GraphIndex, indexGraph } from '@/lib/workflow/graph-index'
import { type BundledRun, workflowEntries } from './bundle'
import type { BundleContents } from './contents'
import { Doubt } from './doubt'
import { NamedValues, RunReader } from './evidence'
import { startOf } from './gather'
import { allLines, isHeadLine, isLedgerLine } from './lines'
import { graphIn } from './manifest-shape'

const rowsPerCommit = 5_000
const valuesAtOnce = 200

export interface Imported {
  runs: number
  tokens: number
  /** The state it shows: the time of the newest token, ms since the epoch. */
  at: number
  /** Tokens that could not be read, with those after them: they are not shown. None in a bundle that verifies. */
  unread: number
}

/** Writes everything into an empty store. Throws Problem `bundle_invalid` for what no console can show. */
export async function importBundle(contents: BundleContents, store: Store): Promise<Imported> {
  const graphs = new Map<Hash, GraphIndex>()
  const records: WorkflowRecord[] = []
  for (const workflow of contents.workflows) {
    const { graph, record } = readVersion(workflow)
    graphs.set(workflow.about.version, indexGraph(graph))
    records.push(record)
  }
  const runs = contents.runs.map((run) => {
    const graph = graphs.get(run.about.version)
    if (!graph) throw cannotShow(`the workflow version of ${run.about.run} is not in it`)
    return { ...run, ...readRun(run, graph) }
  })
  // From here on things are written.
  for (const record of records) await store.workflows.put(record)
  for (let at = 0; at < contents.values.length; at += valuesAtOnce) {
    await Promise.all(
      contents.values
        .slice(at, at + valuesAtOnce)
        .map(({ hash, mediaType, content }) =>
          sha256(content) === hash ? store.ledger.putValue({ hash, mediaType, bytes: content }) : undefined,
        ),
    )
  }
  const imported: Imported = { runs: 0, tokens: 0, at: 0, unread: 0 }
  for (const { about, heads, rows, reader, unread } of runs) {
    await commitRun(store, { about, heads: headsOf(heads), rows, reader })
    imported.runs += 1
    imported.tokens += rows.length
    imported.at = Math.max(imported.at, reader.folded.lastAt)
    imported.unread += unread
  }
  return imported
}

function readVersion({ about, graph, text }: BundleContents['workflows'][number]): {
  graph: WorkflowGraph
  record: WorkflowRecord
} {
  const { version } = about
  const canonical = Buffer.from(graph.buffer, graph.byteOffset, graph.byteLength).toString('utf8')
  const source = text && Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('utf8')
  const written = source === undefined ? undefined : readWorkflow(source)
  if (source !== undefined && written?.graph && sha256(canonicalJson(written.graph)) === version) {
    const { name, description, nodes, format } = written.graph
    const more = { name, description, nodeCount: nodes.length, format, mediaType: written.mediaType }
    return { graph: written.graph, record: { ...about, ...more, source } }
  }
  // A text that is read otherwise by now, or none: the graph is what was run.
  if (sha256(graph) !== version) throw cannotShow(`the graph of ${version} is not in it`)
  const read = shown(() => graphIn(workflowEntries(version).graph, graph))
  return { graph: read, record: { ...about, source: canonical, mediaType: derivedMediaType } }
}

interface ReadRun {
  rows: LedgerRow[]
  reader: RunReader
  unread: number
}

/** The rows up to the first that cannot be read. */
function readRun({ about, ledger }: BundleContents['runs'][number], graph: GraphIndex): ReadRun {
  const entries = shown(() => allLines<LedgerEntry>('ledger.jsonl', ledger, isLedgerLine))
  const reader = new RunReader(about.run, graph, new NamedValues())
  const rows: LedgerRow[] = []
  for (const { seq, token, prevHash, hash } of entries) {
    try {
      if (seq !== rows.length + 1) break
      const { jti } = reader.add({ seq, token, hash })
      rows.push({ runId: about.run, seq, jti, token, prevHash, hash })
    } catch (error) {
      if (!isProblem(error)) throw error
      break
    }
  }
  return { rows, reader, unread: entries.length - rows.length }
}

function headsOf(heads: Uint8Array): LedgerHead[] {
  try {
    return allLines<LedgerHead>('heads.jsonl', heads, isHeadLine)
  } catch (error) {
    if (error instanceof Doubt) return []
    throw error
  }
}

async function commitRun(
  store: Store,
  {
    about,
    heads,
    rows,
    reader,
  }: { about: BundledRun; heads: LedgerHead[]; rows: LedgerRow[]; reader: RunReader },
): Promise<void> {
  const { run: runId, wid, version, workflow: workflowName, startedBy, parent } = about
  const { folded, notes } = reader
  const forkWid = startOf({ notes })?.forkWid
  const create: Commit['create'] = {
    ...{ runId, wid, version, workflowName, startedBy },
    ...(parent && { parent }),
    ...(forkWid !== undefined && { forkOf: runIdOf(forkWid) }),
  }
  // Nobody works here: nothing is ever due.
  const projection = { ...projectionOf(folded, folded.lastAt), dueAt: null }
  for (let from = 0; from === 0 || from < rows.length; from += rowsPerCommit) {
    const page = rows.slice(from, from + rowsPerCommit)
    const isLast = from + rowsPerCommit >= rows.length
    await store.ledger.commit({
      ...{ runId, expectedSeq: from, rows: page, projection, values: [], checkpoints: [] },
      ...(from === 0 && { create }),
      heads: heads.filter(({ seq }) => seq > from && seq <= from + page.length),
      approvals: isLast ? [...folded.approvals.values()].map(approvalProjectionOf) : [],
    })
  }
}

/** What a Doubt says of a file, said of a bundle that is to be shown. */
function shown<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof Doubt) throw cannotShow(error.failure.sentence.replace(/\.$/, ''))
    throw error
  }
}

function cannotShow(why: string): Problem {
  return new Problem('bundle_invalid', `The bundle cannot be shown: ${why}`)
}
