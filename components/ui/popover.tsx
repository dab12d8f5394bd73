'use client'
import { Popover as Radix } from 'radix-ui'
import type { ReactNode } from 'react'

/** A small panel that opens from one button and does not hold the page up. */
export function Popover({
  trigger,
  children,
  label,
  align = 'end',
  open,
  onOpenChange,
}: {
  trigger: ReactNode
  children: ReactNode
  label: string
  align?: 'start' | 'end'
  open?: boolean
  onOpenChange?: (open: boolean) => void
}) {
  return (
    <Radix.Root {...(open === undefined ? {} : { open })} {...(onOpenChange ? { onOpenChange } : {})}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          aria-label={label}
          align={align}
          sideOffset={6}
          collisionPadding={8}
          className="motion-fade z-50 w-80 max-w-[calc(100vw-16px)] rounded-r2 border border-line-strong bg-surface p-4 outline-none"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
