/* What the inbox and the decision card are told. What a question is about beyond a step's own act stands in question-wire.ts. */
import type { JsonObject } from '@/lib/base/json'
import type { UndoMethod } from '@/lib/checkpoint/terms'
import type { ApprovalKind, Verdict } from '@/lib/hitl/terms'
import type { Consequence } from '@/lib/nodes/node-kind'
import type { QuestionAbout } from './question-wire'
import type { RollbackWarning } from './warning'

/** `GET /api/v1/approvals?show=open|decided&cursor=&limit=`. */
export interface ApprovalRow {
  id: string
  run: string
  workflow: string
  node: string
  label: string
  visit: number
  kind: ApprovalKind
  role: string
  sentence: string
  /** Of what the step does; of a rollback `warning` says it. */
  consequence: Consequence
  /** Of a `rollback_unprepared` that is open, where all of it was changed since or part of it cannot be undone. */
  warning?: RollbackWarning
  askedAt: number
  deadlineAt?: number
  state: 'open' | 'decided' | 'void'
  verdict?: Verdict
  by?: string
  decidedAt?: number
  /** May the signed-in person decide it, and if not, why not (one sentence). */
  mayDecide: boolean
  mayNotBecause?: string
}

/**
 * `GET /api/v1/approvals/{id}`: the decision card, in UI order. The same answers `POST …/decision` and
 * `POST …/comments {comment}`.
 */
export interface ApprovalCard extends ApprovalRow {
  reason: string
  /** Why the step failed, when that is what is asked about. */
  failure?: string
  /** Digest the decision is bound to; send it back with the verdict. */
  action: string
  target: string
  preview?: ActionPreview
  /** Of a step that was done and that a rollback could not undo: what it did, and the digest of its action. */
  did?: { action: string; preview: ActionPreview }
  /** Kind of the step that is held: `pause_for_approval`; absent when its action cannot be read. */
  stepKind?: string
  /** The action in the kind's own terms; present when it may be edited. */
  editable?: JsonObject
  undo?: { method: UndoMethod; sentence: string }
  /** Agents and later steps it touches, by name. */
  touches: {
    agents: string[]
    later: { node: string; label: string; irreversible: boolean; consequence: Consequence }[]
  }
  /** What it is about, where that is not the step's own act; absent when nothing is known of it any more. */
  about?: QuestionAbout
  runStartedBy: string
  runStartedAt: number
  /** What silence means, as the end of a sentence: `it stays held` (silence-words.ts). */
  onSilence: string
  comments: { by: string; at: number; comment: string }[]
  verdicts: Verdict[]
  /**
   * Of an `event` question: what may be answered, and where each leads. Send one back as `event`, with the verdict
   * `event`. `insteadOf`: the state that was meant, and is at its limit. Without `to` the run ends there.
   */
  events?: EventChoice[]
  /** Of an `event` question: artifacts that may be sent along, as `artifacts {name: value}`. */
  slots?: EventSlot[]
  /** `seen`: what was on the screen of who decided, where it was not `preview`. */
  decision?: {
    verdict: Verdict
    event?: string
    by: string
    at: number
    comment: string
    edited: boolean
    seen?: ActionPreview
  }
}

/** What a step would do. `absent`: what it would change is not there yet, and not only empty. */
export type ActionPreview =
  | { show: 'diff'; title: string; before: string; after: string; absent?: true }
  | { show: 'text'; title: string; text: string }

/** An agent that was asked, or a target that was to be looked at, by the name people know it by; and why that told nothing. */
export interface SilentTarget {
  what: 'agent' | 'target'
  name: string
  why: string
}

/**
 * `GET /api/v1/approvals/{id}/now`: what the step would do by now. `changed` where that is not what was asked: what it acts on
 * was changed since. Send `seen` with the decision, which then says what it was made on.
 */
export interface ApprovalNow {
  at: number
  /** Nobody can tell. */
  silent?: SilentTarget
  changed?: { preview: ActionPreview; seen: string; undo?: string }
}

export interface EventChoice {
  event: string
  to?: string
  label: string
  insteadOf?: string
}

export interface EventSlot {
  name: string
  mediaType: string
  mode: 'replace' | 'append'
  description: string
}
