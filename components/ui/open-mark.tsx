import { ChevronRight } from 'lucide-react'
import { cx } from './cx'

/** Whether what a line opens is open. The line itself says so to readers. */
export function OpenMark({ open }: { open: boolean }) {
  return (
    <ChevronRight
      size={14}
      strokeWidth={1.5}
      aria-hidden="true"
      className={cx('shrink-0 text-ink-3 transition-transform duration-(--quick)', open && 'rotate-90')}
    />
  )
}
