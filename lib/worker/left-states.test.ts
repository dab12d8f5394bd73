import { describe, expect, it } from 'vitest'
import { mintUuid, runIdOf } from '@/lib/base/ids'
import type { Fact } from '@/lib/engine/facts'
import { checkpointed, done, rollbackAsked, runOf, started, undone, type Word } from '@/lib/engine/histories'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { leftStates } from './left-states'

const runId = runIdOf(mintUuid())
const dns = 'spiffe://example.com/agent/dns'
const nodes = {
  steer: { kind: 'agent', label: 'Steer', config: { agent: dns } },
  write: { kind: 'write_file' },
  post: { kind: 'http_request' },
}

const step = (node: string, found?: string, left?: string): Word[] => [
  started(node, { consequence: 'reversible' }),
  checkpointed(node),
  (run, at) => ({ ...done(node)(run, at), stateFound: found, stateLeft: left }) as Fact,
]

/** What all tokens of a run with these words leave. */
function leftBy(...words: Word[]) {
  const facts: Fact[] = []
  const noted = words.map((word): Word => {
    return (run, at) => {
      const fact = word(run, at)
      facts.push({ ...fact, at } as Fact)
      return fact
    }
  })
  const run = runOf(graphOf(nodes), noted)
  const known = new Map([...run.checkpoints.values()].map((ref) => [ref.node, ref.jti]))
  expect(known.size).toBeGreaterThan(0)
  return leftStates(runId, run, facts)?.map(({ at: _, runId: __, ...left }) => left)
}

describe('the states that steps leave', () => {
  it('are told of agents by their ids and of files as here, with the step', () => {
    expect(leftBy(...step('steer', 'S0', 'S1'), ...step('write', 'F0', 'F1'))).toEqual([
      { holder: dns, state: 'S1', node: 'steer', visit: 1, label: 'Steer', undid: false },
      { holder: 'here', state: 'F1', node: 'write', visit: 1, label: 'write', undid: false },
    ])
  })

  it('are nobody’s where a step does not say, changed nothing, or acts where nobody looks', () => {
    expect(leftBy(...step('write'))).toBeUndefined()
    expect(leftBy(...step('write', 'F0', 'F0'))).toBeUndefined()
    expect(leftBy(...step('post', 'P0', 'P1'))).toBeUndefined()
  })

  it('are what a step had found once it is taken back', () => {
    const back = [rollbackAsked('steer'), undone('steer', 'steer')]
    expect(leftBy(...step('steer', 'S0', 'S1'), ...back)?.[1]).toEqual({
      ...{ holder: dns, state: 'S0', node: 'steer', visit: 1, label: 'Steer', undid: true },
    })
    expect(leftBy(...step('steer'), ...back)).toBeUndefined()
  })
})
