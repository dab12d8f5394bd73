/*
 * What the steps of a run did to a target, for whoever asks whether somebody else changed it since
 * (lib/rollback/changed-since.ts). Where the fold cannot know, it does not say.
 */
import type { Hash } from '@/lib/base/hash'
import type { RollbackId } from '@/lib/base/ids'
import type { OtherStep, OwnStep } from '@/lib/rollback/changed-since'
import type { CheckpointRef, Run, Visit } from './run'
import { undoableCheckpoints } from './undoable'
import { anyVisitOf } from './visit-states'

/** What a step reaches: an agent, what lies here, what surely lies elsewhere, whatever its runs do, or nobody knows. */
type Reach = { agent: string } | 'here' | 'elsewhere' | 'below' | 'anything'

/** A step whose target can be compared with what it left there. */
export interface Comparable {
  step: OwnStep
  node: string
  visit: number
  reach: Reach
}

/**
 * The step that a checkpoint was taken of, when it says what it left. Undefined when it does not; when one of several
 * checkpoints of the step says too little of the others; and once an undo of it was begun, since what that left is not
 * known. `undoing`: the rollback whose turn it is to undo it, which has changed nothing yet.
 */
export function comparable(run: Run, ref: CheckpointRef, undoing?: RollbackId): Comparable | undefined {
  const visit = anyVisitOf(run, ref.node, ref.visit)
  const first = visit && firstOf(run, visit)
  if (!visit?.changed || !first || ref.jti !== first.jti || ref.undo === 'compensate') return undefined
  if (visit.taken || visit.group || wasBegun(run, ref, undoing)) return undefined
  const { found, left, at: ended } = visit.changed
  const step = { began: first.at, ended, change: { found, left } }
  return { step, node: visit.node, visit: visit.visit, reach: reachOf(run, visit.node) }
}

/** Steps of a run that may have touched a target, and the visits that began runs which may have. */
export interface Touching {
  steps: OtherStep[]
  below: { node: string; visit: number }[]
  /** What those that were taken back put back. */
  putBack: Hash[]
}

/**
 * What of a run, the same or another one of its family, may have touched the target of `of` and is not taken back.
 * `undoneSince` (ms): what was taken back from then on is told, too.
 */
export function touching(
  run: Run,
  { reach }: Comparable,
  isOf: (visit: Visit) => boolean,
  undoneSince = Number.POSITIVE_INFINITY,
): Touching {
  const found: Touching = { steps: [], below: [], putBack: [] }
  for (const visit of [...run.visits.values(), ...[...run.past.values()].flat()]) {
    const first = firstOf(run, visit)
    const own = reachOf(run, visit.node)
    if (!first || isOf(visit) || !mayShare(reach, own)) continue
    const left = undoableCheckpoints(run, visit)
    if (left.length === 0) {
      const { state, changed } = visit
      const isRecent = state.status === 'rolled_back' && state.since >= undoneSince
      if (isRecent && changed) found.putBack.push(changed.found)
      continue
    }
    if (own === 'below') found.below.push({ node: visit.node, visit: visit.visit })
    else found.steps.push(toldOf(run, visit, first, left))
  }
  return found
}

function toldOf(run: Run, visit: Visit, first: CheckpointRef, left: readonly CheckpointRef[]): OtherStep {
  const { changed, checkpoint, taken, group } = visit
  // Attempts before the last one may have led to what that one found.
  const isOne = checkpoint === first.jti && taken === undefined && group === undefined
  if (!changed || !isOne || left.some((ref) => wasBegun(run, ref))) return { began: first.at }
  return { began: first.at, ended: changed.at, change: { found: changed.found, left: changed.left } }
}

function firstOf(run: Run, { firstCheckpoint }: Visit): CheckpointRef | undefined {
  return firstCheckpoint === undefined ? undefined : run.checkpoints.get(firstCheckpoint)
}

/** Somebody else than this rollback set out to undo it, and did not come to its end or failed. */
function wasBegun(run: Run, { jti, undone }: CheckpointRef, but?: RollbackId): boolean {
  if (undone) return undone.begun
  return [...run.rollbacks].some(([id, { acts }]) => id !== but && acts.has(jti))
}

/** Who holds what a step changes: an agent by its id, or `here`; undefined where that is not known before. */
export function holderOf({ reach }: Pick<Comparable, 'reach'>): string | undefined {
  if (typeof reach === 'object') return reach.agent
  return reach === 'here' ? reach : undefined
}

/** The same of a step of a run. */
export function holderAt(run: Pick<Run, 'graph'>, node: string): string | undefined {
  return holderOf({ reach: reachOf(run, node) })
}

/** Does the step begin runs? */
export function beginsRuns(run: Pick<Run, 'graph'>, node: string): boolean {
  return reachOf(run, node) === 'below'
}

function reachOf(run: Pick<Run, 'graph'>, id: string): Reach {
  const node = run.graph.nodes.get(id)
  switch (node?.kind === 'tool_call' ? node.config.kind : node?.kind) {
    case 'agent':
      return typeof node?.config.agent === 'string' ? { agent: node.config.agent } : 'anything'
    case 'write_file':
    case 'create_dir':
    case 'shell_run':
    case 'call_mcp_tool':
      return 'here'
    case 'http_request':
      return 'elsewhere'
    case 'call':
    case 'map':
    case 'parallel':
    case 'agent_loop':
    case 'prompt_state':
      return 'below'
    default:
      return 'anything'
  }
}

function mayShare(of: Reach, other: Reach): boolean {
  if (other === 'anything' || other === 'below') return true
  return typeof of === 'object' && typeof other === 'object' ? of.agent === other.agent : of === other
}
