import type { Run, Visit } from './run'

/** True when a person found what the visit gave to be wrong ("This looks wrong"), and it was not taken back since. */
export function isFlagged({ state, doneJti }: Visit): boolean {
  return state.status === 'failed' && state.error.code === 'semantic_failure' && doneJti !== undefined
}

/** The first step of a run that was flagged after the run had succeeded; undefined of every other run. */
export function flaggedAfterEnd(run: Run): Visit | undefined {
  if (run.state.status !== 'ended' || run.state.terminal !== 'success' || !run.counts.get('failed')) return
  for (const node of run.graph.order) {
    const visit = run.visits.get(node)
    if (visit && isFlagged(visit)) return visit
  }
}
