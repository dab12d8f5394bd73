/*
 * One table for what can be refused: its code, and the HTTP status it travels with. Every refusal in
 * Holdpoint is a Problem: one sentence that says what was found, what was expected, where, and how to
 * mend it. The API answers with it as problem details (RFC 9457), the command line prints it, screens show it.
 */
export const problemStatus = {
  // tokens (lib/ect)
  ect_malformed: 403,
  ect_alg_refused: 403,
  ect_typ_refused: 403,
  ect_key_unknown: 403,
  ect_signature_invalid: 403,
  ect_claim_invalid: 403,
  ect_expired: 403,
  ect_too_old: 403,
  ect_from_future: 403,
  ect_audience: 403,
  ect_ext_too_long: 403,
  ect_ext_too_deep: 403,
  ect_too_many_parents: 403,
  ect_parent_unknown: 403,
  ect_parent_later: 403,
  ect_parent_foreign: 403,
  ect_cycle: 403,
  ect_too_many_ancestors: 403,
  ect_duplicate_jti: 403,
  ect_replayed: 403,
  ect_key_revoked: 403,
  agent_outside_run: 403,
  report_limit: 429,
  ledger_broken: 422,
  ledger_tail_cut: 422,
  bundle_invalid: 422,
  bundle_link_broken: 422,
  bundle_value_wrong: 422,
  bundle_value_missing: 422,
  bundle_claim_false: 422,
  key_unusable: 500,
  // requests
  bad_request: 400,
  method_not_allowed: 405,
  opened_read_only: 403,
  body_too_large: 413,
  body_not_json: 400,
  unsupported_media_type: 415,
  idempotency_key_reused: 409,
  cursor_invalid: 400,
  filter_empty: 400,
  cross_site: 403,
  not_signed_in: 401,
  sign_in_failed: 401,
  password_wrong: 403,
  token_invalid: 401,
  session_ended: 401,
  too_many_attempts: 429,
  too_many_requests: 429,
  proxy_untrusted: 403,
  agent_mismatch: 403,
  role_missing: 403,
  scope_missing: 403,
  link_used: 410,
  password_weak: 422,
  name_taken: 409,
  account_disabled: 409,
  last_administrator: 409,
  not_found: 404,
  // workflows
  workflow_invalid: 422,
  input_invalid: 422,
  tool_unbound: 422,
  workflow_changed: 409,
  plan_not_approved: 409,
  model_failed: 502,
  // runs
  run_moved_on: 409,
  run_ended: 409,
  run_not_paused: 409,
  run_paused: 409,
  task_not_offered: 409,
  task_claimed: 409,
  claim_lost: 409,
  // approvals
  approval_decided: 409,
  approval_gone: 409,
  approval_digest: 409,
  approval_changed: 409,
  target_silent: 409,
  approval_role: 403,
  approval_edit_refused: 422,
  // checkpoints and rollback
  checkpoint_expired: 409,
  checkpoint_tampered: 409,
  checkpoint_missing: 404,
  checkpoint_limit: 429,
  rollback_plan_changed: 409,
  rollback_forbidden: 409,
  rollback_outside_run: 403,
  rollback_id_reused: 409,
  rollback_busy: 409,
  rollback_conflict: 409,
  rollback_nothing: 409,
  // errors that agents tell of
  error_id_reused: 409,
  // forks
  fork_plan_changed: 409,
  fork_impossible: 422,
  fork_rests_on_decision: 422,
  // effects
  path_outside_roots: 422,
  path_is_symlink: 422,
  url_refused: 422,
  target_private: 422,
  effect_failed: 502,
  effect_timeout: 504,
  run_out_of_time: 504,
  run_worked_up: 504,
  too_large: 413,
  // the installation
  store_busy: 503,
  store_full: 507,
  store_read_only: 503,
  store_missing: 503,
  store_newer: 503,
  store_older: 503,
  store_not_a_database: 503,
  migration_edited: 503,
  migration_failed: 503,
  data_folder_taken: 503,
  lease_lost: 409,
  sequence_taken: 409,
  probe_taken: 409,
  probe_held: 409,
  // breakers, to who brings work, and to people
  dependency_open: 503,
  circuit_open: 409,
  probe_impossible: 422,
  internal: 500,
} as const satisfies Record<string, number>

export type ProblemCode = keyof typeof problemStatus

/** Next bundles routes apart from the engine, each with a copy of this class: a Problem is known by its mark. */
const mark = Symbol.for('holdpoint.Problem')

/** A refusal: a code, one sentence for people, and data for programs. Never carries secrets or contents. */
export class Problem extends Error {
  static override [Symbol.hasInstance](value: unknown): value is Problem {
    return typeof value === 'object' && value !== null && mark in value
  }

  readonly [mark] = true
  override readonly name = 'Problem'
  readonly code: ProblemCode
  readonly data: Readonly<Record<string, unknown>>

  constructor(code: ProblemCode, sentence: string, data: Record<string, unknown> = {}) {
    super(sentence)
    this.code = code
    this.data = data
  }

  /** The HTTP status this refusal travels with. */
  get status(): number {
    return problemStatus[this.code]
  }
}

/** True when the error is a Problem, with that code if one is given. */
export function isProblem(error: unknown, code?: ProblemCode): error is Problem {
  return error instanceof Problem && (code === undefined || error.code === code)
}
