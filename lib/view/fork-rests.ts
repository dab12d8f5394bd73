/** Why a value cannot be edited for real: in the same words where it is refused and where it is shown beforehand. */
import type { ForkDecision } from './fork-wire'
import { plainActor } from './plain-words'

/** "ada gave “Approved” at review": who decided what, where. */
export function decisionWords({ by, event, label, visit }: ForkDecision): string {
  const where = visit > 1 ? `${label}, visit ${visit}` : label
  return `${plainActor(by)} ${event === undefined ? 'approved' : `gave "${event}"`} at ${where}`
}

/** One sentence without its full stop: the decision, the value it was made on, and the three ways to mend it. */
export function restsOnWords(what: string, decision: ForkDecision, how = 'is edited'): string {
  return `${decisionWords(decision)} before ${what} ${how}, so a fork for real would go on with a decision nobody made on it; fork from token ${decision.at.toLocaleString('en')}, before that step, leave the value as it is, or fork as a dry run`
}
