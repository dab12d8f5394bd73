/** Kinds of steps that begin runs of their own and wait for them. */
const kinds = new Set(['call', 'parallel', 'map', 'agent_loop'])

/** True when a step of that kind begins runs. */
export function beginsRuns(kind: string): boolean {
  return kinds.has(kind)
}
