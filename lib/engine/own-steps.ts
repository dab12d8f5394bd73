/*
 * What the steps of a run did to a target, for whoever asks whether somebody else changed it since
 * (lib/rollback/changed-since.ts). Where the fold cannot know, it does not say.
 */
import type { OtherStep, OwnStep } from '@/lib/rollback/changed-since'
import type { CheckpointRef, Run, Visit } from './run'
import { undoableCheckpoints } from './undoable'
import { anyVisitOf } from './visit-states'

/** Whose state a step changes: an agent's, or what lies within reach of this installation. */
type Holder = { agent: string } | 'here' | 'elsewhere' | 'anyone'

/** A step whose target can be compared with what it left there. */
export interface Comparable {
  step: OwnStep
  node: string
  visit: number
  holder: Holder
}

/**
 * The step that a checkpoint was taken of, when it says what it left. Undefined when it does not; when one of several
 * checkpoints of the step says too little of the others; and once an undo of it was begun, since what that left is not
 * known.
 */
export function comparable(run: Run, ref: CheckpointRef): Comparable | undefined {
  // What the run above it, and others below that, did is not in this one's ledger.
  if (run.start?.parentWid !== undefined) return undefined
  const visit = anyVisitOf(run, ref.node, ref.visit)
  const first = visit?.firstCheckpoint === undefined ? undefined : run.checkpoints.get(visit.firstCheckpoint)
  if (!visit?.changed || !first || ref.jti !== first.jti || ref.undo === 'compensate') return undefined
  if (visit.taken || visit.group || wasBegun(run, ref)) return undefined
  const { found, left, at: ended } = visit.changed
  const { node, visit: number } = visit
  const step = { began: first.at, ended, change: { found, left } }
  return { step, node, visit: number, holder: holderOf(run, node) }
}

/** The run's other steps that may have touched the same target, and are not taken back. */
export function stepsBeside(run: Run, { node, visit, holder }: Comparable): OtherStep[] {
  const all = [...run.visits.values(), ...[...run.past.values()].flat()]
  return all.flatMap((other) => {
    const first = other.firstCheckpoint === undefined ? undefined : run.checkpoints.get(other.firstCheckpoint)
    if (!first || (other.node === node && other.visit === visit)) return []
    if (!mayShare(holder, holderOf(run, other.node))) return []
    const left = undoableCheckpoints(run, other)
    return left.length === 0 ? [] : [besides(run, other, first, left)]
  })
}

function besides(run: Run, visit: Visit, first: CheckpointRef, left: readonly CheckpointRef[]): OtherStep {
  const began = first.at
  const { changed, checkpoint } = visit
  // Attempts before the last one may have led to what that one found.
  const several = checkpoint !== first.jti || visit.taken !== undefined || visit.group !== undefined
  const isKnown = changed && !several && !left.some((ref) => wasBegun(run, ref))
  if (!isKnown) return { began }
  return { began, ended: changed.at, change: { found: changed.found, left: changed.left } }
}

/** Somebody set out to undo it, and did not come to its end or failed. */
function wasBegun(run: Run, { jti, undone }: CheckpointRef): boolean {
  if (undone) return undone.begun
  return [...run.rollbacks.values()].some(({ acts }) => acts.has(jti))
}

/** What a kind reaches is its own business: only what surely lies elsewhere is left out. */
function holderOf(run: Run, id: string): Holder {
  const node = run.graph.nodes.get(id)
  const bound = node?.kind === 'tool_call' ? node.config.kind : node?.kind
  switch (bound) {
    case 'agent':
      return typeof node?.config.agent === 'string' ? { agent: node.config.agent } : 'anyone'
    case 'write_file':
    case 'create_dir':
    case 'shell_run':
    case 'call_mcp_tool':
      return 'here'
    case 'http_request':
      return 'elsewhere'
    default:
      return 'anyone'
  }
}

function mayShare(a: Holder, b: Holder): boolean {
  if (a === 'anyone' || b === 'anyone') return true
  if (typeof a === 'object' && typeof b === 'object') return a.agent === b.agent
  return a === 'here' && b === 'here'
}
