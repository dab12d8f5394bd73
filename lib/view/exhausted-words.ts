/*
 * Which limit of its workflow a run came to (RFC 0009), said with both numbers: "implement was entered 3 times of at
 * most 3". A limit is no failure: the run did what it was given leave to do, and its artifacts stay.
 */
import type { ExhaustedLimit } from '@/lib/engine/facts'
import type { Exhaustion, Run } from '@/lib/engine/run'
import type { Budget } from '@/lib/workflow/graph'
import { labelOf } from '@/lib/workflow/graph-index'

/** The limit a run ended at, in words without a full stop; undefined for a run that came to none. */
export function exhaustedWords(run: Run): string | undefined {
  const limit = run.state.status === 'ended' ? run.state.exhausted : run.walk?.exhausted?.limit
  if (limit === undefined) return undefined
  const found = run.walk?.exhausted
  const bound = found?.limit === limit ? found.bound : boundIn(run.graph.graph.budget, limit)
  const most = bound === undefined ? '' : ` of at most ${bound.toLocaleString('en')}`
  switch (limit) {
    case 'max_visits':
      return visitsWords(run, found, most)
    case 'max_total_visits': {
      const entered = [...(run.walk?.entered.values() ?? [])].reduce((sum, n) => sum + n, 0)
      return `states were entered ${times(entered)}${most}`
    }
    case 'max_tool_calls':
      return `${run.toolCalls.toLocaleString('en')} tool ${run.toolCalls === 1 ? 'call' : 'calls'}${most}`
    case 'max_wall_time_sec':
      return `${bound === undefined ? 'its time' : `${bound.toLocaleString('en')} s`} was used up; time spent waiting for people does not count`
    default:
      return String(limit satisfies never)
  }
}

function visitsWords(run: Run, found: Exhaustion | undefined, most: string): string {
  const node = found?.node
  if (node === undefined) return 'a state was entered as often as it may be'
  const label = labelOf(run.graph, node)
  return `${label} was entered ${times(run.walk?.entered.get(node) ?? found?.bound ?? 0)}${most}`
}

function times(n: number): string {
  return n === 1 ? 'once' : `${n.toLocaleString('en')} times`
}

function boundIn(budget: Budget, limit: ExhaustedLimit): number | undefined {
  switch (limit) {
    case 'max_visits':
      return undefined
    case 'max_total_visits':
      return budget.maxTotalVisits
    case 'max_tool_calls':
      return budget.maxToolCalls
    case 'max_wall_time_sec':
      return budget.maxActiveS
    default:
      return limit satisfies never
  }
}
