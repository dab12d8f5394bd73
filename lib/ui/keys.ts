/*
 * The names under which answers are kept. Live events name them too (live-invalidation.ts), so they are made nowhere else.
 * A prefix stands for all that begin with it: `['runs']` is every list of runs, whatever its filter.
 */
export interface RunFilter {
  status?: string
  workflow?: string
  text?: string
}

export type ApprovalShow = 'open' | 'decided'

export const keys = {
  me: ['me'] as const,
  people: ['people'] as const,
  agents: ['agents'] as const,
  ownSessions: ['own-sessions'] as const,
  ownTokens: ['own-tokens'] as const,
  overview: ['overview'] as const,
  approvals: ['approvals'] as const,
  approvalList: (show: ApprovalShow) => ['approvals', 'list', show] as const,
  approvalCard: (id: string) => ['approvals', 'card', id] as const,
  /** Asks files and agents: no event makes it old, or each would ask them again. */
  approvalNow: (id: string) => ['approval-now', id] as const,
  /** Opens what a checkpoint sealed: no event has it asked again either. */
  putBack: (path: string) => ['put-back', path] as const,
  runs: ['runs'] as const,
  runList: (filter: RunFilter) => ['runs', 'list', filter] as const,
  /** Runs that steps of a run began: any run's event makes them old, as it does the lists. */
  children: (run: string) => ['runs', 'children', run] as const,
  childList: (run: string, node: string, visit: number, status: string) =>
    ['runs', 'children', run, node, visit, status] as const,
  /** Everything about one run; pages of its ledger and values add to it. */
  run: (id: string) => ['run', id] as const,
  runDetail: (id: string) => ['run', id, 'detail'] as const,
  /** The beginning of its ledger, when the page brought it along. */
  runLedger: (id: string) => ['run', id, 'ledger'] as const,
  runValue: (id: string, hash: string) => ['run', id, 'value', hash] as const,
  /** Named by hashes alone: the same two values give the same diff, whichever runs speak of them. */
  comparison: (mode: string, before: string, after: string) => ['comparison', mode, before, after] as const,
  valueLines: (hash: string) => ['value-lines', hash] as const,
  /** Forks begin and move on as other runs do: any run's event makes them old. */
  forks: (run: string) => ['runs', 'forks', run] as const,
  forkPlan: (id: string, at: number, version: string) => ['run', id, 'fork-plan', at, version] as const,
  exportContents: (run: string, forks: boolean, maxValueBytes: number | undefined) =>
    ['export-contents', run, forks, maxValueBytes ?? null] as const,
  rollbackPlan: (id: string, node: string, scope: string) => ['run', id, 'plan', node, scope] as const,
  circuits: ['circuits'] as const,
  circuitList: ['circuits', 'list'] as const,
  circuit: (id: string) => ['circuits', 'one', id] as const,
  pools: ['pools'] as const,
  workflows: ['workflows'] as const,
  planChoices: ['plan-choices'] as const,
  plan: (version: string, plan: string) => ['plan', version, plan] as const,
  workflow: (version: string) => ['workflows', version] as const,
}
