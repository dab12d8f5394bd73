/*
 * What an error leads to by itself (ATD section 5, AERR section 5): nothing, a question, or that what the step did is
 * taken back. Errors that still wait for that are part of the fold, so that a crash between an error and what follows
 * from it is found by `due` like everything else; a question about the step, or a rollback of it, is what follows.
 *
 *   error, critical or not     the node's onError, else the workflow's; where neither says: a person is asked about a
 *                              critical error of a step that had an effect
 *   signal of an agent         the same; where neither says: a person is asked, since AERR lets nobody ignore it
 *   rollback                   only of what was checkpointed and can be undone; else a person is asked
 *   info, warning; dry runs    nothing
 */
import type { OnError } from '@/lib/workflow/graph'
import type { FactOf } from './facts'
import type { ErrorToFollow, Run } from './run'

/** Takes note of an error that something follows from. */
export function noteError(run: Run, fact: FactOf<'error'> | FactOf<'signal_received'>): void {
  if (fact.severity !== 'error' && fact.severity !== 'critical') return
  if (run.start?.dryRun) return
  // A person found it wrong, and sees to it.
  if (fact.type === 'error' && fact.code === 'semantic_failure') return
  const checkpoint = fact.checkpointId
  const rule = ruleOf(run, fact)
  if (rule === 'nothing' || (rule === 'rollback' && checkpoint === undefined)) return
  const canUndo = checkpoint !== undefined && run.checkpoints.get(checkpoint)?.reversible === true
  run.toFollow.set(fact.jti, {
    jti: fact.jti,
    at: fact.at,
    node: fact.node,
    visit: fact.visit,
    description: fact.description,
    critical: fact.severity === 'critical',
    leadsTo: rule === 'rollback' && canUndo ? 'rollback' : 'escalate',
    checkpoint,
    ...(fact.type === 'signal_received' && { agent: fact.agent }),
  })
}

function ruleOf(run: Run, fact: FactOf<'error'> | FactOf<'signal_received'>): OnError {
  const said = run.graph.nodes.get(fact.node)?.onError ?? run.graph.graph.containment?.onError
  if (said) return said
  if (fact.type === 'signal_received') return 'escalate'
  return fact.severity === 'critical' && fact.checkpointId !== undefined ? 'escalate' : 'nothing'
}

/** People were asked about the step, or it is taken back: what was to follow has followed. */
export function errorsFollowed(run: Run, nodes: ReadonlySet<string>): void {
  for (const error of run.toFollow.values()) if (nodes.has(error.node)) run.toFollow.delete(error.jti)
}

/** Errors that something should follow from now. */
export function errorsDue(run: Run): ErrorToFollow[] {
  if (run.toFollow.size === 0) return []
  const { status } = run.state
  if (status !== 'running' && status !== 'paused' && status !== 'ended') return []
  return [...run.toFollow.values()].filter((error) => isStill(run, error))
}

/** A step that was tried again, or taken back, has left its failure behind. */
function isStill(run: Run, { node, visit, jti, agent }: ErrorToFollow): boolean {
  if (agent !== undefined) return true
  const now = run.visits.get(node)
  return now?.visit === visit && now.state.status === 'failed' && now.state.error.jti === jti
}
