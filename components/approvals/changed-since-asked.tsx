import { type ReactNode, useState } from 'react'
import { RelativeTime } from '@/components/ui/relative-time'
import { Segmented } from '@/components/ui/segmented'
import { StateShape } from '@/components/ui/state'
import type { ActionPreview, ApprovalCard } from '@/lib/view/wire'
import { changedWords } from './words'

/** What a step would do by now; `at` is when it was looked at, in ms since the epoch. */
export interface ChangedPreview {
  preview: ActionPreview
  at: number
  /** How it would be undone. */
  undo?: string
}

/**
 * What the step acts on was changed since it was asked: the difference as it is now, what approving means then, and one
 * click away the difference as it was asked. Of a decided question: the one that was decided on.
 */
export function ChangedSinceAsked({
  asked,
  seen,
  decided,
  draw,
}: {
  asked: ActionPreview
  seen: Pick<ChangedPreview, 'preview'> & Partial<ChangedPreview>
  decided: ApprovalCard['decision']
  draw: (preview: ActionPreview) => ReactNode
}) {
  const [show, setShow] = useState<'now' | 'asked'>('now')
  return (
    <>
      <div
        role="note"
        aria-label="Changed since this was asked"
        className="mb-2 flex flex-wrap items-start gap-x-3 gap-y-2 rounded-r2 border border-ink-3 px-3 py-2"
      >
        <span className="mt-0.5">
          <StateShape state="escalated" />
        </span>
        <p className="min-w-0 flex-1 basis-60">
          <b>Changed since this was asked.</b> {changedWords(decided)}{' '}
          {seen.at !== undefined && (
            <span className="text-ink-3">
              Looked <RelativeTime at={seen.at} />.
            </span>
          )}
        </p>
        <Segmented
          label="Difference"
          value={show}
          choices={[
            { value: 'now', word: decided ? 'As decided' : 'As it is now' },
            { value: 'asked', word: 'As it was asked' },
          ]}
          onChange={setShow}
        />
      </div>
      {draw(show === 'now' ? seen.preview : asked)}
    </>
  )
}
