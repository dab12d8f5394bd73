'use client'
import { type ReactNode, useId, useState } from 'react'
import { Button } from '@/components/ui/button'
import { cx } from '@/components/ui/cx'
import { Diff } from '@/components/ui/diff'
import { Textarea } from '@/components/ui/field'
import { Tag } from '@/components/ui/tag'
import { draftState, type ValueDraft } from './value-draft'

/** Rows an editor opens with; it can be drawn larger. */
const rows = { least: 2, most: 14 }

/**
 * One value to be edited: its name, what kind it is, its text, and once it is another one a mark, what changed, and the
 * way back.
 */
export function ValueEditor({
  name,
  about,
  help,
  draft,
  fault,
  onChange,
}: {
  name: string
  about: ReactNode
  help?: string | undefined
  draft: ValueDraft
  /** What the server said of it. */
  fault?: string | undefined
  onChange: (text: string) => void
}) {
  const id = useId()
  const [compares, setCompares] = useState(false)
  const state = draftState(draft)
  const error = state.is === 'wrong' ? state.why : fault
  const lines = Math.min(rows.most, Math.max(rows.least, draft.text.split('\n').length))
  const edited = draft.text !== draft.before
  return (
    <div
      className={cx(
        'rounded-r2 border bg-surface',
        state.is === 'changed' && 'border-ink shadow-[inset_2px_0_0_var(--ink)]',
        state.is === 'wrong' && 'border-failed-mark',
      )}
    >
      <div className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1">
        <label htmlFor={id} className="mono font-medium [overflow-wrap:anywhere]">
          {name}
        </label>
        <span className="text-t1 text-ink-3">{about}</span>
        {state.is === 'changed' && <Tag>changed</Tag>}
        <span className="flex-1" />
        {edited && state.is === 'changed' && (
          <Button size="sm" variant="quiet" aria-expanded={compares} onClick={() => setCompares(!compares)}>
            {compares ? 'Hide what changed' : 'See what changed'}
          </Button>
        )}
        {edited && (
          <Button size="sm" variant="quiet" onClick={() => onChange(draft.before)}>
            Put {name} back
          </Button>
        )}
      </div>
      <Textarea
        id={id}
        rows={lines}
        dir="auto"
        spellCheck={false}
        value={draft.text}
        onChange={(event) => onChange(event.target.value)}
        aria-invalid={error ? true : undefined}
        aria-describedby={
          [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(' ') || undefined
        }
        className="mono rounded-t-none border-x-0 border-b-0 leading-5"
      />
      {help && (
        <p id={`${id}-help`} className="px-3 pb-1.5 text-t1 text-ink-3">
          {help}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} role="alert" className="px-3 pb-1.5 text-t1 text-failed-ink">
          {error}
        </p>
      )}
      {compares && state.is === 'changed' && (
        <div className="border-t p-2">
          <Diff title={name} before={draft.before} after={draft.text} numbers={false} />
        </div>
      )}
    </div>
  )
}
