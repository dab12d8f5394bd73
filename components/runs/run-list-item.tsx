import Link from 'next/link'
import { RelativeTime, Took } from '@/components/ui/relative-time'
import { runLook, StateShape } from '@/components/ui/state'
import { count } from '@/lib/ui/format-time'
import { links } from '@/lib/ui/links'
import { shortId } from '@/lib/ui/short-id'
import type { RunRow } from '@/lib/view/run-wire'

/** How far a run is: "7 of 12", and what went wrong in it as its page counts it. */
export function Steps({ run }: { run: RunRow }) {
  return (
    <span className="num whitespace-nowrap">
      {run.doneCount} of {run.nodeCount}
      {run.failedCount > 0 && <span className="pl-2 text-failed-ink">{run.failedCount} failed</span>}
      {run.escalatedCount > 0 && <span className="pl-2 text-escal-ink">{run.escalatedCount} escalated</span>}
    </span>
  )
}

/** One run in a short list: state, workflow, how far, when. */
export function RunListItem({
  run,
  when = 'started',
  toChoose = false,
}: {
  run: RunRow
  /** It was rolled back, and somebody has to say how it goes on. */
  toChoose?: boolean
  when?: 'started' | 'ended' | 'took' | 'moved'
}) {
  const at =
    when === 'moved' ? run.updatedAt : when === 'ended' ? (run.endedAt ?? run.updatedAt) : run.startedAt
  return (
    <li>
      <Link
        href={links.run(run.id)}
        className="ring-inside flex h-11 items-center gap-3 border-b px-4 hover:bg-hover max-md:h-14"
      >
        <StateShape state={run.waitsIn ? 'waiting' : runLook(run).as} />
        <span className="min-w-0 flex-1">
          <span className="block truncate font-medium leading-5">{run.workflow}</span>
          <span className="block truncate text-t1 text-ink-3">
            <span className="sr-only">{runLook(run).word}, </span>
            <span className="mono">{shortId(run.id)}</span> ·{' '}
            {run.waitsIn ? (
              <span className="text-waiting-ink">
                waiting for {run.waitsIn.role}, in {run.waitsIn.workflow}
              </span>
            ) : toChoose ? (
              <span className="text-waiting-ink">waits for a choice: it ends, or goes on</span>
            ) : run.waitsFor ? (
              run.waitsFor
            ) : when === 'moved' && run.openApprovals > 0 ? (
              <span className="text-waiting-ink">
                {count(run.openApprovals, 'question')} for a person, under “Needs a person”
              </span>
            ) : (
              <Steps run={run} />
            )}
          </span>
        </span>
        <span className="flex flex-col items-end text-t1 text-ink-3">
          {when === 'took' ? (
            <Took from={run.startedAt} className="leading-5 text-ink" />
          ) : (
            <>
              <span className="leading-5 text-ink-2">{runLook(run).word}</span>
              <RelativeTime at={at} />
            </>
          )}
        </span>
      </Link>
    </li>
  )
}
