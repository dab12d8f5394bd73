/*
 * Copies of a run: what a scrubber keeps of its past. `evolve` changes a run in place, so a moment that is to be kept
 * is copied first.
 *
 *   copyRun    the whole of it. The two have nothing in common that changes; fold either with `evolve`.
 *   shareRun   what changes with the next tokens, and no more: a run of 50,000 visits is copied in a millisecond, and
 *              30 such copies fit where 3 whole ones would. Both then fold with `evolveShared`, and with nothing else.
 *
 * A shared copy rests on what facts reach. A step's facts change the node's current visit alone, which each side has for
 * itself. Earlier visits, settled questions, checkpoints and rollbacks change only by a rollback, or by a word on a
 * question that was settled; before such a fact, `evolveShared` makes what it will change its own, and nothing else.
 */
import { evolve } from './evolve'
import type { Fact } from './facts'
import type { Approval, CheckpointRef, ReportedRun, Rollback, Run, Visit, Walk, WalkStep } from './run'

/** Every member of a type, whether or not it must be there: one that is added and not copied does not compile. */
type Every<T> = { [K in keyof Required<T>]: T[K] }

/** Runs that have something in common with another, each with what it copied for itself since. */
const sharing = new WeakMap<Run, WeakSet<object>>()

/** A copy with which anything may be done: neither ever changes the other. */
export function copyRun(run: Run): Run {
  const copy = copied(run)
  makeOwn(copy)
  return copy
}

/** A quick copy. From now on both must be folded with `evolveShared`. */
export function shareRun(run: Run): Run {
  const copy = copied(run)
  sharing.set(run, new WeakSet())
  sharing.set(copy, new WeakSet())
  return copy
}

/** `evolve` for runs that may have something in common with others, which keep what they were. */
export function evolveShared(run: Run, fact: Fact): Run {
  const own = sharing.get(run)
  if (own) makeReached(run, fact, own)
  return evolve(run, fact)
}

/** Makes the run's own what the fact will change of what it has in common with others. */
function makeReached(run: Run, fact: Fact, own: WeakSet<object>): void {
  switch (fact.type) {
    case 'approval_decided':
      // An answer on a rollback's question changes that too.
      if (run.state.status === 'rolling_back')
        ownEntry(run.rollbacks, run.state.rollback, copyOfRollback, own)
      return ownEntry(run.approvals, fact.approval, copyOfApproval, own)
    case 'approval_commented':
      return ownEntry(run.approvals, fact.approval, copyOfApproval, own)
    case 'rollback_act':
    case 'rollback_vote':
    case 'rollback_decided':
    case 'rollback_choice':
      return ownEntry(run.rollbacks, fact.rollback, copyOfRollback, own)
    case 'rollback_request':
      if (fact.supersedes) ownEntry(run.rollbacks, fact.supersedes, copyOfRollback, own)
      return
    case 'rollback_act_result':
      ownEntry(run.rollbacks, fact.rollback, copyOfRollback, own)
      ownEntry(run.checkpoints, fact.checkpointId, copyOfCheckpoint, own)
      return ownPast(run, run.past.get(fact.node)?.filter((past) => past.visit === fact.visit) ?? [], own)
    case 'rollback_result':
      ownEntry(run.rollbacks, fact.rollback, copyOfRollback, own)
      // Which visits it takes back is for the fold to say; none of the earlier ones is off the walk's path.
      return ownPast(run, run.walk?.path.map((step) => step.visit) ?? [], own)
    default:
  }
}

/** Puts a copy in the place of an entry, unless it is one. */
function ownEntry<K, V extends object>(
  map: Map<K, V>,
  key: K,
  copyOf: (value: V) => V,
  own: WeakSet<object>,
): void {
  const value = map.get(key)
  if (value === undefined || own.has(value)) return
  const copy = copyOf(value)
  own.add(copy)
  map.set(key, copy)
}

/** Puts copies in the place of those of these visits that are earlier ones. */
function ownPast(run: Run, visits: readonly Visit[], own: WeakSet<object>): void {
  const fresh = new Map<Visit, Visit>()
  for (const visit of visits) {
    if (own.has(visit) || run.visits.get(visit.node) === visit) continue
    const copy = copyOfVisit(visit)
    own.add(copy)
    fresh.set(visit, copy)
    const past = run.past.get(visit.node)
    if (past) past[placeIn(past, visit)] = copy
  }
  if (fresh.size > 0 && run.walk) standOn(run.walk, fresh)
}

/** Visits count up from 1, so an earlier one stands at its number. */
function placeIn(past: readonly Visit[], visit: Visit): number {
  return past[visit.visit - 1] === visit ? visit.visit - 1 : past.indexOf(visit)
}

/** Its own containers, current visits and open questions; what is settled is the same as the original's. */
function copied(run: Run): Run {
  const fresh = new Map<Visit, Visit>()
  const visits = new Map<string, Visit>()
  for (const [node, visit] of run.visits) {
    const copy = copyOfVisit(visit)
    visits.set(node, copy)
    fresh.set(visit, copy)
  }
  const approvals = new Map(run.approvals)
  for (const id of run.openApprovals) {
    const open = approvals.get(id)
    if (open) approvals.set(id, copyOfApproval(open))
  }
  return {
    graph: run.graph,
    seq: run.seq,
    lastAt: run.lastAt,
    lastJti: run.lastJti,
    state: { ...run.state },
    start: run.start,
    visits,
    past: withCopies(run.past, (past) => past.slice()),
    ready: new Set(run.ready),
    active: new Set(run.active),
    missing: new Map(run.missing),
    counts: new Map(run.counts),
    approvals,
    openApprovals: new Set(run.openApprovals),
    checkpoints: new Map(run.checkpoints),
    claimants: withCopies(run.claimants, (agents) => new Set(agents)),
    rollbacks: new Map(run.rollbacks),
    circuits: new Map(run.circuits),
    cascades: run.cascades.slice(),
    signals: new Map(run.signals),
    toFollow: new Map(run.toFollow),
    reported: run.reported && copyOfReported(run.reported),
    takeBack: run.takeBack,
    walk: run.walk && copyOfWalk(run.walk, fresh),
    modelTokens: run.modelTokens,
    writtenBytes: run.writtenBytes,
    toolCalls: run.toolCalls,
    artifactWrites: run.artifactWrites.slice(),
    artifacts: withCopies(run.artifacts, (writes) => writes.slice()),
    heldMs: run.heldMs,
    heldSince: run.heldSince,
  } satisfies Every<Run>
}

/** Whatever it has in common with others, it has for itself from here on. */
function makeOwn(run: Run): void {
  const fresh = new Map<Visit, Visit>()
  for (const [node, past] of run.past) {
    run.past.set(
      node,
      past.map((visit) => {
        const copy = copyOfVisit(visit)
        fresh.set(visit, copy)
        return copy
      }),
    )
  }
  if (run.walk) run.walk = copyOfWalk(run.walk, fresh)
  for (const [id, approval] of run.approvals) run.approvals.set(id, copyOfApproval(approval))
  for (const [jti, checkpoint] of run.checkpoints) run.checkpoints.set(jti, copyOfCheckpoint(checkpoint))
  for (const [id, rollback] of run.rollbacks) run.rollbacks.set(id, copyOfRollback(rollback))
}

/** The walk, standing on the visits that took the place of others. */
function copyOfWalk(walk: Walk, fresh: ReadonlyMap<Visit, Visit>): Walk {
  const copy = {
    path: walk.path.slice(),
    taken: new Map(walk.taken),
    outputs: new Map(walk.outputs),
    ambiguous: walk.ambiguous,
    entered: new Map(walk.entered),
    exhausted: walk.exhausted,
  } satisfies Every<Walk>
  standOn(copy, fresh)
  return copy
}

/** Puts visits in the place of others wherever the walk has them. Steps are replaced: others may have them too. */
function standOn({ path, outputs }: Walk, fresh: ReadonlyMap<Visit, Visit>): void {
  // From the end: those that changed are mostly the last.
  for (let at = path.length - 1, left = fresh.size; at >= 0 && left > 0; at--) {
    const step = path[at] as WalkStep
    const visit = fresh.get(step.visit)
    if (visit === undefined) continue
    path[at] = { ...step, visit }
    left -= 1
  }
  for (const [node, visit] of outputs) {
    const other = fresh.get(visit)
    if (other !== undefined) outputs.set(node, other)
  }
}

function copyOfVisit(visit: Visit): Visit {
  // Heartbeats and holds write into the state of a running visit; every other state is only ever replaced.
  const state = visit.state.status === 'running' ? { ...visit.state } : visit.state
  return { ...visit, state }
}

function copyOfReported(reported: ReportedRun): ReportedRun {
  return {
    tokens: reported.tokens,
    placeOf: new Map(reported.placeOf),
    agents: new Set(reported.agents),
    handedTo: new Set(reported.handedTo),
    // The lists in it are replaced, never written into.
    sealed: new Map(reported.sealed),
    ended: reported.ended,
  } satisfies Every<ReportedRun>
}

function copyOfApproval(approval: Approval): Approval {
  return { ...approval, comments: approval.comments.slice() }
}

function copyOfCheckpoint(checkpoint: CheckpointRef): CheckpointRef {
  return { ...checkpoint }
}

function copyOfRollback(rollback: Rollback): Rollback {
  return { ...rollback, acts: new Map(rollback.acts), votes: new Map(rollback.votes) }
}

function withCopies<K, V>(map: ReadonlyMap<K, V>, copyOf: (value: V) => V): Map<K, V> {
  const copy = new Map<K, V>()
  for (const [key, value] of map) copy.set(key, copyOf(value))
  return copy
}
