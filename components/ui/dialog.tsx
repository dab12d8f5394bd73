'use client'
import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import { type ReactNode, useRef } from 'react'
import { IconButton } from './button'
import { cx } from './cx'

/** Into the first field, where there is one: whoever opens a form wants to write, not to close it. */
function focusFirstField(event: Event) {
  const field = (event.currentTarget as HTMLElement | null)?.querySelector<HTMLElement>(
    'textarea, input, select',
  )
  if (!field) return
  event.preventDefault()
  field.focus()
}

/**
 * A dialog: the page behind it waits. On a phone it is a sheet that rises from the foot. `title` names the act and its
 * target ("Refuse update of edge-router-07"); `actions` are buttons, the act first.
 */
export function Dialog({
  open,
  onClose,
  title,
  description,
  children,
  actions,
  width = 480,
}: {
  open: boolean
  onClose: () => void
  title: string
  description?: ReactNode
  children?: ReactNode
  actions?: ReactNode
  /** In px. */
  width?: number
}) {
  const opener = useOpener(open)
  return (
    <Radix.Root open={open} onOpenChange={(now) => !now && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="motion-fade fixed inset-0 z-40 bg-[color-mix(in_srgb,var(--canvas)_55%,#0009)]" />
        <Radix.Content
          {...(description ? {} : { 'aria-describedby': undefined })}
          onOpenAutoFocus={focusFirstField}
          onCloseAutoFocus={(event) => {
            if (!opener.current?.isConnected) return
            event.preventDefault()
            opener.current.focus()
          }}
          style={{ maxWidth: width }}
          className={cx(
            'motion-appear fixed z-50 flex w-full flex-col border border-line-strong bg-surface outline-none',
            'max-md:inset-x-0 max-md:bottom-0 max-md:max-h-[92dvh] max-md:max-w-none! max-md:border-x-0 max-md:border-b-0',
            'md:left-1/2 md:top-[12vh] md:max-h-[76vh] md:w-[calc(100%-48px)] md:-translate-x-1/2 md:rounded-r2',
          )}
        >
          <div className="flex items-start gap-3 border-b px-4 py-3">
            <div className="min-w-0 flex-1">
              <Radix.Title className="text-t2 font-medium">{title}</Radix.Title>
              {description && (
                <Radix.Description className="mt-0.5 text-ink-2">{description}</Radix.Description>
              )}
            </div>
            <Radix.Close asChild>
              <IconButton label="Close" className="-mr-1.5 -mt-1">
                <X size={16} strokeWidth={1.5} aria-hidden="true" />
              </IconButton>
            </Radix.Close>
          </div>
          {children && <div className="min-h-0 flex-1 overflow-auto p-4">{children}</div>}
          {actions && (
            <div className="flex flex-wrap gap-2 border-t px-4 py-3 max-md:flex-col max-md:pb-7">
              {actions}
            </div>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/**
 * What had the focus when the dialog was opened, to give it back. Radix looks when the dialog has mounted: by then a field
 * inside may have taken the focus, or the menu it was opened from is gone; the menu's button stands for its items.
 */
function useOpener(open: boolean) {
  const wasOpen = useRef(false)
  const opener = useRef<HTMLElement | null>(null)
  if (open && !wasOpen.current && typeof document !== 'undefined') {
    const focused = document.activeElement as HTMLElement | null
    const button = focused?.closest('[role="menu"]')?.getAttribute('aria-labelledby')
    opener.current = button ? document.getElementById(button) : focused
  }
  wasOpen.current = open
  return opener
}
