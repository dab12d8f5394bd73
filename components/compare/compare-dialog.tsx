'use client'
import { useRouter } from 'next/navigation'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { ErrorNote } from '@/components/ui/error-note'
import { RelativeTime } from '@/components/ui/relative-time'
import { Skeleton } from '@/components/ui/skeleton'
import { runLook, StateShape } from '@/components/ui/state'
import { links } from '@/lib/ui/links'
import { useRuns } from '@/lib/ui/queries'
import { shortId } from '@/lib/ui/short-id'
import type { RunRow } from '@/lib/view/run-wire'

/** Chooses the run that a run is compared with: another of its workflow, forks among them. */
export function CompareDialog({ row, onClose }: { row: RunRow; onClose: () => void }) {
  const router = useRouter()
  const runs = useRuns({ workflow: row.workflow })
  const others = (runs.data?.pages.flatMap((page) => page.items) ?? [])
    .filter(({ id, workflow }) => id !== row.id && workflow === row.workflow)
    .sort((a, b) => kinship(b, row) - kinship(a, row))
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Compare ${row.workflow}, ${shortId(row.id)}`}
      description="With another run of this workflow, step by step."
    >
      {runs.isError && (
        <ErrorNote
          title="The runs could not be read"
          error={runs.error}
          onRetry={() => void runs.refetch()}
        />
      )}
      {!runs.data && !runs.isError && <Skeleton what="the runs" lines={3} row={44} />}
      {runs.data && others.length === 0 && (
        <p className="text-ink-3">
          No other run of {row.workflow} yet. Fork this one, or run the workflow again.
        </p>
      )}
      <ul className="-mx-4 -mt-4">
        {others.map((other) => (
          <li key={other.id}>
            <button
              type="button"
              className="ring-inside flex min-h-11 w-full items-center gap-3 border-b px-4 text-left hover:bg-hover max-md:min-h-14"
              onClick={() => router.push(links.compareRuns(row.id, other.id))}
            >
              <StateShape state={runLook(other).as} />
              <span className="mono">{shortId(other.id)}</span>
              <span className="min-w-0 flex-1 truncate text-ink-3">
                {runLook(other).word}
                {relationOf(other, row)}
              </span>
              <span className="text-t1 text-ink-3">
                <RelativeTime at={other.startedAt} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {runs.hasNextPage && (
        <Button
          size="sm"
          className="mt-3"
          busy={runs.isFetchingNextPage}
          onClick={() => void runs.fetchNextPage()}
        >
          Show older runs
        </Button>
      )}
    </Dialog>
  )
}

/** Forks of the run and the run it was forked from come first. */
function kinship(other: RunRow, row: RunRow): number {
  return other.forkOf === row.id || row.forkOf === other.id
    ? 2
    : other.forkOf !== undefined && other.forkOf === row.forkOf
      ? 1
      : 0
}

function relationOf(other: RunRow, row: RunRow): string {
  if (other.forkOf === row.id) return ', a fork of this run'
  if (row.forkOf === other.id) return ', the run this one was forked from'
  if (other.forkOf !== undefined && other.forkOf === row.forkOf) return ', a fork of the same run'
  return ''
}
