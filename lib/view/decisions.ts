import type { Fact } from '@/lib/engine/facts'
import { decidedOnSeen } from './act-words'
import type { RunFold } from './run-fold'
import type { LedgerRow } from './visit-view'

/** What people were asked, or did, as one row. */
export interface DecisionRow {
  row: LedgerRow
  words: string
  comment: string | undefined
}

/** Newer ones are not looked at beyond this; a run with more is read in its ledger. */
const mostShown = 2_000

/** Questions and acts of people, oldest first. */
export function decisionsOf(fold: RunFold): DecisionRow[] {
  const byPeople = new Set(fold.timeline.marks('person').map(({ seq }) => seq))
  const shown: DecisionRow[] = []
  for (const [index, fact] of fold.facts.entries()) {
    const row = fold.rows[index]
    if (!row || !fact || (fact.type !== 'approval_asked' && !byPeople.has(row.seq))) continue
    shown.push({ row, words: wordsOf(row, fact), comment: commentOf(fact) })
    if (shown.length === mostShown) break
  }
  return shown
}

function wordsOf(row: LedgerRow, fact: Fact): string {
  const words = row.words ?? row.act
  if (fact.type === 'approval_asked') return `${words} of ${fact.role}: ${fact.sentence}`
  if (fact.type === 'approval_decided' && fact.seen !== undefined) return `${words}, ${decidedOnSeen}`
  return words
}

function commentOf(fact: Fact): string | undefined {
  if ('comment' in fact && fact.comment) return fact.comment
  return 'reason' in fact && fact.type !== 'approval_asked' && fact.reason ? fact.reason : undefined
}
