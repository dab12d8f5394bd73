import { Fragment, type ReactNode, useState } from 'react'
import { RelativeTime } from '@/components/ui/relative-time'
import { Segmented } from '@/components/ui/segmented'
import { StateShape } from '@/components/ui/state'
import type { ActionPreview, ApprovalCard } from '@/lib/view/approval-wire'
import { changedWords, differencesOf, type ShownDifference } from './changed-differences'

/** What a step would do by now; `at` is when it was looked at, in ms since the epoch; absent: before a look that told nothing. */
export interface ChangedPreview {
  preview: ActionPreview
  at?: number
  /** How it would be undone. */
  undo?: string
}

/**
 * What the step acts on was changed since it was asked: what somebody else changed and what approving means then; one
 * click away the step's difference as it is now, and as it was asked. Of a decided question: the one that was decided on.
 */
export function ChangedSinceAsked({
  asked,
  seen,
  decided,
  draw,
}: {
  asked: ActionPreview
  seen: ChangedPreview
  decided: ApprovalCard['decision']
  draw: (preview: ActionPreview) => ReactNode
}) {
  const choices = differencesOf(asked, seen.preview, decided)
  const [chosen, setChosen] = useState<ShownDifference['value']>()
  const shown = choices.find(({ value }) => value === chosen) ?? choices[0]
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
          <b>Changed since this was asked.</b>{' '}
          {changedWords(
            decided,
            choices.some(({ value }) => value === 'since'),
          )}{' '}
          {seen.at !== undefined && (
            <span className="text-ink-3">
              Looked <RelativeTime at={seen.at} />.
            </span>
          )}
        </p>
        <Segmented label="Difference" value={shown?.value ?? 'now'} choices={choices} onChange={setChosen} />
      </div>
      {shown && <Fragment key={shown.value}>{draw(shown.preview)}</Fragment>}
    </>
  )
}
