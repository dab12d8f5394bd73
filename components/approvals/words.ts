import type { ApprovalKind, Verdict } from '@/lib/hitl/terms'
import type { CannotPrepare } from '@/lib/rollback/terms'
import { count } from '@/lib/ui/format-time'
import type { ApprovalCard, ApprovalRow } from '@/lib/view/approval-wire'
import { agentName, plainActor } from '@/lib/view/plain-words'
import type { QuestionAbout } from '@/lib/view/question-wire'
import type { ShownState } from '@/lib/view/shown-state'

/** Why a person is asked: its name in the inbox, and whose shape and colour it wears. */
export const kindWords: Record<ApprovalKind, { title: string; as: ShownState; because: string }> = {
  approval: { title: 'Approval', as: 'waiting', because: 'This step is held until someone decides.' },
  outcome_unknown: {
    title: 'Outcome unknown',
    as: 'unknown',
    because: 'Holdpoint stopped between the act and its answer, and will not do it twice unasked.',
  },
  irreversible_failed: {
    title: 'Irreversible step failed',
    as: 'escalated',
    because: 'A step that cannot be undone has failed.',
  },
  rollback_escalated: {
    title: 'Rollback met what cannot be undone',
    as: 'escalated',
    because: 'A rollback reached a step that cannot be undone.',
  },
  rollback_failed: {
    title: 'Rollback failed, run stopped',
    as: 'escalated',
    because: 'A rollback failed and the run is stopped.',
  },
  rollback_unprepared: {
    title: 'Rollback cannot be whole',
    as: 'escalated',
    because: 'An agent cannot take its part back. Nothing has changed yet.',
  },
  rollback_critical: {
    title: 'Rollback reaches a critical step',
    as: 'waiting',
    because: 'The rollback would reach a critical step, and no person saw its plan.',
  },
  cascade: { title: 'Cascade', as: 'escalated', because: 'A failure is propagating to other steps.' },
  circuit: {
    title: 'Shared dependency failing',
    as: 'escalated',
    because: 'Probes are held until someone decides.',
  },
  agent_error: { title: 'Agent error', as: 'escalated', because: 'An agent of this run told of an error.' },
  resource_exhausted: {
    title: 'No room for critical work',
    as: 'escalated',
    because: 'Critical work has waited longer than it may.',
  },
  event: {
    title: 'Event',
    as: 'waiting',
    because: 'This state waits for someone outside to say what happened.',
  },
}

export interface VerdictWords {
  /** On the button: the verb and the step by its label, in quotes, since labels begin with a verb themselves. */
  button: (card: Asked) => string
  /** What the decider did, for lists and toasts: "grace approved". */
  past: string
  /** The noun: "Your approval was not taken". */
  noun: string
  /** Asked for in a dialog: what to write there. Absent: one click decides. */
  ask?: { help: string; label: string; isNeeded?: true }
}

/** As much of a question as its answers are worded by. */
type Asked = Pick<ApprovalRow, 'label'> & Partial<Pick<ApprovalCard, 'kind' | 'about'>>

const named = (verb: string) => (card: Asked) => `${verb} “${card.label}”`

/** What is only taken note of: nothing is approved by it. */
const noted = new Set<ApprovalKind>(['cascade', 'agent_error', 'resource_exhausted'])

/** Why one cannot prepare, as a clause: "its checkpoint has expired". `changed`: somebody else changed its target since. */
export function whyCannot(why: CannotPrepare | undefined, changed: boolean): string {
  if (changed) return 'its target was changed since'
  return why ? cannotWords[why] : 'it gave no reason'
}

const cannotWords: Record<CannotPrepare, string> = {
  expired: 'its checkpoint has expired',
  irreversible: 'it cannot be undone',
  hash_mismatch: 'it is not as this run left it',
  unknown_checkpoint: 'it does not know the checkpoint',
  conflict: 'another rollback has it',
  unreachable: 'it gave no answer in time',
}

/** Characters of a name that a button has room for beside its verb. */
const buttonNameLength = 24

/** Whoever cannot take its part back, if it is one and its name fits a button: "mailer". The card names the others above. */
function holderOf({ about }: Asked): string | undefined {
  if (about?.what !== 'rollback') return undefined
  const [first, ...others] = about.cannot
  // Of what is held here the step says more than "this installation".
  if (!first || others.some(({ agent, here }) => here || agent !== first.agent)) return undefined
  const name = first.here ? `“${first.label}”` : agentName(first.agent)
  return name.length <= buttonNameLength ? name : undefined
}

/** How many targets somebody else changed since, of a rollback that this keeps from being whole. */
export function changedOf(about: QuestionAbout | undefined): number {
  return about?.what === 'rollback' ? about.cannot.filter(({ changed }) => changed).length : 0
}

/** The one name of putting back what somebody else changed since, before a rollback is asked for and after. */
export function overwriteName(targets: number): string {
  return `Put ${targets === 1 ? 'it' : 'them'} back all the same`
}

/** The names of what a person lets a rollback do, on buttons and beside what comes of each. */
export const verdictNames = { goOn: 'Let the rollback go on', callOff: 'Call it off' } as const

/** The one table of answers: their buttons, their past and their noun. */
export const verdictWords: Record<Verdict, VerdictWords> = {
  approve: {
    button: named('Approve'),
    past: 'approved',
    noun: 'approval',
  },
  refuse: {
    button: named('Refuse'),
    past: 'refused',
    noun: 'refusal',
    ask: {
      label: 'Reason, kept in the ledger',
      help: 'The step does not run. Whoever began the run reads this.',
    },
  },
  go_on_without: {
    button: (card) => `Go on without ${holderOf(card) ?? 'them'}`,
    past: 'went on without part of',
    noun: 'answer',
    ask: { label: 'Reason, kept in the ledger', help: 'What can be taken back is. The rest stays as it is.' },
  },
  abort: {
    button: () => verdictNames.callOff,
    past: 'called off the rollback of',
    noun: 'answer',
  },
  escalate: {
    button: () => 'Hand it on',
    past: 'handed on the rollback of',
    noun: 'answer',
    ask: {
      label: 'Reason, kept in the ledger',
      help: 'Nothing is taken back. A person deals with it elsewhere.',
    },
  },
  ask_again: {
    button: (card) => `Ask ${holderOf(card) ?? 'them'} again`,
    past: 'had those asked again that could not take back',
    noun: 'answer',
  },
  overwrite: {
    button: ({ about }) => overwriteName(changedOf(about)),
    past: 'chose to put back all the same',
    noun: 'answer',
    ask: {
      label: 'Reason, kept in the ledger with your name',
      help: 'What was changed since is undone, too.',
      isNeeded: true,
    },
  },
  release: { button: () => 'Let one probe go', past: 'let probes go on for', noun: 'answer' },
  hold: { button: () => 'Keep it open', past: 'keeps the probes held for', noun: 'answer' },
  took_effect: {
    button: () => 'It took effect',
    past: 'recorded the effect of',
    noun: 'answer',
    ask: {
      label: 'How you know, kept in the ledger',
      help: 'The step counts as done and the run goes on from here. Nothing is sent again.',
    },
  },
  not_taken: {
    button: () => 'It did not happen',
    past: 'recorded no effect of',
    noun: 'answer',
    ask: {
      label: 'How you know, kept in the ledger',
      help: 'The step counts as not done and is tried again.',
    },
  },
  acknowledge: {
    button: (card) =>
      card.kind && noted.has(card.kind) ? 'Take note and leave it' : named('Acknowledge')(card),
    past: 'acknowledged',
    noun: 'acknowledgement',
  },
  event: { button: named('Give the event of'), past: 'gave its event to', noun: 'event' },
}

/** A critical step in the way holds the rollback up, not itself: its answers are about the rollback, under one name each. */
const criticalWords: Partial<Record<Verdict, VerdictWords>> = {
  approve: { button: () => verdictNames.goOn, past: 'let the rollback go on', noun: 'answer' },
  refuse: verdictWords.abort,
}

/** The words of an answer to a question of that kind. */
export function wordsOf(verdict: Verdict, { kind }: { kind?: ApprovalKind | undefined }): VerdictWords {
  return (kind === 'rollback_critical' && criticalWords[verdict]) || verdictWords[verdict]
}

/** What a decider did, with the event by its name: "approved", "gave “Approved” to". What it was done to follows. */
export function pastOf({
  verdict,
  event,
  kind,
}: {
  verdict: Verdict
  event?: string | undefined
  kind?: ApprovalKind
}): string {
  return event === undefined ? wordsOf(verdict, { kind }).past : `gave “${event}” to`
}

/** What a run does once its rollback is called off: what it did before (lib/engine/evolve-rollback.ts). */
export function afterCallingOff(about: QuestionAbout | undefined): string {
  return about?.what === 'rollback' && about.hadEnded
    ? 'The run stays ended.'
    : 'The run stands still, and you choose whether it ends or goes on.'
}

/** What is asked for with an answer, and what it leads to; undefined where one click decides. */
export function askOf(
  verdict: Verdict,
  { kind, about }: Pick<ApprovalCard, 'kind' | 'about'>,
): VerdictWords['ask'] {
  const callsOff = verdict === 'abort' || (verdict === 'refuse' && kind === 'rollback_critical')
  if (callsOff) {
    return { label: 'Reason, kept in the ledger', help: `Nothing is taken back. ${afterCallingOff(about)}` }
  }
  return verdictWords[verdict].ask
}

/** The keys of answers, by their place: the first is `a`, the second `x`, then `d`, `n` and `p`. */
export const verdictKeys = ['a', 'x', 'd', 'n', 'p'] as const

/** "Lets go on: Write the file, Send the request." The steps behind a pause that change something, or all if none does. */
export function releaseSentence({ later }: ApprovalCard['touches']): string | undefined {
  const changing = later.filter((step) => step.consequence !== 'read_only')
  const named = changing.length > 0 ? changing : later
  if (named.length === 0) return undefined
  const first = named.slice(0, releasesNamed).map((step) => step.label || step.node)
  const rest = named.length - first.length
  return `Lets go on: ${first.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`
}

/** Steps named in a sentence; the rest are counted. */
const releasesNamed = 4

/** "3 later steps on 2 agents follow, 1 of them cannot be undone." Empty when nothing follows. */
export function followSentence(touches: ApprovalCard['touches']): string {
  const { later } = touches
  if (later.length === 0) return 'No later step depends on it.'
  const final = later.filter((step) => step.irreversible).length
  const follow = `${count(later.length, 'later step follows', 'later steps follow')}`
  return final === 0 ? `${follow}.` : `${follow}, ${final} of them cannot be undone.`
}

/** "“Move traffic” on edge-router-07"; what it acts on is left out where nobody knows it. */
export function stepOnTarget({ label, target }: Pick<ApprovalCard, 'label' | 'target'>): string {
  return target === '' ? `“${label}”` : `“${label}” on ${target}`
}

/** "a, b and c". */
export function listed(names: string[]): string {
  if (names.length <= 1) return names[0] ?? ''
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** Answers that keep something from being done; and those that set going what the answered question then tells. */
const keeping = new Set<Verdict>(['refuse', 'hold', 'abort', 'escalate'])
const opening = new Set<Verdict>(['release', 'ask_again', 'overwrite'])

/** Whose shape and colour an answered question wears; without a verdict it was closed unanswered. */
export function cameOf(verdict: Verdict | undefined): ShownState {
  if (verdict === undefined || keeping.has(verdict)) return 'skipped'
  return opening.has(verdict) ? 'pending' : 'done'
}

/** What a question about a downstream ends with while it is open (lib/worker/circuit-holds.ts). */
const untilDecided = /; (?:its probes are held|no other goes) until you decide$/

/** The question's sentence; of one that is over, with what waited for the answer in the past. */
export function headlineOf({ kind, state, sentence, by }: Headline): string {
  if (kind !== 'circuit' || state === 'open') return sentence
  return sentence.replace(untilDecided, `; its probes were held${untilWords(by)}`)
}

/** What the reason of such a question says while it is open (lib/worker/circuit-questions.ts, lib/engine/decide-steps.ts). */
const heldUntil = /\b(probes|the others) are held until (?:a person|someone) decides/i

/** Why it is asked, as a sentence's words; of a question that is over, with what waited for the answer in the past. */
export function becauseOf({ kind, state, reason, by }: Headline & Pick<ApprovalCard, 'reason'>): string {
  const because = reason || kindWords[kind].because
  if (kind !== 'circuit' || state === 'open') return because
  return because.replace(heldUntil, (_, what: string) => `${what} were held${untilWords(by)}`)
}

function untilWords(by: string | undefined): string {
  return by === undefined ? '' : ` until ${by === 'silence' ? 'silence' : plainActor(by)} decided`
}

type Headline = Pick<ApprovalRow, 'kind' | 'state' | 'sentence' | 'by'>

/** What a decider did where what it was done to stands beside it: "let probes go on for" ends one word sooner. */
export function barePast(row: { verdict: Verdict; kind: ApprovalKind }): string {
  return pastOf(row).replace(/ (for|of|to)$/, '')
}

/** "grace approved" of a decided row, "grace gave “Approved”" where the event is known. */
export function decidedWords(
  row: Pick<ApprovalRow, 'verdict' | 'by'> & { kind: ApprovalKind; event?: string },
): string {
  if (!row.verdict) return 'closed without an answer'
  const by = row.by === 'silence' ? 'Silence' : row.by ? plainActor(row.by) : 'Someone'
  if (row.verdict === 'event') return row.event ? `${by} gave “${row.event}”` : `${by} gave the event`
  const past = barePast({ verdict: row.verdict, kind: row.kind })
  return `${by} ${past}${row.verdict === 'took_effect' || row.verdict === 'not_taken' ? ' this step' : ''}`
}
