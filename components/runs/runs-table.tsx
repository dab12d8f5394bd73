'use client'
import { useVirtualizer } from '@tanstack/react-virtual'
import { Search } from 'lucide-react'
import Link from 'next/link'
import { useRouter, useSearchParams } from 'next/navigation'
import { useEffect, useMemo, useRef, useState } from 'react'
import { PageHead } from '@/components/shell/page-head'
import { Actor } from '@/components/ui/actor'
import { Button } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { cx } from '@/components/ui/cx'
import { EmptyState } from '@/components/ui/empty-state'
import { ErrorNote } from '@/components/ui/error-note'
import { Input, Select } from '@/components/ui/field'
import { PageHelp } from '@/components/ui/page-help'
import { RelativeTime, Took } from '@/components/ui/relative-time'
import { Skeleton } from '@/components/ui/skeleton'
import { RunMark, runLooks, StateMark } from '@/components/ui/state'
import { Tag } from '@/components/ui/tag'
import { count } from '@/lib/ui/format-time'
import type { RunFilter } from '@/lib/ui/keys'
import { links } from '@/lib/ui/links'
import { useMedia } from '@/lib/ui/media'
import { useOpened } from '@/lib/ui/opened'
import { useRuns, useWorkflows } from '@/lib/ui/queries'
import { shortId } from '@/lib/ui/short-id'
import { useShortcuts } from '@/lib/ui/shortcuts'
import type { RunRow, WaitsIn } from '@/lib/view/run-wire'
import { filterOf, filterStatuses } from './run-filter'
import { Steps } from './run-list-item'

const keyWords: [string, string][] = [
  ['/', 'find by name or id'],
  ['j k', 'next and previous run'],
  ['↵', 'open the run'],
]

/** Every run, newest first. The filter is the address; rows beyond the screen are not drawn, pages come as one scrolls. */
export function Runs() {
  const params = useSearchParams()
  const opened = useOpened()
  const filter = useMemo(() => filterOf(params), [params])
  const query = useRuns(filter)
  const rows = useMemo(() => query.data?.pages.flatMap((page) => page.items), [query.data])
  const height = useMedia('(max-width: 767px)') ? rowHeight.phone : rowHeight.desk
  const filtered = Object.keys(filter).length > 0
  const setFilter = (next: RunFilter) => window.history.replaceState(null, '', links.runs(next))
  return (
    <>
      <PageHead title="Runs" className="max-md:h-auto max-md:min-h-14 max-md:flex-wrap max-md:py-2">
        <Filters filter={filter} onChange={setFilter} />
        <span className="flex-1" />
        {!opened && (
          <Button asChild size="sm">
            <Link href={links.workflows}>Start a run</Link>
          </Button>
        )}
        <PageHelp page="Runs" keys={keyWords}>
          Every run of every workflow, newest first, with how far it is. A run is its ledger: open one to see
          each signed step, decide, or take steps back.
        </PageHelp>
      </PageHead>
      {query.isError && !rows ? (
        <ErrorNote
          title="The runs could not be read"
          error={query.error}
          means="They go on without this page."
          onRetry={() => void query.refetch()}
        />
      ) : !rows ? (
        <Skeleton what="runs" lines={12} />
      ) : rows.length > 0 ? (
        <Table
          key={height}
          height={height}
          rows={rows}
          more={query.hasNextPage && !query.isFetchingNextPage}
          onMore={() => void query.fetchNextPage()}
          old={query.isPlaceholderData}
        />
      ) : filtered ? (
        <EmptyState
          title="No run is like that"
          action={<Button onClick={() => setFilter({})}>Show all runs</Button>}
        >
          Nothing matches this filter. Names and ids match in part; a status matches what the run is now.
        </EmptyState>
      ) : opened ? (
        <EmptyState title="This bundle shows no run">No token of it could be read.</EmptyState>
      ) : (
        <EmptyState
          title="Nothing has run yet"
          action={
            <Button asChild variant="primary">
              <Link href={links.workflows}>Choose a workflow</Link>
            </Button>
          }
        >
          A run starts from a workflow; bring one in or take one of the examples.
        </EmptyState>
      )}
      <p className="sr-only" aria-live="polite">
        {rows && filtered ? foundWords(rows.length, query.hasNextPage) : ''}
      </p>
    </>
  )
}

function foundWords(n: number, more: boolean): string {
  return more ? `${n} or more runs found` : `${count(n, 'run')} found`
}

/** 250 ms after the last letter: one question to the server a word, not a letter. */
const typingMs = 250

function Filters({ filter, onChange }: { filter: RunFilter; onChange: (filter: RunFilter) => void }) {
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(filter.text ?? '')
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => setText(filter.text ?? ''), [filter.text])
  useShortcuts({ '/': () => field.current?.focus() })
  const workflows = useWorkflows().data?.items.map((row) => row.name) ?? []
  const names =
    filter.workflow && !workflows.includes(filter.workflow) ? [filter.workflow, ...workflows] : workflows
  const set = (name: keyof RunFilter, value: string) => onChange({ ...filter, [name]: value })
  return (
    <search className="flex gap-2 max-md:order-last max-md:basis-full max-md:flex-wrap">
      <span className="relative max-md:basis-full">
        <Search
          size={14}
          strokeWidth={1.5}
          aria-hidden="true"
          className="pointer-events-none absolute left-2.5 top-1/2 -translate-y-1/2 text-ink-3"
        />
        <Input
          ref={field}
          type="search"
          aria-label="Find by name or id"
          placeholder="Name or id"
          className="h-7! w-48! pl-8! max-md:h-12! max-md:w-full!"
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            clearTimeout(timer.current)
            timer.current = setTimeout(() => set('text', event.target.value.trim()), typingMs)
          }}
        />
      </span>
      <Select
        aria-label="Status"
        className="max-md:flex-1 [&>select]:h-7 max-md:[&>select]:h-12"
        value={filter.status ?? ''}
        onChange={(event) => set('status', event.target.value)}
      >
        <option value="">Any status</option>
        {filterStatuses.map((status) => (
          <option key={status} value={status}>
            {runLooks[status].word}
          </option>
        ))}
      </Select>
      <Select
        aria-label="Workflow"
        className="max-w-56 max-md:flex-1 [&>select]:h-7 max-md:[&>select]:h-12"
        value={filter.workflow ?? ''}
        onChange={(event) => set('workflow', event.target.value)}
      >
        <option value="">Any workflow</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </Select>
    </search>
  )
}

/** One grid for head and rows; on a phone a row is two lines. */
const columns =
  'grid items-center gap-x-4 px-4 md:grid-cols-[168px_minmax(140px,1fr)_128px_120px_minmax(80px,180px)_var(--began,104px)_88px]'
/** Of a bundle, whose times are written in full. */
const fullTimes = '[--began:144px]'
/** px: a row, and the same on a phone. */
const rowHeight = { desk: 32, phone: 60 }

function Table({
  rows,
  more,
  onMore,
  old,
  height,
}: {
  rows: RunRow[]
  more: boolean
  onMore: () => void
  old: boolean
  /** Of a row, in px. */
  height: number
}) {
  const router = useRouter()
  const opened = useOpened() !== undefined
  const scroll = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState(-1)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => height,
    overscan: 12,
    // Rows for the page as the server makes it, before anything can be measured.
    initialRect: { width: 1200, height: 800 },
    getItemKey: (index) => rows[index]?.id ?? index,
  })
  const shown = virtual.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (more && last >= rows.length - 20) onMore()
  }, [more, last, rows.length, onMore])

  const move = (by: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, at + by))
    setAt(next)
    virtual.scrollToIndex(next)
  }
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    Enter: rows[at] ? () => router.push(links.run((rows[at] as RunRow).id)) : undefined,
  })
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows beyond the screen are not drawn, which <table> cannot say.
    <div
      role="table"
      aria-label="Runs"
      aria-rowcount={more ? -1 : rows.length + 1}
      className={cx('flex min-h-0 flex-1 flex-col', old && 'opacity-60', opened && fullTimes)}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as above. */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: a row of heads. */}
      <div role="row" className={cx(columns, 'h-7 shrink-0 border-b text-t1 text-ink-3 max-md:sr-only')}>
        {['State', 'Workflow', 'Run', 'Steps', 'Started by'].map((word) => (
          <Head key={word} word={word} />
        ))}
        <Head word="Started" right />
        <Head word="Took" right />
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: as above. */}
      <div ref={scroll} className="ring-inside min-h-0 flex-1 overflow-auto" role="rowgroup">
        <div className="relative" style={{ height: virtual.getTotalSize() }} role="presentation">
          {shown.map((item) => (
            <Row
              key={item.key}
              run={rows[item.index] as RunRow}
              index={item.index}
              chosen={item.index === at}
              top={item.start}
              height={height}
            />
          ))}
        </div>
      </div>
    </div>
  )
}

function Head({ word, right = false }: { word: string; right?: boolean }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: see the table.
    // biome-ignore lint/a11y/useFocusableInteractive: nothing happens on a head.
    <span role="columnheader" className={right ? 'text-right' : ''}>
      {word}
    </span>
  )
}

function Row({
  run,
  index,
  chosen,
  top,
  height,
}: {
  run: RunRow
  index: number
  chosen: boolean
  top: number
  height: number
}) {
  const cell = 'min-w-0 truncate'
  return (
    // biome-ignore lint/a11y/useSemanticElements: see the table.
    // biome-ignore lint/a11y/useFocusableInteractive: the link inside takes the focus.
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={chosen || undefined}
      className={cx(
        columns,
        'group absolute inset-x-0 border-b max-md:grid-cols-[minmax(0,1fr)_auto] max-md:content-center',
        chosen ? 'bg-selected shadow-[inset_2px_0_0_var(--ink)]' : 'hover:bg-hover',
      )}
      style={{ transform: `translateY(${top}px)`, height }}
    >
      <Cell className={cx(cell, 'flex max-md:order-2 max-md:justify-end')}>
        {run.waitsIn ? <WaitsMark waitsIn={run.waitsIn} /> : <RunMark run={run} />}
      </Cell>
      <Cell className={cx(cell, 'flex items-center gap-2 font-medium')}>
        <Link
          href={links.run(run.id)}
          className="min-w-0 truncate after:absolute after:inset-0 focus-visible:outline-none after:focus-visible:outline-2 after:focus-visible:-outline-offset-2 after:focus-visible:outline-focus"
        >
          {run.workflow}
        </Link>
        {run.openApprovals > 0 && <Tag tone="waiting">{run.openApprovals} to decide</Tag>}
        {run.waitsIn && (
          <Tag tone="waiting">
            {run.waitsIn.role}, in {run.waitsIn.workflow}
          </Tag>
        )}
      </Cell>
      <Cell className="w-fit text-ink-3 max-md:order-3 md:relative md:z-10">
        <CopyId id={run.id} what="run id" className="max-md:hidden" />
        <span className="mono md:hidden">{shortId(run.id)}</span>
      </Cell>
      <Cell className={cx(cell, 'text-ink-2 max-md:hidden')}>
        <Steps run={run} />
      </Cell>
      <Cell className={cx(cell, 'text-ink-3 max-md:hidden')}>
        <Actor id={run.startedBy} />
      </Cell>
      <Cell
        className={cx(cell, 'text-right text-ink-2 max-md:order-4 md:relative md:z-10 max-md:text-ink-3')}
      >
        <RelativeTime at={run.startedAt} />
      </Cell>
      <Cell className={cx(cell, 'text-right max-md:hidden')}>
        <Took from={run.startedAt} to={run.endedAt} />
      </Cell>
    </div>
  )
}

/** At work only because a run below it waits for a person. */
function WaitsMark({ waitsIn }: { waitsIn: WaitsIn }) {
  return (
    <StateMark state="waiting">
      waiting
      <span className="sr-only">
        {' '}
        for {waitsIn.role}, in {waitsIn.workflow}
      </span>
    </StateMark>
  )
}

function Cell({ className, children }: { className?: string; children: React.ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: see the table.
    <span role="cell" className={className}>
      {children}
    </span>
  )
}
