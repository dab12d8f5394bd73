import type { ApprovalRow } from '@/lib/view/approval-wire'

/** Where a question without a deadline stands among those with one: a stopped run within the hour, the rest within a day. */
const patienceMs = { escalated: 3_600_000, other: 86_400_000 } as const

/** Most urgent first: by deadline, a missing one counted from when it was asked. Stable, so rows do not swap under a hand. */
export function byUrgency(rows: ApprovalRow[]): ApprovalRow[] {
  const due = (row: ApprovalRow) =>
    row.deadlineAt ?? row.askedAt + (row.kind === 'approval' ? patienceMs.other : patienceMs.escalated)
  return [...rows].sort((a, b) => due(a) - due(b) || a.askedAt - b.askedAt || (a.id < b.id ? -1 : 1))
}
