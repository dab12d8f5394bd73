import { tell } from '@/components/ui/toast'
import type { Verdict } from '@/lib/hitl/terms'
import { links } from '@/lib/ui/links'
import type { ApprovalCard } from '@/lib/view/wire'

const did: Record<Verdict, string> = {
  approve: 'Approved',
  refuse: 'Refused',
  took_effect: 'Recorded that it took effect:',
  not_taken: 'Recorded that it did not happen:',
  acknowledge: 'Acknowledged',
}

/** Says what was just decided, and leads to the run it moved. */
export function tellDecided(
  card: ApprovalCard,
  verdict: Verdict,
  edited: boolean,
  go: (href: string) => void,
): void {
  tell(`${did[verdict]} ${card.label}`, {
    detail: edited ? `${card.target}, with your edit` : card.target,
    action: {
      word: 'Open the run',
      act: () => go(links.run(card.run, { node: card.node })),
    },
  })
}
