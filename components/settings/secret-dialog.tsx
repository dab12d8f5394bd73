'use client'
import { type ReactNode, useRef, useState } from 'react'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { Field, Input } from '@/components/ui/field'
import { StateShape } from '@/components/ui/state'

/**
 * A secret, shown this once. It is in no cache and in no address, and is gone with the dialog; closing before it was
 * copied is asked about once.
 */
export function SecretDialog({
  title,
  description,
  label,
  secret,
  children,
  onClose,
}: {
  title: string
  description: ReactNode
  label: string
  secret: string
  children?: ReactNode
  onClose: () => void
}) {
  const [copied, setCopied] = useState(false)
  const [warned, setWarned] = useState(false)
  const input = useRef<HTMLInputElement>(null)

  async function copy() {
    if (await copyText(secret, input.current)) setCopied(true)
  }
  function close() {
    if (copied || warned) onClose()
    else setWarned(true)
  }
  return (
    <Dialog
      open
      onClose={close}
      title={title}
      description={description}
      width={560}
      actions={<Button onClick={close}>{warned && !copied ? 'Close without a copy' : 'Done'}</Button>}
    >
      <Field label={label} help="It is shown only now. Nobody can look it up later.">
        {(ids) => (
          <span className="flex gap-2">
            <Input
              {...ids}
              ref={input}
              readOnly
              className="mono"
              value={secret}
              onFocus={(event) => event.target.select()}
              onCopy={() => setCopied(true)}
            />
            <Button variant="primary" onClick={() => void copy()}>
              {copied ? 'Copied' : 'Copy'}
            </Button>
          </span>
        )}
      </Field>
      <p role="status" className="mt-3">
        {copied ? (
          <span className="inline-flex items-center gap-1.5 text-done-ink">
            <StateShape state="done" /> Copied
          </span>
        ) : (
          warned && <span className="text-failed-ink">It was not copied yet and will be gone.</span>
        )}
      </p>
      {children}
    </Dialog>
  )
}

/** True when the text is in the clipboard. Plain http of another machine has no clipboard; the old way then works. */
async function copyText(text: string, input: HTMLInputElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    input?.focus()
    input?.select()
    return document.execCommand('copy')
  }
}
