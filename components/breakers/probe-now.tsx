'use client'
import { useRef } from 'react'
import { Button } from '@/components/ui/button'
import { tell, warn, warnOf } from '@/components/ui/toast'
import { satisfies } from '@/lib/hitl/roles'
import { isRefusal, newIdempotencyKey } from '@/lib/ui/api'
import { useProbeCircuit } from '@/lib/ui/circuit-queries'
import { useMe } from '@/lib/ui/queries'
import type { CircuitQuestion, CircuitRow } from '@/lib/view/circuit-wire'
import { isProbeDue, nameOf } from './words'

/** A breaker whose cooldown is over stays open until somebody calls: what it waits for, and a way to ask now. */
export function ProbeNow({
  row,
  question,
  now,
}: {
  row: CircuitRow
  question: CircuitQuestion | undefined
  /** By the server's clock. */
  now: number
}) {
  const me = useMe().data
  const probe = useProbeCircuit(row.id)
  // One probe, however often its answer is lost and it is tried again.
  const key = useRef(newIdempotencyKey())
  if (!isProbeDue(row, now) && !probe.isPending) return null
  const { caller, downstream } = row
  const send = () =>
    probe.mutate(
      { idempotencyKey: key.current },
      {
        onSuccess: ({ ok, sentence }) => {
          key.current = newIdempotencyKey()
          if (ok) tell(`${nameOf(row)} is closed: ${downstream.name} answered the probe`)
          else warn(`${nameOf(row)} stays open`, sentence)
        },
        onError: (error) => {
          if (isRefusal(error)) key.current = newIdempotencyKey()
          warnOf('No probe went', error)
        },
      },
    )
  const may = me !== undefined && satisfies(me.roles, 'operator')
  const offered = may && question !== undefined
  return (
    <section aria-label="Probe" className="my-3 rounded-r2 border px-3 py-2">
      <p>
        Its cooldown is over: the next call of {caller.name} is the probe. Until one comes it stays open,
        however well {downstream.name} is.
      </p>
      {offered && (
        <div className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-2">
          <Button size="sm" busy={probe.isPending} onClick={send}>
            Probe now
          </Button>
          <span className="min-w-[13rem] flex-1 text-t1 text-ink-3">
            Asks {downstream.name} for its state and changes nothing there. Only an answer it signs closes the
            breaker; without one it stays open for twice as long as before.
          </span>
        </div>
      )}
    </section>
  )
}
