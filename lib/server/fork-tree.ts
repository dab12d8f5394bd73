/** The tree of forks that a run stands in: the original, its forks and theirs. */
import type { RunId } from '@/lib/base/ids'
import { runIdOf } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import { parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import { factOf } from '@/lib/engine/fact-codec'
import type { FactOf } from '@/lib/engine/facts'
import type { RunRecord } from '@/lib/store/store'
import type { ForkTreeNode, ForkTreeView } from '@/lib/view/fork-wire'
import { runRowOf } from '@/lib/view/rows'
import type { Installation } from './installation'

/** Runs that are listed. */
const maxNodes = 100
/** Forks of forks of forks that are followed, up and down. */
const maxDepth = 50

/** The tree, parents before their forks and forks in the order they were made. Throws Problem `not_found`. */
export async function forkTreeOf(installation: Installation, runId: RunId): Promise<ForkTreeView> {
  const asked = await installation.store.runs.get(runId)
  if (!asked) throw new Problem('not_found', `No run is known as "${runId}"`)
  const { records, more } = await treeOf(installation, await rootOf(installation, asked), asked)
  const forks = new Map<string, RunRecord[]>()
  for (const record of records) {
    const of = record.forkOf ?? ''
    forks.set(of, [...(forks.get(of) ?? []), record])
  }
  const nodes: ForkTreeView['nodes'] = []
  const seen = new Set<RunId>()
  const visit = async (record: RunRecord, depth: number): Promise<void> => {
    if (seen.has(record.runId)) return
    seen.add(record.runId)
    nodes.push({ ...(await nodeOf(installation, record)), depth })
    const own = (forks.get(record.runId) ?? []).sort(
      (a, b) => a.startedAt - b.startedAt || (a.runId < b.runId ? -1 : 1),
    )
    for (const fork of own) await visit(fork, depth + 1)
  }
  const [root] = records
  if (root) await visit(root, 0)
  return { run: runId, nodes, more }
}

/** The run that was forked first. */
async function rootOf({ store }: Installation, asked: RunRecord): Promise<RunRecord> {
  let root = asked
  for (let up = 0; up < maxDepth && root.forkOf !== undefined; up++) {
    const above = await store.runs.get(root.forkOf)
    if (!above) break
    root = above
  }
  return root
}

async function treeOf({ store }: Installation, root: RunRecord, asked: RunRecord) {
  const records = [root]
  let level: RunId[] = [root.runId]
  let more = false
  for (let depth = 0; depth < maxDepth && level.length > 0 && records.length < maxNodes; depth++) {
    const found = await store.runs.list({ forksOf: level }, { limit: maxNodes - records.length })
    more ||= found.next !== undefined
    records.push(...found.items)
    level = found.items.map(({ runId }) => runId)
  }
  // Whoever asks finds the run itself, and the way to it, however many there are beside it.
  const known = new Set(records.map(({ runId }) => runId))
  for (let at: RunRecord | undefined = asked; at && !known.has(at.runId); ) {
    records.push(at)
    known.add(at.runId)
    at = at.forkOf === undefined ? undefined : await store.runs.get(at.forkOf)
  }
  return { records, more }
}

async function nodeOf(installation: Installation, record: RunRecord): Promise<ForkTreeNode> {
  const start = await startOf(installation, record.runId)
  return {
    row: runRowOf(record),
    dryRun: start?.dryRun ?? false,
    ...(start?.forkWid !== undefined && { of: runIdOf(start.forkWid) }),
    ...(start?.forkSeq !== undefined && { at: start.forkSeq }),
    ...(start?.forkReason !== undefined && start.forkReason !== '' && { reason: start.forkReason }),
  }
}

/** A run's first token. */
async function startOf({ store }: Installation, runId: RunId): Promise<FactOf<'workflow_start'> | undefined> {
  const [first] = await store.ledger.rows(runId, 0, 1)
  const fact = first && factOf(parseClaims(unverifiedPayload(first.token)))
  return fact?.type === 'workflow_start' ? fact : undefined
}
