import Link from 'next/link'
import { StateMark } from '@/components/ui/state'
import { links } from '@/lib/ui/links'
import type { ShownState } from '@/lib/view/shown-state'

/** How what an answer set going stands, and the way to the question that came of it. */
export function CameOfIt({
  state,
  words,
  anew,
}: {
  state: ShownState
  words: string
  anew?: string | undefined
}) {
  return (
    <StateMark state={state} className="items-start! whitespace-normal! [&>svg]:mt-0.5">
      {words}{' '}
      {anew && (
        <Link href={links.approvals({ item: anew })} className="underline underline-offset-4">
          Open the new question
        </Link>
      )}
    </StateMark>
  )
}
