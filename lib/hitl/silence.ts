/*
 * What happens when nobody answers (NOTES 3.10 and 3.11).
 *
 * Silence never approves by default. At the deadline the author's word holds: stay held, count as refused, roll back,
 * ask another role, or, only where it is spelled out, go on. Three questions never listen to silence at all, whatever the
 * author wrote: an outcome that nobody knows (guessing it would do an effect twice or lose it), an event from outside
 * (nobody but who gives it knows which), and a stop (level 3), which only an explicit act ends.
 *
 *   asked ──────────────── deadline ─────────────────▶
 *         open, undecided  │ hold         open, and stays so; a late answer still counts
 *                          │ deny         refused by silence
 *                          │ rollback     refused by silence, and the run is taken back
 *                          │ escalate_to  the question is asked again, of that role, and then holds
 *                          │ continue     approved by silence
 */
import type { Silence } from '@/lib/workflow/graph'
import type { ApprovalKind } from './terms'
import { levelOf } from './verdicts'

export interface Unanswered {
  kind: ApprovalKind
  /** The role that is being asked. */
  role: string
  /** Milliseconds since the epoch; absent: no deadline, the question holds for good. */
  deadlineAt?: number
  onSilence: Silence
}

export type SilenceOutcome =
  /** Not due yet; look again then (ms since the epoch). */
  | { act: 'wait'; until: number }
  /** Stays open. Nothing is ever due. */
  | { act: 'hold' }
  | { act: 'deny' }
  | { act: 'rollback' }
  | { act: 'continue' }
  /** Ask this role; the new question holds without a deadline. */
  | { act: 'escalate'; role: string }

/** What silence does to an open question at `now` (ms since the epoch). A decision that is already there goes first. */
export function silenceOf(question: Unanswered, now: number): SilenceOutcome {
  const meant = meantBySilence(question)
  if (meant.act === 'hold' || question.deadlineAt === undefined) return { act: 'hold' }
  return now < question.deadlineAt ? { act: 'wait', until: question.deadlineAt } : meant
}

/** What the deadline brings, whenever it comes. */
function meantBySilence({ kind, role, onSilence }: Unanswered): Exclude<SilenceOutcome, { act: 'wait' }> {
  if (!listens(kind)) return { act: 'hold' }
  if (typeof onSilence === 'object') {
    // Asking the same role once more would repeat for ever.
    return onSilence.escalateTo === role ? { act: 'hold' } : { act: 'escalate', role: onSilence.escalateTo }
  }
  // Only an approval can be granted or refused by silence; a failure can only be passed on to another role.
  return kind === 'approval' ? { act: onSilence } : { act: 'hold' }
}

function listens(kind: ApprovalKind): boolean {
  return kind !== 'outcome_unknown' && kind !== 'event' && levelOf(kind) < 3
}

/** What silence means, as the decision card says it after "If nobody answers": `it stays held`. */
export function silenceWords(question: Unanswered): string {
  const meant = meantBySilence(question)
  if (question.deadlineAt === undefined) return 'it stays held; there is no deadline'
  switch (meant.act) {
    case 'hold':
      return 'it stays held'
    case 'deny':
      return 'it counts as refused'
    case 'rollback':
      return 'it counts as refused, and the run is rolled back'
    case 'continue':
      return 'it goes on without a decision, as the author spelled out'
    case 'escalate':
      return `${meant.role} is asked`
    default:
      return meant satisfies never
  }
}
