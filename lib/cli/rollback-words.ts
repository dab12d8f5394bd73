/* A rollback in lines of a terminal: its plan, what happens to it, and what it came to. */
import type { Plan, PlannedStep } from '@/lib/rollback/plan'
import type { PlanFate, RollbackScope } from '@/lib/rollback/terms'
import { agentName } from '@/lib/view/plain-words'
import type { RollbackView } from '@/lib/view/rollback-wire'

/** Steps that are named one by one. */
const listed = 100

const scopeWords: Record<RollbackScope, string> = {
  single: 'this step alone',
  sub_dag: 'this step and all that followed',
  full_workflow: 'the whole run',
}

const fateWords: Record<PlanFate, string> = {
  restored: 'Taken back',
  compensated: 'Compensated',
  irreversible: 'Cannot be taken back',
  refused: 'Cannot be taken back',
  reset: 'Only set back',
  untouched: 'Left',
  locked: 'In the way',
}

/** What it would do, step by step in the order of undoing, and what stands in its way. */
export function planWords(plan: Plan): string {
  const { run, node, scope, sentence, steps, forbidden, digest } = plan
  const touched = steps.filter(({ fate }) => fate !== 'untouched')
  const more = touched.length - listed
  return [
    `Rollback of ${run} to before ${node}, ${scopeWords[scope]}: ${sentence}`,
    ...touched.slice(0, listed).map((step, at) => `  ${at + 1}. ${stepWords(step)}`),
    ...(more > 0 ? [`  and ${more} more; --plan --json lists them`] : []),
    ...(forbidden ? [`It cannot be executed: ${forbidden.sentence}`] : []),
    `Digest of this plan: ${digest}`,
  ].join('\n')
}

function stepWords(step: PlannedStep): string {
  const { fate, agent, changedSince, sentence, criticalBelow = [] } = step
  const word = changedSince ? 'Asks first' : fateWords[fate]
  const below = criticalBelow.map(({ label, run }) => `"${label}" in ${run}`)
  const critical = below.length > 0 ? ` With it goes what is critical below: ${below.join(', ')}.` : ''
  return `${word}: ${nameOf(step)}${agent === undefined ? '' : `, by ${agentName(agent)}`}. ${sentence}${critical}`
}

/** Everything that is known of it by now, a line each, under a key that stays the same. */
export function newsOf(plan: Plan, view: RollbackView): [key: string, sentence: string][] {
  const names = new Map(plan.steps.map((step) => [`${step.node}/${step.visit}`, nameOf(step)]))
  const named = ({ node, visit = 1 }: { node: string; visit?: number | undefined }) =>
    names.get(`${node}/${visit}`) ?? node
  const { id, votes, decided, question, acts } = view
  const news: [string, string][] = [[id, `${id} is asked for: every holder says first whether it can.`]]
  for (const vote of votes) {
    const holder = vote.how === 'here' ? 'This installation' : agentName(vote.agent)
    const said = vote.vote === 'prepared' ? 'can take it back' : `cannot take it back: ${vote.description}`
    news.push([vote.jti, `${named(vote)}: ${holder} ${said}`])
  }
  if (question) news.push([question.approval, `It asks ${question.role}: ${question.sentence}`])
  if (decided) news.push([decided.jti, decisionWords(decided)])
  const forGood = new Set(
    plan.steps.flatMap(({ fate, checkpointId }) => (fate === 'irreversible' ? checkpointId : [])),
  )
  for (const act of acts) {
    const doing = act.undo === 'compensate' ? 'compensated' : 'restored'
    // Nothing is tried of what cannot be undone: a person is told.
    if (!forGood.has(act.checkpointId)) news.push([act.jti, `${named(act)}: being ${doing} …`])
    if (act.status !== undefined)
      news.push([`${act.jti} end`, `${named(act)}: ${act.status}. ${act.description}`])
  }
  return news
}

function decisionWords({ decision, reason, withoutCount }: NonNullable<RollbackView['decided']>): string {
  const left = withoutCount === 1 ? 'one step' : `${withoutCount} steps`
  const what = {
    execute: 'It is executed',
    partial: `It is executed, but for ${left}`,
    abort: 'It is called off, and nothing was changed',
    escalate: 'It is handed on to a person, and nothing was changed',
  }[decision]
  return reason === '' ? `${what}.` : `${what}: ${reason}`
}

/** What it came to, or what it waits for. */
export function endWords({ id, phase, status, question, supersededBy, choice }: RollbackView): string {
  if (question)
    return `${id} waits for ${question.role}: answer ${question.approval} in the console, and it goes on`
  if (phase !== 'over') return `${id} goes on without this command; the console shows it`
  if (supersededBy !== undefined) return `${id} was taken over by ${supersededBy}, which reaches further`
  const isBack = status === 'completed' || status === 'partial'
  const next = isBack && choice === undefined ? '; end the run or go on with it in the console' : ''
  return `${id} ${status}${next}`
}

function nameOf({ label, node, visit }: Pick<PlannedStep, 'label' | 'node' | 'visit'>): string {
  const name = label === node ? node : `${label} (${node})`
  return visit > 1 ? `${name}, visit ${visit}` : name
}
