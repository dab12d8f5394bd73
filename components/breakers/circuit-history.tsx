'use client'
import Link from 'next/link'
import { Actor } from '@/components/ui/actor'
import { Button } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { ErrorNote } from '@/components/ui/error-note'
import { RelativeTime } from '@/components/ui/relative-time'
import { Skeleton } from '@/components/ui/skeleton'
import type { useCircuit } from '@/lib/ui/circuit-queries'
import { links } from '@/lib/ui/links'
import { shortId } from '@/lib/ui/short-id'
import type { CircuitChangeView } from '@/lib/view/circuit-wire'
import type { ShownBreaker } from '@/lib/view/circuit-words'
import { BreakerShape } from './breaker-mark'
import { clockMinutes } from './words'

/** Every change of the breaker, newest first: each is a signed token of its own chain. */
export function CircuitHistory({ query }: { query: ReturnType<typeof useCircuit> }) {
  const changes = query.data?.pages.flatMap((page) => page.history)
  return (
    <section aria-label="History" className="border-b">
      {query.isError && !changes ? (
        <ErrorNote
          title="The history could not be read"
          error={query.error}
          means="The breaker itself works on."
          onRetry={() => void query.refetch()}
        />
      ) : !changes ? (
        <Skeleton what="the history" lines={3} row={44} />
      ) : changes.length === 0 ? (
        <p className="px-4 py-3 text-ink-3">
          It has been closed since its first call: there is nothing to tell.
        </p>
      ) : (
        <ol>
          {changes.map((change) => (
            <Change key={change.jti} change={change} />
          ))}
        </ol>
      )}
      {query.hasNextPage && (
        <div className="px-4 py-3">
          <Button size="sm" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Show older changes
          </Button>
        </div>
      )}
    </section>
  )
}

function Change({ change }: { change: CircuitChangeView }) {
  const { run, by } = change
  return (
    <li className="flex items-start gap-2 border-b px-4 py-2 last:border-b-0">
      <span className="mt-0.5">
        <BreakerShape shown={shapeOf(change)} />
      </span>
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <p>{changeWords(change)}</p>
        {change.reason && <p className="text-ink-2">“{change.reason}”</p>}
        <p className="text-t1 text-ink-3">
          {by && (
            <>
              <Actor id={by} />,{' '}
            </>
          )}
          {run && (
            <>
              by a call of{' '}
              <Link
                href={links.run(run, change.node === undefined ? {} : { node: change.node })}
                title={run}
                className="mono underline decoration-line-strong underline-offset-4 hover:decoration-ink"
              >
                {shortId(run)}
              </Link>
              ,{' '}
            </>
          )}
          token <span className="num">{change.seq}</span> <CopyId id={change.jti} what="token id" />
        </p>
      </div>
      <RelativeTime at={change.at} className="text-ink-3" />
    </li>
  )
}

function shapeOf({ what, to }: CircuitChangeView): ShownBreaker {
  switch (what) {
    case 'opened':
      return 'open'
    case 'probed':
      return 'half_open'
    case 'closed':
      return 'closed'
    case 'forced':
      return to === 'closed' ? 'forced_closed' : 'forced_open'
    case 'lifted':
      return 'closed'
    default:
      return what satisfies never
  }
}

/** "Opened for 60 s: 9 of 12 calls failed". */
function changeWords(change: CircuitChangeView): string {
  const { what, by, calls, failures, cooldownS, reopened = 0, to, until } = change
  const span = cooldownS === undefined ? '' : ` for ${cooldownS} s`
  switch (what) {
    case 'opened':
      if (reopened > 0) return `Opened again${span}: the probe failed`
      return calls ? `Opened${span}: ${failures ?? 0} of ${calls} calls failed` : `Opened${span}`
    case 'probed':
      return by === undefined
        ? 'Half-open: one call went as a probe'
        : 'Half-open: a question went as a probe'
    case 'closed':
      return 'Closed: the probe succeeded'
    case 'forced':
      return `Forced ${to ?? 'open'}${until === undefined ? '' : ` until ${clockMinutes(until)}`}`
    case 'lifted':
      return 'Left to itself again'
    default:
      return what satisfies never
  }
}
