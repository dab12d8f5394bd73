/*
 * From a symptom to its root cause. An error token may name the errors it came from (`upstream_errors`); where it names
 * none, what it followed from (`par`) is searched for an error, back to where something was still well: past a step that
 * was done, nothing is its cause. Where there is none, the steps that were done before it are named, as what they are.
 *
 *   run failed ─par─▶ classify: upstream_cascade ─upstream─▶ tune: action_failed ─par─▶ step began      root: tune
 *
 * The chain stays in one run. What it names and this ledger does not hold is in another, and is handed back by id.
 */
import type { Fact } from '@/lib/engine/facts'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import { edgeKey } from '../edge-frame'
import type { LedgerRow } from '../visit-view'
import type { CausalChain, CausalLink, Seq } from './terms'

export interface CausalLedger {
  index: GraphIndex
  rows: readonly LedgerRow[]
  facts: readonly (Fact | undefined)[]
  /** Sequence number of a token by its id. */
  seqOf: ReadonlyMap<string, Seq>
}

/** Tokens looked at on the way back through `par`; a wider search than a person can follow is of no use to them. */
const mostTokens = 10_000

/** Steps before a symptom that are named where no failure led to it. */
const mostBefore = 24

/** The chain behind a token; undefined where there is no such token. A token without a cause is its own root. */
export function causesOf(ledger: CausalLedger, symptom: Seq): CausalChain | undefined {
  if (!ledger.rows[symptom - 1]) return undefined
  const links: CausalLink[] = [linkOf(ledger, symptom, 'symptom')]
  const nodes = new Set<string>()
  const edges = new Set<string>()
  const elsewhere = new Set<string>()
  const seen = new Set([symptom])
  let root = symptom
  const queue = [symptom]
  const queued = new Set(queue)
  for (let at = 0; at < queue.length && links.length < mostTokens; at++) {
    const effect = queue[at] as Seq
    const { found, outside } = upstreamOf(ledger, effect)
    for (const id of outside) elsewhere.add(id)
    const ways = found.length > 0 ? found.map((seq) => [seq]) : wayToError(ledger, effect, elsewhere)
    for (const way of ways) {
      const cause = way.at(-1) as Seq
      drawLine(ledger, cause, effect, edges, nodes)
      for (const seq of way) {
        if (seen.has(seq)) continue
        seen.add(seq)
        links.push(linkOf(ledger, seq, found.length > 0 ? 'upstream' : 'par'))
      }
      if (!isError(ledger.facts[cause - 1]) || queued.has(cause)) continue
      root = Math.min(root, cause)
      queued.add(cause)
      queue.push(cause)
    }
  }
  if (links.length === 1) {
    for (const seq of doneBefore(ledger, symptom)) {
      drawLine(ledger, seq, symptom, edges, nodes)
      links.push(linkOf(ledger, seq, 'before'))
    }
  }
  for (const { node } of links) if (node !== undefined) nodes.add(node)
  return { links, root, nodes, edges, elsewhere: [...elsewhere] }
}

function upstreamOf({ facts, seqOf }: CausalLedger, seq: Seq): { found: Seq[]; outside: string[] } {
  const fact = facts[seq - 1]
  const found: Seq[] = []
  const outside: string[] = []
  for (const id of fact?.type === 'error' ? fact.upstream : []) {
    const at = seqOf.get(id.replace(/^urn:uuid:/, ''))
    if (at === undefined) outside.push(id)
    // A cause stands before its effect; a ledger that says otherwise is not followed in circles.
    else if (at < seq) found.push(at)
  }
  return { found, outside }
}

/**
 * The ways back through `par` to the nearest errors, nearest token first; empty where there is none. Tokens of other
 * ledgers that are named on the way are added to `elsewhere`.
 */
function wayToError(ledger: CausalLedger, from: Seq, elsewhere: Set<string>): Seq[][] {
  const cameFrom = new Map<Seq, Seq>()
  const found: Seq[] = []
  const queue = [from]
  for (let at = 0; at < queue.length && queue.length < mostTokens; at++) {
    const seq = queue[at] as Seq
    for (const id of ledger.rows[seq - 1]?.par ?? []) {
      const parent = ledger.seqOf.get(id)
      if (parent === undefined) elsewhere.add(id)
      if (parent === undefined || parent >= seq || cameFrom.has(parent)) continue
      cameFrom.set(parent, seq)
      const fact = ledger.facts[parent - 1]
      if (isError(fact)) found.push(parent)
      else if (fact?.type !== 'task_complete' && fact?.type !== 'step_carried') queue.push(parent)
    }
  }
  return found.map((seq) => {
    const way = [seq]
    for (let at = cameFrom.get(seq); at !== undefined && at !== from; at = cameFrom.get(at)) way.push(at)
    return way.reverse()
  })
}

/** The steps that were done on the way to a token, nearest first: where no failure led to it, one of them may have. */
function doneBefore(ledger: CausalLedger, from: Seq): Seq[] {
  const found: Seq[] = []
  const queue = [from]
  const seen = new Set(queue)
  for (let at = 0; at < queue.length && seen.size < mostTokens && found.length < mostBefore; at++) {
    for (const id of ledger.rows[(queue[at] as Seq) - 1]?.par ?? []) {
      const parent = ledger.seqOf.get(id)
      if (parent === undefined || parent >= from || seen.has(parent)) continue
      seen.add(parent)
      queue.push(parent)
      const fact = ledger.facts[parent - 1]
      if (fact?.type === 'task_complete' || fact?.type === 'step_carried') found.push(parent)
    }
  }
  return found
}

function isError(fact: Fact | undefined): boolean {
  const tells = fact?.type === 'error' || (fact?.type === 'reported' && fact.meaning === 'error')
  return tells && fact.severity !== 'info'
}

function linkOf({ rows, facts }: CausalLedger, seq: Seq, by: CausalLink['by']): CausalLink {
  const row = rows[seq - 1] as LedgerRow
  const fact = facts[seq - 1]
  return {
    seq,
    ...(row.node !== undefined && { node: row.node, visit: row.visit }),
    by,
    isError: isError(fact),
    words: wordsOf(fact) ?? row.words ?? row.act,
  }
}

function wordsOf(fact: Fact | undefined): string | undefined {
  if (fact?.type === 'error') return fact.description || fact.code
  return fact?.type === 'reported' && fact.meaning === 'error' ? fact.description || undefined : undefined
}

/** The line from a cause's node to its effect's: the edge between them, or the shortest way where none joins them. */
function drawLine(
  { index, rows }: CausalLedger,
  cause: Seq,
  effect: Seq,
  edges: Set<string>,
  nodes: Set<string>,
): void {
  const from = rows[cause - 1]?.node
  const to = rows[effect - 1]?.node
  if (from === undefined || to === undefined || from === to) return
  const way = wayInGraph(index, from, to)
  for (const [at, node] of way.entries()) {
    nodes.add(node)
    const next = way[at + 1]
    if (next !== undefined) edges.add(edgeKey(node, next))
  }
}

function wayInGraph(index: GraphIndex, from: string, to: string): string[] {
  const cameFrom = new Map<string, string>()
  const queue = [from]
  for (let at = 0; at < queue.length && !cameFrom.has(to); at++) {
    const node = queue[at] as string
    const redirect = index.nodes.get(node)?.onMaxVisits
    for (const child of [
      ...(index.children.get(node) ?? []),
      ...(redirect === undefined ? [] : [redirect]),
    ]) {
      if (cameFrom.has(child) || child === from) continue
      cameFrom.set(child, node)
      queue.push(child)
    }
  }
  if (!cameFrom.has(to)) return []
  const way = [to]
  for (let at = cameFrom.get(to); at !== undefined; at = cameFrom.get(at)) way.push(at)
  return way.reverse()
}
