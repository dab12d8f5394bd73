'use client'
import Link from 'next/link'
import { useState } from 'react'
import { Button } from '@/components/ui/button'
import { ErrorNote } from '@/components/ui/error-note'
import { Took } from '@/components/ui/relative-time'
import { Segmented } from '@/components/ui/segmented'
import { Skeleton } from '@/components/ui/skeleton'
import { RunMark, StateMark } from '@/components/ui/state'
import { links } from '@/lib/ui/links'
import { useChildRuns } from '@/lib/ui/run-queries'
import { shortId } from '@/lib/ui/short-id'
import type { ChildCounts, RunRow } from '@/lib/view/run-wire'

type Show = '' | 'failed' | 'waiting' | 'running'

/** The runs that one visit of a step began, a page at a time; those that need a look can be had alone. */
export function ChildList({
  run,
  counts,
  alike,
  ranOut,
}: {
  run: string
  counts: ChildCounts
  /** They are all of one workflow, so its name tells nothing. */
  alike: boolean
  /** What the one run, an agent's loop, ran out of: it counts as done, and came to nothing. */
  ranOut?: string | undefined
}) {
  const [show, setShow] = useState<Show>('')
  const query = useChildRuns(run, counts.node, counts.visit, show)
  const rows = inOrder(query.data?.pages.flatMap((page) => page.items) ?? [])
  const { failed = 0, waiting = 0, running = 0 } = counts.states
  const choices = [
    { value: '' as const, word: `All ${counts.total.toLocaleString('en')}`, n: counts.total },
    { value: 'failed' as const, word: `Failed ${failed}`, n: failed },
    { value: 'waiting' as const, word: `Waiting ${waiting}`, n: waiting },
    { value: 'running' as const, word: `Running ${running}`, n: running },
  ].filter(({ n, value }) => n > 0 || value === show)
  return (
    <>
      {counts.total > 1 && choices.length > 1 && (
        <div className="px-4 py-2">
          <Segmented label="Show runs" value={show} choices={choices} onChange={setShow} />
        </div>
      )}
      {query.isError && !query.data ? (
        <ErrorNote
          title="The runs could not be read"
          error={query.error}
          onRetry={() => void query.refetch()}
        />
      ) : !query.data ? (
        <Skeleton what="the runs" />
      ) : rows.length === 0 ? (
        <p className="px-4 py-3 text-ink-3">No run of this step stands so now.</p>
      ) : (
        <ul aria-label="Runs it began" className="border-t">
          {rows.map((row) => (
            <Child key={row.id} row={row} numbered={counts.total > 1} alike={alike} ranOut={ranOut} />
          ))}
        </ul>
      )}
      {query.hasNextPage && (
        <div className="px-4 py-2">
          <p className="mb-2 text-t1 text-ink-3">
            The {rows.length.toLocaleString('en')} that began last, in the order of the results.
          </p>
          <Button size="sm" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Show more runs
          </Button>
        </div>
      )}
    </>
  )
}

/** As the step's `results` have them; the pages come newest first. */
function inOrder(rows: RunRow[]): RunRow[] {
  return rows.toSorted((a, b) => (a.parent?.index ?? 0) - (b.parent?.index ?? 0))
}

function Child({
  row,
  numbered,
  alike,
  ranOut,
}: {
  row: RunRow
  numbered: boolean
  alike: boolean
  ranOut: string | undefined
}) {
  return (
    <li>
      <Link
        href={links.run(row.id)}
        className="ring-inside flex h-8 items-center gap-3 border-b px-4 hover:bg-hover max-md:h-12"
      >
        {numbered && row.parent && (
          <span
            className="num min-w-6 shrink-0 text-right text-ink-3"
            title={`results.${row.parent.index} of the step’s output`}
          >
            {row.parent.index}
          </span>
        )}
        <span className="min-w-0 flex-1 truncate">
          {alike ? <span className="mono">{shortId(row.id)}</span> : row.workflow}
        </span>
        {ranOut === undefined ? <RunMark run={row} /> : <StateMark state="failed">{ranOut}</StateMark>}
        <Took from={row.startedAt} to={row.endedAt} className="w-16 text-right text-ink-2" />
      </Link>
    </li>
  )
}
