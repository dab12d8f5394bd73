'use client'
import { useState } from 'react'
import { Field, Input } from '@/components/ui/field'
import { tell, warnOf } from '@/components/ui/toast'
import { newIdempotencyKey } from '@/lib/ui/api'
import { useGiveEvent } from '@/lib/ui/run-queries'
import type { RunFold } from '@/lib/view/run-fold'
import { labelOf } from '@/lib/workflow/graph-index'
import { commentLength } from './answer-dialog'
import { EventButton } from './event-acts'

/** A hybrid state at work may be told what happened by its model, or by people: whoever is first. */
export function GiveEvent({ run, fold, node }: { run: string; fold: RunFold; node: string }) {
  const [comment, setComment] = useState('')
  const [keys] = useState(() => new Map<string, string>())
  const give = useGiveEvent(run)
  const { graph } = fold.index
  const events = graph.edges.flatMap(({ from, to, when }) =>
    from === node && when !== undefined ? [{ event: when, to, label: labelOf(fold.index, to) }] : [],
  )
  if (events.length === 0) return null
  async function send(event: string) {
    const intent = `${event} ${comment}`
    const idempotencyKey = keys.get(intent) ?? newIdempotencyKey()
    keys.set(intent, idempotencyKey)
    try {
      await give.mutateAsync({ event, node, comment: comment.trim(), idempotencyKey })
      tell(`Gave “${event}” to “${labelOf(fold.index, node)}”`)
    } catch (error) {
      warnOf('The event was not given', error)
    }
  }
  return (
    <section aria-label="Give its event" className="mt-3 flex flex-col gap-2 border-t pt-3">
      <h3 className="font-medium">Say what happened</h3>
      <p className="text-ink-3">Its model is at work. An event from you ends the turn and goes first.</p>
      <Field label="Why, kept with the event" optional>
        {(ids) => (
          <Input
            {...ids}
            maxLength={commentLength}
            value={comment}
            onChange={(event) => setComment(event.target.value)}
          />
        )}
      </Field>
      <div className="flex flex-wrap gap-2">
        {events.map((choice) => (
          <EventButton
            key={choice.event}
            choice={choice}
            busy={give.isPending}
            disabled={false}
            onGive={() => void send(choice.event)}
          />
        ))}
      </div>
    </section>
  )
}
