import type { ReactNode } from 'react'
import { cx } from '@/components/ui/cx'

/** A choice of a few, one below the other, each with a line about it. */
export function RadioRows({ legend, children }: { legend: string; children: ReactNode }) {
  return (
    <fieldset>
      <legend className="mb-1 text-t1 text-ink-3">{legend}</legend>
      <div className="overflow-hidden rounded-r2 border border-line-strong">{children}</div>
    </fieldset>
  )
}

export function RadioRow({
  name,
  title,
  about,
  chosen,
  refused = false,
  onChoose,
}: {
  name: string
  title: ReactNode
  about?: ReactNode
  chosen: boolean
  /** It cannot be chosen; `about` says why. */
  refused?: boolean
  onChoose: () => void
}) {
  return (
    <label
      className={cx(
        'flex items-start gap-2 border-t px-3 py-2 first:border-t-0 has-focus-visible:outline-2 has-focus-visible:-outline-offset-2 has-focus-visible:outline-focus max-md:min-h-12',
        chosen && 'bg-selected',
        refused ? 'text-ink-3' : 'cursor-pointer hover:bg-hover',
      )}
    >
      <input
        type="radio"
        name={name}
        checked={chosen}
        disabled={refused}
        onChange={onChoose}
        className="sr-only"
      />
      <span
        aria-hidden="true"
        className={cx(
          'mt-[3px] size-3.5 shrink-0 rounded-full border',
          chosen ? 'border-4 border-ink bg-surface' : 'border-ink-3',
          refused && 'border-dashed',
        )}
      />
      <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <span className={cx('block', !refused && 'font-medium')}>{title}</span>
        {about && <span className="block text-t1 text-ink-3">{about}</span>}
      </span>
    </label>
  )
}
