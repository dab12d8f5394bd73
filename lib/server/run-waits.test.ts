import { describe, expect, it } from 'vitest'
import type { Run, Visit } from '@/lib/engine/run'
import { waitWords } from './run-waits'

const run = (...states: Partial<Visit['state']>[]): Pick<Run, 'active' | 'visits'> => ({
  active: new Set(states.map((_, at) => `n${at}`)),
  visits: new Map(states.map((state, at) => [`n${at}`, { state } as Visit])),
})
const behind = (downstream: string) => ({ status: 'waiting', for: 'breaker', downstream }) as const

describe('what a run at rest waits for', () => {
  it('is the agent whose breaker it stands behind, by name', () => {
    const monitor = behind('spiffe://lab/agent/traffic-monitor')
    expect(waitWords(run(monitor, monitor))).toBe('behind the breaker of traffic-monitor')
    expect(waitWords(run(monitor, behind('mcp:files')))).toBe(
      'behind the breakers of traffic-monitor and 1 more',
    )
  })

  it('is an agent that claims its work, or not known', () => {
    expect(waitWords(run({ status: 'waiting', for: 'agent' }))).toBe('for an agent to claim its work')
    expect(waitWords(run({ status: 'running' }))).toBeUndefined()
  })
})
