'use client'
import { useRef, useState } from 'react'
import { Actor } from '@/components/ui/actor'
import { Button } from '@/components/ui/button'
import { Textarea } from '@/components/ui/field'
import { Kbd } from '@/components/ui/kbd'
import { RelativeTime } from '@/components/ui/relative-time'
import { sentenceOf } from '@/lib/ui/api'
import { useOpened } from '@/lib/ui/opened'
import { useComment } from '@/lib/ui/queries'
import { useShortcuts } from '@/lib/ui/shortcuts'
import type { ApprovalCard } from '@/lib/view/approval-wire'
import { commentLength } from './answer-dialog'

/** What people said about this question. Each comment is kept in the ledger, as the decision is. */
export function Comments({ card }: { card: ApprovalCard }) {
  const [text, setText] = useState('')
  const send = useComment(card.id)
  const field = useRef<HTMLTextAreaElement>(null)
  const open = card.state === 'open'
  const opened = useOpened()
  useShortcuts({ m: open && !opened ? () => field.current?.focus() : undefined })
  if ((!open || opened) && card.comments.length === 0) return null
  const submit = () => {
    const comment = text.trim()
    if (comment && !send.isPending) send.mutate(comment, { onSuccess: () => setText('') })
  }
  return (
    <section aria-label="Comments" className="border-t pb-6 pt-4">
      <h3 className="mb-2 text-t1 text-ink-3">
        Comments <span className="num">{card.comments.length > 0 && card.comments.length}</span>
      </h3>
      <ol className="flex flex-col gap-3" aria-live="polite">
        {card.comments.map((comment) => (
          <li key={`${comment.by}-${comment.at}`}>
            <span className="font-medium">
              <Actor id={comment.by} />
            </span>{' '}
            <RelativeTime at={comment.at} className="text-ink-3" />
            <p className="whitespace-pre-wrap text-ink-2 [overflow-wrap:anywhere]">{comment.comment}</p>
          </li>
        ))}
      </ol>
      {open && !opened && (
        <div className="mt-3 flex items-start gap-2">
          <Textarea
            ref={field}
            rows={1}
            aria-label="Comment, kept in the ledger"
            placeholder="Write a comment; it is kept in the ledger"
            maxLength={commentLength}
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) submit()
              if (event.key === 'Escape') event.currentTarget.blur()
            }}
            className="min-h-8! max-md:min-h-12!"
          />
          <Button busy={send.isPending} disabled={text.trim() === ''} onClick={submit}>
            Comment
            <span className="max-md:hidden" aria-hidden="true">
              <Kbd>m</Kbd>
            </span>
          </Button>
        </div>
      )}
      {send.isError && (
        <p role="alert" className="mt-1 text-t1 text-failed-ink">
          {sentenceOf(send.error)} Your comment is still in the field.
        </p>
      )}
    </section>
  )
}
