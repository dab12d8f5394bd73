import { Fragment, type ReactNode, useState } from 'react'
import { Notice } from '@/components/ui/notice'
import { RelativeTime } from '@/components/ui/relative-time'
import { Segmented } from '@/components/ui/segmented'
import type { ActionPreview, ApprovalCard } from '@/lib/view/approval-wire'
import { becameOf, changedWords, differencesOf, type ShownDifference } from './changed-differences'

/** What a step would do by now; `at` is when it was looked at, in ms since the epoch; absent: before a look that told nothing. */
export interface ChangedPreview {
  preview: ActionPreview
  at?: number
  /** How it would be undone. */
  undo?: string
}

/**
 * What the step acts on was changed since it was asked: what approving means then, and the step's difference as it is now;
 * one click away what others changed, and what was asked. Of a decided question: the one that was decided on.
 */
export function ChangedSinceAsked({
  asked,
  target,
  seen,
  decided,
  draw,
}: {
  asked: ActionPreview
  /** What the step acts on, by name. */
  target: string
  seen: ChangedPreview
  decided: ApprovalCard['decision']
  /** `isAct`: the step does it, and it goes by the step's digest. */
  draw: (preview: ActionPreview, isAct: boolean) => ReactNode
}) {
  const choices = differencesOf({ preview: asked, target }, seen.preview, decided)
  const { title, words } = changedWords(decided, becameOf(asked, seen.preview, choices))
  const [chosen, setChosen] = useState<ShownDifference['value']>()
  const shown = choices.find(({ value }) => value === chosen) ?? choices[0]
  return (
    <>
      <Notice label="Changed since this was asked" state="escalated">
        <p className="min-w-0 flex-1 basis-60">
          <b>{title}</b> {words}{' '}
          {seen.at !== undefined && (
            <span className="text-ink-3">
              Looked <RelativeTime at={seen.at} />.
            </span>
          )}
        </p>
        <Segmented label="Difference" value={shown?.value ?? 'now'} choices={choices} onChange={setChosen} />
      </Notice>
      {shown && (
        <Fragment key={shown.value}>
          {shown.heading && <h3 className="mb-2 mt-1 font-medium">{shown.heading}</h3>}
          {draw(shown.preview, shown.heading === undefined)}
        </Fragment>
      )}
    </>
  )
}
