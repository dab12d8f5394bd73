'use client'
import { useRef, useState } from 'react'
import { FormAlert } from '@/components/sign-in/form-alert'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { Field, Select, Textarea } from '@/components/ui/field'
import { HoldButton } from '@/components/ui/hold-button'
import { tell } from '@/components/ui/toast'
import { newIdempotencyKey, sentenceOf } from '@/lib/ui/api'
import { useForceCircuit, useLiftCircuit } from '@/lib/ui/circuit-queries'
import type { CircuitRow } from '@/lib/view/circuit-wire'
import { clockMinutes, nameOf, percent } from './words'

/** Characters: what the API takes. */
const reasonLength = 500

/** How long a person's word may hold. Short for what is dangerous; nothing holds longer than a week. */
const spans: { minutes: number; word: string }[] = [
  { minutes: 5, word: '5 minutes' },
  { minutes: 15, word: '15 minutes' },
  { minutes: 60, word: '1 hour' },
  { minutes: 4 * 60, word: '4 hours' },
  { minutes: 24 * 60, word: '1 day' },
  { minutes: 7 * 24 * 60, word: '1 week' },
]
const firstSpan = { closed: 5, open: 60 }

/** Forces a breaker open or closed, with a reason and until when. */
export function ForceDialog({
  row,
  to,
  now,
  onClose,
}: {
  row: CircuitRow
  to: 'open' | 'closed'
  /** By the server's clock. */
  now: number
  onClose: () => void
}) {
  const [minutes, setMinutes] = useState(firstSpan[to])
  const force = useForceCircuit(row.id)
  const { name } = row.downstream
  // What fails now, or was just found to fail, would be sent everything again.
  const dangerous = to === 'closed' && row.status !== 'closed'
  const until = clockMinutes(now + minutes * 60_000)
  return (
    <ReasonDialog
      title={to === 'open' ? `Hold the breaker to ${name} open` : `Force the breaker to ${name} closed`}
      description={
        to === 'open'
          ? `No call of ${row.caller.name} to ${name} is let go until then, however well it answers. Runs wait behind it, or do as their workflow says.`
          : dangerous
            ? `${percent(row.errorRate)} of the calls to ${name} failed. Forced closed, every call of ${row.caller.name} is sent to it again, and nothing stops them from failing.`
            : `Every call of ${row.caller.name} to ${name} is let go until then, however many of them fail.`
      }
      help="It stands in the breaker’s history under your name, signed."
      button={to === 'open' ? `Hold ${name} open` : `Send calls to ${name}`}
      danger={dangerous}
      onClose={onClose}
      act={async (reason, idempotencyKey) => {
        await force.mutateAsync({ to, reason, minutes, idempotencyKey })
        tell(`${nameOf(row)} is forced ${to} until ${until}`)
      }}
    >
      <Field label="For how long" help={`It lapses by itself at ${until}.`}>
        {(ids) => (
          <Select {...ids} value={minutes} onChange={(event) => setMinutes(Number(event.target.value))}>
            {spans.map((span) => (
              <option key={span.minutes} value={span.minutes}>
                {span.word}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </ReasonDialog>
  )
}

/** Takes back what a person forced. */
export function LiftDialog({ row, onClose }: { row: CircuitRow; onClose: () => void }) {
  const lift = useLiftCircuit(row.id)
  const { name } = row.downstream
  const open = row.forced?.to === 'open'
  return (
    <ReasonDialog
      title={`Lift what was forced on ${name}`}
      description={
        row.status === 'closed'
          ? open
            ? `By itself the breaker is closed: calls of ${row.caller.name} go to ${name} again at once, and runs that wait behind it go on.`
            : 'By itself the breaker is closed too: calls go on, and it opens again if they fail.'
          : 'By itself the breaker is open: calls are refused until a probe succeeds.'
      }
      button={`Lift it from ${name}`}
      onClose={onClose}
      act={async (reason, idempotencyKey) => {
        await lift.mutateAsync({ reason, idempotencyKey })
        tell(`${nameOf(row)} is left to itself again`)
      }}
    />
  )
}

function ReasonDialog({
  title,
  description,
  help,
  button,
  danger = false,
  onClose,
  act,
  children,
}: {
  title: string
  description: string
  help?: string
  button: string
  /** The act is held for one second. */
  danger?: boolean
  onClose: () => void
  act: (reason: string, idempotencyKey: string) => Promise<void>
  children?: React.ReactNode
}) {
  const [reason, setReason] = useState('')
  const [missing, setMissing] = useState(false)
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  // One act, however often its answer is lost and it is tried again.
  const key = useRef(newIdempotencyKey())
  const submit = async () => {
    if (busy) return
    if (reason.trim() === '') return setMissing(true)
    setBusy(true)
    setFault(undefined)
    try {
      await act(reason.trim(), key.current)
      onClose()
    } catch (error) {
      setFault(sentenceOf(error))
      setBusy(false)
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      description={description}
      actions={
        <>
          {danger ? (
            <HoldButton onHeld={() => void submit()} busy={busy}>
              {button}
            </HoldButton>
          ) : (
            <Button variant="primary" busy={busy} className="min-w-0" onClick={() => void submit()}>
              <span className="truncate">{button}</span>
            </Button>
          )}
          <Button onClick={onClose}>Leave it</Button>
        </>
      }
    >
      <FormAlert>{fault}</FormAlert>
      <div className="flex flex-col gap-3">
        <Field
          label="Reason"
          help={help}
          error={missing ? 'Say why: whoever comes after you reads it.' : undefined}
        >
          {(ids) => (
            <Textarea
              {...ids}
              rows={3}
              maxLength={reasonLength}
              value={reason}
              onChange={(event) => {
                setReason(event.target.value)
                setMissing(false)
                // Other words are another act.
                key.current = newIdempotencyKey()
              }}
            />
          )}
        </Field>
        {children}
      </div>
    </Dialog>
  )
}
