import { tell } from '@/components/ui/toast'
import type { Verdict } from '@/lib/hitl/terms'
import { links } from '@/lib/ui/links'
import type { ApprovalCard } from '@/lib/view/approval-wire'

const did: Record<Verdict, string> = {
  approve: 'Approved',
  refuse: 'Refused',
  took_effect: 'Recorded that it took effect:',
  not_taken: 'Recorded that it did not happen:',
  acknowledge: 'Acknowledged',
  event: 'Gave the event to',
  go_on_without: 'The rollback goes on without what cannot be prepared:',
  abort: 'Called the rollback off:',
  ask_again: 'Those that said no are asked again:',
  overwrite: 'What was changed since is put back all the same:',
  escalate: 'Left the rollback to a person:',
  release: 'Probes may go on:',
  hold: 'Probes stay held:',
}

/** Of a critical step that a rollback waits before. */
const didCritical: Partial<Record<Verdict, string>> = {
  approve: 'Let the rollback go on:',
  refuse: did.abort,
}

/** Says what was just decided, and leads to the run it moved. */
export function tellDecided(
  card: ApprovalCard,
  { verdict, event, edited }: { verdict: Verdict; event?: string | undefined; edited: boolean },
  go: (href: string) => void,
  /** Its answer was lost on the way, and the decision was found in the ledger afterwards. */
  found = false,
): void {
  const what = edited ? `${card.target}, with your edit` : card.target
  const words = (card.kind === 'rollback_critical' && didCritical[verdict]) || did[verdict]
  tell(event === undefined ? `${words} “${card.label}”` : `Gave “${event}” to “${card.label}”`, {
    detail: found ? `Your decision was taken: ${what}` : what,
    action: {
      word: 'Open the run',
      act: () => go(links.run(card.run, { node: card.node })),
    },
  })
}
