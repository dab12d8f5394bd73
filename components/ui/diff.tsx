'use client'
import { type ReactNode, useMemo, useState } from 'react'
import { count } from '@/lib/ui/format-time'
import { diffRows, foldRows, lineWords } from '@/lib/view/diff/text-diff'
import { cx } from './cx'
import { DiffHead, DiffLine, lineKey } from './diff-line'

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
      <DiffHead title={title} words={lineWords(found)} aside={aside} />
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
              <DiffLine key={lineKey(row)} row={row} numbers={numbers} />
            ) : opened.has(index) ? (
              row.rows.map((inner) => <DiffLine key={lineKey(inner)} row={inner} numbers={numbers} />)
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
      {!found.exact && (
        <p className="border-t px-3 py-1.5 text-ink-3">
          So much changes that part of it is shown as replaced.
        </p>
      )}
      {found.unlisted > 0 && (
        <p className="border-t px-3 py-1.5 text-ink-3">{count(found.unlisted, 'more line')} not listed.</p>
      )}
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
