import type { RunFilter } from '@/lib/ui/keys'
import type { RunRow } from '@/lib/view/run-wire'

/** What a run can be filtered by, in the order a person asks: what needs someone, what goes on, what is over. */
export const filterStatuses = [
  'waiting',
  'failed',
  'escalated',
  'flagged',
  'running',
  'paused',
  'rolling_back',
  'rolled_back',
  'partial',
  'cancelled',
  'exhausted',
  'success',
] as const satisfies readonly (RunRow['status'] | NonNullable<RunRow['terminal' | 'stopped']>)[]

/** The filter an address asks for; members that are empty are left out, so that the same view has the same key. */
export function filterOf(params: { get(name: string): string | null }): RunFilter {
  const filter: RunFilter = {}
  for (const name of ['status', 'workflow', 'text'] as const) {
    const value = params.get(name)?.trim()
    if (value) filter[name] = value
  }
  return filter
}
