/** Which scopes would take back more of a run than a rollback of it does. Pure. */
import { breadth } from '@/lib/rollback/conflict'
import { rollbackScopes } from '@/lib/rollback/scope'
import type { RollbackScope } from '@/lib/rollback/terms'
import { type Reach, visitsInScope } from './evolve-rollback'
import type { Run, Visit } from './run'

/** The broader scopes that reach something done which this rollback leaves, smallest first; none where it reaches all. */
export function broaderScopes(run: Run, rollback: Reach): RollbackScope[] {
  const reached = new Set(visitsInScope(run, rollback))
  return rollbackScopes.filter(
    (scope) =>
      breadth({ scope }) > breadth(rollback) &&
      visitsInScope(run, { scope, node: rollback.node }).some(
        (visit) => !reached.has(visit) && isToTakeBack(visit),
      ),
  )
}

function isToTakeBack({ state }: Visit): boolean {
  return state.status !== 'pending' && state.status !== 'rolled_back'
}
