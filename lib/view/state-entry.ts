/*
 * One entry of a state on the walk, as its inspector tells it: which entry of how many, where it was sent here from, and
 * what it wrote. Artifacts are told with what stood there before: of a `replace` slot the value, of an `append` slot how
 * many entries.
 */
import type { Actor } from '@/lib/engine/facts'
import type { ArtifactWrite, Run, WalkStep } from '@/lib/engine/run'
import { labelOf } from '@/lib/workflow/graph-index'

export interface StateEntry {
  /** From 1, on the way as it is now; absent for an entry that was taken back. */
  entered?: number
  /** How often it may be entered. */
  most?: number
  /** States that were meant, and were entered as often as they may be: the first one first. */
  insteadOf: { node: string; label: string; most: number }[]
  written: WrittenArtifact[]
}

export interface WrittenArtifact {
  artifact: string
  mediaType: string
  mode: 'replace' | 'append'
  by: Actor
  /** Hash of the value that stood there before; of a `replace` slot. */
  before?: string
  /** Entries that were there before; of an `append` slot. */
  earlier: number
  /** Hashes of what was written: of a `replace` slot the last one alone. */
  after: string[]
}

/** The entry that a visit is. */
export function stateEntry(run: Run, node: string, visit: number): StateEntry {
  const { step, entered } = entryOf(run, node, visit)
  const most = run.graph.nodes.get(node)?.maxVisits
  return {
    ...(entered !== undefined && { entered }),
    ...(most !== undefined && { most }),
    insteadOf: (step?.insteadOf ?? []).map((meant) => ({
      node: meant,
      label: labelOf(run.graph, meant),
      most: run.graph.nodes.get(meant)?.maxVisits ?? 0,
    })),
    written: writtenIn(run.artifactWrites, node, visit),
  }
}

/** The walk's step that is that visit, and the how-many-eth of its node it is. From the end: the last is asked for most. */
function entryOf({ walk }: Run, node: string, visit: number): { step?: WalkStep; entered?: number } {
  let entered = walk?.entered.get(node) ?? 0
  for (let at = (walk?.path.length ?? 0) - 1; at >= 0 && entered > 0; at--) {
    const step = walk?.path[at]
    if (step?.visit.node !== node) continue
    if (step.visit.visit === visit) return { step, entered }
    entered -= 1
  }
  return {}
}

function writtenIn(writes: readonly ArtifactWrite[], node: string, visit: number): WrittenArtifact[] {
  const found = new Map<string, WrittenArtifact>()
  const before = new Map<string, { value: string; count: number }>()
  for (const write of writes) {
    const { artifact, value, mediaType, mode, by } = write
    if (write.node !== node || write.visit !== visit) {
      const last = before.get(artifact)
      if (last) {
        last.value = value
        last.count += 1
      } else before.set(artifact, { value, count: 1 })
      continue
    }
    const known = found.get(artifact)
    if (known) {
      known.after = mode === 'append' ? [...known.after, value] : [value]
      continue
    }
    const old = before.get(artifact)
    found.set(artifact, {
      artifact,
      mediaType,
      mode,
      by,
      ...(mode === 'replace' && old && { before: old.value }),
      earlier: old?.count ?? 0,
      after: [value],
    })
  }
  return [...found.values()]
}
