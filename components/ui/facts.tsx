import type { ReactNode } from 'react'
import { cx } from './cx'

/** Rows of facts: what is asked in ink-3, the answer in ink, and behind it the evidence, which `Sub` makes quiet. */
export function Facts({
  children,
  label = 112,
  dense = false,
  className,
}: {
  children: ReactNode
  /** Width of the label column in px. */
  label?: number
  /** Rows a little closer together, for a narrow place. */
  dense?: boolean
  className?: string
}) {
  return (
    <dl
      className={cx(
        'grid [&>*:nth-child(-n+2)]:border-t-0',
        dense && '[&_dd]:py-1.5 [&_dt]:py-1.5',
        className,
      )}
      style={{ gridTemplateColumns: `${label}px minmax(0, 1fr)` }}
    >
      {children}
    </dl>
  )
}

export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="border-t py-2 pr-2 text-ink-3">{label}</dt>
      <dd className="min-w-0 border-t py-2 [overflow-wrap:anywhere]">{children}</dd>
    </>
  )
}

/** The evidence behind an answer. */
export function Sub({ children }: { children: ReactNode }) {
  return <span className="text-ink-3">{children}</span>
}
