/** Kinds of steps that begin runs of their own and wait for them. */
const kinds = new Set(['call', 'parallel', 'map', 'agent_loop', 'prompt_state'])

/** Kinds of steps in which a model is asked, again and again, within one run. */
const talks = new Set(['agent_loop', 'prompt_state'])

/** True when the one run a step of that kind begins is a talk with a model. */
export function beginsTalk(kind: string): boolean {
  return talks.has(kind)
}

/** True when a step of that kind begins runs. */
export function beginsRuns(kind: string): boolean {
  return kinds.has(kind)
}
