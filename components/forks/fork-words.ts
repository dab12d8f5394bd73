/** What a fork is, in the words of its page. */
import { count } from '@/lib/ui/format-time'
import type { ForkEffect, ForkPlanView, ForkStep } from '@/lib/view/fork-wire'

/** "implement, visit 2"; the first visit is not counted aloud. */
export function stepWords({ label, visit }: ForkStep): string {
  return visit > 1 ? `${label}, visit ${visit}` : label
}

/** Names that are said one by one. */
const named = 3

function listed(plan: ForkPlanView): string {
  const names = plan.next.slice(0, named).map(stepWords)
  const rest = plan.nextCount - names.length
  if (rest > 0) return `${names.join('; ')}; and ${rest} more`
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join('; ')} and ${last}`
}

/** "Before implement, visit 2, after TestsFailed": where the fork stands. */
export function positionWords(plan: ForkPlanView): string {
  const { after } = plan
  if (plan.nextCount === 0) return after ? `At the end, after ${stepWords(after)}` : 'At the end'
  const how = after && (after.event ?? stepWords(after))
  return how === undefined ? `Before ${listed(plan)}` : `Before ${listed(plan)}, after ${how}`
}

/** What is taken over, in a sentence. */
export function carriedWords({ carried, nextCount }: ForkPlanView): string {
  if (carried === 0) return 'Nothing is done at this moment: the fork begins at the beginning.'
  const taken =
    carried === 1
      ? '1 step is taken as done, with what it gave, and not done again.'
      : `${count(carried, 'step')} are taken as done, with what they gave, and not done again.`
  return nextCount === 0 ? `${taken} Nothing is left to do: the fork ends at once.` : taken
}

/** What pressing the button does. */
export function buttonWords(plan: ForkPlanView, dryRun: boolean): string {
  const how = dryRun ? 'Fork as a dry run' : 'Fork for real'
  return plan.nextCount === 0 ? `${how} from the end` : `${how} from ${listed(plan)}`
}

export interface EffectGroup {
  consequence: ForkEffect['consequence']
  title: string
  effects: ForkEffect[]
}

/** The side effects by what they cost: first what cannot be undone. */
export function effectGroups(effects: readonly ForkEffect[]): EffectGroup[] {
  const groups: EffectGroup[] = [
    { consequence: 'irreversible', title: 'Cannot be undone', effects: [] },
    { consequence: 'reversible', title: 'Can be undone', effects: [] },
  ]
  for (const effect of effects)
    groups.find(({ consequence }) => consequence === effect.consequence)?.effects.push(effect)
  return groups.filter((group) => group.effects.length > 0)
}

/** The same change, made by the same step more than once, is one with its times; in the order of the first of each. */
export function timesOfEach(effects: readonly ForkEffect[]): [ForkEffect, ...ForkEffect[]][] {
  const each = new Map<string, [ForkEffect, ...ForkEffect[]]>()
  for (const effect of effects) {
    const { workflow, node, sentence, target, happened } = effect
    const key = JSON.stringify([workflow, node, sentence, target, happened])
    const times = each.get(key)
    if (times) times.push(effect)
    else each.set(key, [effect])
  }
  return [...each.values()]
}

/** What became of it in the original; nothing where it simply happened. */
export function happenedWords(happened: ForkEffect['happened']): string | undefined {
  switch (happened) {
    case 'done':
      return undefined
    case 'rolled_back':
      return 'taken back since'
    case 'unclear':
      return 'not clear whether it happened'
    case 'none':
      return 'was a dry run'
    default:
      return happened satisfies never
  }
}

/** The line above the list. */
export function effectsWords(plan: ForkPlanView, dryRun: boolean): string {
  const many = plan.moreEffects ? `more than ${plan.effects.length}` : String(plan.effects.length)
  if (plan.effects.length === 0) {
    return 'The original did nothing after this moment that changes anything. What it never came to is not known.'
  }
  const things = plan.effects.length === 1 && !plan.moreEffects ? 'change' : 'changes'
  if (dryRun)
    return `Nothing of this happens in a dry run. The original made ${many} ${things} after this moment:`
  return plan.originalIsDry
    ? `This may happen now. The original was a dry run that would have made ${many} ${things}:`
    : `This may happen again. The original made ${many} ${things} after this moment:`
}

/** True when forking for real may do what cannot be undone. */
export function isDangerous(plan: ForkPlanView): boolean {
  return plan.effects.some(({ consequence }) => consequence === 'irreversible')
}
