'use client'
import { ArrowRight } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from '@/components/ui/button'
import { cx } from '@/components/ui/cx'
import { Field, Textarea } from '@/components/ui/field'
import type { Json, JsonObject } from '@/lib/base/json'
import { count } from '@/lib/ui/format-time'
import { useShortcuts } from '@/lib/ui/shortcuts'
import type { ApprovalCard, EventChoice, EventSlot } from '@/lib/view/approval-wire'
import { commentLength } from './answer-dialog'
import { DeadlineSentence } from './decision-facts'

/** Keys 1 to 9 give an event; the tenth and on are for the pointer, or Tab. */
const keyed = 9

/**
 * The answers to "what happened?": a button for each event, which says where it leads, in the author's order and of the
 * same weight. What is written beside it goes along: why, and values for the artifacts that the state may write.
 */
export function EventActs({
  card,
  compact,
  busy,
  note,
  onAnswer,
  children,
}: {
  card: ApprovalCard
  compact: boolean
  busy: boolean
  note: string | undefined
  onAnswer: (wish: {
    verdict: 'event'
    event: string
    comment: string
    artifacts?: JsonObject
  }) => Promise<boolean>
  children: ReactNode
}) {
  const { events = [], slots = [], mayDecide } = card
  const [comment, setComment] = useState('')
  const [values, setValues] = useState<Record<string, string>>({})
  const [faults, setFaults] = useState<Record<string, string>>({})
  const may = mayDecide && !busy
  const give = (event: string) => {
    const read = readSlots(slots, values)
    setFaults(read.faults)
    if (Object.keys(read.faults).length > 0) return
    void onAnswer({
      verdict: 'event',
      event,
      comment: comment.trim(),
      ...(Object.keys(read.values).length > 0 ? { artifacts: read.values } : {}),
    })
  }
  useShortcuts(
    Object.fromEntries(
      events.slice(0, keyed).map(({ event }, at) => [String(at + 1), may ? () => give(event) : undefined]),
    ),
  )
  const redirected = events.filter(({ insteadOf }) => insteadOf !== undefined)
  return (
    <>
      {mayDecide && (
        <div className={cx('flex flex-col gap-3', compact ? 'mt-1 pb-3' : 'mt-2 border-t py-4')}>
          <Field label="Why, kept with the event" optional>
            {(ids) => (
              <Textarea
                {...ids}
                rows={compact ? 1 : 2}
                maxLength={commentLength}
                value={comment}
                onChange={(event) => setComment(event.target.value)}
                onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
                className="min-h-8!"
              />
            )}
          </Field>
          {slots.length > 0 && (
            <Slots
              slots={slots}
              values={values}
              faults={faults}
              onChange={(name, value) => {
                setValues((before) => ({ ...before, [name]: value }))
                setFaults(({ [name]: _, ...rest }) => rest)
              }}
            />
          )}
        </div>
      )}
      <div
        className={cx(
          'sticky bottom-0 border-t bg-surface',
          compact ? '-mx-4 px-4 py-3' : 'pb-3 pt-4 max-md:-mx-4 max-md:px-4 max-md:pb-7 max-md:pt-3',
        )}
      >
        <p className="mb-3 md:hidden">
          <DeadlineSentence card={card} />
        </p>
        {note && (
          <p className="mb-3" role="alert">
            {note}
          </p>
        )}
        {!mayDecide && (
          <p className="mb-3 text-ink-2" role="note">
            <b>You cannot give this event.</b> {card.mayNotBecause}
          </p>
        )}
        {events.length === 0 && (
          <p className="mb-3 text-ink-2">
            No event leads on from here, so none can be given; roll the run back or cancel it.
          </p>
        )}
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset brings a frame and a legend that nobody needs here. */}
        <div role="group" aria-label="Events" className="mb-3 flex flex-wrap gap-2 max-md:flex-col">
          {events.map((choice, at) => (
            <EventButton
              key={choice.event}
              choice={choice}
              busy={busy}
              disabled={!mayDecide}
              onGive={() => give(choice.event)}
              {...(at < keyed ? { shortcut: String(at + 1) } : {})}
            />
          ))}
        </div>
        {redirected.map(({ event, insteadOf, label }) => (
          <p key={event} className="mb-3 text-t1 text-ink-3">
            “{event}” was meant to lead to {insteadOf}, which was entered as often as it may be; it leads to{' '}
            {label} instead.
          </p>
        ))}
        {children}
      </div>
    </>
  )
}

/** "Approved → execute", with the key that gives it. */
export function EventButton({
  choice: { event, label },
  onGive,
  ...rest
}: {
  choice: EventChoice
  busy: boolean
  disabled: boolean
  onGive: () => void
  shortcut?: string
}) {
  return (
    <Button wraps aria-label={`${event}, leads to ${label}`} onClick={onGive} {...rest}>
      <span className="inline-flex min-w-0 items-center gap-1.5">
        <span>{event}</span>
        <ArrowRight size={14} strokeWidth={1.5} aria-hidden="true" className="shrink-0 text-ink-3" />
        <span className="font-regular text-ink-2">{label}</span>
      </span>
    </Button>
  )
}

function Slots({
  slots,
  values,
  faults,
  onChange,
}: {
  slots: readonly EventSlot[]
  values: Record<string, string>
  faults: Record<string, string>
  onChange: (name: string, value: string) => void
}) {
  const [open, setOpen] = useState(false)
  if (!open) {
    return (
      <Button size="sm" className="self-start" onClick={() => setOpen(true)}>
        {slots.length === 1
          ? `Write “${slots[0]?.name}” along with it…`
          : `Write ${count(slots.length, 'artifact')} along with it…`}
      </Button>
    )
  }
  return slots.map(({ name, mediaType, mode, description }, at) => (
    <Field
      key={name}
      label={name}
      help={`${description ? `${description.replace(/[.\s]+$/, '')}. ` : ''}${mode === 'append' ? 'Added to what is there' : 'Takes the place of what is there'}, as ${mediaType}. Left empty, it stays as it is.`}
      error={faults[name]}
    >
      {(ids) => (
        <Textarea
          {...ids}
          rows={3}
          spellCheck={false}
          autoFocus={at === 0}
          value={values[name] ?? ''}
          onChange={(event) => onChange(name, event.target.value)}
          onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
          className="mono leading-5"
        />
      )}
    </Field>
  ))
}

/** Values of the fields that hold something; JSON where the slot's type says so. */
function readSlots(slots: readonly EventSlot[], typed: Record<string, string>) {
  const values: JsonObject = {}
  const faults: Record<string, string> = {}
  for (const { name, mediaType } of slots) {
    const text = typed[name] ?? ''
    if (text.trim() === '') continue
    if (!/[/+]json\b/.test(mediaType)) {
      values[name] = text
      continue
    }
    try {
      values[name] = JSON.parse(text) as Json
    } catch {
      faults[name] = 'This is not JSON; text goes in quotation marks, and nothing follows a last member.'
    }
  }
  return { values, faults }
}
