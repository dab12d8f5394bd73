'use client'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { type ReactNode, useCallback } from 'react'
import { InboxItem } from '@/components/approvals/inbox-item'
import { byUrgency } from '@/components/approvals/urgency'
import { PageHead } from '@/components/shell/page-head'
import { Button } from '@/components/ui/button'
import { EmptyState } from '@/components/ui/empty-state'
import { ErrorNote } from '@/components/ui/error-note'
import { PageHelp } from '@/components/ui/page-help'
import { Skeleton } from '@/components/ui/skeleton'
import { links } from '@/lib/ui/links'
import { useOpened } from '@/lib/ui/opened'
import { useOverview } from '@/lib/ui/queries'
import type { Overview as OverviewData } from '@/lib/view/overview-wire'
import type { RunRow } from '@/lib/view/run-wire'
import { BreakerLine } from './breaker-line'
import { needsPerson, overviewSentence } from './overview-sentence'
import { RunListItem } from './run-list-item'

/** What needs a person, what is failing, what is running, and what was lately. The sentence alone must be enough. */
export function Overview() {
  const query = useOverview()
  const opened = useOpened()
  const data = query.data
  return (
    <>
      <PageHead title="Overview">
        <span className="flex-1" />
        <PageHelp page="Overview">
          What needs you comes first: questions that hold a run, and runs that were rolled back until somebody
          says whether they end or go on. Then runs that failed. At rest are runs in which nothing moves:
          paused, behind a breaker, or waiting for an agent. The rest is here so that you can see it is well.
        </PageHelp>
      </PageHead>
      {query.isError && !data ? (
        <ErrorNote
          title="The overview could not be read"
          error={query.error}
          means="Runs go on without this page."
          onRetry={() => void query.refetch()}
        />
      ) : !data ? (
        <Skeleton what="the overview" lines={10} row={44} />
      ) : isBlank(data) && opened ? (
        <EmptyState title="This bundle shows no run">No token of it could be read.</EmptyState>
      ) : isBlank(data) ? (
        <EmptyState
          title="Nothing has run yet"
          action={
            <Button asChild variant="primary">
              <Link href={links.workflows}>Bring in a workflow</Link>
            </Button>
          }
        >
          Bring in a workflow, run it, and what it holds for a person appears here.
        </EmptyState>
      ) : (
        <Rooms data={data} />
      )}
    </>
  )
}

function isBlank({ counts, recent }: OverviewData): boolean {
  return needsPerson(counts) + counts.failing + counts.running + counts.resting + recent.length === 0
}

function Rooms({ data }: { data: OverviewData }) {
  const waiting = byUrgency(data.waiting)
  const opened = useOpened()
  const router = useRouter()
  const open = useCallback((id: string) => router.push(links.approvals({ item: id })), [router])
  return (
    <div className="min-h-0 flex-1 overflow-auto">
      <h2
        aria-live="polite"
        className="text-balance border-b px-4 py-6 text-t3 font-medium tracking-[-0.01em]"
      >
        {overviewSentence(data.counts, opened ? 'was' : 'is')}
      </h2>
      <BreakerLine />
      <div className="grid lg:grid-cols-2 lg:[&>*:nth-child(odd)]:border-r">
        <div className="min-w-0">
          <List
            title="Needs a person"
            total={needsPerson(data.counts)}
            shown={waiting.length + data.toChoose.length}
            {...(data.counts.waiting > 0
              ? { href: links.approvals(), all: 'All questions' }
              : { href: links.runs({ status: 'rolled_back' }), all: 'All that wait for a choice' })}
            empty={opened ? 'Nothing was held.' : 'Nothing is held.'}
          >
            {waiting.map((row) => (
              <InboxItem key={row.id} row={row} selected={false} onSelect={open} />
            ))}
            {data.toChoose.map((run) => (
              <RunListItem key={run.id} run={run} when="moved" toChoose />
            ))}
          </List>
        </div>
        <div className="min-w-0">
          <RunList
            title="Failing"
            runs={data.failing}
            total={data.counts.failing}
            href={links.runs({ status: 'failed' })}
            all="All that failed"
            empty={opened ? 'Nothing had failed.' : 'Nothing has failed.'}
            when="ended"
          />
          <RunList
            title="Running"
            runs={data.running}
            total={data.counts.running}
            href={links.runs({ status: 'running' })}
            all="All that run"
            empty={opened ? 'Nothing was running.' : 'Nothing runs now.'}
            when="took"
          />
          {data.resting.length > 0 && (
            <RunList
              title="At rest"
              runs={data.resting}
              total={data.counts.resting}
              href={links.runs()}
              all="All runs"
              empty=""
              when="moved"
            />
          )}
          <RunList
            title="Ended lately"
            runs={data.recent}
            href={links.runs()}
            all="All runs"
            empty={opened ? 'No other run had ended.' : 'No other run has ended yet.'}
            when="ended"
          />
        </div>
      </div>
    </div>
  )
}

function RunList({
  runs,
  when,
  ...rest
}: {
  title: string
  runs: RunRow[]
  total?: number
  href: string
  all: string
  empty: string
  when: 'ended' | 'took' | 'moved'
}) {
  return (
    <List {...rest} shown={runs.length}>
      {runs.map((run) => (
        <RunListItem key={run.id} run={run} when={when} />
      ))}
    </List>
  )
}

function List({
  title,
  total,
  shown,
  href,
  all,
  empty,
  children,
}: {
  title: string
  total?: number
  shown: number
  href: string
  all: string
  empty: string
  children: ReactNode
}) {
  return (
    <section aria-label={title}>
      <div className="flex h-10 items-center gap-2 border-b bg-canvas px-4 max-md:h-12">
        <h3 className="font-medium">{title}</h3>
        {total !== undefined && <span className="num text-ink-3">{total}</span>}
        <span className="flex-1" />
        {shown > 0 && (
          <Link
            href={href}
            className="rounded-r1 text-t1 text-ink-3 underline-offset-4 hover:text-ink hover:underline max-md:py-4"
          >
            {all}
            <span className="sr-only">: {title}</span>
          </Link>
        )}
      </div>
      {shown > 0 ? <ul>{children}</ul> : <p className="border-b px-4 py-3 text-ink-3">{empty}</p>}
    </section>
  )
}
