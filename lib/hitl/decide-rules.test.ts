import { describe, expect, it } from 'vitest'
import {
  type Decider,
  type Decision,
  eventGivenRefusal,
  mayDecide,
  type Question,
  refusalOf,
} from './decide-rules'

const question: Question = {
  id: 'appr_1',
  kind: 'approval',
  role: 'operator:oncall',
  node: 'update-bgp-peer',
  visit: 1,
  action: 'digest-a',
  state: { status: 'open' },
}
const ada: Decider = { kind: 'person', name: 'ada', roles: ['operator:oncall'] }
const approve: Decision = { verdict: 'approve', action: 'digest-a', edited: false }

describe('who may decide', () => {
  it('the role that is asked, and an administrator', () => {
    expect(mayDecide(question, ada)).toEqual({ may: true })
    expect(mayDecide(question, { ...ada, roles: ['administrator'] })).toEqual({ may: true })
    expect(refusalOf(question, ada, approve)).toBeUndefined()
  })

  it('another role is told which one is needed and what they hold', () => {
    const refusal = refusalOf(
      question,
      { kind: 'person', name: 'bo', roles: ['coordinator', 'author'] },
      approve,
    )
    expect(refusal?.code).toBe('approval_role')
    expect(refusal?.message).toBe(
      'update-bgp-peer must be decided by operator:oncall; bo holds coordinator, author.',
    )
  })

  it('names the step by its label, where it has one', () => {
    const named = { ...question, label: 'Move traffic' }
    const bo: Decider = { kind: 'person', name: 'bo', roles: [] }
    expect(refusalOf(named, bo, approve)?.message).toBe(
      '"Move traffic" must be decided by operator:oncall; bo holds no role.',
    )
    const closed = { ...named, state: { status: 'void', at: 0 } } as const
    expect(refusalOf(closed, ada, approve)?.message).toContain('The question about "Move traffic", visit 1,')
  })

  it('an agent never decides, whatever its roles', () => {
    const refusal = refusalOf(
      question,
      { kind: 'agent', name: 'edge-router-07', roles: ['administrator'] },
      approve,
    )
    expect(refusal?.code).toBe('approval_role')
    expect(refusal?.message).toContain('edge-router-07 is an agent')
  })

  it('an API token needs both the scope and the role', () => {
    const token: Decider = {
      kind: 'api_token',
      name: 'chat bridge',
      roles: ['operator:oncall'],
      scopes: ['runs:read'],
    }
    expect(refusalOf(question, token, approve)?.code).toBe('scope_missing')
    expect(refusalOf(question, { ...token, scopes: ['approvals:decide'] }, approve)).toBeUndefined()
    expect(
      refusalOf(question, { ...token, scopes: ['approvals:decide'], roles: ['viewer'] }, approve)?.code,
    ).toBe('approval_role')
  })
})

describe('what a decision is refused for', () => {
  it('a question that is decided names who decided, what and when', () => {
    const at = Date.UTC(2026, 2, 1, 9, 14, 31)
    const decided: Question = {
      ...question,
      state: { status: 'decided', verdict: 'refuse', by: 'person:bo', at },
    }
    const refusal = refusalOf(decided, ada, approve)
    expect(refusal?.code).toBe('approval_decided')
    expect(refusal?.message).toBe(
      'bo already answered "refuse" for update-bgp-peer, visit 1, on 2026-03-01 09:14:31 UTC; nothing was changed.',
    )
    expect(refusal?.data).toMatchObject({ by: 'person:bo', at, verdict: 'refuse' })
    expect(mayDecide(decided, ada)).toEqual({ may: false, because: refusal?.message })
  })

  it('a question that the run left behind', () => {
    const refusal = refusalOf({ ...question, state: { status: 'void', at: 0 } }, ada, approve)
    expect(refusal?.code).toBe('approval_gone')
    expect(refusal?.message).toContain('because the run moved on')
  })

  it('another action than the one that was looked at', () => {
    const refusal = refusalOf(question, ada, { ...approve, action: 'digest-b' })
    expect(refusal?.code).toBe('approval_digest')
    expect(refusal?.message).toContain('look at it again')
  })

  it('a verdict that does not answer the question', () => {
    const unknown: Question = { ...question, kind: 'outcome_unknown' }
    const refusal = refusalOf(unknown, ada, approve)
    expect(refusal?.code).toBe('bad_request')
    expect(refusal?.message).toContain('answer took_effect or not_taken')
    expect(refusalOf(unknown, ada, { ...approve, verdict: 'not_taken' })).toBeUndefined()
  })

  it('an edit that goes with anything but an approval', () => {
    const edited = { ...approve, edited: true }
    expect(refusalOf(question, ada, edited)).toBeUndefined()
    const refusal = refusalOf(question, ada, { ...edited, verdict: 'refuse' })
    expect(refusal?.code).toBe('approval_edit_refused')
    expect(refusal?.message).toContain('leave the edit out')
  })
})

describe('an event', () => {
  const awaited: Question = {
    ...question,
    kind: 'event',
    node: 'await_approval',
    events: ['Approved', 'Rejected'],
    slots: ['note'],
  }
  const given: Decision = { verdict: 'event', action: 'digest-a', edited: false, event: 'Approved' }

  it('must be one of those there are', () => {
    expect(refusalOf(awaited, ada, given)).toBeUndefined()
    for (const event of ['approved', 'Constructor', '', '__proto__', 'A'.repeat(5_000)]) {
      const refusal = refusalOf(awaited, ada, { ...given, event })
      expect(refusal?.code).toBe('bad_request')
      expect(refusal?.message).toContain('is no event of await_approval; give Approved or Rejected.')
      expect(refusal?.message.length).toBeLessThan(250)
      expect(refusal?.data.events).toEqual(['Approved', 'Rejected'])
    }
    expect(refusalOf(awaited, ada, { ...given, event: undefined })?.message).toContain('No event was named')
    expect(refusalOf({ ...awaited, events: [] }, ada, given)?.message).toContain('it waits for none')
  })

  it('writes the artifacts of its state and no others', () => {
    expect(refusalOf(awaited, ada, { ...given, artifacts: ['note'] })).toBeUndefined()
    expect(refusalOf(awaited, ada, { ...given, artifacts: ['note', 'fix'] })?.message).toBe(
      'await_approval does not write the artifact "fix"; it may write note.',
    )
  })

  it('goes with no other verdict, and no other verdict answers it', () => {
    expect(refusalOf(question, ada, { ...approve, event: 'Approved' })?.message).toContain(
      'go only with the verdict "event"',
    )
    expect(refusalOf(awaited, ada, approve)?.message).toContain('answer event')
  })

  it('needs the role also where no question stands, and an agent never gives it', () => {
    const state = { node: 'talk', visit: 2, role: 'operator', events: ['Done'], slots: [] }
    const done = { event: 'Done', artifacts: [] }
    expect(eventGivenRefusal(state, { ...ada, roles: ['operator'] }, done)).toBeUndefined()
    expect(eventGivenRefusal(state, { ...ada, roles: ['viewer'] }, done)?.code).toBe('approval_role')
    expect(eventGivenRefusal(state, { ...ada, kind: 'agent' }, done)?.code).toBe('approval_role')
    expect(eventGivenRefusal(state, ada, { ...done, event: 'Never' })?.message).toContain('give Done')
  })

  it('that came second is told which one was given', () => {
    const state = { status: 'decided', verdict: 'event', event: 'Rejected', by: 'person:bo', at: 0 } as const
    expect(refusalOf({ ...awaited, state }, ada, given)?.message).toContain('bo already gave "Rejected"')
  })
})
