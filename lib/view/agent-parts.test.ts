import { describe, expect, it } from 'vitest'
import { agentParts, executeCounts, prepareCounts } from './agent-parts'
import type { PlanStep, RollbackActView, RollbackVoteView } from './rollback-wire'

const agentOf = (name: string) => `spiffe://lab/agent/${name}`

function step(node: string, fate: PlanStep['fate'], agent?: string): PlanStep {
  return {
    node,
    visit: 1,
    label: node,
    fate,
    sentence: '',
    ...(fate !== 'irreversible' && { checkpointId: `cp-${node}` }),
    ...(agent && { agent: agentOf(agent) }),
  }
}

function vote(node: string, said: RollbackVoteView['vote'], checkpointId = `cp-${node}`): RollbackVoteView {
  return {
    node,
    visit: 1,
    checkpointId,
    agent: '',
    vote: said,
    how: 'asked',
    description: '',
    at: 0,
    jti: node,
  }
}

function act(node: string, status?: RollbackActView['status']): RollbackActView {
  return {
    node,
    checkpointId: `cp-${node}`,
    undo: 'remote',
    description: '',
    jti: node,
    ...(status && { status }),
  }
}

const plan = {
  steps: [
    step('tell', 'irreversible', 'mailer'),
    step('shift', 'restored', 'steer'),
    step('note', 'reset'),
    step('announce', 'restored', 'edge'),
    step('peer', 'restored', 'edge'),
    step('other', 'untouched'),
  ],
}

describe('a rollback by agent', () => {
  it('gathers the steps of each, with their places in the order of undoing', () => {
    expect(
      agentParts(plan).map(({ agent, steps }) => [agent?.split('/').at(-1), steps.map(({ turn }) => turn)]),
    ).toEqual([
      ['mailer', [1]],
      ['steer', [2]],
      ['edge', [3, 4]],
    ])
  })

  it('keeps what runs below hold apart from what is held here', () => {
    const runsBelow = { count: 1, first: [{ run: 'run_1', workflow: 'Pay', agents: [] }] }
    const parts = agentParts({
      steps: [step('file', 'restored'), { ...step('call', 'restored'), runsBelow }],
    })
    expect(parts.map(({ agent, runs }) => [agent, runs?.first[0]?.workflow])).toEqual([
      [undefined, undefined],
      [undefined, 'Pay'],
    ])
  })

  it('asks nobody about what stays, or is only set back', () => {
    expect(agentParts({ steps: [step('a', 'reset'), step('b', 'locked'), step('c', 'untouched')] })).toEqual(
      [],
    )
  })

  it('fills with votes: one that cannot speaks for its agent, and all must be there before it can', () => {
    const said = (votes: RollbackVoteView[]) => agentParts(plan, { votes, acts: [] }).map((part) => part.said)
    expect(said([])).toEqual(['nothing', 'nothing', 'nothing'])
    expect(said([vote('announce', 'prepared')])).toEqual(['nothing', 'nothing', 'some'])
    const both = [vote('announce', 'prepared'), vote('peer', 'prepared')]
    expect(said([...both, vote('shift', 'prepared')])).toEqual(['nothing', 'prepared', 'prepared'])
    expect(said([vote('announce', 'prepared'), vote('peer', 'cannot_prepare')])[2]).toBe('cannot')
    // A step without a checkpoint is asked about under its own name.
    expect(said([vote('tell', 'cannot_prepare', 'tell/1')])[0]).toBe('cannot')
  })

  it('counts who can and what is over', () => {
    const parts = agentParts(plan, {
      votes: [vote('shift', 'prepared'), vote('tell', 'cannot_prepare', 'tell/1')],
      acts: [act('shift', 'completed'), act('announce')],
    })
    expect(prepareCounts(parts)).toEqual({ can: 1, cannot: 1, of: 3 })
    expect(executeCounts(parts)).toEqual({ over: 1, now: 1, of: 4 })
  })
})
