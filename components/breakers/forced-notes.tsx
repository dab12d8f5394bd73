'use client'
import { useState } from 'react'
import { Actor } from '@/components/ui/actor'
import { Button } from '@/components/ui/button'
import { RelativeTime } from '@/components/ui/relative-time'
import { satisfies } from '@/lib/hitl/roles'
import { countdown } from '@/lib/ui/format-time'
import { useHydrated } from '@/lib/ui/hydrated'
import { useMe } from '@/lib/ui/queries'
import type { CircuitRow } from '@/lib/view/circuit-wire'
import { breakerWords } from '@/lib/view/circuit-words'
import { BreakerShape } from './breaker-mark'
import { LiftDialog } from './force-dialog'
import { clockMinutes, nameOf } from './words'

/** What people forced, each with its reason and its end: nobody should have to find these one by one. */
export function ForcedNotes({ rows, now }: { rows: readonly CircuitRow[]; now: number }) {
  const forced = rows.filter((row) => row.forced && row.forced.until > now)
  return forced.map((row) => <Note key={row.id} row={row} now={now} />)
}

function Note({ row, now }: { row: CircuitRow; now: number }) {
  const [lifting, setLifting] = useState(false)
  const hydrated = useHydrated()
  const me = useMe().data
  const { forced } = row
  if (!forced) return null
  return (
    <section aria-label={`Forced: ${nameOf(row)}`} className="flex items-start gap-2 border-b px-4 py-3">
      <span className="mt-0.5">
        <BreakerShape shown={row.shown} />
      </span>
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <p>
          <b>
            {nameOf(row)} is {breakerWords[row.shown]}
            {hydrated && ` until ${clockMinutes(forced.until)}`}
          </b>
          ,{' '}
          <span className="num" suppressHydrationWarning>
            {countdown(forced.until - now)}
          </span>{' '}
          left.
        </p>
        <p className="text-ink-2">“{forced.reason}”</p>
        <p className="text-t1 text-ink-3">
          <Actor id={forced.by} />, <RelativeTime at={forced.since} />, signed
        </p>
      </div>
      {me && satisfies(me.roles, 'operator') && !row.reported && (
        <Button
          size="sm"
          aria-label={`Lift what was forced on ${nameOf(row)}`}
          onClick={() => setLifting(true)}
        >
          Lift…
        </Button>
      )}
      {lifting && <LiftDialog row={row} onClose={() => setLifting(false)} />}
    </section>
  )
}
