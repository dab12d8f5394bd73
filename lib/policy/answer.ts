/*
 * What a workflow may reach is decided here, and each answer names the rule that decided it: a declared folder, an
 * entry of `privateTargets`, a pattern of the allowlist, a Rego rule, or the default, which allows public addresses and
 * nothing else.
 *
 *   a call ──▶ folders, targets ──▶ allowlist ──▶ Rego ──▶ done
 *              (where it may lead)  (may it?)     (and may it?)     each may refuse; none overrules a refusal
 *
 * Rules are data and answers are values: nothing in this room touches a disk or a network. Whoever acts looks first
 * (where a symlink leads, what a name resolves to) and asks about what it found.
 */
export interface Allowed {
  allowed: true
  /** The rule that said so, in words: `folder configs (write)`. */
  rule: string
}

export interface Refused {
  allowed: false
  rule: string
  code: 'path_outside_roots' | 'url_refused' | 'target_private' | 'policy_denied'
  /** What was found, what is allowed, and how to mend it. */
  sentence: string
}

export type Answer = Allowed | Refused
