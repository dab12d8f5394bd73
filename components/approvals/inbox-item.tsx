'use client'
import { memo, useEffect, useRef } from 'react'
import { cx } from '@/components/ui/cx'
import { Countdown, RelativeTime } from '@/components/ui/relative-time'
import { StateMark } from '@/components/ui/state'
import { NoUndoTag, Tag } from '@/components/ui/tag'
import type { ApprovalKind } from '@/lib/hitl/terms'
import { useNow } from '@/lib/ui/now'
import { shortId } from '@/lib/ui/short-id'
import type { ApprovalRow } from '@/lib/view/approval-wire'
import { cameOf, decidedWords, headlineOf, kindWords } from './words'

/** A fuse burns under a question in its last five minutes. */
const fuseMs = 300_000

/** One question of the inbox: what kind, how long still, what it asks, of which run. */
export const InboxItem = memo(function InboxItem({
  row,
  selected,
  onSelect,
}: {
  row: ApprovalRow
  selected: boolean
  onSelect: (id: string) => void
}) {
  const kind = kindWords[row.kind]
  const place = useRef<HTMLAnchorElement>(null)
  useEffect(() => {
    if (selected) place.current?.scrollIntoView({ block: 'nearest' })
  }, [selected])
  return (
    <li className="relative">
      <a
        ref={place}
        href={`/approvals?item=${row.id}${row.state === 'open' ? '' : '&show=decided'}`}
        aria-current={selected ? 'true' : undefined}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return
          event.preventDefault()
          onSelect(row.id)
        }}
        className={cx(
          'ring-inside flex flex-col gap-0.5 border-b px-4 pb-3 pt-[11px]',
          selected ? 'md:-mr-px md:bg-surface md:shadow-[inset_2px_0_0_var(--ink)]' : 'hover:bg-hover',
        )}
      >
        <span className="flex items-center gap-2 text-t1 leading-5">
          {row.state === 'open' ? (
            <StateMark state={kind.as}>{kind.title}</StateMark>
          ) : (
            <StateMark state={cameOf(row.verdict)}>{decidedWords(row)}</StateMark>
          )}
          <span className="flex-1" />
          {row.state !== 'open' ? (
            <RelativeTime at={row.decidedAt ?? row.askedAt} className="text-ink-3" />
          ) : row.deadlineAt === undefined ? (
            <span className="text-ink-3">no deadline</span>
          ) : (
            <Countdown at={row.deadlineAt} />
          )}
        </span>
        <b className="line-clamp-2 pl-[22px] [overflow-wrap:anywhere]">{headlineOf(row)}</b>
        <span className="flex h-5 items-center gap-1 pl-[22px] text-t1 text-ink-3">
          <span className="min-w-0 flex-1 truncate">
            {row.workflow} · <span className="mono">{shortId(row.run)}</span>
          </span>
          <Warning row={row} />
          {row.state === 'open' && !row.mayDecide && <Tag>{row.role} decides</Tag>}
        </span>
      </a>
      {row.state === 'open' && row.deadlineAt !== undefined && (
        <Fuse from={row.askedAt} until={row.deadlineAt} />
      )}
    </li>
  )
})

/** A rollback that is asked about has a warning of its own: what it would take back is not its consequence. */
const ofRollbacks = new Set<ApprovalKind>(['rollback_unprepared', 'rollback_critical'])

function Warning({ row: { kind, consequence, warning } }: { row: ApprovalRow }) {
  if (warning === 'changed_since') return <Tag tone="waiting">Changed since</Tag>
  const isForGood = ofRollbacks.has(kind) ? warning === 'irreversible' : consequence === 'irreversible'
  return isForGood && <NoUndoTag />
}

function Fuse({ from, until }: { from: number; until: number }) {
  const now = useNow()
  const left = until - now
  if (left <= 0 || left > fuseMs) return null
  return (
    <span aria-hidden="true" className="pointer-events-none absolute inset-x-0 -bottom-px h-0.5">
      <span
        className="block h-0.5 bg-waiting-mark"
        style={{ width: `${Math.min(100, (left / Math.min(fuseMs, Math.max(1, until - from))) * 100)}%` }}
      />
    </span>
  )
}
