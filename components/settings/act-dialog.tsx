'use client'
import { type ReactNode, useId, useState } from 'react'
import { FormAlert } from '@/components/sign-in/form-alert'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { sentenceOf } from '@/lib/ui/api'
import { fieldOf } from './words'

/**
 * A dialog around one act. It names its target in title and button, does it on Enter or click, and says in place why it
 * was not done: at the field of `fields` that the refusal is about, or above them. It closes when `act` succeeds, unless it `keepsOpen` for what follows.
 */
export function ActDialog({
  title,
  description,
  button,
  danger = false,
  fields = [],
  act,
  onClose,
  children,
  keepsOpen = false,
  width,
}: {
  title: string
  description?: ReactNode
  button: string
  danger?: boolean
  fields?: readonly string[]
  act: () => Promise<void>
  onClose: () => void
  children?: (faults: Readonly<Record<string, string>>) => ReactNode
  keepsOpen?: boolean
  /** In px. */
  width?: number
}) {
  const id = useId()
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<{ field: string | undefined; sentence: string }>()

  async function submit() {
    if (busy) return
    setBusy(true)
    setFault(undefined)
    try {
      await act()
      if (!keepsOpen) onClose()
    } catch (error) {
      const field = fieldOf(error)
      setFault({ field: field && fields.includes(field) ? field : undefined, sentence: sentenceOf(error) })
      setBusy(false)
    }
  }

  const faults = fault?.field ? { [fault.field]: fault.sentence } : {}
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      description={description}
      {...(width ? { width } : {})}
      actions={
        <>
          <Button
            type="submit"
            form={id}
            variant={danger ? 'danger' : 'primary'}
            busy={busy}
            className="min-w-0"
          >
            <span className="truncate">{button}</span>
          </Button>
          <Button onClick={onClose}>Leave it</Button>
        </>
      }
    >
      <form
        id={id}
        noValidate
        // What was wrong is being mended.
        onInput={() => setFault(undefined)}
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <FormAlert>{fault && !fault.field ? fault.sentence : undefined}</FormAlert>
        {children?.(faults)}
      </form>
    </Dialog>
  )
}
