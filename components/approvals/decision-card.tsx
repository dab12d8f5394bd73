'use client'
import { useRouter } from 'next/navigation'
import { type ReactNode, useRef, useState } from 'react'
import { Button } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { cx } from '@/components/ui/cx'
import { Diff, TextBlock } from '@/components/ui/diff'
import { HoldButton } from '@/components/ui/hold-button'
import { NoUndoIcon } from '@/components/ui/icons'
import { Kbd } from '@/components/ui/kbd'
import type { JsonObject } from '@/lib/base/json'
import type { ApprovalKind, Verdict } from '@/lib/hitl/terms'
import { count } from '@/lib/ui/format-time'
import { type InspectorTab, links } from '@/lib/ui/links'
import { useOpened } from '@/lib/ui/opened'
import { shortId } from '@/lib/ui/short-id'
import { useShortcuts } from '@/lib/ui/shortcuts'
import type { ActionPreview, ApprovalCard } from '@/lib/view/approval-wire'
import { waysFrom } from './about-facts'
import { AnswerDialog } from './answer-dialog'
import { type ChangedPreview, ChangedSinceAsked } from './changed-since-asked'
import { Comments } from './comments'
import { Decided } from './decided'
import { DeadlineSentence, DecisionFacts } from './decision-facts'
import { EditChange } from './edit-change'
import { EventActs } from './event-acts'
import { Untold } from './untold'
import type { WhyUntold } from './untold-words'
import { askOf, headlineOf, verdictKeys, wordsOf } from './words'
import { WouldUndo } from './would-undo'

export interface AnswerWish {
  verdict: Verdict
  comment: string
  edited?: JsonObject
  /** With the verdict `event`: which one, and values for artifacts. */
  event?: string
  artifacts?: JsonObject
}

/** Resolves to true once the question is settled. */
export type Answer = (wish: AnswerWish) => Promise<boolean>

/**
 * The decision card, in this order and with nothing above it: what will happen, the diff, can it be undone, what it
 * touches, why it asks, who else, by when, the buttons. What cannot be undone says so first, in red, and is held for a
 * second. All else is one key away.
 *
 * `compact` is the same card in an inspector: the same words in the same order, closer together, and without what stands
 * beside it there already (the run, the step's evidence).
 */
export function DecisionCard({
  card,
  changed,
  untold,
  compact = false,
  leadsOn = true,
  busy,
  note,
  onAnswer,
  editRefused,
  onNext,
}: {
  card: ApprovalCard
  /** What it would do by now, where that is not what was asked. */
  changed: ChangedPreview | undefined
  /** Why nobody can tell whether it changed. */
  untold: WhyUntold | undefined
  compact?: boolean
  /** It offers the ways to what it is about; not where that stands around it. */
  leadsOn?: boolean
  busy: boolean
  /** What became of the last try to decide, when its answer was lost. */
  note: string | undefined
  onAnswer: Answer
  editRefused: string | undefined
  onNext: (() => void) | undefined
}) {
  const open = card.state === 'open'
  const opened = useOpened()
  return (
    <div className={cx('flex flex-col', !compact && 'min-h-0 flex-1 overflow-auto')} key={card.id}>
      {card.consequence === 'irreversible' && !isNoticed(card) && (
        <CannotBeUndone stays={stays[card.kind] ?? 'What it did stays done.'} compact={compact} />
      )}
      <div
        className={cx(
          'motion-fade flex w-full flex-col',
          compact ? 'px-4 pt-3' : 'mx-auto max-w-[824px] flex-1 px-8 pt-6 max-md:px-4 max-md:pt-4',
        )}
      >
        <h2
          className={cx(
            'text-balance font-medium [overflow-wrap:anywhere]',
            compact ? 'mb-3' : 'text-t3 tracking-[-0.01em]',
          )}
        >
          <Unbroken text={headlineOf(card)} />
        </h2>
        {!compact && <Whose card={card} />}
        {untold && open && <Untold approval={card.id} why={untold} changed={changed !== undefined} />}
        <Preview card={card} changed={changed} compact={compact} />
        <WouldUndo card={card} compact={compact} />
        <DecisionFacts card={asOfNow(card, changed)} compact={compact} />
        {!compact && <span className="flex-1 md:hidden" />}
        {open && opened ? (
          <OpenInBundle card={card} compact={compact} />
        ) : open && card.kind === 'event' ? (
          <EventActs card={card} compact={compact} busy={busy} note={note} onAnswer={onAnswer}>
            {!compact && <OneKeyAway card={card} />}
          </EventActs>
        ) : open ? (
          <Acts
            card={card}
            compact={compact}
            leadsOn={leadsOn}
            busy={busy}
            note={note}
            onAnswer={onAnswer}
            editRefused={editRefused}
          />
        ) : (
          <Decided card={card} onNext={onNext} />
        )}
        {compact ? <CommentsElsewhere card={card} /> : <Comments card={card} />}
      </div>
    </div>
  )
}

/** Questions about what was noticed beside a step: its own consequence is not what is decided. */
function isNoticed({ about, kind }: ApprovalCard): boolean {
  return about !== undefined || kind === 'resource_exhausted'
}

function Whose({ card }: { card: ApprovalCard }) {
  return (
    <p className="mono mb-4 mt-1 text-ink-2 [overflow-wrap:anywhere] max-md:mb-3">
      {card.target && card.target !== card.label && (
        <>
          {card.target} <span className="text-ink-3">by</span>{' '}
        </>
      )}
      {card.label}{' '}
      <span className="max-md:hidden">
        <span className="text-ink-3">in</span> {card.workflow}{' '}
        <CopyId id={card.run} what="run id" className="text-ink-3" />
      </span>
    </p>
  )
}

/** Words longer than this may break: a long path must not leave the screen. */
const unbrokenLength = 24

/** A sentence whose words do not break at their hyphens: "transit-a" stays one word. */
function Unbroken({ text }: { text: string }) {
  return text.split(/(\s+)/).map((word, index) =>
    word.includes('-') && word.length <= unbrokenLength ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: words of a sentence never move.
      <span key={index} className="whitespace-nowrap">
        {word}
      </span>
    ) : (
      word
    ),
  )
}

/** What of it stays, by why a person is asked. */
const stays: Partial<Record<ApprovalKind, string>> = {
  approval: 'What it does stays done.',
  event: 'What it does stays done.',
  irreversible_failed: 'What it did before it failed stays done.',
}

function CannotBeUndone({ stays, compact }: { stays: string; compact: boolean }) {
  return (
    <div className="border-b border-failed-line bg-failed-wash text-failed-ink">
      <p
        className={cx(
          'flex items-start gap-2 py-2.5',
          compact ? 'px-4' : 'mx-auto max-w-[824px] px-8 max-md:px-4',
        )}
      >
        <NoUndoIcon className="mt-0.5 shrink-0 text-failed-mark" />
        <span>
          <b>Cannot be undone.</b> {stays}
        </span>
      </p>
    </div>
  )
}

/** What would be put back is what is there now. */
function asOfNow(card: ApprovalCard, changed: ChangedPreview | undefined): ApprovalCard {
  if (!card.undo || changed?.undo === undefined) return card
  return { ...card, undo: { ...card.undo, sentence: changed.undo } }
}

/** Where a bundle ends before anyone answered: nothing is offered that cannot be done. */
function OpenInBundle({ card, compact }: { card: ApprovalCard; compact: boolean }) {
  return (
    <div className={cx('border-t', compact ? '-mx-4 mt-1 px-4 py-3' : 'mt-2 pb-3 pt-4')}>
      <p className="mb-3" role="note">
        <b>Nobody had answered.</b> <span className="text-ink-2">{card.mayNotBecause}</span>
      </p>
      {!compact && <OneKeyAway card={card} />}
    </div>
  )
}

function Preview({
  card,
  changed,
  compact,
}: {
  card: ApprovalCard
  changed: ChangedPreview | undefined
  compact: boolean
}) {
  const shown = card.preview ?? card.did?.preview
  const aside = !compact && (
    <span className="max-md:hidden">
      digest{' '}
      <CopyId
        id={card.preview ? card.action : (card.did?.action ?? card.action)}
        what="digest"
        className="text-ink-2"
      />
    </span>
  )
  if (!shown) {
    // What failed says itself what it did; a step that is held should have shown what it would do.
    if (card.kind !== 'approval') return null
    return (
      <p className="text-t1 text-ink-3">
        No preview came with this question. Digest{' '}
        <CopyId id={card.action} what="digest" className="text-ink-2" />
      </p>
    )
  }
  const drawn = (preview: ActionPreview, isAct = true) =>
    preview.show === 'diff' ? (
      <Diff
        title={preview.title}
        before={preview.before}
        after={preview.after}
        aside={isAct && aside}
        context={compact ? 1 : 3}
        numbers={!compact}
      />
    ) : (
      <TextBlock title={preview.title} text={preview.text} aside={isAct && aside} />
    )
  const seen = changed ?? (card.decision?.seen && { preview: card.decision.seen })
  if (!seen) return drawn(shown)
  return (
    <ChangedSinceAsked asked={shown} target={card.target} seen={seen} decided={card.decision} draw={drawn} />
  )
}

/** Two answers to a row, in an inspector. */
const inPairs = '[&>*:last-child:nth-child(even)]:col-span-2'

/** An answer that nothing would come of is not the one a card proposes. */
function isForNothing(verdict: Verdict, { about }: ApprovalCard): boolean {
  return verdict === 'go_on_without' && about?.what === 'rollback' && about.can === 0
}

function Acts({
  card,
  compact,
  leadsOn,
  busy,
  note,
  onAnswer,
  editRefused,
}: {
  card: ApprovalCard
  compact: boolean
  leadsOn: boolean
  busy: boolean
  note: string | undefined
  onAnswer: Answer
  editRefused: string | undefined
}) {
  const [asking, setAsking] = useState<Verdict>()
  const [editing, setEditing] = useState(false)
  const draft = useRef<JsonObject | undefined>(undefined)
  const may = card.mayDecide && !busy
  const mayEdit = may && card.editable !== undefined && card.verdicts.includes('approve')
  const choose = (verdict: Verdict) => {
    if (askOf(verdict, card)) setAsking(verdict)
    else void onAnswer({ verdict, comment: '' })
  }
  const held = (verdict: Verdict) => verdict === 'approve' && card.consequence === 'irreversible'
  const [first, second, third, fourth, fifth] = card.verdicts
  const router = useRouter()
  const ways = leadsOn ? waysFrom(card) : []
  useShortcuts({
    // The held button listens to its own key.
    a: may && first && !held(first) ? () => choose(first) : undefined,
    x: may && second ? () => choose(second) : undefined,
    d: may && third ? () => choose(third) : undefined,
    n: may && fourth ? () => choose(fourth) : undefined,
    p: may && fifth ? () => choose(fifth) : undefined,
    // In an inspector these keys are the page's.
    ...(!compact && Object.fromEntries(ways.map(({ key = '', href }) => [key, () => router.push(href)]))),
    e: mayEdit ? () => setEditing(true) : undefined,
  })
  // An answer takes a row of its own in a narrow place, unless the two weigh the same.
  const alike = card.kind === 'outcome_unknown'
  return (
    <div
      className={cx(
        'sticky bottom-0 border-t bg-surface',
        // Where the page shows what it is about as well, there is no room on a phone for what would stay in sight.
        !leadsOn && 'max-md:static',
        compact ? '-mx-4 mt-1 px-4 py-3' : 'mt-2 pb-3 pt-4 max-md:-mx-4 max-md:px-4 max-md:pb-7 max-md:pt-3',
      )}
    >
      <p className="mb-3 md:hidden">
        <DeadlineSentence card={card} />
      </p>
      {note && !asking && !editing && (
        <p className="mb-3" role="alert">
          {note}
        </p>
      )}
      {!card.mayDecide && (
        <p className="mb-3 text-ink-2" role="note">
          <b>You cannot decide this.</b> {card.mayNotBecause}
        </p>
      )}
      <div
        className={cx(
          'gap-2',
          compact ? 'grid grid-cols-2' : 'mb-3 flex flex-wrap max-md:grid max-md:grid-cols-2',
          // In a narrow place the first answer has a row, two of the others share one, and the last of an odd number has one again.
          !alike && (compact ? inPairs : 'max-md:[&>*:last-child:nth-child(even)]:col-span-2'),
        )}
      >
        {card.verdicts.map((verdict, index) => {
          const words = wordsOf(verdict, card).button(card)
          const key = verdictKeys[index]
          if (held(verdict)) {
            return (
              <HoldButton
                key={verdict}
                shortcut={key}
                busy={busy}
                disabled={!card.mayDecide}
                onHeld={() => void onAnswer({ verdict, comment: '' })}
                about={card.target}
                wraps
                className={compact ? 'col-span-2' : 'max-md:col-span-2'}
              >
                <span>{words}</span>
              </HoldButton>
            )
          }
          const leads = index === 0 && !alike
          return (
            <Button
              key={verdict}
              variant={leads && !isForNothing(verdict, card) ? 'primary' : 'default'}
              shortcut={key}
              busy={busy}
              disabled={!card.mayDecide}
              aria-label={words}
              aria-description={card.target || undefined}
              title={card.target || undefined}
              onClick={() => choose(verdict)}
              wraps
              className={cx(leads && (compact ? 'col-span-2' : 'max-md:col-span-2'))}
            >
              <span>{verdict === 'refuse' && !card.about ? 'Refuse…' : words}</span>
            </Button>
          )
        })}
        {card.editable && card.verdicts.includes('approve') && (
          <Button shortcut="e" disabled={!mayEdit} onClick={() => setEditing(true)}>
            Edit the change…
          </Button>
        )}
        {ways.map(({ key, word, href }) => (
          <Button key={href} asChild>
            <a href={href} aria-keyshortcuts={compact ? undefined : key}>
              {word}
              {key && !compact && (
                <span className="max-md:hidden" aria-hidden="true">
                  <Kbd>{key}</Kbd>
                </span>
              )}
            </a>
          </Button>
        ))}
      </div>
      {!compact && <OneKeyAway card={card} />}
      {asking && (
        <AnswerDialog
          card={card}
          verdict={asking}
          busy={busy}
          note={note}
          onClose={() => setAsking(undefined)}
          onAnswer={async (comment) => {
            if (await onAnswer({ verdict: asking, comment })) setAsking(undefined)
          }}
        />
      )}
      {card.editable && (
        <EditChange
          card={card}
          editable={card.editable}
          draft={draft}
          open={editing}
          busy={busy}
          refused={editRefused}
          note={note}
          onClose={() => setEditing(false)}
          onApprove={async (edited) => {
            if (await onAnswer({ verdict: 'approve', comment: '', edited })) setEditing(false)
          }}
        />
      )}
    </div>
  )
}

/** What people said stands in the inbox, with the field to say more. */
function CommentsElsewhere({ card }: { card: ApprovalCard }) {
  if (card.comments.length === 0) return null
  return (
    <p className="pb-3 text-t1 text-ink-3">
      <a
        href={links.approvals({ item: card.id, show: card.state === 'open' ? undefined : 'decided' })}
        className="underline decoration-line-strong underline-offset-4 hover:text-ink"
      >
        {count(card.comments.length, 'comment')} in Approvals
      </a>
    </p>
  )
}

const away: [key: string, word: string, tab: InspectorTab | undefined][] = [
  ['i', 'Input', 'input'],
  ['t', 'Tokens', 'tokens'],
  ['c', 'Checkpoint', 'checkpoint'],
  ['g', 'Run graph', undefined],
]

/** The rest of what there is to know, each behind one key: it opens the run at this step. */
function OneKeyAway({ card }: { card: ApprovalCard }) {
  const router = useRouter()
  const href = (tab: InspectorTab | undefined) =>
    links.run(card.run, { node: card.node, ...(tab ? { tab } : {}) })
  useShortcuts(Object.fromEntries(away.map(([key, , tab]) => [key, () => router.push(href(tab))])))
  return (
    <p className="flex gap-4 whitespace-nowrap text-t1 text-ink-3 max-md:hidden">
      <span>One key away</span>
      {away.map(
        ([key, word, tab]): ReactNode => (
          <a
            key={key}
            href={href(tab)}
            className="hover:text-ink"
            title={`${word} of ${card.label} in ${shortId(card.run)}`}
          >
            <Kbd>{key}</Kbd> {word}
          </a>
        ),
      )}
    </p>
  )
}
