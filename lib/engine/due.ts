/*
 * What should be going on in a run now, derived from the run and never remembered elsewhere: so a crash is the
 * ordinary path, and the next worker asks the same question and carries on. Costs are proportional to what is ready
 * or under way, never to history.
 */
import type { Hash } from '@/lib/base/hash'
import type { ApprovalId, RollbackId } from '@/lib/base/ids'
import { priorityRank } from './evolve'
import { outcomeOf } from './outcome'
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
  /** The run is out of its own time. */
  | { do: 'expire' }
  | { do: 'finish' }

export interface DueNow {
  now: Due[]
  /** When to look again if nothing happens before, ms since the epoch; null when only a command can move the run. */
  nextAt: number | null
}

/** Bounded concurrency within one run, unless the workflow's budget says less. */
export const maxConcurrentSteps = 16

/** What should be done now, most urgent first, and when to look again. */
export function due(run: Run, now: number): DueNow {
  const list: Due[] = []
  const alarms: number[] = []
  const { status } = run.state
  if (status === 'new' || status === 'ended') return { now: [], nextAt: null }
  dueActive(run, now, list, alarms)
  if (run.state.status === 'rolling_back') list.push({ do: 'undo', rollback: run.state.rollback })
  if (status === 'running') dueReady(run, list)
  if (status === 'running' || status === 'paused') dueExpiry(run, now, list, alarms)
  if (outcomeOf(run)) list.push({ do: 'finish' })
  const nextAt = list.length > 0 ? now : alarms.length > 0 ? Math.min(...alarms) : null
  return { now: list, nextAt }
}

function dueActive(run: Run, now: number, list: Due[], alarms: number[]): void {
  for (const node of run.active) {
    const visit = run.visits.get(node) as Visit
    const { state } = visit
    if (state.status === 'running') {
      if (state.claimUntil === undefined) {
        list.push({ do: 'attend', node, visit: visit.visit, attempt: state.attempt })
      } else if (state.claimUntil <= now) list.push({ do: 'lapse', node, visit: visit.visit })
      else alarms.push(state.claimUntil)
    }
    if (run.state.status !== 'running') continue
    if (state.status === 'approved') beginOrAlarm(visit, state.action, now, now, list, alarms)
    if (state.status === 'waiting' && state.for === 'retry') {
      beginOrAlarm(visit, visit.action, state.until, now, list, alarms)
    }
  }
  for (const id of run.openApprovals) {
    const approval = run.approvals.get(id)
    if (approval?.deadlineAt === undefined || approval.onSilence === 'hold') continue
    if (approval.deadlineAt <= now) list.push({ do: 'silence', approval: id })
    else alarms.push(approval.deadlineAt)
  }
}

function beginOrAlarm(
  visit: Visit,
  action: Hash | undefined,
  from: number,
  now: number,
  list: Due[],
  alarms: number[],
): void {
  if (from > now) alarms.push(from)
  else if (action === undefined) list.push({ do: 'prepare', node: visit.node, visit: visit.visit })
  else list.push({ do: 'begin', node: visit.node, visit: visit.visit, action })
}

function dueReady(run: Run, list: Due[]): void {
  const bound = Math.min(run.graph.graph.budget.maxConcurrent ?? maxConcurrentSteps, maxConcurrentSteps)
  const room = bound - (run.counts.get('running') ?? 0)
  if (room <= 0 || run.ready.size === 0) return
  const rank = (node: string) => priorityRank[run.graph.nodes.get(node)?.priority ?? 'normal']
  const ready = [...run.ready].sort((a, b) => rank(a) - rank(b)).slice(0, room)
  for (const node of ready) list.push({ do: 'prepare', node, visit: run.visits.get(node)?.visit ?? 1 })
}

function dueExpiry(run: Run, now: number, list: Due[], alarms: number[]): void {
  const { maxRunS } = run.graph.graph.budget
  if (maxRunS === undefined || !run.start) return
  const until = run.start.at + maxRunS * 1000
  if (until <= now) list.push({ do: 'expire' })
  else alarms.push(until)
}
