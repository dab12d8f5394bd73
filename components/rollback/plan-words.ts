import { overwriteName } from '@/components/approvals/words'
import { overwriting, type PlanCounts } from '@/lib/rollback/counts'
import { planSentence, whoseTargets } from '@/lib/rollback/sentence'
import type { PlanFate, RollbackScope, RollbackStatus, StepBelow } from '@/lib/rollback/terms'
import { count } from '@/lib/ui/format-time'
import { shortId } from '@/lib/ui/short-id'
import { beginsRuns } from '@/lib/view/child-kinds'
import { agentName } from '@/lib/view/plain-words'
import type { PlanStep, RollbackActView, RollbackPlanView, RollbackView } from '@/lib/view/rollback-wire'

/** `changed`: it would be restored, but somebody else changed its target since, and nobody said to put it back. */
export type StepFate = PlanFate | 'changed'

export const scopeWords: Record<RollbackScope, string> = {
  single: 'This step',
  sub_dag: 'This step and all that followed',
  full_workflow: 'Whole run',
}

type Counted = Pick<RollbackPlanView, 'counts' | 'steps'>

/** What the plan does, counted; `overwrite`: what was changed since is put back, too. */
function countsOf({ counts, steps }: Counted, overwrite: boolean): PlanCounts {
  return overwrite ? overwriting(counts, steps) : counts
}

/** The plan in a sentence, as it is held now. */
export function sentenceOf(plan: RollbackPlanView, overwrite: boolean): string {
  return overwrite ? planSentence(countsOf(plan, true)) : plan.sentence
}

/**
 * The plan's sentence as a wish, with the same counts: "Restore 3 steps on 2 agents, compensate 1, set back 1". What it
 * cannot undo is left out: that is said in red above it, and is nothing the button does. Nor does it put back what was
 * changed since, unless that is wanted: "Ask first about 2 steps whose targets were changed since".
 */
export function buttonWords(plan: Counted, overwrite = false): string {
  const { restored, changed = 0, compensated, reset, irreversible, agents } = countsOf(plan, overwrite)
  const on = agents > 0 ? ` on ${count(agents, 'agent')}` : ''
  const deeds = [
    { verb: 'restore', n: restored - changed, after: on },
    { verb: 'compensate', n: compensated, after: on },
    { verb: 'ask first about', n: changed, after: restored > changed ? '' : ` ${whoseTargets(changed)}` },
    { verb: 'set back', n: reset, after: '' },
  ].filter(({ n }) => n > 0)
  if (deeds.length === 0)
    return irreversible > 0 ? `Tell a person of ${count(irreversible, 'step')}` : 'Nothing to roll back'
  const words = deeds.map(({ verb, n, after }, at) => {
    if (at === 0) return `${verb} ${count(n, 'step')}${after}`
    return `${verb} ${n}${after === on ? '' : after}`
  })
  return sentenceCase(words.join(', '))
}

/**
 * What came of a rollback, counted as its plan counts: "2 steps restored, 1 compensated, 1 only set back". `acts` are
 * those that were begun; steps that are only set back have none.
 */
function backWords(acts: readonly Pick<RollbackActView, 'undo' | 'status'>[], setBack: number): string {
  const done = acts.filter(({ status }) => status === 'completed')
  const compensated = done.filter(({ undo }) => undo === 'compensate').length
  const parts = [
    { n: done.length - compensated, how: 'restored' },
    { n: compensated, how: 'compensated' },
    { n: setBack, how: 'only set back' },
  ].filter(({ n }) => n > 0)
  if (parts.length === 0) return 'no step'
  return parts.map(({ n, how }, at) => `${at === 0 ? count(n, 'step') : n} ${how}`).join(', ')
}

/**
 * What a rollback came to, in one sentence that names all of it: "Taken back: 2 steps restored; 1 handed to a person."
 * `setBack`: steps that were only set back.
 */
export function resultWords(
  status: RollbackStatus,
  acts: readonly Pick<RollbackActView, 'undo' | 'status'>[],
  setBack: number,
): string {
  const back = backWords(acts, setBack)
  const lead = back === 'no step' ? 'Nothing was taken back' : `Taken back: ${back}`
  const left = leftWords(acts, back === 'no step')
  const rest = left === '' ? '' : `; ${left}`
  return `${lead}${rest}${status === 'failed' ? '; the run stands still' : ''}.`
}

/** What was not: "1 handed to a person, 1 failed". The first of them names steps where nothing before did. */
function leftWords(acts: readonly Pick<RollbackActView, 'status'>[], isFirst: boolean): string {
  const n = (status: RollbackStatus) => acts.filter((act) => act.status === status).length
  return [
    { n: n('partial'), how: 'only in part' },
    { n: n('escalated'), how: 'handed to a person' },
    { n: n('failed'), how: 'failed' },
  ]
    .filter(({ n }) => n > 0)
    .map(({ n, how }, at) => `${isFirst && at === 0 ? count(n, 'step') : n} ${how}`)
    .join(', ')
}

function sentenceCase(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

/** Beside the button, once it was held for a plan that is no longer so. */
export const notDoneWords =
  'Not done: the plan changed while you held. Look at what is new above, then hold again.'

/** Why the button is off, in one sentence; undefined when it may be pressed. */
export function whyNot(plan: RollbackPlanView): string | undefined {
  if (plan.forbidden) return plan.forbidden.sentence
  const { restored, compensated, reset, irreversible, refused } = plan.counts
  if (restored + compensated + reset + irreversible > 0) return undefined
  if (refused > 0) return 'None of the checkpoints serves, so there is nothing to put back from.'
  return 'Nothing here has been done, so there is nothing to take back.'
}

/** What a step of a plan is told apart by: a walk may have made several visits of one node. */
export function planKey({ node, visit }: { node: string; visit?: number | undefined }): string {
  return `${node} ${visit ?? 1}`
}

/** A step by name; with its visit where the plan has several of the node, or the run came there more than once. */
export function planName(step: PlanStep, plan: RollbackPlanView | undefined): string {
  const others = plan?.steps.filter(({ node }) => node === step.node).length ?? 1
  return others > 1 || step.visit > 1 ? `${step.label}, visit ${step.visit}` : step.label
}

/** What happens to a step, in a sentence. Of a step that began runs, it is these that are taken back. */
export function planSentenceOf(step: PlanStep, kind: string | undefined): string {
  if (step.fate !== 'restored' || kind === undefined || !beginsRuns(kind)) return step.sentence
  const sentence =
    kind === 'agent_loop'
      ? 'Rolls back what the model’s steps did, each from its own checkpoint.'
      : kind === 'call'
        ? 'Rolls back the run it began, each step from its own checkpoint.'
        : 'Rolls back the runs it began, the last one first, each step from its own checkpoint.'
  return `${sentence}${criticalWords(step)}`
}

/** " Among them “Charge” of Pay run_7f3a…c2e1 by billing, which is critical." Of many the first is named. */
function criticalWords({ criticalBelow = [], runsBelow }: PlanStep): string {
  const [first] = criticalBelow
  const isNamed = runsBelow?.first.some(({ run }) => run === first?.run) === true
  if (!first) return ''
  const more = criticalBelow.length - 1
  return more === 0
    ? ` Among them ${stepBelowName(first, isNamed)}, which is critical.`
    : ` Among them ${stepBelowName(first, isNamed)} and ${more} more that are critical.`
}

/** A step of a run below by its run, unless that is named beside it, and its agent: "“Charge” of Pay run_7f3a…c2e1 by billing". */
function stepBelowName({ label, run, workflow, agent }: StepBelow, isNamed: boolean): string {
  const by = agent === undefined ? '' : ` by ${agentName(agent)}`
  if (isNamed) return `“${label}”${by}`
  return `“${label}” of ${workflow === undefined ? '' : `${workflow} `}${shortId(run)}${by}`
}

/** Steps whose targets somebody else changed since. */
export function changedSteps({ steps }: Pick<RollbackPlanView, 'steps'>): PlanStep[] {
  return steps.filter(({ changedSince }) => changedSince)
}

/** The word that puts them back nevertheless: "Put it back all the same (1 target changed since)". */
export function overwriteWords(n: number): string {
  return `${overwriteName(n)} (${count(n, 'target')} changed since)`
}

/** What a page shows where its address names a rollback that is none of the run. */
export function shownInstead(rollback: Pick<RollbackView, 'status'> | undefined): string {
  if (!rollback) return 'a preview is shown'
  return rollback.status === 'executing' ? 'the one under way is shown' : 'its last rollback is shown'
}

/** Up to so many steps that are only set back are listed one by one. */
export const setBackListed = 4

/** Steps that are only set back, each once: "draft ×4, note_path ×4, again". */
export function setBackWords({ steps }: RollbackPlanView): string {
  const visits = new Map<string, number>()
  for (const { fate, label } of steps) if (fate === 'reset') visits.set(label, (visits.get(label) ?? 0) + 1)
  return [...visits].map(([label, n]) => (n > 1 ? `${label} ×${n}` : label)).join(', ')
}

/** Worst first: what a node that meets several fates is painted with. */
const gravest: StepFate[] = [
  'irreversible',
  'refused',
  'locked',
  'changed',
  'compensated',
  'restored',
  'reset',
  'untouched',
]

/** What happens to each node, and to how many visits of it. Of several fates the gravest. */
export function nodeFates(plan: {
  steps: readonly { node: string; fate: StepFate }[]
  untouched: readonly string[]
}): ReadonlyMap<string, { fate: StepFate; visits: number }> {
  const found = new Map<string, { fate: StepFate; visits: number }>(
    plan.untouched.map((node) => [node, { fate: 'untouched', visits: 1 }]),
  )
  for (const { node, fate } of plan.steps) {
    const before = found.get(node)
    const worse = !before || gravest.indexOf(fate) < gravest.indexOf(before.fate)
    const isOfPlan = before !== undefined && before.fate !== 'untouched'
    found.set(node, { fate: worse ? fate : before.fate, visits: isOfPlan ? before.visits + 1 : 1 })
  }
  return found
}

export interface PlanChange {
  node: string
  label: string
  was: StepFate
  now: StepFate
}

/** What a new plan does differently: steps whose fate is another one. */
export function planChanges(
  before: ReadonlyMap<string, StepFate>,
  after: ReadonlyMap<string, StepFate>,
  labelOf: (node: string) => string,
): PlanChange[] {
  const nodes = new Set([...before.keys(), ...after.keys()])
  return [...nodes].flatMap((node) => {
    const was = before.get(node) ?? 'untouched'
    const now = after.get(node) ?? 'untouched'
    return was === now ? [] : [{ node, label: labelOf(node), was, now }]
  })
}
