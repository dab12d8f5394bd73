import type { Verification } from '@/lib/checkpoint/verify'
import type { PlanCounts } from './counts'
import type { ChangedBy, PlanFate, StepBelow } from './terms'

/**
 * "Restores 3 steps on 2 agents, compensates 1, only sets back 1, leaves 4." The first count carries the noun. A step
 * without a checkpoint changed nothing outside and is never counted among those that are taken back; nor is one that
 * somebody else changed since: "Asks first about 2 steps whose targets were changed since, leaves 3."
 */
export function planSentence(counts: PlanCounts): string {
  const { changed = 0 } = counts
  const parts: [verb: string, count: number][] = [
    ['restores', counts.restored - changed],
    ['compensates', counts.compensated],
    [asksFirst, changed],
    ['cannot undo', counts.irreversible],
    ['cannot restore', counts.refused],
    ['only sets back', counts.reset],
    ['leaves', counts.untouched],
  ]
  const said = parts.filter(([, count]) => count > 0)
  if (said.length === 0) return 'Leaves everything as it is.'
  const words = said.map(([verb, count], at) => {
    const why = verb === asksFirst ? ` ${whoseTargets(count)}` : ''
    if (at > 0) return `${verb} ${count}${why}`
    const noun = count === 1 ? 'step' : 'steps'
    const isActing = verb === 'restores' || verb === 'compensates'
    return `${verb} ${count} ${noun}${isActing ? onAgents(counts.agents) : why}`
  })
  const sentence = words.join(', ')
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`
}

const asksFirst = 'asks first about'

/** Of one step or of several, as a sentence goes on that has named them. */
export function whoseTargets(steps: number): string {
  return steps === 1 ? 'whose target was changed since' : 'whose targets were changed since'
}

function onAgents(agents: number): string {
  if (agents === 0) return ''
  return ` on ${agents} ${agents === 1 ? 'agent' : 'agents'}`
}

/** As much of a step as is said of it. */
interface SaidStep {
  label: string
  /** SPIFFE id of the agent that did it, when that was not this installation. */
  agent?: string
  checkpoint?: { target: string }
}

/** What happens to one step, or why not, for the person who decides. */
export function stepSentence(
  fate: PlanFate,
  step: SaidStep,
  verification: Verification | undefined,
  usedBy: string | undefined,
): string {
  const target = targetOf(step)
  switch (fate) {
    case 'restored':
      return step.agent === undefined
        ? `Puts ${target} back to its state before "${step.label}".`
        : `${agentName(step.agent)} puts ${target} back to its state before "${step.label}".`
    case 'compensated':
      return `Runs the compensating action that "${step.label}" declares against ${target}.`
    case 'irreversible':
      return `"${step.label}" cannot be undone: a person is told what it did to ${target}.`
    case 'refused':
      return `${target} is not put back: ${whyRefused(verification)}.`
    case 'reset':
      return `"${step.label}" changed nothing outside; it can run again.`
    case 'untouched':
      return `"${step.label}" stays as it is.`
    case 'locked':
      return `"${usedBy ?? 'a later step'}" has finished and used the output of "${step.label}".`
    default:
      return fate satisfies never
  }
}

/** The question to a person about a step that a rollback reached and that cannot be undone; its card shows what it did. */
export function irreversibleSentence(step: SaidStep): string {
  return `"${step.label}" cannot be undone: see what it did to ${targetOf(step)}`
}

/** What stands in the way of putting a target back that is not as the run left it. */
export function changedSentence(step: SaidStep, changedBy: ChangedBy | undefined, run: string): string {
  const since = `${targetOf(step)} was changed since "${step.label}" by ${whoChanged(changedBy, run)}`
  return `${since}; putting it back would undo that, too.`
}

/** What stands in the way at the last moment, when all had voted that it can be put back. */
export function changedMeanwhile(step: SaidStep, changedBy: ChangedBy | undefined, run: string): string {
  const since = `${targetOf(step)} was changed since "${step.label}" by ${whoChanged(changedBy, run)}`
  return `${since}; nothing was put back, since that would undo it, too`
}

const maxNameChars = 40

/**
 * Who changed a target since a step of `run`: `"Steer" of dns in run_7f3a…c2e1 on 2026-03-01 at 12:05 UTC`. Where no run
 * here says that it did, that is as much as can be said.
 */
export function whoChanged(by: ChangedBy | undefined, run: string): string {
  if (!by) return 'somebody outside this installation, as far as its runs tell'
  const label = `"${cut(by.label)}"`
  const at = `on ${new Date(by.at).toISOString().slice(0, 16).replace('T', ' at ')} UTC`
  const step = by.undid ? `the rollback of ${label}` : label
  if (by.run === run) return `${step} of this run ${at}`
  return `${step} of ${runName(by)} ${at}`
}

/** `dns in run_7f3a…c2e1`. */
function runName({ run, workflow }: { run: string; workflow?: string }): string {
  const id = `${run.slice(0, 8)}…${run.slice(-4)}`
  return workflow === undefined ? id : `${cut(workflow)} in ${id}`
}

function cut(name: string): string {
  return name.length <= maxNameChars ? name : `${name.slice(0, maxNameChars - 1)}…`
}

/** The question about critical steps in the way: one of the run's own, and what is critical in runs below it. */
export function criticalSentence(
  own: string | undefined,
  below: readonly Pick<StepBelow, 'label' | 'run' | 'workflow'>[],
  others: number,
  by: string,
): string {
  const [first] = below
  const named = [
    ...(own === undefined ? [] : [`"${own}"`]),
    ...(first ? [`"${first.label}" of ${runName(first)}`] : []),
  ]
  const which = named.length > 1 ? 'critical steps' : 'a critical step'
  const more = [
    ...(below.length > 1 ? [`${below.length - 1} more critical in runs below`] : []),
    ...(others > 0 ? [`${others} other ${others === 1 ? 'step' : 'steps'}`] : []),
  ]
  const rest = more.map((words) => `, and ${words}`).join('')
  return `Take back ${named.join(' and ')}, ${which}${rest}: asked for ${askedFor(by)}`
}

/** Who asked for a rollback that no person did, as tokens name them. */
function askedFor(by: string): string {
  if (by === 'engine') return 'by the run itself'
  return by === 'silence' ? 'because nobody answered in time' : `by ${agentName(by)}`
}

function targetOf({ checkpoint, label }: SaidStep): string {
  return checkpoint?.target || `what "${label}" changed`
}

function whyRefused(verification: Verification | undefined): string {
  switch (verification) {
    case 'expired':
      return 'its checkpoint has expired'
    case 'tampered':
      return 'its checkpoint does not verify'
    case 'missing':
      return 'its sealed state is no longer stored'
    default:
      return 'it has no checkpoint'
  }
}

/** The last part of a SPIFFE id is the agent's name for people; ids stand beside it in evidence. */
function agentName(id: string): string {
  return id.split('/').at(-1) ?? id
}
