/* The differences that a card shows of a step whose target was changed since it was asked. Pure. */
import type { ActionPreview, ApprovalCard } from '@/lib/view/approval-wire'

export interface ShownDifference {
  value: 'since' | 'now' | 'asked'
  /** On the switch. */
  word: string
  preview: ActionPreview
}

/**
 * What somebody else changed, first; then what the step does to what is there now (of a decided question: was then), and
 * what was asked. Without the first where what is there is as it was, and only what the step would make of it is not.
 */
export function differencesOf(
  asked: ActionPreview,
  seen: ActionPreview,
  decided: ApprovalCard['decision'],
): ShownDifference[] {
  const since = sinceAsked(asked, seen)
  return [
    ...(since
      ? [
          {
            value: 'since',
            word: 'What changed',
            preview: since,
          } as const,
        ]
      : []),
    { value: 'now', word: decided ? 'As decided' : 'As it is now', preview: seen },
    { value: 'asked', word: 'As asked', preview: asked },
  ]
}

function sinceAsked(asked: ActionPreview, seen: ActionPreview): ActionPreview | undefined {
  if (asked.show !== 'diff' || seen.show !== 'diff' || asked.before === seen.before) return undefined
  return { show: 'diff', title: seen.title, before: asked.before, after: seen.before }
}

/** What a decision means then; of one that was made, what it was made on. `since`: what is there is not as it was. */
export function changedWords(decided: ApprovalCard['decision'], since: boolean): string {
  if (decided) {
    return `${since ? 'What the step acts on was no longer as it had been' : 'What the step would do was no longer what it had been'}; it was decided on the difference “As decided”.`
  }
  return `${since ? 'What the step acts on is no longer as it was' : 'What the step would do is no longer what it was'}. Approving does what “As it is now” shows, and the decision says that you were shown it.`
}
