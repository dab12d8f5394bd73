/* The keys that work on the question on screen, as the strip below the list names them. Pure. */
import type { Verdict } from '@/lib/hitl/terms'
import type { ApprovalCard } from '@/lib/view/approval-wire'
import { waysFrom } from './about-facts'
import { verdictKeys } from './words'

/** Answers in two words, where a button says them in full. */
const shortWords: Record<Verdict, string> = {
  approve: 'approve',
  refuse: 'refuse',
  go_on_without: 'go on without',
  abort: 'call off',
  escalate: 'hand on',
  ask_again: 'ask again',
  overwrite: 'put back',
  release: 'let one probe go',
  hold: 'keep it open',
  took_effect: 'took effect',
  not_taken: 'did not',
  acknowledge: 'acknowledge',
  event: 'give the event',
}

/** Of a critical step in the way the rollback is decided on (words.ts). */
const ofCritical: Partial<Record<Verdict, string>> = {
  approve: 'let the rollback go on',
  refuse: 'call it off',
}

/** Each key and what it does: the answers, the edit, and the way to what the question is about. None where this person cannot answer. */
export function answerKeys(card: ApprovalCard | undefined): [key: string, word: string][] {
  if (card?.state !== 'open' || !card.mayDecide) return []
  if (card.kind === 'event') return [['1 … 9', shortWords.event]]
  return [
    ...card.verdicts.map((verdict, at): [string, string] => [
      verdictKeys[at] ?? '',
      (card.kind === 'rollback_critical' && ofCritical[verdict]) || shortWords[verdict],
    ]),
    ...(card.editable && card.verdicts.includes('approve') ? [['e', 'edit'] as [string, string]] : []),
    ...waysFrom(card).flatMap(({ key, word }): [string, string][] =>
      key ? [[key, word.charAt(0).toLowerCase() + word.slice(1)]] : [],
    ),
  ]
}
