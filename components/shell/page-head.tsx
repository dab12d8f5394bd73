import type { ReactNode } from 'react'
import { cx } from '@/components/ui/cx'

/** The line at the top of a page: its name first, what can be done at the right. 44 px. */
export function PageHead({
  title,
  children,
  className,
}: {
  title: string
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
      <h1 className="font-medium">{title}</h1>
      {children}
    </div>
  )
}
