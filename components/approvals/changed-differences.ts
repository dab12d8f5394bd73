/* The differences that a card shows of a step whose target was changed since it was asked. Pure. */
import type { ActionPreview, ApprovalCard } from '@/lib/view/approval-wire'

export interface ShownDifference {
  value: 'now' | 'since' | 'asked'
  /** On the switch. */
  word: string
  preview: ActionPreview
  /** Over a difference that is not the step's own act. */
  heading?: string
}

/**
 * What the step does to what is there now, first, since that is what is decided on (of a decided question: was); then what
 * others changed, and what was asked. Without the second where what is there is as it was, and only what the step would
 * make of it is not. `target`: what the step acts on, by name.
 */
export function differencesOf(
  { preview: asked, target }: { preview: ActionPreview; target: string },
  seen: ActionPreview,
  decided: ApprovalCard['decision'],
): ShownDifference[] {
  const since = sinceAsked(asked, seen, target)
  return [
    { value: 'now', word: decided ? 'As decided' : 'As it is now', preview: seen },
    ...(since ? [since] : []),
    { value: 'asked', word: 'As asked', preview: asked },
  ]
}

function sinceAsked(asked: ActionPreview, seen: ActionPreview, target: string): ShownDifference | undefined {
  if (asked.show !== 'diff' || seen.show !== 'diff' || asked.before === seen.before) return undefined
  return {
    value: 'since',
    word: 'What changed',
    preview: { show: 'diff', title: target || seen.title, before: asked.before, after: seen.before },
    heading: isDeleted(asked, seen) ? 'It was deleted since' : 'Changed by others since',
  }
}

/** What the step acts on was there when it was asked, and is not any more. */
export function isDeleted(asked: ActionPreview, seen: ActionPreview): boolean {
  return asked.show === 'diff' && seen.show === 'diff' && !asked.absent && seen.absent === true
}

/** What became of the target: it is gone, somebody changed it, or only what the step would make of it is another. */
export type Became = 'deleted' | 'changed' | 'same'

export function becameOf(
  asked: ActionPreview,
  seen: ActionPreview,
  choices: readonly ShownDifference[],
): Became {
  if (isDeleted(asked, seen)) return 'deleted'
  return choices.some(({ value }) => value === 'since') ? 'changed' : 'same'
}

/** What was noticed, and what a decision means then; of one that was made, what it was made on. */
export function changedWords(
  decided: ApprovalCard['decision'],
  became: Became,
): { title: string; words: string } {
  const title =
    became === 'deleted' ? 'It was deleted since this was asked.' : 'Changed since this was asked.'
  return { title, words: decided ? decidedOn[became] : meansNow[became] }
}

const meansNow: Record<Became, string> = {
  deleted: 'Approving makes it anew, as “As it is now” shows, and the decision says that you were shown it.',
  changed:
    'What the step acts on is no longer as it was. Approving does what “As it is now” shows, and the decision says that you were shown it.',
  same: 'What the step would do is no longer what it was. Approving does what “As it is now” shows, and the decision says that you were shown it.',
}

const decidedOn: Record<Became, string> = {
  deleted: 'What the step acts on was no longer there; it was decided on the difference “As decided”.',
  changed:
    'What the step acts on was no longer as it had been; it was decided on the difference “As decided”.',
  same: 'What the step would do was no longer what it had been; it was decided on the difference “As decided”.',
}
