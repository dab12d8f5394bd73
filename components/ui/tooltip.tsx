'use client'
import { Tooltip as Radix } from 'radix-ui'
import type { ReactNode } from 'react'

export const TooltipProvider = ({ children }: { children: ReactNode }) => (
  <Radix.Provider delayDuration={400} skipDelayDuration={200}>
    {children}
  </Radix.Provider>
)

/** A word about a control, on hover and on focus. Never the only place where something is said. */
export function Tooltip({ tip, children }: { tip: ReactNode; children: ReactNode }) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          sideOffset={6}
          collisionPadding={8}
          className="motion-fade z-50 max-w-80 break-words rounded-r1 border border-line-strong bg-surface px-2 py-1 text-t1 text-ink"
        >
          {tip}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
