/*
 * What should be going on in a run now, derived from the run and never remembered elsewhere: so a crash is the
 * ordinary path, and the next worker asks the same question and carries on. Costs are proportional to what is ready
 * or under way, never to history.
 */
import type { Hash } from '@/lib/base/hash'
import type { ApprovalId, RollbackId } from '@/lib/base/ids'
import { priorityRank } from './evolve'
import { errorsDue } from './follow-error'
import { roomFor } from './gate'
import { workedUpAt } from './limits'
import { outcomeOf } from './outcome'
import { openQuestion } from './rollback-question'
import type { Run, Visit } from './run'

export type Due =
  /** Resolve the node, then ask, offer or begin. */
  | { do: 'prepare'; node: string; visit: number }
  /** Begin with exactly this action: it was approved, or it is tried again. */
  | { do: 'begin'; node: string; visit: number; action: Hash }
  /** An attempt of this installation is running: if no worker here has it in hand, it was lost in a crash. */
  | { do: 'attend'; node: string; visit: number; attempt: number }
  | { do: 'lapse'; node: string; visit: number }
  | { do: 'silence'; approval: ApprovalId }
  | { do: 'undo'; rollback: RollbackId }
  /** Nobody answered, and the author wants the run taken back for it. */
  | { do: 'take_back'; approval: ApprovalId }
  /** The run is out of its own time; `exhausted`: it has worked for as long as it may. */
  | { do: 'expire'; exhausted?: 'max_wall_time_sec' }
  /** An error that leads to a question or a rollback by itself. */
  | { do: 'follow_error'; error: string }
  | { do: 'finish' }

export interface DueNow {
  now: Due[]
  /** When somebody should look: now if anything is due, else `alarmAt`. What a run's row carries as `dueAt`. */
  nextAt: number | null
  /** When more will be due if nothing happens before, ms since the epoch; null when only a command can move the run. */
  alarmAt: number | null
}

/** What should be done now, most urgent first, and when to look again. */
export function due(run: Run, now: number): DueNow {
  const list: Due[] = []
  const alarms: number[] = []
  const { status } = run.state
  for (const { jti } of errorsDue(run)) list.push({ do: 'follow_error', error: jti })
  if (status === 'new' || status === 'ended') {
    return { now: list, nextAt: list.length > 0 ? now : null, alarmAt: null }
  }
  // What agents report of themselves is theirs to do.
  const { reported } = run.graph.graph
  if (!reported) dueActive(run, now, list, alarms)
  dueSilence(run, now, list, alarms)
  dueUndo(run, list)
  if (reported && run.takeBack === undefined) {
    // Nothing begins here.
  } else if (status === 'running' && run.takeBack === undefined) dueBeginnings(run, now, list, alarms)
  else if (status === 'running') dueTakeBack(run, list)
  if (status === 'running' || status === 'paused') dueExpiry(run, now, list, alarms)
  if (outcomeOf(run)) list.push({ do: 'finish' })
  const alarmAt = alarms.length > 0 ? Math.min(...alarms) : null
  return { now: list, nextAt: list.length > 0 ? now : alarmAt, alarmAt }
}

function dueActive(run: Run, now: number, list: Due[], alarms: number[]): void {
  for (const node of run.active) {
    const visit = run.visits.get(node) as Visit
    const { state } = visit
    if (state.status !== 'running') continue
    if (state.claimUntil === undefined) {
      list.push({ do: 'attend', node, visit: visit.visit, attempt: state.attempt })
    } else if (state.claimUntil <= now) list.push({ do: 'lapse', node, visit: visit.visit })
    else alarms.push(state.claimUntil)
  }
}

function dueSilence(run: Run, now: number, list: Due[], alarms: number[]): void {
  for (const id of run.openApprovals) {
    const approval = run.approvals.get(id)
    if (approval?.deadlineAt === undefined || approval.onSilence === 'hold') continue
    if (approval.deadlineAt <= now) list.push({ do: 'silence', approval: id })
    else alarms.push(approval.deadlineAt)
  }
}

/** Steps that may begin, most urgent first, as many as there is room for: approved, tried again, or ready. */
function dueBeginnings(run: Run, now: number, list: Due[], alarms: number[]): void {
  const beginnings: Visit[] = []
  for (const node of run.active) {
    const visit = run.visits.get(node) as Visit
    const { state } = visit
    if (state.status === 'approved') beginnings.push(visit)
    if (state.status !== 'waiting' || (state.for !== 'retry' && state.for !== 'breaker')) continue
    if (state.until > now) alarms.push(state.until)
    else beginnings.push(visit)
  }
  const room = roomFor(run)
  if (room === 0) return
  for (const node of run.ready) beginnings.push(run.visits.get(node) as Visit)
  const rank = ({ node }: Visit) => priorityRank[run.graph.nodes.get(node)?.priority ?? 'normal']
  if (beginnings.length > 1) beginnings.sort((a, b) => rank(a) - rank(b))
  for (const visit of beginnings.slice(0, room)) list.push(beginningOf(visit))
}

/** A rollback that waits for a person is due again when the answer is there. */
function dueUndo(run: Run, list: Due[]): void {
  if (run.state.status !== 'rolling_back') return
  const rollback = run.rollbacks.get(run.state.rollback)
  if (rollback && openQuestion(run, rollback)) return
  list.push({ do: 'undo', rollback: run.state.rollback })
}

/** Nothing begins any more; once nothing is at work, the run is taken back. */
function dueTakeBack(run: Run, list: Due[]): void {
  if (run.takeBack === undefined || (run.counts.get('running') ?? 0) > 0) return
  list.push({ do: 'take_back', approval: run.takeBack })
}

/** What was approved or tried before begins with exactly that action; everything else is resolved first. */
function beginningOf({ node, visit, state, action, taskJti, approved }: Visit): Due {
  const exact = approved ?? (taskJti === undefined ? undefined : action)
  if (state.status === 'pending' || exact === undefined) return { do: 'prepare', node, visit }
  return { do: 'begin', node, visit, action: exact }
}

function dueExpiry(run: Run, now: number, list: Due[], alarms: number[]): void {
  const until = endsAt(run)
  const workedUp = workedUpAt(run)
  if (until !== undefined && until <= now) list.push({ do: 'expire' })
  else if (workedUp !== undefined && workedUp <= now) {
    list.push({ do: 'expire', exhausted: 'max_wall_time_sec' })
  } else for (const at of [until, workedUp]) if (at !== undefined) alarms.push(at)
}

/** When the run is out of its time, in ms since the epoch; undefined when it has no bound. */
export function endsAt({ graph, start }: Pick<Run, 'graph' | 'start'>): number | undefined {
  if (!start) return undefined
  const { maxRunS = Number.POSITIVE_INFINITY } = graph.graph.budget
  const until = Math.min(start.at + maxRunS * 1000, start.deadlineAt ?? Number.POSITIVE_INFINITY)
  return until === Number.POSITIVE_INFINITY ? undefined : until
}
