import type { ReactNode } from 'react'
import { cx } from './cx'

/** A key to press. `quiet` on filled grounds, where it takes the colour around it. */
export function Kbd({ children, quiet = false }: { children: ReactNode; quiet?: boolean }) {
  return (
    <kbd
      className={cx(
        'inline-block min-w-[18px] rounded-r1 border px-1 text-center font-regular leading-4',
        quiet ? 'border-current opacity-75' : 'border-line bg-canvas text-ink-3',
      )}
    >
      {children}
    </kbd>
  )
}
