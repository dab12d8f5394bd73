/*
 * What becomes of each step of a plan: before anything is done, while it is done, and after. The graph, its legend and
 * the list beside them all say it by this one fold, so that their numbers are the same.
 */
import { setsBack } from '@/lib/rollback/outcome'
import { type AgentStep, stepKey } from '@/lib/view/agent-parts'
import type { PlanStep, RollbackPlanView, RollbackView } from '@/lib/view/rollback-wire'
import type { ShownState } from '@/lib/view/shown-state'
import { nodeFates, type StepFate } from './plan-words'

interface FateWords {
  /** Under a step in the graph. */
  word: string
  /** In the legend, and what a table says is asked. */
  legend: string
  asked: string
}

/** The words of what a plan can do to a step, in the order of the legend. */
export const fateWords: Record<StepFate, FateWords> = {
  restored: { word: 'restored', legend: 'Restored', asked: 'restore' },
  compensated: { word: 'compensated', legend: 'Compensated', asked: 'compensate' },
  changed: {
    word: 'changed since',
    legend: 'Changed since, left until you say so',
    asked: 'nothing until you say so',
  },
  irreversible: {
    word: 'cannot undo',
    legend: 'Cannot be undone, a person is told',
    asked: 'cannot undo',
  },
  refused: { word: 'cannot restore', legend: 'Its checkpoint does not serve', asked: 'cannot restore' },
  reset: { word: 'only set back', legend: 'Only set back', asked: 'set back' },
  untouched: { word: 'stays', legend: 'Stays as it is', asked: 'leave' },
  locked: { word: 'stays, locked', legend: 'Locked by a finished sibling', asked: 'leave' },
}

/** How one step stands. */
export interface StepStand extends Pick<FateWords, 'word' | 'legend'> {
  step: PlanStep
  fate: StepFate
  /** How the list marks it. */
  state: ShownState
  /** Its undo is not over, or came to nothing: of several visits of a node this one speaks. */
  isOpen?: true
}

/** Every step of a plan that nobody has asked for yet. `overwrite`: what was changed since is put back, too. */
export function previewStands(plan: Pick<RollbackPlanView, 'steps'>, overwrite: boolean): StepStand[] {
  return plan.steps.map((step) => stand(step, plannedFate(step, overwrite), 'pending'))
}

export function plannedFate({ fate, changedSince }: PlanStep, overwrite: boolean): StepFate {
  return changedSince && !overwrite ? 'changed' : fate
}

type Told = Pick<
  RollbackView,
  'status' | 'phase' | 'acts' | 'votes' | 'decided' | 'overwrite' | 'overwritten'
>

/** What somebody else changed since is put back, too: all of it, or where a person said so when they were asked. */
export function isOverwritten(
  { overwrite, overwritten }: Pick<RollbackView, 'overwrite' | 'overwritten'>,
  step: PlanStep,
): boolean {
  const key = stepKey(step)
  return overwrite === true || overwritten?.some(({ checkpointId }) => checkpointId === key) === true
}

/** Every step of a plan that is or was carried out, as far as it is. */
export function progressStands(plan: Pick<RollbackPlanView, 'steps'>, rollback: Told): StepStand[] {
  const acts = new Map(rollback.acts.map((act) => [act.checkpointId, act]))
  return plan.steps.map((step) => {
    switch (step.fate) {
      case 'restored':
      case 'compensated':
        return undoStand(step, step.fate, rollback, acts.get(stepKey(step)))
      case 'reset':
        return setBackStand(step, rollback)
      default:
        return stand(step, step.fate, 'escalated')
    }
  })
}

/** What a plan promises of a step, while it is carried out and after. */
const undoing = {
  restored: { ahead: 'to restore', asked: 'Would restore', now: 'restoring', not: 'not restored' },
  compensated: {
    ahead: 'to compensate',
    asked: 'Would compensate',
    now: 'compensating',
    not: 'not compensated',
  },
}

function undoStand(
  step: PlanStep,
  fate: keyof typeof undoing,
  rollback: Told,
  act: AgentStep['act'],
): StepStand {
  const words = undoing[fate]
  if (act?.status === 'completed') return stand(step, fate, 'rolled_back')
  const goesOn = rollback.status === 'executing'
  if (act && goesOn && act.status === undefined) return open(step, fate, 'running', words.now)
  if (act) return open(step, 'refused', 'failed', words.not)
  if (isLeft(step, rollback)) return left(step)
  if (!goesOn) return open(step, 'refused', 'skipped', words.not)
  const planned = rollback.decided ? fate : plannedFate(step, isOverwritten(rollback, step))
  if (rollback.phase === 'asking')
    return waiting(step, planned, planned === 'changed' ? 'Changed since' : words.asked)
  return planned === 'changed' ? stand(step, planned, 'pending') : open(step, fate, 'pending', words.ahead)
}

/** A person is asked: each step waits, and the legend tells apart what for. */
function waiting(step: PlanStep, fate: StepFate, legend: string): StepStand {
  return { ...open(step, fate, 'pending', 'waits for the answer'), legend }
}

/** A rollback that was carried out sets back what had nothing to undo, whatever became of the rest. */
function setBackStand(step: PlanStep, rollback: Told): StepStand {
  const { status, phase } = rollback
  if (hasSetBack(rollback)) return stand(step, 'reset', 'rolled_back')
  if (status !== 'executing') return left(step)
  if (phase === 'asking') return waiting(step, 'reset', 'Would set back')
  return open(step, 'reset', 'pending', 'to set back')
}

/** It is over, and what had nothing to undo was set back with the rest. */
export function hasSetBack({ status, decided }: Pick<RollbackView, 'status' | 'decided'>): boolean {
  return status !== 'executing' && status !== 'superseded' && setsBack(status, decided?.decision)
}

/** Why what had nothing to undo is not set back by a rollback that is over; undefined where it is. */
export function whyNotSetBack(rollback: Pick<RollbackView, 'status' | 'decided'>): string | undefined {
  const { status, decided } = rollback
  if (status === 'executing' || hasSetBack(rollback)) return undefined
  if (status === 'superseded') return 'What becomes of it, the rollback that took this one over says'
  if (decided?.decision === 'abort') return 'The rollback was called off'
  if (decided?.decision === 'escalate') return 'The rollback was handed on to a person'
  return 'The rollback failed, so nothing is set back either'
}

/** It was decided to leave the step, or all of them. */
function isLeft(step: PlanStep, { decided, votes }: Told): boolean {
  if (!decided) return false
  if (decided.decision === 'abort' || decided.decision === 'escalate') return true
  const key = stepKey(step)
  return votes.some(({ checkpointId, vote }) => checkpointId === key && vote === 'cannot_prepare')
}

function stand(step: PlanStep, fate: StepFate, state: ShownState): StepStand {
  const { word, legend } = fateWords[fate]
  return { step, fate, state, word, legend }
}

function open(step: PlanStep, fate: StepFate, state: ShownState, word: string): StepStand {
  const legend = `${word.charAt(0).toUpperCase()}${word.slice(1)}`
  return { step, fate, state, word, legend, isOpen: true }
}

function left(step: PlanStep): StepStand {
  return { ...stand(step, 'untouched', 'skipped'), word: 'left as it is' }
}

type Reached = Pick<RollbackPlanView, 'untouched' | 'forbidden'>

/** What is painted on each node: of several visits the one that is not over speaks, else the gravest. */
export function nodeStands(
  stands: readonly StepStand[],
  { untouched, forbidden }: Reached,
): ReadonlyMap<string, Pick<StepStand, 'fate' | 'word'>> {
  const steps = stands.map(({ step, fate }) => ({ node: step.node, fate }))
  const found = new Map(
    [...nodeFates({ steps, untouched })].map(([node, { fate, visits }]) => {
      const own = stands.filter(({ step }) => step.node === node)
      const said = own.find(({ isOpen }) => isOpen) ?? own.find((one) => one.fate === fate)
      const word = said?.word ?? fateWords[fate].word
      const many = visits > 1 && !said?.isOpen
      return [node, { fate: said?.fate ?? fate, word: many ? `${word}, ${visits} visits` : word }]
    }),
  )
  if (forbidden?.node) found.set(forbidden.node, { fate: 'locked', word: fateWords.locked.word })
  return found
}

const fateOrder = Object.keys(fateWords) as StepFate[]

/** The legend: how many steps stand so, in the order of the fates. */
export function legendOf(
  stands: readonly StepStand[],
  { untouched, forbidden }: Reached,
): { fate: StepFate; legend: string; n: number }[] {
  const locked = forbidden?.node
  const all: Pick<StepStand, 'fate' | 'legend'>[] = [
    ...stands.filter(({ step }) => step.node !== locked),
    ...untouched.filter((node) => node !== locked).map(() => lookOf('untouched')),
    ...(locked ? [lookOf('locked')] : []),
  ]
  const counts = new Map<string, { fate: StepFate; legend: string; n: number }>()
  for (const { fate, legend } of all) {
    const key = `${fate} ${legend}`
    counts.set(key, { fate, legend, n: (counts.get(key)?.n ?? 0) + 1 })
  }
  return [...counts.values()].sort((a, b) => fateOrder.indexOf(a.fate) - fateOrder.indexOf(b.fate))
}

const lookOf = (fate: StepFate) => ({ fate, legend: fateWords[fate].legend })
