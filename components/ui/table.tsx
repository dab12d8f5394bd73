import type { ComponentProps } from 'react'
import { cx } from './cx'

/*
 * Tables: 28 px heads in the label size, 32 px rows (48 on a phone), hairlines. `numeric` sets mono, tabular and right-aligned.
 * A wide table scrolls inside `TableScroll`, never the page.
 */

export function TableScroll({ className, ...rest }: ComponentProps<'div'>) {
  return <div className={cx('min-h-0 overflow-auto', className)} {...rest} />
}

export function Table({ className, ...rest }: ComponentProps<'table'>) {
  return <table className={cx('w-full border-separate border-spacing-0', className)} {...rest} />
}

export function Th({ numeric = false, className, ...rest }: ComponentProps<'th'> & { numeric?: boolean }) {
  return (
    <th
      scope="col"
      className={cx(
        'sticky top-0 z-10 h-7 whitespace-nowrap border-b bg-surface px-3 text-t1 font-regular text-ink-3 first:pl-4 last:pr-4',
        numeric ? 'text-right' : 'text-left',
        className,
      )}
      {...rest}
    />
  )
}

/** The head of the column with a row's buttons; only a screen reader has use for its name. */
export function ActTh() {
  return (
    <Th>
      <span className="sr-only">Act</span>
    </Th>
  )
}

export function Td({ numeric = false, className, ...rest }: ComponentProps<'td'> & { numeric?: boolean }) {
  return (
    <td
      className={cx(
        'h-8 whitespace-nowrap border-b px-3 first:pl-4 last:pr-4 max-md:h-12',
        numeric && 'num text-right',
        className,
      )}
      {...rest}
    />
  )
}
