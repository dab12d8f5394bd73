import { isJsonObject } from '@/lib/base/json'
import type { GraphNode } from '@/lib/workflow/graph'
import type { RunRow } from './run-wire'

/** A workflow that a step runs, as its author names it, with the version that was run. */
export interface LedTo {
  name: string
  /** Content hash; absent until a run of it is known. */
  version?: string
}

/** The workflows a `call`, `map` or `parallel` step runs, each once; `rows` are runs it began. Empty for other kinds. */
export function workflowsLedTo(
  { kind, config }: Pick<GraphNode, 'kind' | 'config'>,
  rows: readonly Pick<RunRow, 'version' | 'parent'>[],
): LedTo[] {
  const found = new Map<string, LedTo>()
  const add = (name: unknown, row: Pick<RunRow, 'version'> | undefined) => {
    if (typeof name !== 'string') return
    const version = row?.version ?? found.get(name)?.version
    found.set(name, version === undefined ? { name } : { name, version })
  }
  if (kind === 'call' || kind === 'map') add(config.workflow, rows[0])
  if (kind === 'parallel' && Array.isArray(config.branches)) {
    for (const [at, branch] of config.branches.entries())
      if (isJsonObject(branch))
        add(
          branch.workflow,
          rows.find(({ parent }) => parent?.index === at),
        )
  }
  return [...found.values()]
}
