'use client'
import { useState } from 'react'
import { PutBackDifference } from '@/components/rollback/put-back'
import { cx } from '@/components/ui/cx'
import { Disclosure } from '@/components/ui/disclosure'
import type { ApprovalCard } from '@/lib/view/approval-wire'
import type { AboutRollback } from '@/lib/view/question-wire'

/** Targets that a card lists; the rest are counted. */
const listedAtMost = 8

/**
 * Of a rollback that somebody's change since keeps from being whole: what "Put it back all the same" would undo, for
 * whoever may answer so. One target is shown at once, several on a click each.
 */
export function WouldUndo({ card, compact }: { card: ApprovalCard; compact: boolean }) {
  const { about, state, mayDecide, verdicts } = card
  if (about?.what !== 'rollback' || state !== 'open' || !mayDecide || !verdicts.includes('overwrite'))
    return null
  const changed = about.cannot.filter((one) => one.checkpoint !== undefined)
  const rest = changed.length - listedAtMost
  const title = `What putting ${changed.length === 1 ? 'it' : 'them'} back would undo`
  return (
    <section aria-label={title} className={cx(compact ? 'mb-3' : 'mb-2 mt-4 max-md:mt-3')}>
      <h3 className="mb-2 font-medium">{title}</h3>
      {changed.slice(0, listedAtMost).map((one, index) => (
        <Target
          key={one.checkpoint}
          one={one}
          path={`/approvals/${card.id}/put-back/${one.checkpoint}`}
          isAlone={changed.length === 1}
          isFirst={index === 0}
          compact={compact}
        />
      ))}
      {rest > 0 && <p className="mt-1 text-t1 text-ink-3">and {rest} more</p>}
    </section>
  )
}

function Target({
  one: { label },
  path,
  isAlone,
  isFirst,
  compact,
}: {
  one: AboutRollback['cannot'][number]
  path: string
  isAlone: boolean
  isFirst: boolean
  compact: boolean
}) {
  const [open, setOpen] = useState(isFirst)
  const difference = <PutBackDifference path={path} narrow={compact} />
  if (isAlone) return difference
  return (
    <Disclosure title={label} open={open} onOpen={setOpen}>
      {difference}
    </Disclosure>
  )
}
