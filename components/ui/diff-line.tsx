import type { ReactNode } from 'react'
import { count } from '@/lib/ui/format-time'
import type { DiffRow } from '@/lib/view/diff/text-diff'
import type { DiffPart } from '@/lib/view/diff/words'
import { visibleText } from '@/lib/view/visible-text'
import { cx } from './cx'

/** Px of a line of a diff. */
export const diffLineHeight = 20

/** The line above a diff: of what it is, in a few words how much differs, and `aside` at the right. */
export function DiffHead({ title, words, aside }: { title: string; words?: string; aside?: ReactNode }) {
  return (
    <figcaption className="flex h-8 shrink-0 items-center gap-3 overflow-hidden whitespace-nowrap border-b bg-canvas px-3 text-t1 text-ink-3 max-md:h-9">
      <b className="mono max-w-[50%] shrink-0 truncate text-ink" title={title}>
        {title}
      </b>
      {words && <span className="min-w-0 truncate">{words}</span>}
      <span className="flex-1" />
      {aside}
    </figcaption>
  )
}

/** A line's own key: no two lines of a diff share it. */
export function lineKey(row: DiffRow): string {
  switch (row.kind) {
    case 'add':
      return `+${row.after}`
    case 'del':
      return `-${row.before}`
    case 'skip':
      return `~${row.before}`
    case 'same':
      return `=${row.before}`
    default:
      return row satisfies never
  }
}

/** One line of a diff: numbers, sign and text. What goes is grey, what comes is green, and the sign says it first. */
export function DiffLine({
  row,
  numbers,
  wraps = false,
}: {
  row: DiffRow
  numbers: boolean
  /** Long lines go on below, instead of out of sight. */
  wraps?: boolean
}) {
  if (row.kind === 'skip') {
    return (
      <div className={cx('mono h-5 px-3 leading-5 text-ink-3', numbers ? 'md:pl-[104px]' : 'pl-8')}>
        {count(row.count, 'unchanged line')} not listed
      </div>
    )
  }
  const sign = row.kind === 'del' ? '−' : row.kind === 'add' ? '+' : ''
  return (
    <div
      className={cx(
        'mono grid min-h-5 leading-5 max-md:grid-cols-[28px_minmax(0,1fr)]',
        wraps ? 'whitespace-pre-wrap [overflow-wrap:anywhere]' : 'whitespace-pre',
        numbers
          ? 'md:grid-cols-[var(--diff-numbers,40px)_var(--diff-numbers,40px)_20px_minmax(0,1fr)]'
          : 'md:grid-cols-[28px_minmax(0,1fr)]',
        row.kind === 'same' && 'text-ink-2',
        row.kind === 'del' && 'bg-diff-del',
        row.kind === 'add' && 'bg-diff-add',
      )}
    >
      {numbers && (
        <>
          <span
            className="select-none whitespace-nowrap pr-2 text-right text-ink-3 max-md:hidden"
            aria-hidden="true"
          >
            {row.kind === 'add' ? '' : row.before}
          </span>
          <span
            className="select-none whitespace-nowrap pr-2 text-right text-ink-3 max-md:hidden"
            aria-hidden="true"
          >
            {row.kind === 'del' ? '' : row.after}
          </span>
        </>
      )}
      <span className="select-none text-center font-medium" aria-hidden="true">
        {sign}
      </span>
      <span className="pl-1 pr-3">
        {row.kind !== 'same' && (
          <span className="sr-only">{row.kind === 'del' ? 'removed: ' : 'added: '}</span>
        )}
        <LineText parts={row.parts} kind={row.kind} />
      </span>
    </div>
  )
}

/** The text of a line, with what differs in it marked. It runs its own way, and turns nothing around it about. */
export function LineText({ parts, kind }: { parts: readonly DiffPart[]; kind: 'same' | 'del' | 'add' }) {
  return (
    <bdi dir="auto">
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of a line never move.
        <Part key={index} part={part} kind={kind} />
      ))}
    </bdi>
  )
}

function Part({ part, kind }: { part: DiffPart; kind: 'same' | 'del' | 'add' }) {
  const text = visibleText(part.text)
  return (
    <>
      {part.changed ? (
        <mark className={cx('text-current', kind === 'del' ? 'bg-diff-del-word' : 'bg-diff-add-word')}>
          {text}
        </mark>
      ) : (
        text
      )}
      {part.omitted !== undefined && (
        <span className="select-none text-ink-3"> … {count(part.omitted, 'character')} … </span>
      )}
    </>
  )
}
