/**
 * Why a person is asked.
 * `approval`: before a consequential action. `outcome_unknown`: a crash left open whether an effect happened.
 * `irreversible_failed`: a step that cannot be undone has failed. `rollback_escalated`: a rollback met what cannot
 * be undone. `rollback_unprepared`: an agent cannot prepare. `rollback_critical`: a rollback of a cascade would reach a critical
 * step (ATD section 8, level 1). `cascade`: a failure is propagating. `circuit`: a downstream keeps failing, and probes are held.
 * `agent_error`: an agent told of an error. `resource_exhausted`: critical work found no room. `event`: a state waits for its event from outside. `rollback_failed`: a rollback failed, the run is stopped (ATD section 7, level 3).
 */
export type ApprovalKind =
  | 'approval'
  | 'outcome_unknown'
  | 'irreversible_failed'
  | 'rollback_escalated'
  | 'rollback_failed'
  | 'rollback_unprepared'
  | 'rollback_critical'
  | 'cascade'
  | 'circuit'
  | 'agent_error'
  | 'resource_exhausted'
  | 'event'

/**
 * `approve`, `refuse` answer an `approval` and a `rollback_critical`; `go_on_without`, `abort`, `escalate`, `ask_again`,
 * `overwrite` (what was changed since is put back all the same) a `rollback_unprepared`; `release`, `hold` a `circuit`; `took_effect`, `not_taken` an `outcome_unknown`; `event` (with its name) an `event`; `acknowledge` the rest.
 */
export type Verdict =
  | 'approve'
  | 'refuse'
  | 'took_effect'
  | 'not_taken'
  | 'acknowledge'
  | 'event'
  | 'go_on_without'
  | 'abort'
  | 'escalate'
  | 'ask_again'
  | 'overwrite'
  | 'release'
  | 'hold'
