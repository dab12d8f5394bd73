import type { ReactNode } from 'react'
import { GateMark } from './icons'

/** Nothing here: one title, one sentence that teaches the next step, at most one button. */
export function EmptyState({
  title,
  children,
  action,
}: {
  title: string
  children: ReactNode
  action?: ReactNode
}) {
  return (
    <div className="flex flex-1 flex-col items-center justify-center px-8 py-12 text-center">
      <span className="mb-5 text-ink-4">
        <GateMark />
      </span>
      <h2>{title}</h2>
      <p className="mb-4 mt-1 max-w-80 text-balance text-ink-3">{children}</p>
      {action}
    </div>
  )
}
