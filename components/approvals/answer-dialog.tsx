'use client'
import { useState } from 'react'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { Field, Textarea } from '@/components/ui/field'
import type { Verdict } from '@/lib/hitl/terms'
import type { ApprovalCard } from '@/lib/view/approval-wire'
import { askOf, stepOnTarget, wordsOf } from './words'

/** Characters: what the API takes. Longer than anyone writes at night, and the ledger keeps it for good. */
export const commentLength = 500

/** An answer that deserves words: what it does, the reason, and a button that names the target again. */
export function AnswerDialog({
  card,
  verdict,
  busy,
  note,
  onClose,
  onAnswer,
}: {
  card: ApprovalCard
  verdict: Verdict
  busy: boolean
  /** What became of the last try. */
  note: string | undefined
  onClose: () => void
  onAnswer: (comment: string) => Promise<void>
}) {
  const [comment, setComment] = useState('')
  const ask = askOf(verdict, card)
  const lacksReason = ask?.isNeeded === true && comment.trim() === ''
  const button = wordsOf(verdict, card).button(card)
  return (
    <Dialog
      open
      onClose={onClose}
      title={verdict === 'refuse' || card.about ? button : `${button}: ${stepOnTarget(card)}`}
      description={card.sentence}
      actions={
        <>
          <Button
            variant={verdict === 'refuse' ? 'danger' : 'primary'}
            busy={busy}
            disabled={lacksReason}
            className="min-w-0"
            title={card.target || undefined}
            aria-description={card.target || undefined}
            onClick={() => void onAnswer(comment.trim())}
          >
            <span className="truncate">{button}</span>
          </Button>
          <Button onClick={onClose}>Decide later</Button>
        </>
      }
    >
      {note && (
        <p role="alert" className="mb-3 text-ink">
          {note}
        </p>
      )}
      <Field label={ask?.label ?? 'Comment'} help={ask?.help} optional={!ask?.isNeeded}>
        {(ids) => (
          <Textarea
            {...ids}
            rows={3}
            autoFocus
            maxLength={commentLength}
            value={comment}
            onChange={(event) => setComment(event.target.value)}
            onKeyDown={(event) => {
              const sends = event.key === 'Enter' && (event.metaKey || event.ctrlKey)
              if (sends && !lacksReason) void onAnswer(comment.trim())
            }}
          />
        )}
      </Field>
    </Dialog>
  )
}
