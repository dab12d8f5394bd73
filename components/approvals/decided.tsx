'use client'
import { Button } from '@/components/ui/button'
import { RelativeTime } from '@/components/ui/relative-time'
import { StateShape } from '@/components/ui/state'
import type { Verdict } from '@/lib/hitl/terms'
import { links } from '@/lib/ui/links'
import { decidedOnSeen } from '@/lib/view/act-words'
import type { ApprovalCard } from '@/lib/view/approval-wire'
import { againWords } from './again-words'
import { CameOfIt } from './came-of-it'
import { ProbeProgress } from './probe-progress'
import { cameOf, decidedWords } from './words'

/** The foot of a question that is answered: who, when, why, and the way on. */
export function Decided({ card, onNext }: { card: ApprovalCard; onNext: (() => void) | undefined }) {
  const { decision } = card
  return (
    <div className="mt-2 border-t pb-4 pt-4" aria-live="polite">
      <p className="flex items-start gap-2">
        <span className="mt-0.5">
          <StateShape state={cameOf(decision?.verdict)} />
        </span>
        <span className="min-w-0">
          {decision ? (
            <>
              <b>{decidedWords({ ...decision, kind: card.kind })}</b>
              {decision.edited && ', with an edit'}
              {decision.seen && `, ${decidedOnSeen}`} <RelativeTime at={decision.at} className="text-ink-3" />
              {decision.comment && <span className="block text-ink-2">“{decision.comment}”</span>}
            </>
          ) : (
            <>
              <b>No longer asked.</b>{' '}
              <span className="text-ink-2">The run moved on before anyone answered.</span>
            </>
          )}
        </span>
      </p>
      {card.about?.what === 'circuit' && decision && (
        <ProbeProgress approval={card.id} about={card.about} since={decision.at} />
      )}
      {card.about?.what === 'rollback' && leadsAgain(decision?.verdict) && (
        <p className="mt-3 border-t pt-3 font-medium">
          <CameOfIt {...againWords(card.about.now, card.id, decision?.verdict === 'overwrite')} />
        </p>
      )}
      <div className="mt-3 flex flex-wrap gap-2">
        {onNext && (
          <Button shortcut="j" onClick={onNext}>
            Next question
          </Button>
        )}
        <Button asChild>
          <a href={links.run(card.run, { node: card.node })}>Open the run</a>
        </Button>
      </div>
    </div>
  )
}

const leadsAgain = (verdict: Verdict | undefined) => verdict === 'ask_again' || verdict === 'overwrite'
