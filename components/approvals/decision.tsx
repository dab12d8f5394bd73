'use client'
import { ChevronLeft } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useEffect, useState } from 'react'
import { LiveMark } from '@/components/shell/live-mark'
import { ErrorNote } from '@/components/ui/error-note'
import { Skeleton } from '@/components/ui/skeleton'
import { warn } from '@/components/ui/toast'
import type { Verdict } from '@/lib/hitl/terms'
import { isApiProblem, isRefusal, newIdempotencyKey, sentenceOf } from '@/lib/ui/api'
import { useOpened } from '@/lib/ui/opened'
import { useApproval, useApprovalNow, useDecide, useMe } from '@/lib/ui/queries'
import type { ApprovalCard, SilentTarget } from '@/lib/view/approval-wire'
import { tellDecided } from './decided-toast'
import { type AnswerWish, DecisionCard } from './decision-card'
import { useKeyGuard } from './key-guard'
import { StaleDecision } from './stale-decision'
import type { TooLate } from './too-late'
import type { WhyUntold } from './untold-words'
import { kindWords, wordsOf } from './words'

/** An answer that was sent and not answered. Until the question is read anew, nobody here knows whether it arrived. */
interface Lost {
  verdict: Verdict
  event?: string | undefined
  comment: string
  edited: boolean
  at: number
}

/** While an answer's fate is unknown, the question is read again this often; a read under way is not begun twice. */
const lookEveryMs = 3000

/** Refusals that mean: the question is no longer the one on screen. */
const tooLateCodes = new Set([
  'approval_decided',
  'approval_gone',
  'approval_digest',
  'run_moved_on',
  'run_ended',
])

/** Said when a key was meant for the question before. */
const cameWords = 'This question came up by itself. Press the key again to answer it.'

/** One question, from loading to decided. Mounted anew for each, so nothing of one can leak into the next. */
export function Decision({
  id,
  compact = false,
  leadsOn = true,
  cameByItself = false,
  place,
  onBack,
  onDecided,
  onNext,
}: {
  id: string
  /** In an inspector: no bar of its own on a phone, and the narrow card. */
  compact?: boolean
  /** It offers the ways to what it is about; not where that stands around it. */
  leadsOn?: boolean
  /** The person did not choose it: its keys rest until they have acted. */
  cameByItself?: boolean
  place?: { at: number; of: number } | undefined
  onBack?: () => void
  onDecided?: () => void
  onNext?: (() => void) | undefined
}) {
  const router = useRouter()
  const query = useApproval(id)
  const decide = useDecide()
  const now = useApprovalNow(id, query.data !== undefined && maySeeNow(query.data))
  const changed = now.data?.changed
  const me = useMe().data?.name
  const [lost, setLost] = useState<Lost>()
  const [note, setNote] = useState<string>()
  const [tooLate, setTooLate] = useState<TooLate>()
  const [editRefused, setEditRefused] = useState<string>()
  // One key for as long as the question is on screen and the answer is the same: a second click is the same decision.
  const [attempt] = useState(() => new Map<string, string>())
  const card = query.data
  const hasSwallowed = useKeyGuard(cameByItself, card !== undefined)

  const { refetch } = query
  useEffect(() => {
    if (!lost) return
    // The first look was begun when the decision settled; this one follows while the server is away.
    const timer = setInterval(() => void refetch({ cancelRefetch: false }), lookEveryMs)
    return () => clearInterval(timer)
  }, [lost, refetch])
  // Only what was read after the answer was lost tells what became of it.
  const readSince = lost !== undefined && card !== undefined && query.dataUpdatedAt >= lost.at
  useEffect(() => {
    if (!lost || !readSince || !card || me === undefined) return
    setLost(undefined)
    setNote(undefined)
    if (card.state === 'open') {
      setNote(
        `It was not taken; ${card.kind === 'approval' ? 'the step is still held' : 'the question is still open'}.`,
      )
    } else if (isOurs(card, lost, me)) {
      tellDecided(card, lost, router.push, true)
      if (!staysToShow(card, lost.verdict)) onDecided?.()
    } else {
      setTooLate({ ...lost, sentence: 'This question was closed meanwhile.' })
    }
  }, [lost, readSince, card, me, onDecided, router])

  async function answer({ verdict, comment, edited, event, artifacts }: AnswerWish): Promise<boolean> {
    if (!card || decide.isPending || lost) return false
    setNote(undefined)
    setEditRefused(undefined)
    const intent = JSON.stringify([verdict, comment, card.action, edited, changed?.seen, event, artifacts])
    const idempotencyKey = attempt.get(intent) ?? newIdempotencyKey()
    attempt.set(intent, idempotencyKey)
    try {
      await decide.mutateAsync({
        id,
        verdict,
        action: card.action,
        comment,
        idempotencyKey,
        ...(edited ? { edited } : {}),
        ...(changed ? { seen: changed.seen } : {}),
        ...(event === undefined ? {} : { event }),
        ...(artifacts ? { artifacts } : {}),
      })
      tellDecided(card, { verdict, event, edited: edited !== undefined }, router.push)
      if (!staysToShow(card, verdict)) onDecided?.()
      return true
    } catch (error) {
      if (isApiProblem(error) && tooLateCodes.has(error.code)) {
        setTooLate({ verdict, event, at: Date.now(), sentence: error.message, comment })
        return true
      }
      if (isApiProblem(error, 'approval_edit_refused') || isApiProblem(error, 'input_invalid')) {
        setEditRefused(error.message)
        return false
      }
      if (isRefusal(error)) {
        // A refusal is not remembered under its key, so the next try is a new one.
        attempt.delete(intent)
        if (isApiProblem(error, 'approval_changed') || isApiProblem(error, 'target_silent'))
          void now.refetch()
        warn('Your decision was not taken', `${sentenceOf(error)} Nothing was changed.`)
      } else {
        setLost({ verdict, event, comment, edited: edited !== undefined, at: Date.now() })
        setNote(
          `We do not know yet whether your ${wordsOf(verdict, card).noun} arrived; this is looked up when the connection is back.`,
        )
      }
      return false
    }
  }

  return (
    <>
      {!compact && <PhoneBar card={card} place={place} onBack={onBack} />}
      {query.isError && !card ? (
        <ErrorNote
          title="This question could not be read"
          error={query.error}
          means="What is held stays held."
          onRetry={() => void query.refetch()}
        />
      ) : !card ? (
        <Skeleton what="the question" lines={8} row={40} />
      ) : tooLate ? (
        <StaleDecision card={card} tried={tooLate} onNext={onNext} />
      ) : (
        <DecisionCard
          card={card}
          changed={changed && { ...changed, ...(!now.data?.silent && { at: now.dataUpdatedAt }) }}
          untold={whyUntold(now.data?.silent, now.error)}
          compact={compact}
          leadsOn={leadsOn}
          busy={decide.isPending || lost !== undefined}
          note={note ?? (hasSwallowed ? cameWords : undefined)}
          onAnswer={answer}
          editRefused={editRefused}
          onNext={onNext}
        />
      )}
    </>
  )
}

/** An answer whose card shows what it set going, or the way on: whoever gave it wants to see that, and not the next question. */
function staysToShow({ about }: ApprovalCard, verdict: Verdict): boolean {
  return about?.what === 'circuit' || verdict === 'ask_again' || verdict === 'overwrite'
}

/** Why nobody can tell whether what the step acts on is still as it was; undefined where somebody can, or nobody was asked. */
function whyUntold(silent: SilentTarget | undefined, error: unknown): WhyUntold | undefined {
  if (silent) return silent
  return isApiProblem(error, 'too_many_requests') ? sentenceOf(error) : undefined
}

/** Only of a difference there is something to compare, and only while it waits to be decided. */
function maySeeNow({ kind, state, preview }: ApprovalCard): boolean {
  return kind === 'approval' && state === 'open' && preview?.show === 'diff'
}

/** True when the decision that stands is the one this person sent: theirs, the same verdict and the same words. */
function isOurs({ decision }: ApprovalCard, lost: Lost, me: string): boolean {
  return (
    decision !== undefined &&
    decision.by === `person:${me}` &&
    decision.verdict === lost.verdict &&
    decision.event === lost.event &&
    decision.comment === lost.comment &&
    decision.edited === lost.edited
  )
}

/** On a phone a question is the page, and brings its own way back. */
function PhoneBar({
  card,
  place,
  onBack,
}: {
  card: ApprovalCard | undefined
  place: { at: number; of: number } | undefined
  onBack: (() => void) | undefined
}) {
  const opened = useOpened()
  return (
    <header className="flex h-12 shrink-0 items-center gap-2 border-b bg-canvas pr-4 md:hidden">
      <button
        type="button"
        aria-label="All questions"
        onClick={onBack}
        className="ring-inside -mr-2 grid size-12 place-items-center"
      >
        <ChevronLeft size={16} strokeWidth={1.5} aria-hidden="true" />
      </button>
      <h1 className="truncate font-medium">{card ? kindWords[card.kind].title : 'Approval'}</h1>
      {place && (
        <span className="whitespace-nowrap text-ink-3">
          <span className="num">{place.at}</span> of <span className="num">{place.of}</span>
        </span>
      )}
      <span className="flex-1" />
      {!opened && <LiveMark brief />}
    </header>
  )
}
