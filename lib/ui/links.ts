/** Where things are: the addresses of pages that other pages lead to. The URL is the view. */
export type InspectorTab = 'runs' | 'input' | 'output' | 'tokens' | 'checkpoint'
export type SettingsTab = 'people' | 'account'

function withQuery(path: string, query: Record<string, string | undefined>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value)
  return search.size > 0 ? `${path}?${search}` : path
}

export const links = {
  overview: '/',
  approvals: (view: { item?: string | undefined; show?: 'open' | 'decided' | undefined } = {}) =>
    withQuery('/approvals', view),
  runs: (filter: { status?: string; workflow?: string; text?: string } = {}) => withQuery('/runs', filter),
  run: (id: string, { visit, ...view }: { node?: string; visit?: number; tab?: InspectorTab } = {}) =>
    withQuery(`/runs/${encodeURIComponent(id)}`, {
      ...view,
      visit: visit === undefined ? undefined : String(visit),
    }),
  /** A run as it was at a token. */
  moment: (id: string, at: number) => withQuery(`/runs/${encodeURIComponent(id)}`, { at: String(at) }),
  /** `only`: of what followed, what used its output alone. `broader`: one that may take over the one under way. */
  rollback: (
    run: string,
    view: { node: string; scope?: string; only?: string; rollback?: string; broader?: string },
  ) => withQuery(`/runs/${encodeURIComponent(run)}/rollback`, view),
  /** Where a run is forked, at a token of it. */
  fork: (run: string, at: number, version?: string) =>
    withQuery(`/runs/${encodeURIComponent(run)}/fork`, { at: String(at), version }),
  compareRuns: (run: string, other: string) =>
    `/runs/${encodeURIComponent(run)}/compare/${encodeURIComponent(other)}`,
  /** The breakers; one of them opened. */
  breakers: (
    view: { circuit?: string | undefined; show?: 'troubled' | undefined; part?: 'history' | undefined } = {},
  ) => withQuery('/breakers', view),
  bulkheads: '/bulkheads',
  /** The agents; one of them opened. */
  agents: (view: { agent?: string | undefined } = {}) => withQuery('/agents', view),
  workflows: '/workflows',
  workflowImport: '/workflows/import',
  workflowPlan: (view: { version?: string; plan?: string } = {}) => withQuery('/workflows/plan', view),
  workflow: (version: string, view: { tab?: 'graph' | 'source' | 'versions' } = {}) =>
    withQuery(`/workflows/${encodeURIComponent(version)}`, view),
  workflowRun: (version: string) => `/workflows/${encodeURIComponent(version)}/run`,
  settings: (view: { tab?: SettingsTab } = {}) => withQuery('/settings', view),
  signIn: (then?: string) => withQuery('/sign-in', { callbackUrl: then }),
}
