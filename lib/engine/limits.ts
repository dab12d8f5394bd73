/*
 * The limits of a workflow that loops (RFC 0009): how often states are entered, how many tools its models call, how long
 * it works. Time that it waits for people does not count: a run that only people can move on, is held. What a run has left
 * of that bounds the runs below it, too (`workMs`).
 */
import type { Budget } from '@/lib/workflow/graph'
import type { ExhaustedLimit } from './facts'
import type { Exhaustion, Run, Visit } from './run'

/** What the workflow's budget says of that limit; undefined when nothing, or when it is a state's own. */
export function boundOf(budget: Budget, limit: ExhaustedLimit): number | undefined {
  switch (limit) {
    case 'max_total_visits':
      return budget.maxTotalVisits
    case 'max_tool_calls':
      return budget.maxToolCalls
    case 'max_wall_time_sec':
      return budget.maxActiveS
    case 'max_visits':
      return undefined
    default:
      return limit satisfies never
  }
}

/** A limit that was reached, as the reason of a run's end. */
export function exhaustionWords({ limit, node, bound }: Exhaustion): string {
  switch (limit) {
    case 'max_visits':
      return `budget-exhausted: max_visits, "${node}" was entered ${times(bound)} and may not be entered again`
    case 'max_total_visits':
      return `budget-exhausted: max_total_visits, states were entered ${times(bound)} in all`
    case 'max_tool_calls':
      return `budget-exhausted: max_tool_calls, models called tools ${times(bound)} in all`
    case 'max_wall_time_sec':
      return `budget-exhausted: max_wall_time_sec, the run worked for ${bound} s, waiting for people not counted`
    default:
      return limit satisfies never
  }
}

/** The end of a run that has worked for as long as it may, or as the run above it lets it. */
export const workedUpWords = 'budget-exhausted: max_wall_time_sec, waiting for people not counted'

function times(count: number): string {
  return count === 1 ? 'once' : `${count.toLocaleString('en')} times`
}

/** After each token: did the run begin, or cease, to stand still for people? Only where that time has a bound. */
export function countHeld(run: Run, at: number): void {
  if (workBudgetMs(run) === undefined) return
  const held = isHeld(run)
  if (held && run.heldSince === undefined) run.heldSince = at
  if (held || run.heldSince === undefined) return
  run.heldMs += at - run.heldSince
  run.heldSince = undefined
}

/** True while only people can move the run on: everything it does waits for one, or somebody paused it. */
export function isHeld(run: Run): boolean {
  const { status } = run.state
  if (status === 'paused' || status === 'rolled_back') return true
  if (status !== 'running' || run.ready.size > 0) return false
  if (run.active.size === 0) return run.openApprovals.size > 0
  for (const node of run.active) {
    const { state } = run.visits.get(node) as Visit
    const waits = state.status === 'waiting' && state.for === 'person'
    if (!waits && !(state.status === 'running' && state.heldSince !== undefined)) return false
  }
  return true
}

/** How long the run may work, by its own workflow and by the run above it; undefined when it has no bound. */
function workBudgetMs({ graph, start }: Pick<Run, 'graph' | 'start'>): number | undefined {
  const { maxActiveS = Number.POSITIVE_INFINITY } = graph.graph.budget
  const budgetMs = Math.min(maxActiveS * 1000, start?.workMs ?? Number.POSITIVE_INFINITY)
  return Number.isFinite(budgetMs) ? budgetMs : undefined
}

/** How much of that is left, in ms; undefined when it has no bound. */
export function workLeftMs(run: Run, now: number): number | undefined {
  const budgetMs = workBudgetMs(run)
  return budgetMs === undefined ? undefined : Math.max(0, budgetMs - activeMs(run, now))
}

/** Milliseconds the run has worked until then, waiting for people not counted. */
export function activeMs(run: Pick<Run, 'start' | 'heldMs' | 'heldSince'>, now: number): number {
  if (!run.start) return 0
  const held = run.heldMs + (run.heldSince === undefined ? 0 : now - run.heldSince)
  return Math.max(0, now - run.start.at - held)
}

/** When the run has worked for as long as it may, in ms since the epoch; undefined while it is held, or has no bound. */
export function workedUpAt(run: Run): number | undefined {
  const budgetMs = workBudgetMs(run)
  if (budgetMs === undefined || !run.start || run.heldSince !== undefined) return undefined
  return run.start.at + run.heldMs + budgetMs
}
