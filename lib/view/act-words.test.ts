import { describe, expect, it } from 'vitest'
import type { FactOf } from '@/lib/engine/facts'
import type { Approval, Rollback } from '@/lib/engine/run'
import { actorOf, actWords } from './act-words'

const head = { jti: 'j', at: 0, par: [] }
const attempt = { node: 'n', visit: 1, attempt: 1 }
const began: FactOf<'task_start'> = {
  type: 'task_start',
  ...head,
  ...attempt,
  action: '',
  reads: [],
  consequence: 'read_only',
}
const decided: FactOf<'approval_decided'> = {
  type: 'approval_decided',
  ...head,
  node: 'n',
  visit: 1,
  approval: 'appr_1',
  verdict: 'approve',
  by: 'person:ada',
  action: '',
  comment: '',
}
const edge = 'spiffe://lab.example/agent/edge-router-07'

describe('a token in words', () => {
  it('says what happened in the past tense', () => {
    expect(actWords(began)).toBe('step began')
    expect(actWords({ ...began, attempt: 2 })).toBe('attempt 2 began')
    expect(actWords(decided)).toBe('approved')
    expect(actWords({ ...decided, verdict: 'refuse' })).toBe('refused')
    expect(
      actWords({
        type: 'rollback_act',
        ...head,
        ...attempt,
        rollback: 'rb_1',
        checkpointId: 'c',
        undo: 'compensate',
      }),
    ).toBe('compensation began')
  })
  it('says of a rollback that was called off that it was, and not that somebody else has it', () => {
    const result: FactOf<'rollback_result'> = {
      ...{ type: 'rollback_result', ...head, rollback: 'rb_1', status: 'escalated', checkpointId: 'c' },
      ...{ cascaded: 'h', cascadedCount: 0 },
    }
    const run = (decision: 'abort' | 'escalate') => {
      const rollback = { decided: { decision } } as Rollback
      return { rollbacks: new Map([[result.rollback, rollback]]), approvals: new Map() }
    }
    expect(actWords(result, run('abort'))).toBe('rollback called off')
    expect(actWords(result, run('escalate'))).toBe('rollback escalated')
    expect(actWords(result)).toBe('rollback escalated')
  })
  it('calls an answer about a critical step in the way of a rollback by the name of its button', () => {
    const asked = { kind: 'rollback_critical' } as Approval
    const run = { rollbacks: new Map(), approvals: new Map([[decided.approval, asked]]) }
    expect(actWords({ ...decided, verdict: 'approve' }, run)).toBe('let the rollback go on')
    expect(actWords({ ...decided, verdict: 'refuse' }, run)).toBe('called it off')
    expect(actWords({ ...decided, verdict: 'refuse' })).toBe('refused')
  })
  it('names the person, else the agent whose step it is, else the engine', () => {
    expect(actorOf(decided, edge)).toBe('person:ada')
    expect(actorOf(began, edge)).toBe(edge)
    expect(actorOf(began, undefined)).toBe('engine')
    expect(actorOf({ type: 'claim_lapsed', ...head, ...attempt }, edge)).toBe('engine')
  })
})
