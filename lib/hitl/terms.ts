/**
 * Why a person is asked.
 * `approval`: before a consequential action. `outcome_unknown`: a crash left open whether an effect happened.
 * `irreversible_failed`: a step that cannot be undone has failed. `rollback_escalated`: a rollback met what cannot
 * be undone. `event`: a state waits for its event from outside. `rollback_failed`: a rollback failed, the run is stopped (ATD section 7, level 3).
 */
export type ApprovalKind =
  | 'approval'
  | 'outcome_unknown'
  | 'irreversible_failed'
  | 'rollback_escalated'
  | 'rollback_failed'
  | 'event'

/** `approve`, `refuse` answer an `approval`; `took_effect`, `not_taken` an `outcome_unknown`; `event` (with its name) an `event`; `acknowledge` the rest. */
export type Verdict = 'approve' | 'refuse' | 'took_effect' | 'not_taken' | 'acknowledge' | 'event'
