'use client'
/*
 * Breakers: who calls whom, and which calls are kept from doing harm. The map is the overview, the panel one breaker
 * under the microscope, the list every breaker in a row; selecting in one selects in all, and the URL is the view
 * (`?circuit=…&show=troubled&part=history`). On a phone it is the list, and the panel when one is chosen.
 */
import { ChevronDown, ChevronLeft } from 'lucide-react'
import Link from 'next/link'
import { useEffect, useMemo, useState } from 'react'
import { NotHere } from '@/components/shell/not-here'
import { PageHead } from '@/components/shell/page-head'
import { Button } from '@/components/ui/button'
import { cx } from '@/components/ui/cx'
import { EmptyState } from '@/components/ui/empty-state'
import { ErrorNote } from '@/components/ui/error-note'
import { Menu, MenuChoice } from '@/components/ui/menu'
import { PageHelp } from '@/components/ui/page-help'
import { Skeleton } from '@/components/ui/skeleton'
import { isApiProblem } from '@/lib/ui/api'
import { useCircuit, useCircuits, useServerNow } from '@/lib/ui/circuit-queries'
import { links } from '@/lib/ui/links'
import { useShortcuts } from '@/lib/ui/shortcuts'
import { useSmallScreen } from '@/lib/ui/small-screen'
import { isTroubled } from '@/lib/view/circuit-chart'
import type { CircuitList as CircuitListData, CircuitRow } from '@/lib/view/circuit-wire'
import type { ShownBreaker } from '@/lib/view/circuit-words'
import { BreakerMark } from './breaker-mark'
import { CircuitHistory } from './circuit-history'
import { CircuitList } from './circuit-list'
import { CircuitMap } from './circuit-map'
import { CircuitPanel } from './circuit-panel'
import { ContainmentTabs } from './containment-tabs'
import { ForcedNotes } from './forced-notes'
import { type BreakerView, useBreakerView } from './use-breaker-view'

const keyWords: [string, string][] = [
  ['← → ↑ ↓', 'to the breaker beside, on the map'],
  ['↵', 'open it'],
  ['j k', 'next and previous breaker'],
  ['h', 'its history'],
]

export function Breakers() {
  const query = useCircuits()
  const [view, change] = useBreakerView()
  const data = query.data
  return (
    <>
      <PageHead
        title="Breakers"
        tabs={<ContainmentTabs at="breakers" />}
        className="max-md:h-auto max-md:min-h-14 max-md:flex-wrap max-md:gap-y-2 max-md:py-2"
      >
        {data && <Counts data={data} />}
        <span className="flex-1" />
        {data?.openedIn24h !== undefined && (
          <span className="text-ink-3 max-md:hidden">
            <span className="num">{data.openedIn24h}</span> opened in 24 h
          </span>
        )}
        <ShowMenu show={view.show} onShow={(show) => change({ show })} />
        <PageHelp page="Breakers" keys={keyWords}>
          A breaker watches the calls from one workflow to one agent, model or host: each line of the map is
          one. Where lines run together, point at them for their names; a click there, or on the agent, lets
          you choose one. When too many calls fail it opens, and the next ones are refused at once, so that
          one failing agent does not take others along. After a cooldown one call goes as a probe; a good
          answer closes the breaker. You can hold one open or closed for a while, with a reason.
        </PageHelp>
      </PageHead>
      {query.isError && !data ? (
        <ErrorNote
          title="The breakers could not be read"
          error={query.error}
          means="They work on without this page."
          onRetry={() => void query.refetch()}
        />
      ) : !data ? (
        <Skeleton what="breakers" lines={10} row={44} />
      ) : data.items.length === 0 && view.circuit === undefined ? (
        <EmptyState
          title="No calls yet"
          action={
            <Button asChild variant="primary">
              <Link href={links.workflows}>Choose a workflow</Link>
            </Button>
          }
        >
          A breaker shows here with the first call that a workflow makes to an agent, a model or a host, and
          for an hour after the last. Run a workflow that calls one.
        </EmptyState>
      ) : (
        <Loaded data={data} heardAt={query.dataUpdatedAt} view={view} change={change} />
      )}
    </>
  )
}

function Loaded({
  data,
  heardAt,
  view,
  change,
}: {
  data: CircuitListData
  heardAt: number
  view: BreakerView
  change: (change: BreakerView, how?: 'push' | 'replace') => void
}) {
  const small = useSmallScreen()
  const now = useServerNow(data.at, heardAt)
  const rows = useMemo(
    () => (view.show === 'troubled' ? data.items.filter(isTroubled) : data.items),
    [data.items, view.show],
  )
  // What is on screen stays there, whatever comes first in the list meanwhile.
  const first = rows[0]?.id
  const [pinned, setPinned] = useState(first)
  useEffect(() => {
    if (pinned === undefined && first !== undefined) setPinned(first)
  }, [pinned, first])
  const asked = useCircuit(view.circuit)
  const isMissing = isApiProblem(asked.error, 'not_found')
  const selected =
    (isMissing ? undefined : view.circuit) ??
    (small ? undefined : (rows.find(({ id }) => id === pinned)?.id ?? first))
  const detail = useCircuit(selected)
  const row = data.items.find(({ id }) => id === selected) ?? detail.data?.pages[0]?.row
  const open = (id: string) => change({ circuit: id, part: undefined }, small ? 'push' : 'replace')
  const step = (by: 1 | -1) => {
    const at = rows.findIndex(({ id }) => id === selected)
    const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))]
    if (next) open(next.id)
  }
  const historyShown = view.part === 'history'
  const onHistory = () => change({ circuit: selected, part: historyShown ? undefined : 'history' })
  useShortcuts({ j: () => step(1), k: () => step(-1), h: onHistory })

  const panel = row ? (
    <>
      <CircuitPanel
        key={row.id}
        row={row}
        hold={row.held ? data.holds.find(({ downstream }) => downstream.id === row.downstream.id) : undefined}
        question={detail.data?.pages[0]?.question}
        now={now}
        tokens={detail.data?.pages[0] && (detail.data.pages[0].history[0]?.seq ?? 0)}
        historyShown={historyShown}
        onHistory={onHistory}
      />
      {historyShown && <CircuitHistory query={detail} />}
    </>
  ) : selected !== undefined && detail.isError ? (
    <ErrorNote
      title="This breaker could not be read"
      error={detail.error}
      means="The others are here."
      onRetry={() => void detail.refetch()}
    />
  ) : selected !== undefined ? (
    <Skeleton what="the breaker" lines={5} row={44} />
  ) : null

  if (small && view.circuit !== undefined && !isMissing) {
    return (
      <div className="min-h-0 flex-1 overflow-auto">
        <div className="border-b px-1">
          <Button variant="quiet" onClick={() => change({ circuit: undefined, part: undefined })}>
            <ChevronLeft size={16} strokeWidth={1.5} aria-hidden="true" />
            All breakers
          </Button>
        </div>
        {panel}
      </div>
    )
  }
  return (
    <>
      <NotHere
        of={
          isMissing && view.circuit !== undefined
            ? {
                what: 'breaker',
                asked: view.circuit,
                instead: row ? `${row.downstream.name} is shown` : 'these are all there are',
              }
            : undefined
        }
      />
      <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] md:grid-cols-[minmax(0,1fr)_376px] xl:grid-cols-[minmax(0,1fr)_440px]">
        {!small &&
          (rows.length > 0 ? (
            <CircuitMap rows={rows} now={now} selected={selected} onSelect={open} />
          ) : (
            <AllWell onAll={() => change({ show: undefined })} />
          ))}
        <div className="min-h-0 overflow-auto">
          {!small && panel}
          {small && rows.length === 0 ? (
            <AllWell onAll={() => change({ show: undefined })} />
          ) : (
            rows.length > 0 && <CircuitList rows={rows} now={now} selected={selected} onSelect={open} />
          )}
          <ForcedNotes rows={rows.filter(({ id }) => small || id !== selected)} now={now} />
        </div>
      </div>
    </>
  )
}

function AllWell({ onAll }: { onAll: () => void }) {
  return (
    <div className={cx('flex bg-canvas md:border-r')}>
      <EmptyState
        title="No breaker is in trouble"
        action={<Button onClick={onAll}>Show all breakers</Button>}
      >
        All of them are closed: calls pass.
      </EmptyState>
    </div>
  )
}

const countOrder: { of: ShownBreaker[]; shown: ShownBreaker; word: string }[] = [
  { of: ['open'], shown: 'open', word: 'open' },
  { of: ['half_open'], shown: 'half_open', word: 'half-open' },
  { of: ['forced_open', 'forced_closed'], shown: 'forced_open', word: 'forced' },
  { of: ['closed'], shown: 'closed', word: 'closed' },
]

/** How many stand how: lever, figure and word. What there is none of is not told. */
function Counts({ data }: { data: CircuitListData }) {
  const counts = countOrder.map(({ of, ...rest }) => ({
    ...rest,
    n: data.items.filter((row: CircuitRow) => of.includes(row.shown)).length,
  }))
  return (
    <p className="flex gap-4 md:ml-4 max-md:order-last max-md:basis-full max-md:gap-3" aria-live="polite">
      {counts.map(
        ({ shown, word, n }) =>
          n > 0 && (
            <BreakerMark key={word} shown={shown}>
              {n.toLocaleString('en')} {word}
            </BreakerMark>
          ),
      )}
    </p>
  )
}

function ShowMenu({
  show,
  onShow,
}: {
  show: BreakerView['show']
  onShow: (show: BreakerView['show']) => void
}) {
  const words = { all: 'All', troubled: 'Only troubled' }
  const value = show ?? 'all'
  return (
    <Menu
      trigger={
        <Button size="sm" title="Which breakers are shown">
          <span className="sr-only">Shown: </span>
          {words[value]}
          <ChevronDown size={16} strokeWidth={1.5} aria-hidden="true" />
        </Button>
      }
    >
      <MenuChoice<'all' | 'troubled'>
        label="Show"
        value={value}
        choices={[
          { value: 'all', word: words.all },
          { value: 'troubled', word: words.troubled },
        ]}
        onChange={(next) => onShow(next === 'all' ? undefined : next)}
      />
    </Menu>
  )
}
