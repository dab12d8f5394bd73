import type { ReactNode } from 'react'
import { cx } from '@/components/ui/cx'

/** The line at the top of a page: its name first, what can be done at the right. 44 px. */
export function PageHead({
  title,
  tabs,
  children,
  className,
}: {
  title: string
  /** Where the page is one of several under one head: their names, in place of its own. */
  tabs?: ReactNode
  children?: ReactNode
  className?: string
}) {
  return (
    <div
      className={cx(
        'flex h-11 shrink-0 items-center gap-3 whitespace-nowrap border-b px-4 max-md:h-14',
        className,
      )}
    >
      <h1 className={tabs ? 'sr-only' : 'font-medium'}>{title}</h1>
      {tabs}
      {children}
    </div>
  )
}
