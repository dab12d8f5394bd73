/* The state of a whole run in one phrase, with why it is so: what its page, the lists and the timeline say of it. */
import { partyName } from '@/lib/base/party-name'
import type { Actor } from '@/lib/engine/facts'
import { flaggedAfterEnd, isFlagged } from '@/lib/engine/flagged'
import { endingOf } from '@/lib/engine/outcome'
import { heldBy } from '@/lib/engine/rollback-question'
import type { Run, RunStatus, Visit, VisitError } from '@/lib/engine/run'
import { labelOf } from '@/lib/workflow/graph-index'
import { exhaustedWords } from './exhausted-words'
import { plainActor, plainWords } from './plain-words'
import { ranOut } from './ran-out'
import type { ShownState } from './shown-state'

/** The run's own state, in words: "waiting for operator:oncall", "failed at Check the flows". */
export interface Headline {
  shown: ShownState
  words: string
  /** Why it is so, in a sentence without its full stop; it may be long. */
  why?: string
  /** Since when it has been so; it counts up on screen. */
  since?: number
  /** How long the run took, once it is over. */
  took?: number
  /** It was over, and a person found afterwards that a step of it is wrong: when, and what the run had come to. */
  flagged?: { at: number; before: string }
}

/** The run in one phrase, with what it waits for. */
export function headlineOf(run: Run): Headline {
  const { state } = run
  switch (state.status) {
    case 'new':
      return { shown: 'pending', words: 'about to begin' }
    case 'running':
      return runningHeadline(run)
    case 'paused':
      return {
        shown: 'skipped',
        words: `paused by ${plainActor(state.by)}`,
        ...whyOf(state.reason),
        since: state.since,
      }
    case 'cancelling':
      return { shown: 'running', words: `cancelling, asked by ${plainActor(state.by)}` }
    case 'rolling_back': {
      const question = heldBy(run)
      return question
        ? { shown: 'waiting', words: `rollback waiting for ${question.role}`, since: question.askedAt }
        : { shown: 'rolled_back', words: 'rolling back', since: run.rollbacks.get(state.rollback)?.askedAt }
    }
    case 'rolled_back':
      return { shown: 'waiting', words: 'rolled back, waiting for a choice: end it, or go on' }
    case 'ended':
      return endedHeadline(run, state)
    default:
      state satisfies never
      return { shown: 'unknown', words: String((state as { status: unknown }).status) }
  }
}

function runningHeadline(run: Run): Headline {
  const open = [...run.openApprovals].flatMap((id) => run.approvals.get(id) ?? [])
  const first = open[0]
  if (first) {
    const more = open.length > 1 ? ` and ${open.length - 1} more` : ''
    return { shown: 'waiting', words: `waiting for ${first.role}${more}`, since: first.askedAt }
  }
  const offered = [...run.active].filter((id) => {
    const state = run.visits.get(id)?.state
    return state?.status === 'waiting' && state.for === 'agent'
  })
  if (offered.length > 0 && offered.length === run.active.size) {
    return {
      shown: 'running',
      words: 'running, waiting for an agent to claim its work',
      since: run.start?.at,
    }
  }
  const held = heldOffBy(run)
  if (held)
    return {
      shown: 'pending',
      words: `waits for ${partyName(held.downstream)}, behind its breaker`,
      since: held.since,
    }
  return { shown: 'running', words: 'running', since: run.start?.at }
}

/** What the run's steps wait for behind breakers, when nothing else goes on: the first of them. */
function heldOffBy(run: Run): { downstream: string; since: number } | undefined {
  let first: { downstream: string; since: number } | undefined
  for (const id of run.active) {
    const state = run.visits.get(id)?.state
    if (state?.status !== 'waiting' || state.for !== 'breaker') return undefined
    if (!first || state.since < first.since) first = state
  }
  return first
}

const terminalWords: Record<string, { shown: ShownState; words: string }> = {
  success: { shown: 'done', words: 'succeeded' },
  partial: { shown: 'failed', words: 'partly done' },
  failed: { shown: 'failed', words: 'failed' },
  rolled_back: { shown: 'rolled_back', words: 'rolled back' },
  escalated: { shown: 'escalated', words: 'escalated' },
}

function endedHeadline(run: Run, state: Extract<RunStatus, { status: 'ended' }>): Headline {
  const flagged = flaggedAfterEnd(run)
  if (flagged?.state.status === 'failed') {
    const { error, since: at } = flagged.state
    return {
      shown: 'failed',
      words: `flagged at ${labelOf(run.graph, flagged.node)}`,
      ...whyOf(error.description),
      took: state.elapsedS * 1000,
      flagged: { at, before: run.walk ? 'completed' : 'succeeded' },
    }
  }
  if (state.exhausted)
    return {
      shown: 'exhausted',
      words: 'budget-exhausted',
      ...whyOf(exhaustedWords(run) ?? state.reason),
      took: state.elapsedS * 1000,
    }
  const took = state.elapsedS * 1000
  const known = Object.hasOwn(terminalWords, state.terminal) ? terminalWords[state.terminal] : undefined
  // A later version's word: whether that is good or bad is not ours to say.
  if (!known) return { shown: 'unknown', words: String(state.terminal), took }
  if (run.walk && !state.cancelled && state.terminal !== 'rolled_back' && state.terminal !== 'escalated')
    return walkEnd(run, state)
  // What succeeded or was taken back says all by its word; the rest is worth its reason.
  if (state.terminal === 'success' || state.terminal === 'rolled_back') return { ...known, took }
  if (state.cancelled) {
    const { by, reason } = state.cancelled
    return { shown: 'cancelled', words: `cancelled by ${plainActor(by)}`, ...whyOf(reason), took }
  }
  const step = failedStep(run)
  if (!step) return { ...known, ...whyOf(state.reason), took }
  if (step.refused) {
    const { by, comment } = step.refused
    return { shown: known.shown, words: `refused by ${plainActor(by)}`, ...whyOf(comment), took }
  }
  return {
    shown: known.shown,
    words: `${known.words} at ${step.label}`,
    ...whyOf(step.error?.description ?? ''),
    took,
  }
}

/** How a walk ended, in agentd's words, and where: it ends at a step, not when all are done. */
function walkEnd(run: Run, { elapsedS }: { elapsedS: number }): Headline {
  const { status, lastNode, reason } = endingOf(run) ?? { status: 'errored', reason: '' }
  const label = lastNode === undefined ? undefined : labelOf(run.graph, lastNode)
  const at = label === undefined ? '' : ` at ${label}`
  const took = elapsedS * 1000
  const words = `${status.replace('_', ' ')}${at}`
  if (status === 'completed') {
    const out = ranOut(run)
    // It completed, and came to nothing: whoever looks wants to know that first.
    if (out !== undefined) return { shown: 'failed', words: out, took }
    const { state } = run.walk?.path.at(-1)?.visit ?? {}
    const unheeded = state?.status === 'done' && state.label === 'error'
    // agentd calls that complete; whoever looks should know all the same.
    return {
      shown: 'done',
      words,
      took,
      ...(unheeded && { why: 'it gave an error, and no edge takes that' }),
    }
  }
  const step = failedStep(run)
  if (step?.refused) {
    const { by, comment } = step.refused
    return { shown: 'failed', words: `refused by ${plainActor(by)}`, ...whyOf(comment), took }
  }
  // "load failed: …" after "errored at load" says it twice.
  const why =
    lastNode !== undefined && reason.startsWith(`${lastNode} failed: `)
      ? reason.slice(lastNode.length + 9)
      : reason
  return { shown: 'failed', words, ...whyOf(why), took }
}

interface FailedStep {
  label: string
  error?: VisitError
  /** Who said no to it, and why, when that is how it failed. */
  refused?: { by: Actor; comment: string }
}

/** The step an ended run stands at: the first that failed; one that was only flagged when no other did. */
function failedStep(run: Run): FailedStep | undefined {
  let flagged: FailedStep | undefined
  for (const id of run.graph.order) {
    const visit = run.visits.get(id)
    if (visit?.state.status !== 'failed' && visit?.state.status !== 'escalated') continue
    const { error } = visit.state
    const label = labelOf(run.graph, id)
    const refused = error?.code === 'approval_refused' ? refusalOf(run, visit) : undefined
    if (!isFlagged(visit)) return { label, error, refused }
    flagged ??= { label, error }
  }
  return flagged
}

/** The decision that refused this visit. */
function refusalOf(run: Run, { node, visit }: Visit): FailedStep['refused'] {
  for (const { state, ...approval } of run.approvals.values()) {
    if (approval.node !== node || approval.visit !== visit || state.status !== 'decided') continue
    if (state.verdict === 'refuse') return { by: state.by, comment: state.comment }
  }
  return undefined
}

function whyOf(sentence: string): { why?: string } {
  const why = plainWords(sentence).replace(/[\s.:]+$/, '')
  return why ? { why } : {}
}
