/** Tasks that outside agents claim, hold by heartbeats, and report (DESIGN: a node with neither action nor agent). */
import { Problem } from '@/lib/base/problem'
import { checkCheckpointRoom } from '@/lib/checkpoint/due'
import type { At, Command } from './commands'
import { addCheckpoint, askOutcome, currentVisit, latestOf, nodeOf, runningVisit } from './decide-steps'
import type { Draft } from './draft'
import { movedOn } from './refusal'
import { nextAttempt } from './retry'
import type { Run, Visit } from './run'

type Wish<T extends Command['type']> = Extract<Command, { type: T }>

/** A claim without a heartbeat holds between 10 s and an hour. */
export const claimBoundsS = { least: 10, most: 3600 }

export function decideClaim(run: Run, wish: Wish<'claim'>, draft: Draft, at: At): void {
  const visit = currentVisit(run, wish.node, wish.visit)
  if (run.state.status !== 'running') throw movedOn(run, 'worked on')
  if (visit.state.status === 'running') {
    throw new Problem(
      'task_claimed',
      `${wish.node} is held by ${visit.state.agent ?? 'this installation'} already`,
    )
  }
  const { offer } = visit
  if (visit.state.status !== 'waiting' || visit.state.for !== 'agent' || !offer) {
    throw new Problem(
      'task_not_offered',
      `${wish.node} is ${visit.state.status}; only an offered task can be claimed`,
    )
  }
  const node = nodeOf(run, wish.node)
  const attempt = nextAttempt(visit)
  const taskJti = draft.add(
    {
      type: 'task_start',
      node: node.id,
      visit: visit.visit,
      attempt,
      action: offer.action,
      reads: offer.reads,
      consequence: offer.consequence,
      agent: wish.agent,
      claimS: Math.min(Math.max(wish.claimS, claimBoundsS.least), claimBoundsS.most),
      timeoutAt: node.timeoutS === undefined ? undefined : at.now + node.timeoutS * 1000,
    },
    [visit.lastJti ?? offer.jti],
  )
  if (wish.checkpoint) addCheckpoint(wish.checkpoint, visit, attempt, taskJti, draft)
}

export function decideCheckpointed(run: Run, wish: Wish<'checkpointed'>, draft: Draft): void {
  checkCheckpointRoom(run.checkpoints.size, run.graph.graph.budget.maxCheckpoints)
  const visit = currentVisit(run, wish.node, wish.visit)
  const held = runningVisit(run, wish.node, wish.visit, visit.attempt, wish.claimant)
  if (wish.checkpoint.children) checkChildren(run, held, wish.checkpoint.children)
  addCheckpoint(wish.checkpoint, held, held.attempt, held.taskJti ?? latestOf(held), draft)
}

/** A group holds checkpoints of its own step (NOTES 3.4); what is grouped already, or purged, is no part of another. */
function checkChildren(run: Run, held: Visit, children: readonly string[]): void {
  const grouped = new Set(
    [...run.checkpoints.values()].flatMap((ref) => (ref.node === held.node ? (ref.children ?? []) : [])),
  )
  for (const child of children) {
    const ref = run.checkpoints.get(child)
    const isOwn = ref?.node === held.node && ref.visit === held.visit
    if (isOwn && !ref.purged && !grouped.has(child)) continue
    throw new Problem(
      'bad_request',
      `"${child.slice(0, 60)}" is no checkpoint of ${held.node} in visit ${held.visit} that a group can take; name those this step has, each in one group`,
    )
  }
}

export function decideHeartbeat(run: Run, wish: Wish<'heartbeat'>, draft: Draft): void {
  const visit = currentVisit(run, wish.node, wish.visit)
  const held = runningVisit(run, wish.node, wish.visit, visit.attempt, wish.claimant)
  draft.add(
    {
      type: 'task_heartbeat',
      node: wish.node,
      visit: wish.visit,
      attempt: held.attempt,
      claimS: Math.min(Math.max(wish.claimS, claimBoundsS.least), claimBoundsS.most),
    },
    [latestOf(held)],
  )
}

/** A silent claimant loses the task: read-only work is offered again, anything else is an unknown outcome. */
export function decideLapse(run: Run, wish: Wish<'lapse'>, draft: Draft, at: At): void {
  const visit = currentVisit(run, wish.node, wish.visit)
  const { state } = visit
  if (state.status !== 'running' || state.claimUntil === undefined || state.claimUntil > at.now) {
    throw new Problem('run_moved_on', `The claim on ${wish.node} has not lapsed`)
  }
  if (visit.consequence === 'read_only') {
    draft.add({ type: 'claim_lapsed', node: visit.node, visit: visit.visit, attempt: state.attempt }, [
      latestOf(visit),
    ])
    return
  }
  askOutcome(
    run,
    visit,
    `${state.agent ?? 'An agent'} fell silent while doing ${visit.node}: did it take effect?`,
    draft,
    at,
  )
}
