import { cx } from '@/components/ui/cx'

/** A position that is compared: A or B. */
export function Position({ which, className }: { which: 'a' | 'b'; className?: string }) {
  return (
    <b
      className={cx(
        'mono grid size-[18px] shrink-0 place-items-center rounded-r1 bg-primary font-medium text-on-primary!',
        className,
      )}
    >
      {which.toUpperCase()}
    </b>
  )
}

/** The diamond before a value that changed at this transition. */
export function Changed({ inline = false }: { inline?: boolean }) {
  return (
    <svg
      width="8"
      height="8"
      viewBox="0 0 10 10"
      className={cx('fill-current', inline ? 'inline-block' : 'absolute left-3 top-1/2 -translate-y-1/2')}
      role="img"
      aria-label="changed here"
    >
      <path d="M5 .5L9.5 5 5 9.5.5 5z" />
    </svg>
  )
}
