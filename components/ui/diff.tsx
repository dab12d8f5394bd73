'use client'
import { type ReactNode, useMemo, useState } from 'react'
import { type DiffRow, diffRows, foldRows } from '@/lib/ui/diff-rows'
import { count } from '@/lib/ui/format-time'
import { cx } from './cx'

/** Rows drawn before a person asks for more: a screen or ten. */
const rowsAtFirst = 400

/**
 * Before and after, line by line: what goes is grey, what comes is green, and the sign in the gutter says it first. Long
 * unchanged stretches are folded and open on click. `aside` stands at the right of the head (a digest).
 */
export function Diff({
  title,
  before,
  after,
  aside,
  context = 3,
  numbers = true,
}: {
  title: string
  before: string
  after: string
  aside?: ReactNode
  context?: number
  /** Line numbers; never on a phone. */
  numbers?: boolean
}) {
  const found = useMemo(() => diffRows(before, after), [before, after])
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const [all, setAll] = useState(false)
  const folded = useMemo(() => foldRows(found.rows, context), [found, context])
  const shown = all ? folded : folded.slice(0, rowsAtFirst)
  return (
    <figure className="overflow-hidden rounded-r2 border bg-surface">
      <DiffHead
        title={title}
        words={
          found.changes === 0
            ? 'nothing changes'
            : `${count(found.changes, 'line changes', 'lines change')}, ${found.same.toLocaleString('en')} stay`
        }
        aside={aside}
      />
      <section
        className="ring-inside overflow-x-auto py-1"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        tabIndex={0}
        aria-label={`Changes of ${title}`}
      >
        <div className="min-w-max">
          {found.rows.length === 0 && <p className="px-3 py-1 text-ink-3">Both are empty.</p>}
          {shown.map((row, index) =>
            row.kind !== 'fold' ? (
              <Line key={lineKey(row)} row={row} numbers={numbers} />
            ) : opened.has(index) ? (
              row.rows.map((inner) => <Line key={lineKey(inner)} row={inner} numbers={numbers} />)
            ) : (
              <button
                // biome-ignore lint/suspicious/noArrayIndexKey: folds stay where they are.
                key={`fold-${index}`}
                type="button"
                className={cx(
                  'ring-inside mono sticky left-0 block w-full px-3 text-left leading-5 text-ink-3 hover:bg-hover hover:text-ink',
                  numbers ? 'md:pl-[104px]' : 'pl-8',
                )}
                onClick={() => setOpened(new Set([...opened, index]))}
              >
                {count(row.rows.length, 'unchanged line')}
              </button>
            ),
          )}
        </div>
      </section>
      {shown.length < folded.length && (
        <button
          type="button"
          className="ring-inside w-full border-t px-3 py-1.5 text-left text-ink-2 hover:bg-hover"
          onClick={() => setAll(true)}
        >
          Show {count(folded.length - shown.length, 'more row')}
        </button>
      )}
    </figure>
  )
}

function DiffHead({ title, words, aside }: { title: string; words?: string; aside?: ReactNode }) {
  return (
    <figcaption className="flex h-8 items-center gap-3 overflow-hidden whitespace-nowrap border-b bg-canvas px-3 text-t1 text-ink-3 max-md:h-9">
      <b className="mono truncate text-ink" title={title}>
        {title}
      </b>
      {words && <span className="shrink-0">{words}</span>}
      <span className="flex-1" />
      {aside}
    </figcaption>
  )
}

function lineKey(row: DiffRow): string {
  return row.kind === 'add' ? `+${row.after}` : row.kind === 'del' ? `-${row.before}` : `=${row.before}`
}

function Line({ row, numbers }: { row: DiffRow; numbers: boolean }) {
  const sign = row.kind === 'del' ? '−' : row.kind === 'add' ? '+' : ''
  return (
    <div
      className={cx(
        'mono grid whitespace-pre leading-5 max-md:grid-cols-[28px_minmax(0,1fr)]',
        numbers ? 'md:grid-cols-[40px_40px_20px_minmax(0,1fr)]' : 'md:grid-cols-[28px_minmax(0,1fr)]',
        row.kind === 'same' && 'text-ink-2',
        row.kind === 'del' && 'bg-diff-del',
        row.kind === 'add' && 'bg-diff-add',
      )}
    >
      {numbers && (
        <>
          <span className="select-none pr-2 text-right text-ink-3 max-md:hidden" aria-hidden="true">
            {row.kind === 'add' ? '' : row.before}
          </span>
          <span className="select-none pr-2 text-right text-ink-3 max-md:hidden" aria-hidden="true">
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
        {row.parts.map((part, index) =>
          part.changed ? (
            <mark
              // biome-ignore lint/suspicious/noArrayIndexKey: parts of a line never move.
              key={index}
              className={cx('text-current', row.kind === 'del' ? 'bg-diff-del-word' : 'bg-diff-add-word')}
            >
              {part.text}
            </mark>
          ) : (
            part.text
          ),
        )}
      </span>
    </div>
  )
}

/** A text shown whole, in the frame a diff has. */
export function TextBlock({ title, text, aside }: { title: string; text: string; aside?: ReactNode }) {
  return (
    <figure className="overflow-hidden rounded-r2 border bg-surface">
      <DiffHead title={title} aside={aside} />
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
        tabIndex={0}
        className="ring-inside mono max-h-[420px] overflow-auto whitespace-pre-wrap px-3 py-2 leading-5 text-ink-2 [overflow-wrap:anywhere]"
      >
        {text}
      </pre>
    </figure>
  )
}
