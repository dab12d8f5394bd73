'use client'
import { Actor } from '@/components/ui/actor'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { Countdown, RelativeTime } from '@/components/ui/relative-time'
import { momentOf } from '@/lib/ui/format-time'
import { useHydrated } from '@/lib/ui/hydrated'
import { useNow } from '@/lib/ui/now'
import type { ApprovalCard } from '@/lib/view/approval-wire'
import { asSentence } from '@/lib/view/plain-words'
import { AboutFacts } from './about-facts'
import { becauseOf, followSentence, listed, releaseSentence } from './words'

const undoSub = {
  restore: 'Its state is sealed before it runs.',
  remote: 'The agent that does it holds the state.',
  compensate: 'By another action; what was seen meanwhile stays seen.',
} as const

/** Asked beside a step about what was noticed: its consequence is the question's own, and says nothing of the step. */
const besideStep = new Set<ApprovalCard['kind']>(['cascade', 'circuit', 'agent_error'])

/** What a person weighs, in the order they weigh it: undo, what it touches, why, who else, and by when. */
export function DecisionFacts({ card, compact = false }: { card: ApprovalCard; compact?: boolean }) {
  if (card.kind === 'event') return <EventFacts card={card} compact={compact} />
  if (card.about || card.kind === 'resource_exhausted') return <NoticedFacts card={card} compact={compact} />
  const agents = card.touches.agents
  const pauses = card.stepKind === 'pause_for_approval'
  const released = pauses ? releaseSentence(card.touches) : undefined
  // A step whose runs are its deed has no target of its own.
  const touched = released ?? (agents.length > 0 ? `${listed(agents)}.` : card.target && `${card.target}.`)
  return (
    <Facts className={compact ? 'mt-2' : 'mt-4 max-md:mt-2'} label={compact ? 104 : 112} dense={compact}>
      {card.failure && <Fact label="What failed">{asSentence(card.failure)}</Fact>}
      {!besideStep.has(card.kind) && (
        <Fact label="Undo">
          {card.undo ? (
            <>
              {asSentence(card.undo.sentence)} <Sub>{undoSub[card.undo.method]}</Sub>
            </>
          ) : card.consequence === 'read_only' ? (
            <>
              Not needed. <Sub>{pauses ? 'The pause itself changes nothing.' : 'It only reads.'}</Sub>
            </>
          ) : (
            <>
              None. <Sub>No checkpoint can bring it back.</Sub>
            </>
          )}
        </Fact>
      )}
      <Fact label="Touches">
        {touched && `${touched} `}
        <Sub>{followSentence(card.touches)}</Sub>
      </Fact>
      <Because card={card} />
      {card.state === 'open' && <WhoAndUntil card={card} />}
    </Facts>
  )
}

/** Of what the engine noticed itself: what is so and what each answer leads to, then why it asks and who else may answer. */
function NoticedFacts({ card, compact }: { card: ApprovalCard; compact: boolean }) {
  return (
    <Facts className={compact ? 'mt-2' : 'mt-4 max-md:mt-2'} label={compact ? 104 : 112} dense={compact}>
      {card.about ? (
        <AboutFacts about={card.about} of={card} answered={card.state !== 'open'} />
      ) : (
        <>
          <Fact label={card.state === 'open' ? 'Waits' : 'Waited'}>
            “{card.label}”, critical work that found no room. <Sub>{followSentence(card.touches)}</Sub>
          </Fact>
          {card.state === 'open' && (
            <Fact label="Answering">
              Changes nothing by itself. <Sub>The step goes on as soon as there is room.</Sub>
            </Fact>
          )}
        </>
      )}
      <Because card={card} />
      {card.state === 'open' && <WhoAndUntil card={card} />}
    </Facts>
  )
}

/** Of a state that waits for its event: giving one changes nothing by itself, and more than a person may give it. */
function EventFacts({ card, compact }: { card: ApprovalCard; compact: boolean }) {
  return (
    <Facts className={compact ? 'mt-2' : 'mt-4 max-md:mt-2'} label={compact ? 104 : 112} dense={compact}>
      <Fact label="Undo">
        Not needed. <Sub>The event changes nothing itself; what follows can be rolled back to before it.</Sub>
      </Fact>
      <Because card={card} />
      {card.state === 'open' && <WhoAndUntil card={card} />}
    </Facts>
  )
}

/** Why it is asked; once it is over, why it was. */
function Because({ card }: { card: ApprovalCard }) {
  return (
    <Fact label={card.state === 'open' ? 'Asks because' : 'Asked because'}>
      {asSentence(becauseOf(card))}{' '}
      <Sub>
        <Actor id={card.runStartedBy} /> began the run <RelativeTime at={card.runStartedAt} />.
      </Sub>
    </Fact>
  )
}

/** Who else may answer, and by when: of a question that is open. */
function WhoAndUntil({ card }: { card: ApprovalCard }) {
  return (
    <>
      <Fact label="Also decides">
        {card.kind === 'event' ? (
          <>
            Any {card.role}, or another system over the API. <Sub>The first event holds.</Sub>
          </>
        ) : (
          <>
            Nobody else. <Sub>One {card.role} is enough; the first answer holds.</Sub>
          </>
        )}
      </Fact>
      <div className="contents max-md:hidden">
        <Fact label="Deadline">
          <DeadlineSentence card={card} />
        </Fact>
      </div>
    </>
  )
}

/** The one case an author can spell out in which silence lets a step go on. */
const approvesBySilence = (card: ApprovalCard) => card.onSilence.includes('goes on')

/** By when, and what silence means. */
export function DeadlineSentence({ card }: { card: ApprovalCard }) {
  const now = useNow()
  const hydrated = useHydrated()
  if (card.deadlineAt === undefined) {
    return (
      <>
        No deadline. <Sub>It stays held until someone answers.</Sub>
      </>
    )
  }
  if (card.deadlineAt <= now) {
    return (
      <>
        It passed <RelativeTime at={card.deadlineAt} className="font-medium" />: {card.onSilence}.
      </>
    )
  }
  return (
    <>
      If nobody answers by{' '}
      <span className="num" suppressHydrationWarning>
        {hydrated && momentOf(card.deadlineAt, now)}
      </span>
      , in <Countdown at={card.deadlineAt} className="font-medium" />, {card.onSilence}.{' '}
      {approvesBySilence(card) ? null : <Sub>Silence never approves.</Sub>}
    </>
  )
}
