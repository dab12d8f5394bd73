'use client'
import { ChevronLeft } from 'lucide-react'
import Link from 'next/link'
import { ForkedFrom } from '@/components/forks/fork-tree'
import { LiveTime } from '@/components/run-graph/graph-node'
import { filmKeyWords } from '@/components/timeline/use-film-keys'
import { Button } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { cx } from '@/components/ui/cx'
import { PageHelp } from '@/components/ui/page-help'
import { StateMark } from '@/components/ui/state'
import { Tag } from '@/components/ui/tag'
import { absoluteTime, clockTime, duration } from '@/lib/ui/format-time'
import type { useVerification } from '@/lib/ui/ledger-verify'
import { links } from '@/lib/ui/links'
import { useEndWords } from '@/lib/ui/opened'
import type { RunFold } from '@/lib/view/run-fold'
import type { RunDetail, WaitsIn } from '@/lib/view/run-wire'
import { RunMenu } from './run-menu'
import type { RunShow } from './run-tabs'
import type { ShownRun } from './shown-run'
import { VerifyButton } from './verify-button'

/** The line at the top of a run: whose run, how it stands, whether its evidence holds, and what can be done. */
export function RunHead({
  detail,
  fold,
  shown,
  at,
  asOf,
  onNow,
  waitsIn,
  verification,
  rollBack,
  onFlag,
  show,
  onShow,
}: {
  detail: RunDetail
  fold: RunFold
  /** The run as it is shown, the token it is shown at when that is past, and the time of that token. */
  shown: ShownRun
  at: number | undefined
  asOf: number | undefined
  /** Follows the run again. */
  onNow: () => void
  /** A question of a run below this one, which may be all that it waits for. */
  waitsIn: WaitsIn | undefined
  verification: ReturnType<typeof useVerification>
  /** The node a rollback would start from; absent when it is not the person's to ask. */
  rollBack: string | undefined
  /** Calls what the chosen step gave wrong; absent when it cannot be. */
  onFlag: (() => void) | undefined
  show: RunShow
  onShow: (show: RunShow) => void
}) {
  const { headline } = shown.frame
  const past = at !== undefined && asOf !== undefined
  const end = useEndWords()
  const moves = fold.status === 'running' || fold.status === 'rolling_back'
  const waits = !past && moves && headline.shown !== 'waiting' ? waitsIn : undefined
  const { id, workflow } = detail.row
  return (
    <div className="flex min-h-11 shrink-0 items-center gap-3 whitespace-nowrap border-b px-4 max-md:flex-wrap max-md:gap-x-2 max-md:gap-y-0 max-md:py-1.5">
      {detail.parent && <FromParent parent={detail.parent} />}
      {!detail.parent && (
        <Link
          href={links.runs()}
          className="-ml-1 flex items-center gap-1 rounded-r1 text-ink-3 hover:text-ink max-md:h-11 max-md:pr-2"
        >
          <ChevronLeft size={16} strokeWidth={1.5} aria-hidden="true" />
          <span className="max-md:sr-only">Runs</span>
        </Link>
      )}
      <h1 className="min-w-0 truncate font-medium max-md:flex-1 md:max-w-[40%] md:shrink-0" title={workflow}>
        {workflow}
      </h1>
      <CopyId id={id} what="run id" className={cx('text-ink-3 max-md:hidden', past && 'max-xl:hidden')} />
      {fold.dryRun && <Tag>dry run</Tag>}
      {detail.row.forkOf && (
        <span className="text-ink-3 max-xl:hidden">
          forked from <ForkedFrom run={id} of={detail.row.forkOf} />
        </span>
      )}
      {waits && <WaitsBelow waits={waits} />}
      {fold.seq > 0 && !waits && (
        <span
          className={cx(
            'flex min-w-0 items-center gap-2 max-md:order-last max-md:w-full max-md:pb-1.5',
            // Of a past moment all stands on one line: the page does not move while it is scrubbed.
            past ? '[&_.motion-turn]:animate-none' : 'max-md:flex-wrap',
          )}
          role="status"
          title={headline.why ? `${headline.words}: ${headline.why}` : headline.words}
        >
          <StateMark state={headline.shown} className="min-w-0 [&>span]:truncate">
            {headline.words}
            {headline.since !== undefined && (
              <>
                , <LiveTime time={{ since: headline.since }} />
              </>
            )}
            {headline.flagged && (
              <>
                ,{' '}
                <time
                  dateTime={new Date(headline.flagged.at).toISOString()}
                  title={absoluteTime(headline.flagged.at)}
                  className="num"
                  suppressHydrationWarning
                >
                  {clockTime(headline.flagged.at)}
                </time>
                ; before that it {headline.flagged.before}
              </>
            )}
            {headline.took !== undefined && (
              <>
                {' '}
                in <span className="num">{duration(headline.took)}</span>
              </>
            )}
            {headline.why && `: ${headline.why}`}
          </StateMark>
          {past && (
            <span className="shrink-0 text-ink-2">
              as it was at <time dateTime={new Date(asOf).toISOString()}>{clockTime(asOf)}</time>
              <span className="max-md:sr-only">
                , token <span className="num">{at.toLocaleString('en')}</span> of{' '}
                <span className="num">{fold.seq.toLocaleString('en')}</span>
              </span>
            </span>
          )}
        </span>
      )}
      {past && (
        // On a phone it stands with the film, under the thumb.
        <Button size="sm" className="max-md:hidden" onClick={onNow} aria-keyshortcuts="Escape">
          {end.back}
        </Button>
      )}
      <span className="flex-1 max-md:hidden" />
      <VerifyButton verification={verification} seq={fold.seq} />
      {rollBack !== undefined && fold.seq > 0 && (
        <Button size="sm" asChild className="max-md:hidden">
          <Link href={links.rollback(id, { node: rollBack })}>Roll back…</Link>
        </Button>
      )}
      <RunMenu
        detail={detail}
        status={fold.status}
        rollBack={rollBack}
        onFlag={onFlag}
        show={show === 'ledger' ? 'ledger' : 'graph'}
        onShow={onShow}
      />
      <span className="max-md:hidden">
        <PageHelp
          page="Run"
          keys={[
            ['/', 'find a step'],
            ...filmKeyWords,
            ['↑ ↓', 'in the graph, with ← → along its edges'],
            ['↵', 'select the step'],
            ['i o', 'input and output of the step'],
            ['t c', 'its tokens, its checkpoint'],
            ['a x', 'answer its question'],
            ['l', 'graph or ledger'],
            ['r', 'roll back to before the step'],
            ['w', 'say that what it gave is wrong'],
            ['esc', 'step out, back to now'],
          ]}
        >
          Every step of this run, folded in your browser from the signed tokens of its ledger.
        </PageHelp>
      </span>
    </div>
  )
}

/** The way back up: the run and the step that began this one. */
function FromParent({ parent }: { parent: NonNullable<RunDetail['parent']> }) {
  const which = parent.siblings > 1 ? ` ${parent.index + 1} of ${parent.siblings.toLocaleString('en')}` : ''
  return (
    <nav
      aria-label="Run that began this one"
      className="flex min-w-0 shrink items-center gap-1 text-ink-3 max-md:-mb-2 max-md:w-full"
    >
      <Link
        href={links.run(parent.run)}
        title={`${parent.workflow}, the run that began this one`}
        className="-ml-1 flex min-w-0 items-center gap-1 rounded-r1 hover:text-ink max-md:h-11"
      >
        <ChevronLeft size={16} strokeWidth={1.5} aria-hidden="true" className="shrink-0" />
        <span className="truncate">{parent.workflow}</span>
      </Link>
      <span aria-hidden="true">/</span>
      <Link
        href={links.run(parent.run, { node: parent.node, visit: parent.visit })}
        className="flex min-w-0 items-center rounded-r1 hover:text-ink max-md:h-11"
      >
        <span className="truncate">
          {parent.label}
          <span className="num">{which}</span>
        </span>
      </Link>
      <span aria-hidden="true">/</span>
    </nav>
  )
}

/** The run itself is at work only because a run below it waits for a person: that is what somebody has to know. */
function WaitsBelow({ waits }: { waits: WaitsIn }) {
  return (
    <span
      role="status"
      className="flex min-w-0 items-center gap-1 max-md:order-last max-md:w-full max-md:pb-1.5"
    >
      <StateMark state="waiting" className="min-w-0 [&>span]:truncate">
        waiting for {waits.role}, in{' '}
        <Link
          href={links.run(waits.run)}
          className="underline decoration-waiting-line underline-offset-4 hover:decoration-current"
        >
          {waits.workflow}
        </Link>
        , <LiveTime time={{ since: waits.askedAt }} />
      </StateMark>
    </span>
  )
}
