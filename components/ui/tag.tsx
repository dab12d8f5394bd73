import type { ReactNode } from 'react'
import { cx } from './cx'
import { NoUndoIcon } from './icons'

/** A short word about a thing. `red` only for what failed or cannot be undone. */
export function Tag({
  children,
  tone = 'plain',
  icon,
}: {
  children: ReactNode
  tone?: 'plain' | 'red' | 'waiting'
  icon?: ReactNode
}) {
  return (
    <span
      className={cx(
        'inline-flex h-5 items-center gap-1 whitespace-nowrap rounded-r1 border px-1.5 text-t1',
        tone === 'plain' && 'border-line bg-surface text-ink-2',
        tone === 'red' && 'border-failed-line bg-failed-wash text-failed-ink',
        tone === 'waiting' && 'border-waiting-line bg-waiting-wash text-waiting-ink',
      )}
    >
      {icon}
      {children}
    </span>
  )
}

/** The one tag that warns: shape and words, wherever such a step is named. */
export function NoUndoTag() {
  return (
    <Tag tone="red" icon={<NoUndoIcon size={12} className="text-failed-mark" />}>
      Cannot be undone
    </Tag>
  )
}
