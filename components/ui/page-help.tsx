'use client'
import { CircleHelp } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useShortcuts } from '@/lib/ui/shortcuts'
import { IconButton } from './button'
import { Kbd } from './kbd'
import { Popover } from './popover'

/** The `?` of a page: what it is, and its keys. Opens by click and by the key itself. */
export function PageHelp({
  page,
  children,
  keys = [],
}: {
  page: string
  children: ReactNode
  keys?: [key: string, does: string][]
}) {
  const [open, setOpen] = useState(false)
  useShortcuts({ '?': () => setOpen((now) => !now) })
  return (
    <Popover
      label={`About ${page}`}
      open={open}
      onOpenChange={setOpen}
      trigger={
        <IconButton label={`About ${page}`}>
          <CircleHelp size={16} strokeWidth={1.5} aria-hidden="true" />
        </IconButton>
      }
    >
      <h2>{page}</h2>
      <div className="mt-1 text-ink-2">{children}</div>
      {keys.length > 0 && (
        <dl className="mt-3 grid grid-cols-[auto_1fr] gap-x-3 gap-y-1.5 border-t pt-3 max-md:hidden">
          {keys.map(([key, does]) => (
            <div key={key} className="contents">
              <dt className="flex items-start gap-1">
                {key.split(' ').map((one) => (
                  <Kbd key={one}>{one}</Kbd>
                ))}
              </dt>
              <dd className="text-ink-2">{does}</dd>
            </div>
          ))}
        </dl>
      )}
    </Popover>
  )
}
