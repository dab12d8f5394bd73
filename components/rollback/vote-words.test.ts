import { describe, expect, it } from 'vitest'
import type { AgentPart, Said } from '@/lib/view/agent-parts'
import type { RollbackView } from '@/lib/view/rollback-wire'
import { winnerWords } from './conflict'
import { executeWords, holderName, prepareWords, turnWords, waitWords } from './vote-words'

const part = (said: Said): AgentPart => ({ key: 'a', agent: 'spiffe://lab/agent/a', steps: [], said })
const told = (phase: RollbackView['phase'], more: Partial<RollbackView> = {}) => ({
  phase,
  votes: [],
  ...more,
})
const votes = [{} as RollbackView['votes'][number]]

describe('the phases of a rollback in words', () => {
  it('say before it is asked for that asking changes nothing', () => {
    expect(prepareWords([part('nothing'), part('nothing')], undefined)).toBe(
      '2 holders are asked first, and nothing changes',
    )
    expect(prepareWords([part('nothing')], undefined)).toBe('1 holder is asked first, and nothing changes')
    expect(executeWords([part('nothing')], undefined)).toBe('last step first, not begun')
  })
  it('count who can, and who cannot', () => {
    const parts = [part('prepared'), part('prepared'), part('cannot'), part('nothing')]
    expect(prepareWords(parts, told('preparing', { votes }))).toBe('2 of 4 can, 1 cannot')
    expect(prepareWords(parts.slice(0, 2), told('executing', { votes }))).toBe('2 of 2 can')
  })
  it('say of one that waits at a critical step for whom, and that nobody is asked before', () => {
    const question = {
      ...{ approval: 'appr_1', sentence: '', role: 'operator' },
      kind: 'rollback_critical',
    } as const
    expect(prepareWords([part('nothing'), part('nothing')], told('asking', { question }))).toBe(
      'waits for operator, nobody is asked yet',
    )
    expect(waitWords(question)).toBe(
      'Waits for operator, since it reaches a critical step. Nothing has changed yet.',
    )
    expect(waitWords({ ...question, kind: 'rollback_unprepared' })).toBe(
      'Waits for operator, since not all of it can be taken back. Nothing has changed yet.',
    )
    const below = { approval: 'appr_1', run: 'run_1', workflow: 'Pay', role: 'operator', askedAt: 0 }
    expect(waitWords(below)).toBe('Waits for operator, in a run below.')
  })
  it('say of a rollback before there were votes that nobody was asked', () => {
    expect(prepareWords([part('nothing')], told('over'))).toBe('nobody was asked before')
  })
  it('say how a rollback ended that changed nothing', () => {
    const decided = { by: 'person:ada', reason: '', at: 0, withoutCount: 0, jti: 'x' }
    const off = told('over', { decided: { ...decided, decision: 'abort' } })
    expect(executeWords([part('cannot')], off)).toBe('called off, nothing was changed')
    const on = told('over', { decided: { ...decided, decision: 'escalate' } })
    expect(executeWords([part('cannot')], on)).toBe('handed on, nothing was changed')
  })
})

it('names who holds a part: the agent, the runs that a step began, or this installation', () => {
  const first = [{ run: 'run_7f3a0000000000000000000000c2e1', workflow: 'Pay', agents: [] }]
  expect(holderName({ agent: 'spiffe://lab/agent/billing' })).toBe('billing')
  expect(holderName({ agent: undefined, runs: { count: 1, first } })).toBe('Pay run_7f3a…c2e1')
  expect(holderName({ agent: undefined, runs: { count: 3, first } })).toBe('Pay run_7f3a…c2e1 and 2 more')
  expect(holderName({ agent: undefined })).toBe('this installation')
})

it('names the turns of an agent’s steps', () => {
  expect(turnWords([1])).toBe('1st')
  expect(turnWords([3, 4])).toBe('3rd and 4th')
  expect(turnWords([2, 3, 4])).toBe('2nd to 4th')
  expect(turnWords([2, 5, 9])).toBe('2nd and 2 more')
  expect(turnWords([11, 12, 13])).toBe('11th to 13th')
  expect(turnWords([21, 22])).toBe('21st and 22nd')
})

it('says who of two rollbacks won, and why', () => {
  const grace = { scope: 'sub_dag', by: 'person:grace' } as const
  expect(winnerWords(grace, { scope: 'single' })).toBe(
    'grace’s rollback won: it takes back “this step and all that followed”, the other “this step”, and the broader of two wins.',
  )
  expect(winnerWords(grace, { scope: 'sub_dag' })).toBe(
    'grace’s rollback won: it reaches as far and was asked for first, and of two that reach as far the earlier wins.',
  )
})
