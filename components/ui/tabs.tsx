'use client'
import { Tabs as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { cx } from './cx'

export interface Tab {
  value: string
  label: string
  /** A figure behind the word, such as how many tokens. */
  count?: number | undefined
}

/** Tabs over panels: arrow keys move, and the panel of the chosen one shows. Panels are `TabPanel`s. */
export function Tabs({
  tabs,
  value,
  onChange,
  label,
  children,
  className,
}: {
  tabs: Tab[]
  value: string
  onChange: (value: string) => void
  label: string
  children: ReactNode
  className?: string
}) {
  return (
    <Radix.Root value={value} onValueChange={onChange} className={cx('flex min-h-0 flex-col', className)}>
      <Radix.List aria-label={label} className="flex h-9 shrink-0 gap-4 overflow-x-auto border-b px-4">
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.value}
            value={tab.value}
            className="ring-inside -mb-px flex items-center gap-1.5 border-b-2 border-transparent text-ink-3 hover:text-ink data-[state=active]:border-ink data-[state=active]:font-medium data-[state=active]:text-ink"
          >
            {tab.label}
            {tab.count !== undefined && <span className="num font-regular text-ink-3">{tab.count}</span>}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {children}
    </Radix.Root>
  )
}

export function TabPanel({
  value,
  children,
  className,
}: {
  value: string
  children: ReactNode
  className?: string
}) {
  return (
    <Radix.Content value={value} className={cx('ring-inside min-h-0 flex-1 overflow-auto', className)}>
      {children}
    </Radix.Content>
  )
}
