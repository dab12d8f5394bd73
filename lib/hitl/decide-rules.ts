/*
 * Who may decide what, and what a decision is refused for.
 *
 * Every path to a decision (page, API, command line) goes through `refusalOf`, so that a condition holds on all of them.
 * It looks at the approval as the ledger has it at that moment; the store's (run, sequence) fence makes sure that the
 * first decision is the only one. What it never does: let anything but a signed-in person, or a token that a person
 * made for this, decide; read silence as a yes (silence.ts).
 */
import { clip } from '@/lib/base/clip'
import type { Hash } from '@/lib/base/hash'
import { Problem } from '@/lib/base/problem'
import { satisfies } from './roles'
import type { ApprovalKind, Verdict } from './terms'
import { isEditable, verdictsOf } from './verdicts'

/** The part of an approval that the rules look at. */
export interface Question {
  id: string
  kind: ApprovalKind
  role: string
  node: string
  /** The step's name for people, where it has one. */
  label?: string
  visit: number
  /** Digest of the exact action. */
  action: Hash
  /** Of an `event` question: the events there are, and the artifacts that whoever gives one may write. */
  events?: readonly string[]
  slots?: readonly string[]
  state:
    | { status: 'open' }
    | { status: 'decided'; verdict: Verdict; event?: string; by: string; at: number }
    | { status: 'void'; at: number }
}

/** The part of a principal that the rules look at (lib/auth/principal.ts). */
export interface Decider {
  kind: 'person' | 'api_token' | 'agent'
  name: string
  roles: readonly string[]
  /** Only of API tokens. */
  scopes?: readonly string[]
}

export interface Decision {
  verdict: Verdict
  /** Digest that the person saw. */
  action: Hash
  /** True when the decision carries an edited action. */
  edited: boolean
  /** With the verdict `event`: which one, and the names of the artifacts it writes. */
  event?: string
  artifacts?: readonly string[]
}

export type May = { may: true } | { may: false; because: string }

/** Whether this person may decide this approval now; if not, one sentence that says why. */
export function mayDecide(question: Question, decider: Decider): May {
  const refusal = stateRefusal(question) ?? deciderRefusal(question, decider)
  return refusal ? { may: false, because: refusal.message } : { may: true }
}

/**
 * Why this decision cannot be taken, or nothing when it can. Codes: `approval_decided`, `approval_gone`,
 * `scope_missing`, `approval_role`, `approval_digest`, `bad_request` (its data names the `events` or `slots` there are),
 * `approval_edit_refused`.
 */
export function refusalOf(question: Question, decider: Decider, decision: Decision): Problem | undefined {
  return (
    stateRefusal(question) ??
    deciderRefusal(question, decider) ??
    digestRefusal(question, decision) ??
    verdictRefusal(question, decision) ??
    eventRefusal(question, decision)
  )
}

/**
 * Why this decider may not give a state its event, or nothing when they may: an event outside of a question, which a
 * hybrid state takes while its prompt is at work. The same codes as `refusalOf`, without those of a question's state.
 */
export function eventGivenRefusal(
  state: Pick<Question, 'node' | 'label' | 'visit' | 'role' | 'events' | 'slots'>,
  decider: Decider,
  given: Required<Pick<Decision, 'event' | 'artifacts'>>,
): Problem | undefined {
  const question: Question = { ...state, id: '', kind: 'event', action: '', state: { status: 'open' } }
  return (
    deciderRefusal(question, decider) ??
    eventRefusal(question, { ...given, verdict: 'event', action: '', edited: false })
  )
}

function stateRefusal(question: Question): Problem | undefined {
  const { id, visit, state } = question
  switch (state.status) {
    case 'open':
      return undefined
    case 'decided':
      return new Problem(
        'approval_decided',
        `${nameOf(state.by)} already ${state.event === undefined ? 'answered' : 'gave'} "${state.event ?? state.verdict}" for ${stepOf(question)}, visit ${visit}, on ${when(state.at)}; nothing was changed.`,
        { approval: id, verdict: state.verdict, event: state.event, by: state.by, at: state.at },
      )
    case 'void':
      return new Problem(
        'approval_gone',
        `The question about ${stepOf(question)}, visit ${visit}, was closed on ${when(state.at)} because the run moved on; open the run to see where it stands.`,
        { approval: id, at: state.at },
      )
    default:
      return state satisfies never
  }
}

function deciderRefusal(question: Question, decider: Decider): Problem | undefined {
  if (decider.kind === 'agent') {
    return new Problem(
      'approval_role',
      `${decider.name} is an agent, and ${stepOf(question)} waits for a person; ask someone who holds ${question.role}.`,
      { approval: question.id, role: question.role },
    )
  }
  if (decider.kind === 'api_token' && !decider.scopes?.includes('approvals:decide')) {
    return new Problem(
      'scope_missing',
      `The API token "${decider.name}" has no scope approvals:decide; make one that has it to decide over the API.`,
      { scope: 'approvals:decide' },
    )
  }
  if (satisfies(decider.roles, question.role)) return undefined
  const held = decider.roles.length > 0 ? decider.roles.join(', ') : 'no role'
  return new Problem(
    'approval_role',
    `${stepOf(question)} must be decided by ${question.role}; ${decider.name} holds ${held}.`,
    { approval: question.id, role: question.role },
  )
}

function digestRefusal(question: Question, decision: Decision): Problem | undefined {
  if (decision.action === question.action) return undefined
  return new Problem(
    'approval_digest',
    `The action of ${stepOf(question)} is not the one this decision was made on; look at it again and decide anew.`,
    { approval: question.id, expected: question.action },
  )
}

function verdictRefusal(question: Question, decision: Decision): Problem | undefined {
  const verdicts = verdictsOf(question.kind)
  if (!verdicts.includes(decision.verdict)) {
    return new Problem(
      'bad_request',
      `"${decision.verdict}" does not answer this question about ${stepOf(question)}; answer ${verdicts.join(' or ')}.`,
      { approval: question.id, verdicts },
    )
  }
  if (decision.edited && (decision.verdict !== 'approve' || !isEditable(question.kind))) {
    return new Problem(
      'approval_edit_refused',
      `An edited action goes only with "approve" on an approval; leave the edit out to answer "${decision.verdict}" for ${stepOf(question)}.`,
      { approval: question.id },
    )
  }
  return undefined
}

function eventRefusal(question: Question, { verdict, event, artifacts = [] }: Decision): Problem | undefined {
  const { id, events = [], slots = [] } = question
  const step = stepOf(question)
  if (verdict !== 'event') {
    if (event === undefined && artifacts.length === 0) return undefined
    return new Problem(
      'bad_request',
      `An event and artifacts go only with the verdict "event"; leave them out to answer "${verdict}" for ${step}.`,
      { approval: id },
    )
  }
  if (event === undefined || !events.includes(event)) {
    const found = event === undefined ? 'No event was named' : `"${clip(event, 80)}" is no event of ${step}`
    const mend = events.length > 0 ? `give ${events.join(' or ')}` : 'it waits for none'
    return new Problem('bad_request', `${found}; ${mend}.`, { approval: id, events })
  }
  const foreign = artifacts.find((name) => !slots.includes(name))
  if (foreign === undefined) return undefined
  const mend = slots.length > 0 ? `it may write ${slots.join(', ')}` : 'it may write none'
  return new Problem('bad_request', `${step} does not write the artifact "${clip(foreign, 80)}"; ${mend}.`, {
    approval: id,
    slots,
  })
}

/** The step as people know it. */
export function stepOf({ label, node }: Pick<Question, 'label' | 'node'>): string {
  return label && label !== node ? `"${label}"` : node
}

/** `person:ada` as people say it: `ada`. */
function nameOf(actor: string): string {
  return actor.startsWith('person:') ? actor.slice('person:'.length) : actor
}

/** A moment as refusals spell it: `2026-03-01 12:05:09 UTC`. */
function when(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
