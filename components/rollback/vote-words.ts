import { count } from '@/lib/ui/format-time'
import { shortId } from '@/lib/ui/short-id'
import { type AgentPart, executeCounts, prepareCounts } from '@/lib/view/agent-parts'
import { agentName } from '@/lib/view/plain-words'
import type { RollbackView } from '@/lib/view/rollback-wire'
import type { WaitsIn } from '@/lib/view/run-wire'

/** Who holds a part of a rollback: the agent by its name, the runs that a step began, or this installation. */
export function holderName({ agent, runs }: Pick<AgentPart, 'agent' | 'runs'>): string {
  if (agent !== undefined) return agentName(agent)
  if (!runs) return 'this installation'
  const [run] = runs.first
  if (!run) return count(runs.count, 'run below', 'runs below')
  const more = runs.count > 1 ? ` and ${runs.count - 1} more` : ''
  return `${run.workflow} ${shortId(run.run)}${more}`
}

export type Phase = 'before' | 'prepare' | 'execute' | 'over'

/** Where it stands between the two phases; without `rollback` nothing was asked for yet. */
export function phaseOf(rollback: Pick<RollbackView, 'phase'> | undefined): Phase {
  switch (rollback?.phase) {
    case undefined:
      return 'before'
    case 'preparing':
    case 'asking':
      return 'prepare'
    case 'executing':
      return 'execute'
    case 'over':
      return 'over'
  }
}

type Told = Pick<RollbackView, 'phase' | 'votes' | 'decided' | 'question'>

/** Nobody is asked for a vote before a person has let it reach a critical step. */
export function isHeldBefore(rollback: Pick<RollbackView, 'question'> | undefined): boolean {
  return rollback?.question?.kind === 'rollback_critical'
}

/** The question a rollback waits for: its own, or that of a run below which is taken back with it. */
export type WaitsFor = NonNullable<RollbackView['question']> | WaitsIn

/** What it waits for, and who can answer: the headline of the rollback while the question is open. */
export function waitWords(waitsFor: WaitsFor): string {
  if ('run' in waitsFor) return `Waits for ${waitsFor.role}, in a run below.`
  const why =
    waitsFor.kind === 'rollback_critical' ? 'it reaches a critical step' : 'not all of it can be taken back'
  return `Waits for ${waitsFor.role}, since ${why}. Nothing has changed yet.`
}

/** Phase 1, beside its name: "3 of 4 can, 1 cannot". */
export function prepareWords(parts: readonly AgentPart[], rollback: Told | undefined): string {
  const { can, cannot, of } = prepareCounts(parts)
  if (of === 0) return 'nobody has to be asked'
  if (rollback?.question && isHeldBefore(rollback))
    return `waits for ${rollback.question.role}, nobody is asked yet`
  if (!rollback) return `${count(of, 'holder is', 'holders are')} asked first, and nothing changes`
  if (rollback.votes.length === 0 && phaseOf(rollback) !== 'prepare') return 'nobody was asked before'
  return `${can} of ${of} can${cannot > 0 ? `, ${cannot} cannot` : ''}`
}

/** Phase 2, beside its name: "2 of 5 steps, last step first". */
export function executeWords(parts: readonly AgentPart[], rollback: Told | undefined): string {
  const { over, now, of } = executeCounts(parts)
  if (over + now === 0) {
    if (rollback?.decided?.decision === 'abort') return 'called off, nothing was changed'
    if (rollback?.decided?.decision === 'escalate') return 'handed on, nothing was changed'
    if (phaseOf(rollback) !== 'over') return 'last step first, not begun'
  }
  return `${over} of ${count(of, 'step')}, last step first`
}

/** "1st", "2nd", "3rd and 4th", "2nd to 9th": the places of an agent's steps in the order of undoing. */
export function turnWords(turns: readonly number[]): string {
  const [first, ...rest] = turns
  const last = rest.at(-1)
  if (first === undefined) return ''
  if (last === undefined) return ordinal(first)
  if (rest.length === 1) return `${ordinal(first)} and ${ordinal(last)}`
  const inARow = last - first === turns.length - 1
  return inARow ? `${ordinal(first)} to ${ordinal(last)}` : `${ordinal(first)} and ${rest.length} more`
}

function ordinal(n: number): string {
  const teens = n % 100 >= 11 && n % 100 <= 13
  const ending = teens ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th')
  return `${n}${ending}`
}
