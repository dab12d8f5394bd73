import Link from 'next/link'
import type { ReactNode } from 'react'
import { Actor } from '@/components/ui/actor'
import { Fact, Facts } from '@/components/ui/facts'
import { RelativeTime } from '@/components/ui/relative-time'
import { StateShape } from '@/components/ui/state'
import { breadth } from '@/lib/rollback/conflict'
import { links } from '@/lib/ui/links'
import { shortId } from '@/lib/ui/short-id'
import { asSentence, plainActor } from '@/lib/view/plain-words'
import type { RollbackView } from '@/lib/view/rollback-wire'
import { scopeWords } from './plan-words'

type Reach = Pick<RollbackView, 'scope' | 'only'>
type Side = Reach & Pick<RollbackView, 'by'>

/** Who won of two rollbacks and why: the broader one wins, and of equals the earlier (cascade section 6.8). */
export function winnerWords(winner: Side, loser: Reach): string {
  const won = `${whose(winner)} won`
  return breadth(winner) > breadth(loser)
    ? `${won}: it takes back “${lower(reachWords(winner))}”, the other “${lower(reachWords(loser))}”, and the broader of two wins.`
    : `${won}: it reaches as far and was asked for first, and of two that reach as far the earlier wins.`
}

/** "Grace’s rollback", as a sentence begins. */
export function whose({ by }: Pick<Side, 'by'>): string {
  return by === 'engine' ? 'The one this run began by itself' : `${plainActor(by)}’s rollback`
}

function reachWords({ scope, only }: Reach): string {
  return only ? 'This step and what used it' : scopeWords[scope]
}

/** Of a preview that is not shown, since another rollback of the run is under way: what that one means for it. */
export function notBegunWords(asked: Reach, underWay: Side): string {
  const goesOn = `Yours, “${lower(reachWords(asked))}”, was not begun: ${midSentence(whose(underWay))} is under way`
  return breadth(asked) > breadth(underWay)
    ? `${goesOn}, and one that reaches further takes it over.`
    : `${goesOn}, and until it is over one that reaches no further is refused.`
}

/** Names keep their capital. */
const midSentence = (words: string) => (words.startsWith('The ') ? lower(words) : words)

const lower = (words: string) => `${words.charAt(0).toLowerCase()}${words.slice(1)}`

/** A rollback that this one met: whose it is, how far it reaches, since when, and why it goes on. */
export function Conflict({
  other,
  title,
  why,
  labelOf,
  urgent = false,
}: {
  other: RollbackView
  title: string
  why: ReactNode
  labelOf: (node: string) => string
  /** It has just stopped somebody, who has to hear it. */
  urgent?: boolean
}) {
  return (
    <section
      aria-label={title}
      role={urgent ? 'alert' : undefined}
      className="mb-4 rounded-r2 border border-line-strong px-3 pb-1 pt-2"
    >
      <p className="flex gap-2">
        <span className="mt-0.5">
          <StateShape state={urgent ? 'failed' : 'rolled_back'} />
        </span>
        <span className="min-w-0">
          <b>{title}</b> <span className="text-ink-2">{why}</span>
        </span>
      </p>
      <Facts label={88} dense className="mt-1">
        <Fact label="Whose">
          <Actor id={other.by} /> <RelativeTime at={other.askedAt} className="text-ink-3" />
        </Fact>
        <Fact label="How far">
          {reachWords(other)}
          {other.scope !== 'full_workflow' && `, from before ${labelOf(other.node)}`}
        </Fact>
        {other.reason && <Fact label="Reason">{asSentence(other.reason)}</Fact>}
        <Fact label="Rollback">
          <Link
            href={links.rollback(other.run, { node: other.node, rollback: other.id })}
            className="underline decoration-line-strong underline-offset-4 hover:decoration-ink"
          >
            Show <span className="mono">{shortId(other.id)}</span>
          </Link>
        </Fact>
      </Facts>
    </section>
  )
}
