/** What of a visit can be taken back, and what it was made from: read by the fold and by plans alike, so that they agree. */
import type { CheckpointRef, Run, Visit } from './run'

/**
 * The checkpoints whose undo takes the visit back, in the order they are undone; none when it left none, or all are.
 *
 * State is put back to before the first attempt; a compensation answers what the latest one did. Attempts of one visit
 * share their target, so one undo is enough. A group stands for all it groups, the latest first (NOTES 3.4). What agents
 * hold of the step by tokens of their own came on top of it, and is undone before it.
 */
export function undoableCheckpoints(run: Run, visit: Visit): CheckpointRef[] {
  const group = visit.group === undefined ? undefined : run.checkpoints.get(visit.group)
  const latest = visit.checkpoint === undefined ? undefined : run.checkpoints.get(visit.checkpoint)
  const first = visit.firstCheckpoint === undefined ? undefined : run.checkpoints.get(visit.firstCheckpoint)
  const one = latest?.undo === 'compensate' ? latest : (first ?? latest)
  const several = [...(visit.taken ?? [])].reverse().flatMap((jti) => run.checkpoints.get(jti) ?? [])
  const refs = group ? grouped(run, group) : one ? [...new Set([...several, one])] : []
  if (run.reported) refs.unshift(...heldOutside(run, visit).filter((ref) => !refs.includes(ref)))
  return refs.filter((ref) => ref.undone?.status !== 'completed').map(asItIsNow)
}

/** Checkpoints of the visit that agents reported, latest first; a group's children stand there for themselves. */
function heldOutside(run: Run, { node, visit }: Visit): CheckpointRef[] {
  const held = run.reported?.sealed.get(`${visit} ${node}`) ?? []
  return held
    .flatMap((jti) => run.checkpoints.get(jti) ?? [])
    .filter(({ children }) => !children)
    .reverse()
}

/** The checkpoints under a group, latest first; groups in it stand for theirs. */
export function grouped(run: Run, group: CheckpointRef): CheckpointRef[] {
  const found = new Set<CheckpointRef>()
  const queue = [group]
  // What a group names comes before it in the ledger: this ends.
  for (const of of queue) {
    for (const jti of of.children ?? []) {
      const child = run.checkpoints.get(jti)
      if (child?.children) queue.push(child)
      else if (child) found.add(child)
    }
  }
  return [...found].reverse().sort((a, b) => b.at - a.at)
}

/** A compensation that was sent and whose end nobody knows is not sent again: from now on a person has to look. */
function asItIsNow(ref: CheckpointRef): CheckpointRef {
  const lost = ref.undo === 'compensate' && ref.undone?.begun === true && ref.undone.status === 'escalated'
  return lost ? { ...ref, reversible: false } : ref
}

/** Nodes whose output a visit of a drawn workflow read, at first hand; `*` is all that came before it. */
export function readsOf(run: Run, visit: Visit): readonly string[] {
  return visit.reads.includes('*') ? ancestorsOf(run, visit.node) : visit.reads
}

function ancestorsOf(run: Run, node: string): string[] {
  const reached = new Set<string>()
  const queue = [node]
  for (let at = 0; at < queue.length; at++) {
    for (const parent of run.graph.parents.get(queue[at] as string) ?? []) {
      if (reached.has(parent)) continue
      reached.add(parent)
      queue.push(parent)
    }
  }
  return [...reached]
}
