'use client'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { Actor } from '@/components/ui/actor'
import { Button } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { StateShape } from '@/components/ui/state'
import { age, clockTime } from '@/lib/ui/format-time'
import { links } from '@/lib/ui/links'
import { useShortcuts } from '@/lib/ui/shortcuts'
import type { ApprovalCard } from '@/lib/view/approval-wire'
import { plainActor, plainWords } from '@/lib/view/plain-words'
import type { TooLate } from './too-late'
import { decidedWords, pastOf, wordsOf } from './words'

/** A decision that came too late: who decided, when and why, and the way on. The person's own click changed nothing. */
export function StaleDecision({
  card,
  tried,
  onNext,
}: {
  card: ApprovalCard
  tried: TooLate
  onNext: (() => void) | undefined
}) {
  const won = card.decision
  const noun = wordsOf(tried.verdict, card).noun
  const router = useRouter()
  useShortcuts({ g: () => router.push(links.run(card.run, { node: card.node })) })
  return (
    <div className="min-h-0 flex-1 overflow-auto p-4 md:px-8 md:py-6">
      <div className="mx-auto max-w-[560px] rounded-r2 border">
        <div role="alert" className="flex gap-2 border-b p-4">
          <span className="mt-0.5">
            <StateShape state="failed" />
          </span>
          <div className="min-w-0">
            <b className="block text-balance">
              {won
                ? `Your ${noun} was not taken: ${didWords(card, won)} ${age(Math.max(0, tried.at - won.at))} before you.`
                : `Your ${noun} was not taken.`}
            </b>
            <p className="mt-1 text-ink-2">
              {won ? 'Your answer changed nothing; the run goes on with theirs.' : plainWords(tried.sentence)}
            </p>
          </div>
        </div>
        <div className="px-4 pb-4 pt-1">
          <Facts>
            <Fact label="You">
              <span className="num">{clockTime(tried.at)}</span>{' '}
              <Sub>
                {tried.event === undefined ? pastOf({ ...tried, kind: card.kind }) : `gave “${tried.event}”`},
                digest
              </Sub>{' '}
              <CopyId id={card.action} what="digest" />
            </Fact>
            {won && (
              <Fact label="Decided">
                <span className="num">{clockTime(won.at)}</span>{' '}
                <Sub>
                  {won.event === undefined
                    ? `${pastOf({ ...won, kind: card.kind })} by`
                    : `“${won.event}”, by`}
                </Sub>{' '}
                <Actor id={won.by} />
              </Fact>
            )}
            {tried.comment && (
              <Fact label="You wrote">
                <span className="whitespace-pre-wrap [overflow-wrap:anywhere]">“{tried.comment}”</span>{' '}
                <CopyText text={tried.comment} />
              </Fact>
            )}
            {won?.comment && <Fact label="Why">“{won.comment}”</Fact>}
          </Facts>
          <div className="mt-3 flex flex-wrap gap-2 max-md:flex-col">
            {onNext && (
              <Button variant="primary" shortcut="j" onClick={onNext}>
                Next question
              </Button>
            )}
            <Button asChild>
              <a href={links.run(card.run, { node: card.node })}>Open the run</a>
            </Button>
          </div>
        </div>
      </div>
    </div>
  )
}

/** "grace approved this step"; of what is about a rollback "grace let the rollback go on". */
function didWords({ about, kind }: ApprovalCard, won: NonNullable<ApprovalCard['decision']>): string {
  return about ? decidedWords({ ...won, kind }) : `${plainActor(won.by)} ${pastOf(won)} this step`
}

/** Puts what was typed on the clipboard; where the browser keeps that closed, the words still stand on the page. */
function CopyText({ text }: { text: string }) {
  const [copied, setCopied] = useState(false)
  return (
    <Button
      size="sm"
      variant="quiet"
      onClick={() =>
        navigator.clipboard?.writeText(text).then(
          () => setCopied(true),
          () => setCopied(false),
        )
      }
    >
      <span aria-live="polite">{copied ? 'Copied' : 'Copy your reason'}</span>
    </Button>
  )
}
