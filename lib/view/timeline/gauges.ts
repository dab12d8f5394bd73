/*
 * Gauges: each limit of the workflow, and how much of it the run had used at a moment. Time spent waiting for people
 * is not in the active time; the fold counts it (lib/engine/limits.ts).
 */
import { activeMs } from '@/lib/engine/limits'
import type { Run } from '@/lib/engine/run'
import type { Gauge } from './terms'

/**
 * The gauges of a run at `now` (ms since the epoch; for a moment of the past, that of its last token): those the
 * workflow bounds, and what models took even without a bound. The state the walk is in comes first.
 */
export function gaugesOf(run: Run, now: number): Gauge[] {
  const { budget } = run.graph.graph
  const gauges: Gauge[] = []
  const put = (
    of: Gauge['of'],
    unit: Gauge['unit'],
    used: number,
    bound: number | undefined,
    words?: (used: string, bound: string | undefined) => string,
    node?: string,
  ) =>
    gauges.push({
      of,
      ...(node !== undefined && { node }),
      used,
      ...(bound !== undefined && { bound }),
      unit,
      ...(words && { words: words(count(used), bound === undefined ? undefined : count(bound)) }),
      reached: bound !== undefined && used >= bound,
    })
  const place = run.walk?.path.at(-1)?.visit.node
  const maxVisits = place === undefined ? undefined : run.graph.nodes.get(place)?.maxVisits
  if (run.walk && place !== undefined) {
    put('visits', 'visits', run.walk.entered.get(place) ?? 0, maxVisits, visitWords, place)
    if (budget.maxTotalVisits !== undefined) {
      put('total_visits', 'visits', run.walk.path.length, budget.maxTotalVisits, usedWords('visits'))
    }
  }
  if (budget.maxToolCalls !== undefined || run.toolCalls > 0) {
    put('tool_calls', 'calls', run.toolCalls, budget.maxToolCalls, usedWords('tool calls'))
  }
  if (budget.maxModelTokens !== undefined || run.modelTokens > 0) {
    put('model_tokens', 'tokens', run.modelTokens, budget.maxModelTokens, usedWords('model tokens'))
  }
  if (budget.maxWriteBytes !== undefined) {
    put('written_bytes', 'bytes', run.writtenBytes, budget.maxWriteBytes, usedWords('bytes written'))
  }
  const until = run.state.status === 'ended' ? run.state.at : now
  if (budget.maxActiveS !== undefined) {
    put('active_time', 'ms', activeMs(run, until), budget.maxActiveS * 1000)
  }
  if (budget.maxRunS !== undefined) {
    put('run_time', 'ms', Math.max(0, until - (run.start?.at ?? until)), budget.maxRunS * 1000)
  }
  return gauges
}

function visitWords(used: string, bound: string | undefined): string {
  return bound === undefined ? `visit ${used}` : `visit ${used} of ${bound}`
}

function usedWords(things: string): (used: string, bound: string | undefined) => string {
  return (used, bound) => (bound === undefined ? `${used} ${things}` : `${used} of ${bound} ${things}`)
}

function count(value: number): string {
  return value.toLocaleString('en')
}
