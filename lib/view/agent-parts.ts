/*
 * A rollback by agent: what each is asked, what it said in phase 1, and each of its acts. Folded from the plan and from
 * what the ledger says of the rollback so far, so that the same rows fill while agents answer.
 */
import type { RunsBelow } from '@/lib/rollback/terms'
import type {
  PlanStep,
  RollbackActView,
  RollbackPlanView,
  RollbackView,
  RollbackVoteView,
} from './rollback-wire'

/** One step of the plan, with what was said and done about it. */
export interface AgentStep {
  step: PlanStep
  key: string
  /** Its place in the order of undoing, from 1. */
  turn: number
  vote?: RollbackVoteView
  act?: RollbackActView
}

/** One holder's part in a rollback: an agent's, that of runs which a step began, or what this installation holds itself. */
export interface AgentPart {
  /** What tells it from the others. */
  key: string
  agent: string | undefined
  runs?: RunsBelow
  steps: AgentStep[]
  /** What its holder said of all of them together. */
  said: Said
}

export type Said = 'nothing' | 'some' | 'prepared' | 'cannot'

/** What a step is asked and answered under: its checkpoint, else its own name (lib/rollback/votes.ts, `actKey`). */
export function stepKey({
  checkpointId,
  node,
  visit,
}: Pick<PlanStep, 'checkpointId' | 'node' | 'visit'>): string {
  return checkpointId ?? `${node}/${visit}`
}

/**
 * The plan by agent, in the order in which each is met first. Steps that stay as they are, or are only set back, ask
 * nobody anything and are left out. `rollback` is absent while nothing was asked.
 */
export function agentParts(
  { steps }: Pick<RollbackPlanView, 'steps'>,
  rollback?: Pick<RollbackView, 'votes' | 'acts'>,
): AgentPart[] {
  const votes = new Map(rollback?.votes.map((vote) => [vote.checkpointId, vote]))
  const acts = new Map(rollback?.acts.map((act) => [act.checkpointId, act]))
  const parts = new Map<string, AgentPart>()
  let turn = 0
  for (const step of steps) {
    if (step.fate === 'untouched' || step.fate === 'locked' || step.fate === 'reset') continue
    turn += 1
    const key = stepKey(step)
    const vote = votes.get(key)
    const act = acts.get(key)
    const { agent, runsBelow: runs } = step
    const of = agent ?? (runs ? `runs of ${step.node}/${step.visit}` : '')
    const part = parts.get(of) ?? { key: of, agent, ...(runs && { runs }), steps: [], said: 'nothing' }
    part.steps.push({ step, key, turn, ...(vote && { vote }), ...(act && { act }) })
    parts.set(of, part)
  }
  for (const part of parts.values()) part.said = saidOf(part.steps)
  return [...parts.values()]
}

/** What the holder of these steps said of them together: one "cannot" is enough. */
export function saidOf(steps: readonly Pick<AgentStep, 'vote'>[]): Said {
  const votes = steps.flatMap(({ vote }) => vote ?? [])
  if (votes.some(({ vote }) => vote === 'cannot_prepare')) return 'cannot'
  if (votes.length === 0) return 'nothing'
  return votes.length === steps.length ? 'prepared' : 'some'
}

/** How far phase 1 is: agents that can, agents that cannot, of so many. */
export function prepareCounts(parts: readonly AgentPart[]): { can: number; cannot: number; of: number } {
  const n = (said: Said) => parts.filter((part) => part.said === said).length
  return { can: n('prepared'), cannot: n('cannot'), of: parts.length }
}

/** How far phase 2 is: steps whose undo is over, under way, and how many there are to undo. */
export function executeCounts(parts: readonly AgentPart[]): { over: number; now: number; of: number } {
  const steps = parts.flatMap((part) => part.steps)
  const over = steps.filter(({ act }) => act?.status !== undefined).length
  const now = steps.filter(({ act }) => act && act.status === undefined).length
  return { over, now, of: steps.length }
}
