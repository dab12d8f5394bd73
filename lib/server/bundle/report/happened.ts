/** What happened, in one paragraph: who began it, how far it came, what went wrong, who stepped in, how it ended. */
import type { RunStatus } from '@/lib/engine/run'
import type { Headline } from '@/lib/view/headline'
import { asSentence, plainActor } from '@/lib/view/plain-words'
import { labelOf } from '@/lib/workflow/graph-index'
import type { DecisionClaim } from '../claims'
import type { Evidence, RunEvidence } from '../evidence'
import { counted, cut, listed, moment, span, thousands } from './words'

/** Longest part of a sentence that somebody else wrote. */
const quotedChars = 280

/** Sentences, as plain text. */
export function whatHappened(
  { runs, forkedFrom, begunBy }: Evidence,
  headline: Headline,
  counts: string,
  decisions: readonly DecisionClaim[],
): string {
  const root = runs[0] as RunEvidence
  const { folded, timeline } = root
  const start = folded.start
  const sentences = [
    start
      ? `${plainActor(start.by)} began ${start.dryRun ? 'a dry run' : 'a run'} of ${root.workflow} on ${moment(start.at)}${forkedFrom ? `, forked from another run at its token ${thousands(forkedFrom.seq ?? 0)}` : ''}${begunBy ? ', as a step of another run' : ''}.`
      : `A run of ${root.workflow} was about to begin.`,
    `${counts.charAt(0).toUpperCase()}${counts.slice(1)}.`,
    ...below(runs),
    ...artifacts(root),
    ...errors(root),
    ...people(decisions),
    ...rollbacks(root),
    `${ending(folded.state, headline, root)}`,
  ]
  const heldMs = folded.heldMs
  if (heldMs > 0) sentences.push(`For ${span(heldMs)} of that it stood still for people.`)
  return timeline.seq === 0 ? (sentences[0] as string) : sentences.join(' ')
}

function below(runs: readonly RunEvidence[]): string[] {
  const children = runs.filter(({ relation }) => relation === 'child')
  if (children.length === 0) return []
  const failed = children.filter(
    ({ folded: { state } }) => state.status === 'ended' && state.terminal === 'failed',
  )
  const words = failed.length > 0 ? `, of which ${thousands(failed.length)} failed` : ''
  return [`Its steps began ${counted(children.length, 'run')} of their own${words}.`]
}

function artifacts({ timeline }: RunEvidence): string[] {
  const names = timeline.artifacts
  if (names.length === 0) return []
  const writes = names.reduce((sum, name) => sum + timeline.writesOf(name).length, 0)
  const named = names.slice(0, 4).map((name) => cut(name, 40))
  const rest = names.length - named.length
  const all = rest > 0 ? [...named, `${rest} more`] : named
  return [`It wrote ${counted(names.length, 'artifact')} ${counted(writes, 'time')}: ${listed(all)}.`]
}

function errors({ notes, graph }: RunEvidence): string[] {
  const failed = notes.flatMap(({ fact }) =>
    fact?.type === 'error' && (fact.severity === 'error' || fact.severity === 'critical') ? [fact] : [],
  )
  const first = failed[0]
  if (!first) return []
  const label = labelOf(graph, first.node)
  const more = failed.length > 1 ? ` ${counted(failed.length - 1, 'more error')} followed.` : ''
  return [`${cut(label, 80)} failed: ${asSentence(cut(first.description, quotedChars))}${more}`]
}

const verbs: Record<string, string> = {
  approve: 'approved',
  refuse: 'refused',
  took_effect: 'said that it had happened of',
  not_taken: 'said that it had not happened of',
  acknowledge: 'took note of',
  event: 'gave an event to',
}

function people(decisions: readonly DecisionClaim[]): string[] {
  const decided = decisions.filter(({ type }) => type === 'approval_decided' || type === 'event_given')
  if (decided.length === 0) return []
  const who = [...new Set(decided.map(({ by }) => plainActor(by)))]
  const names = listed(who.length > 4 ? [...who.slice(0, 3), `${who.length - 3} others`] : who)
  const [only] = decided
  if (decided.length > 1 || !only) return [`${names} decided ${counted(decided.length, 'time')}.`]
  if (only.type === 'event_given') return [`${names} gave the event ${cut(String(only.event), 80)}.`]
  const verb = verbs[String(only.verdict)] ?? 'decided on'
  const comment =
    typeof only.comment === 'string' && only.comment !== '' ? `: “${cut(only.comment, quotedChars)}”` : ''
  return [`${names} ${verb} ${cut(String(only.node ?? 'it'), 80)}${comment}.`]
}

function rollbacks({ folded }: RunEvidence): string[] {
  return [...folded.rollbacks.values()].map(({ by, node, acts, status, reason }) => {
    const label = labelOf(folded.graph, node)
    const how = status === undefined ? 'is under way' : `ended ${status}`
    const why = reason === '' ? '' : ` (“${cut(reason, quotedChars)}”)`
    return `${plainActor(by)} took the run back to before ${cut(label, 80)}${why}: ${counted(acts.size, 'undo')}, and it ${how}.`
  })
}

function ending(state: RunStatus, headline: Headline, { notes }: RunEvidence): string {
  const { words, why, took, flagged } = headline
  const reason = why ? `: ${asSentence(cut(why, quotedChars))}` : '.'
  const after = took === undefined ? '' : ` after ${span(took)}`
  if (flagged) return `It ${flagged.before}${after}, and was ${words} on ${moment(flagged.at)}${reason}`
  if (state.status === 'ended') return `It ended ${words}${after}${reason}`
  const last = notes.at(-1)
  return `When this was written it was ${words}${reason}${last ? ` Its newest token is of ${moment(last.at)}.` : ''}`
}
