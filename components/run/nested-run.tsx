'use client'
import { X } from 'lucide-react'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { LiveTime } from '@/components/run-graph/graph-node'
import { RunGraph } from '@/components/run-graph/run-graph'
import { Button, IconButton } from '@/components/ui/button'
import { ErrorNote } from '@/components/ui/error-note'
import { Skeleton } from '@/components/ui/skeleton'
import { StateMark } from '@/components/ui/state'
import { duration } from '@/lib/ui/format-time'
import { useRunLedger } from '@/lib/ui/ledger'
import { links } from '@/lib/ui/links'
import { useRunDetail } from '@/lib/ui/run-queries'
import type { RunFold } from '@/lib/view/run-fold'
import type { ShownRun } from './shown-run'
import { useBelow } from './use-child-strips'

/**
 * The one run a step began, drawn below the graph it is part of. It is read when it is shown, and followed like any run;
 * where its page looks back, it is drawn as it was at that moment.
 */
export function NestedRun({
  run,
  step,
  asOf,
  onClose,
}: {
  run: string
  step: string
  /** The moment the page looks back to, in ms since the epoch. */
  asOf: number | undefined
  onClose: () => void
}) {
  const detail = useRunDetail(run)
  const ledger = useRunLedger(run, detail.data)
  const fold = ledger?.fold
  const at = fold && asOf !== undefined ? fold.timeline.seqAt(asOf) : undefined
  const shown = fold && (at === undefined ? fold : fold.at(at))
  const headline = fold && fold.seq > 0 ? shown?.frame.headline : undefined
  return (
    <section
      aria-label={`Run inside ${step}`}
      className="flex h-[36%] min-h-52 shrink-0 flex-col border-t max-md:hidden"
    >
      <div className="flex h-10 shrink-0 items-center gap-3 whitespace-nowrap border-b bg-surface px-4">
        <h2 className="min-w-0 truncate font-medium">
          <span className="font-regular text-ink-3">Inside {step}: </span>
          {detail.data?.row.workflow ?? ''}
        </h2>
        {headline && (
          <StateMark state={headline.shown} className="min-w-0 [&>span]:truncate">
            {headline.words}
            {headline.since !== undefined && (
              <>
                , <LiveTime time={{ since: headline.since }} />
              </>
            )}
            {headline.took !== undefined && (
              <>
                {' '}
                in <span className="num">{duration(headline.took)}</span>
              </>
            )}
          </StateMark>
        )}
        <span className="flex-1" />
        <Button size="sm" asChild>
          <Link href={links.run(run)}>Open the run</Link>
        </Button>
        <IconButton label={`Close the run inside ${step}`} onClick={onClose}>
          <X size={16} strokeWidth={1.5} aria-hidden="true" />
        </IconButton>
      </div>
      <div className="min-h-0 flex-1">
        {detail.isError ? (
          <ErrorNote
            title="The run inside could not be read"
            error={detail.error}
            onRetry={() => void detail.refetch()}
          />
        ) : fold && shown && fold.seq > 0 ? (
          <Picture run={run} fold={fold} shown={shown} past={at !== undefined} />
        ) : (
          <Skeleton what="the run inside" lines={3} />
        )}
      </div>
    </section>
  )
}

function Picture({ run, fold, shown, past }: { run: string; fold: RunFold; shown: ShownRun; past: boolean }) {
  const router = useRouter()
  const below = useBelow(run, fold)
  return (
    <RunGraph
      index={fold.index}
      frames={shown.frame.nodes}
      edges={shown.frame.edges}
      strips={past ? undefined : below.strips}
      onSelect={(node) => node !== undefined && router.push(links.run(run, { node }))}
      focus={fold.liveNode}
      label={`Graph of the run inside, ${fold.index.graph.name}`}
      compact
      nested
    />
  )
}
