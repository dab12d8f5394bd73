'use client'
import Link from 'next/link'
import { Fragment, type ReactNode, useState } from 'react'
import { Actor } from '@/components/ui/actor'
import { Button } from '@/components/ui/button'
import { RelativeTime } from '@/components/ui/relative-time'
import { satisfies } from '@/lib/hitl/roles'
import { clockTime, count, countdown, duration } from '@/lib/ui/format-time'
import { useHydrated } from '@/lib/ui/hydrated'
import { links } from '@/lib/ui/links'
import { useMe } from '@/lib/ui/queries'
import { shortId } from '@/lib/ui/short-id'
import type { CircuitHoldView, CircuitQuestion, CircuitRow } from '@/lib/view/circuit-wire'
import { breakerWords, noCallsWords } from '@/lib/view/circuit-words'
import { BreakerMark } from './breaker-mark'
import { ForceDialog, LiftDialog } from './force-dialog'
import { ProbeNow } from './probe-now'
import { RateChart } from './rate-chart'
import { Reported } from './reported'
import { clockMinutes, doubledWords, isProbeDue, nameOf, percentNumber } from './words'

/** One breaker in detail: how it stands and until when, what brought it there, who waits, and what a person can do. */
export function CircuitPanel({
  row,
  hold,
  question,
  now,
  tokens,
  historyShown,
  onHistory,
}: {
  row: CircuitRow
  /** The question that holds its probes. */
  hold: CircuitHoldView | undefined
  /** What a probe by a person would ask. */
  question: CircuitQuestion | undefined
  /** By the server's clock. */
  now: number
  /** How many changes its history has. */
  tokens: number | undefined
  historyShown: boolean
  onHistory: () => void
}) {
  return (
    <section aria-label={nameOf(row)} className="border-b px-4 pb-4 pt-3">
      <div className="flex items-start gap-2">
        <h2 className="min-w-0 flex-1 [overflow-wrap:anywhere]">{nameOf(row)}</h2>
        <BreakerMark shown={row.shown} />
      </div>
      <p className="mono text-ink-3 [overflow-wrap:anywhere]">{row.downstream.id}</p>
      {row.reported ? (
        <Reported row={row} told={row.reported} />
      ) : (
        <>
          <Clock row={row} now={now} />
          <ProbeNow row={row} question={question} now={now} />
          {hold && <Held row={row} hold={hold} />}
          <Rate row={row} now={now} />
          <RateChart row={row} now={now} />
          <p className="text-ink-2">
            {!isProbeDue(row, now) && meaning(row)} <Waiting row={row} />
          </p>
          <Lately row={row} />
        </>
      )}
      <Acts row={row} now={now} tokens={tokens} historyShown={historyShown} onHistory={onHistory} />
    </section>
  )
}

/** The time left and what it is until: the next probe, the probe's answer, or the end of a person's word. */
function Clock({ row, now }: { row: CircuitRow; now: number }) {
  const { forced, until, status, cooldownS = 0 } = row
  if (forced && forced.until > now) {
    return (
      <>
        <Left
          now={now}
          from={forced.since}
          until={forced.until}
          what={`${breakerWords[row.shown]} until`}
          beside={`by itself ${breakerWords[status]}`}
          minutes
        />
        <p className="text-ink-2 [overflow-wrap:anywhere]">“{forced.reason}”</p>
        <p className="mb-2 text-t1 text-ink-3">
          <Actor id={forced.by} />, <RelativeTime at={forced.since} />, signed
        </p>
      </>
    )
  }
  // Probes that a person's answer holds wait for no time.
  if (row.held || status === 'closed' || until === undefined) return null
  if (status === 'half_open') {
    return (
      <Left now={now} from={row.since} until={until} what="counts as failed at" beside="one probe is out" />
    )
  }
  if (isProbeDue(row, now)) return null
  const doubled = doubledWords(row.reopened ?? 0)
  return (
    <Left
      now={now}
      from={until - cooldownS * 1000}
      until={until}
      what="next probe"
      beside={
        <>
          cooldown <span className="num">{cooldownS} s</span>
          {doubled && `, ${doubled}`}
        </>
      }
    />
  )
}

function Left({
  now,
  from,
  until,
  what,
  beside,
  minutes = false,
}: {
  now: number
  from: number
  until: number
  what: string
  beside: ReactNode
  /** It is hours away: seconds of the day tell nothing. */
  minutes?: boolean
}) {
  const hydrated = useHydrated()
  const share = Math.min(1, Math.max(0, (now - from) / Math.max(1, until - from)))
  return (
    <div className="flex items-center gap-4 py-3">
      <span
        className="font-mono text-t3 font-medium tabular-nums"
        suppressHydrationWarning
        role="timer"
        aria-live="off"
      >
        {countdown(until - now)}
      </span>
      <div className="min-w-0 flex-1">
        <div className="mb-1.5 h-1 bg-selected" aria-hidden="true">
          <div className="h-1 bg-ink" style={{ width: `${share * 100}%` }} suppressHydrationWarning />
        </div>
        <div className="flex flex-wrap justify-between gap-x-3 text-t1 text-ink-3">
          <span>
            {what}{' '}
            {hydrated && <span className="num">{minutes ? clockMinutes(until) : clockTime(until)}</span>}
          </span>
          <span>{beside}</span>
        </div>
      </div>
    </div>
  )
}

function Held({ row, hold }: { row: CircuitRow; hold: CircuitHoldView }) {
  return (
    <p className="my-3 rounded-r2 border border-waiting-line bg-waiting-wash px-3 py-2 text-waiting-ink">
      No probe goes to {row.downstream.name} until somebody answers; its cooldown does not count.{' '}
      <Link
        href={hold.approval ? links.approvals({ item: hold.approval }) : links.run(hold.run)}
        className="font-medium underline underline-offset-4"
      >
        Answer the question
      </Link>
    </p>
  )
}

function Rate({ row, now }: { row: CircuitRow; now: number }) {
  const { counts, opened, threshold, windowS } = row
  const over = row.errorRate > threshold
  return (
    <div className="mt-1 flex flex-wrap justify-between gap-x-3 text-t1 text-ink-3">
      <span>Error rate, %</span>
      <span suppressHydrationWarning>
        {counts.calls === 0 ? (
          <>
            {noCallsWords(windowS)}
            {row.status === 'open' && opened && (
              <>
                ; <span className="num">{opened.failures}</span> of{' '}
                <span className="num">{opened.calls}</span> failed when it opened
              </>
            )}
          </>
        ) : (
          <>
            <b className={over ? 'num font-medium text-failed-ink' : 'num font-medium text-ink'}>
              {percentNumber(row.errorRate)}
            </b>{' '}
            against <span className="num">{percentNumber(threshold)}</span>,{' '}
            <span className="num">{counts.failures}</span> of <span className="num">{counts.calls}</span>{' '}
            calls
          </>
        )}
        {counts.rejected > 0 && now > 0 && (
          <>
            , <span className="num">{counts.rejected}</span> refused
          </>
        )}
      </span>
    </div>
  )
}

/** What its state means for those who call, in a sentence. */
function meaning(row: CircuitRow): string {
  switch (row.shown) {
    case 'closed':
      return `Calls pass. It opens when more than ${percentNumber(row.threshold)} % of at least ${count(row.minCalls, 'call')} within ${row.windowS} s fail.`
    case 'open':
      return row.held
        ? 'Calls are refused at once until the question is answered.'
        : 'Calls are refused at once. The first one after the cooldown is the probe; who cannot wait for it can force the breaker closed.'
    case 'half_open':
      return 'One call was let go as a probe; the others are refused until its answer is here.'
    case 'forced_open':
      return 'Calls are refused at once, because a person says so; no probe goes until that ends or is lifted.'
    case 'forced_closed':
      return 'Calls pass, because a person says so, however many fail.'
    default:
      return row.shown satisfies never
  }
}

/** Runs that stand behind it, each a link. */
function Waiting({ row }: { row: CircuitRow }) {
  const { count: waiting, runs } = row.waiting
  if (waiting === 0) return row.shown === 'closed' ? null : <>No run waits behind it.</>
  const more = waiting - runs.length
  return (
    <>
      <span className="whitespace-nowrap">
        {count(waiting, 'run')} {waiting === 1 ? 'waits' : 'wait'}
      </span>{' '}
      behind it:{' '}
      {runs.map((run, at) => (
        <Fragment key={run}>
          {at > 0 && ', '}
          <Link
            href={links.run(run)}
            title={run}
            className="mono underline decoration-line-strong underline-offset-4 hover:decoration-ink"
          >
            {shortId(run)}
          </Link>
        </Fragment>
      ))}
      {more > 0 && ` and ${more} more`}.
    </>
  )
}

/** The latest probe and how long calls take, where that is known. */
function Lately({ row }: { row: CircuitRow }) {
  const { lastProbe, latency, lastFailureAt } = row
  const said: ReactNode[] = []
  if (lastProbe)
    said.push(
      <>
        Last probe <RelativeTime at={lastProbe.at} />: {lastProbe.ok ? 'it succeeded' : 'it failed'}.
      </>,
    )
  else if (lastFailureAt !== undefined)
    said.push(
      <>
        Last failure <RelativeTime at={lastFailureAt} />.
      </>,
    )
  if (latency)
    said.push(
      <>
        99 of 100 calls within <span className="num">{duration(latency.p99Ms)}</span>, usually{' '}
        <span className="num">{duration(latency.usualMs)}</span>.
      </>,
    )
  if (said.length === 0) return null
  return (
    <p className="mt-1 text-ink-3">
      {said.map((one, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: at most two sentences, in one order.
        <Fragment key={at}>{one} </Fragment>
      ))}
    </p>
  )
}

type Act = 'open' | 'closed' | 'lift'

function Acts({
  row,
  now,
  tokens,
  historyShown,
  onHistory,
}: {
  row: CircuitRow
  now: number
  tokens: number | undefined
  historyShown: boolean
  onHistory: () => void
}) {
  const [act, setAct] = useState<Act>()
  const me = useMe().data
  const may = me !== undefined && satisfies(me.roles, 'operator')
  const forced = row.forced !== undefined && row.forced.until > now
  const close = () => setAct(undefined)
  return (
    <>
      {!row.reported && me && !may && (
        <p className="mt-2 text-ink-3">Forcing a breaker takes the role operator, which you do not have.</p>
      )}
      <div className="mt-3 flex flex-wrap items-center gap-2">
        {may &&
          !row.reported &&
          (forced ? (
            <Button size="sm" onClick={() => setAct('lift')}>
              Lift…
            </Button>
          ) : (
            <>
              <Button size="sm" onClick={() => setAct('closed')}>
                Force closed…
              </Button>
              <Button size="sm" onClick={() => setAct('open')}>
                Hold open…
              </Button>
            </>
          ))}
        <span className="flex-1" />
        <Button size="sm" variant="quiet" aria-expanded={historyShown} onClick={onHistory}>
          History {tokens !== undefined && <span className="num text-ink-3">{tokens}</span>}
        </Button>
      </div>
      {(act === 'open' || act === 'closed') && <ForceDialog row={row} to={act} now={now} onClose={close} />}
      {act === 'lift' && <LiftDialog row={row} onClose={close} />}
    </>
  )
}
