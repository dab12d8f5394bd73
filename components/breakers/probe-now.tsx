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
  return (
    <div className="mt-3 flex flex-wrap items-center gap-x-3 gap-y-2 rounded-r2 border px-3 py-2">
      <p className="min-w-[14rem] flex-1 text-ink-2">
        {row.waiting.count > 0
          ? `It waits for the next call of ${caller.name}.`
          : `No run of ${caller.name} calls: until one does it stays open, even if ${downstream.name} is well again.`}
        {question &&
          ' A probe asks for its state, which changes nothing; only its signed answer closes the breaker.'}
      </p>
      {may && question && (
        <Button size="sm" busy={probe.isPending} onClick={send}>
          Probe now
        </Button>
      )}
    </div>
  )
}
