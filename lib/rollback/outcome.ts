import type { PlanFate, RollbackDecision, RollbackStatus } from './terms'

/**
 * The status of a whole rollback, from the status of each undo (ATD section 7; cascade section 7.3):
 *
 *   nothing to undo, or all completed                  completed
 *   some undone, some not                              partial
 *   none undone, at least one tried and failed         failed     (stops the run: ATD section 8, level 3)
 *   none undone, all handed to a person                escalated
 */
export function overallStatus(results: readonly RollbackStatus[]): RollbackStatus {
  if (results.every((status) => status === 'completed')) return 'completed'
  if (results.some((status) => status === 'completed' || status === 'partial')) return 'partial'
  return results.includes('failed') ? 'failed' : 'escalated'
}

/**
 * True where a rollback also sets back what it covers and had nothing to undo, as its plan says: it was carried out, were
 * it without what cannot be undone. One that failed, or was called off, leaves that as it is.
 */
export function setsBack(status: RollbackStatus, decision: RollbackDecision | undefined): boolean {
  return status !== 'failed' && decision !== 'abort' && decision !== 'escalate'
}

/**
 * What a fate comes to when nothing is done for it: an irreversible step is handed to a person, a refused checkpoint
 * is a failed undo (cascade section 6.6). Undefined for fates that are acted on, or that leave the step alone.
 */
export function statusWithoutAct(fate: PlanFate): RollbackStatus | undefined {
  if (fate === 'irreversible') return 'escalated'
  return fate === 'refused' ? 'failed' : undefined
}
