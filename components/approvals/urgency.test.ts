import { describe, expect, it } from 'vitest'
import type { ApprovalRow } from '@/lib/view/approval-wire'
import { byUrgency } from './urgency'

const asked = (id: string, more: Partial<ApprovalRow>) =>
  ({ id, kind: 'approval', askedAt: 0, ...more }) as ApprovalRow
const minutes = (n: number) => n * 60_000

describe('the order of the inbox', () => {
  it('puts the nearest deadline first, a stopped run within the hour, and what can wait last', () => {
    const rows = [
      asked('no deadline', {}),
      asked('in two hours', { deadlineAt: minutes(120) }),
      asked('rollback failed', { kind: 'rollback_failed' }),
      asked('in a minute', { deadlineAt: minutes(1) }),
    ]
    expect(byUrgency(rows).map((row) => row.id)).toEqual([
      'in a minute',
      'rollback failed',
      'in two hours',
      'no deadline',
    ])
  })
})
