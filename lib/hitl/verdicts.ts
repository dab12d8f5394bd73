/*
 * What can be answered to each kind of question, and how hard the question holds (NOTES 3.10).
 */
import type { ApprovalKind, Verdict } from './terms'

/** 1 PAUSE: a person may let it go on. 2 APPROVAL: a named role must decide. 3 STOP: only an explicit act goes on. */
export type HitlLevel = 1 | 2 | 3

interface Question {
  level: HitlLevel
  /** In the order their buttons are shown. */
  verdicts: readonly Verdict[]
  /** True when the action may be changed before it is approved. */
  editable: boolean
}

const questions: Record<ApprovalKind, Question> = {
  approval: { level: 2, verdicts: ['approve', 'refuse'], editable: true },
  outcome_unknown: { level: 2, verdicts: ['took_effect', 'not_taken'], editable: false },
  irreversible_failed: { level: 2, verdicts: ['acknowledge'], editable: false },
  rollback_escalated: { level: 2, verdicts: ['acknowledge'], editable: false },
  // RFC 0009, external orchestration: which event, the graph says.
  event: { level: 2, verdicts: ['event'], editable: false },
  // ATD section 7: a failed rollback stops the workflow.
  // Cascade section 6.5: partial, or abort and escalate. What kept a holder from it may have passed: it can be asked again.
  // What somebody else changed since can be put back all the same, where that is all that keeps a holder from it.
  rollback_unprepared: {
    level: 2,
    verdicts: ['go_on_without', 'abort', 'escalate', 'ask_again', 'overwrite'],
    editable: false,
  },
  // ATD section 8, level 1: a pause that a person may lift.
  rollback_critical: { level: 1, verdicts: ['approve', 'refuse'], editable: false },
  cascade: { level: 2, verdicts: ['acknowledge'], editable: false },
  // ATD section 6.3 and 8: N breakers, or three probes that failed.
  circuit: { level: 2, verdicts: ['release', 'hold'], editable: false },
  agent_error: { level: 2, verdicts: ['acknowledge'], editable: false },
  resource_exhausted: { level: 2, verdicts: ['acknowledge'], editable: false },
  rollback_failed: { level: 3, verdicts: ['acknowledge'], editable: false },
}

/** The verdicts that answer this kind of question, in the order their buttons are shown. */
export function verdictsOf(kind: ApprovalKind): readonly Verdict[] {
  return questions[kind].verdicts
}

export function levelOf(kind: ApprovalKind): HitlLevel {
  return questions[kind].level
}

/** True when a decision may carry an edited action. */
export function isEditable(kind: ApprovalKind): boolean {
  return questions[kind].editable
}
