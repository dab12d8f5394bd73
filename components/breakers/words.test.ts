import { describe, expect, it } from 'vitest'
import type { CircuitRow } from '@/lib/view/circuit-wire'
import { badgeWords, isProbeDue, spokenCircuit, underState } from './words'

const now = 1_000_000
const open: CircuitRow = {
  id: 'c1',
  caller: { id: 'workflow:failover', kind: 'workflow', name: 'failover' },
  downstream: { id: 'spiffe://lab/agent/monitor', kind: 'agent', name: 'monitor' },
  status: 'open',
  shown: 'open',
  since: now - 11_000,
  counts: { calls: 3, failures: 3, rejected: 2 },
  errorRate: 1,
  threshold: 0.5,
  windowS: 60,
  minCalls: 3,
  until: now + 19_000,
  cooldownS: 30,
  held: false,
  waiting: { count: 1, runs: ['run_1'] },
  series: [],
}

describe('a breaker in words', () => {
  it('counts down to its next probe only while one will go by itself', () => {
    expect(underState(open, now)).toBe('0:19')
    expect(underState({ ...open, held: true }, now)).toBe('held')
    expect(badgeWords({ ...open, held: true }, now)).toEqual({ word: 'open, held', figure: '' })
    const forced = { to: 'open', by: 'person:ada', reason: 'x', since: now, until: now + 60_000 } as const
    expect(underState({ ...open, shown: 'forced_open', forced }, now)).toMatch(/^to \d\d:\d\d$/)
  })

  it('may be probed by a person once its cooldown is over, and nobody is asked about it or forced it', () => {
    const due = { ...open, until: now }
    expect(isProbeDue(due, now)).toBe(true)
    expect(isProbeDue(due, now - 1)).toBe(false)
    expect(isProbeDue({ ...due, held: true }, now)).toBe(false)
    expect(isProbeDue({ ...due, status: 'half_open' }, now)).toBe(false)
    const forced = { to: 'open', by: 'person:ada', reason: 'x', since: now, until: now + 1 } as const
    expect(isProbeDue({ ...due, forced }, now)).toBe(false)
    expect(isProbeDue({ ...due, reported: { at: now, run: 'run_1', token: 't' } }, now)).toBe(false)
  })

  it('knows no rate where nobody called within its window', () => {
    expect(spokenCircuit(open)).toBe(
      'failover to monitor: open, 100 % of its calls failed, 1 run waits behind it',
    )
    const silent = { ...open, counts: { calls: 0, failures: 0, rejected: 9 } }
    expect(spokenCircuit(silent)).toContain('open, no calls in the last minute')
  })

  it('tells what an agent reported of its own from what was decided here', () => {
    const reported = { at: now - 5_000, run: 'run_1', token: 'j1' }
    const told = {
      ...open,
      counts: { calls: 0, failures: 0, rejected: 0 },
      waiting: { count: 0, runs: [] },
      reported,
    }
    expect(underState(told, now)).toBe('reported')
    expect(badgeWords(told, now)).toEqual({ word: 'open, reported', figure: '' })
    expect(badgeWords({ ...told, status: 'closed', shown: 'closed' }, now).word).toBe('closed, reported')
    expect(spokenCircuit(told)).toBe('failover to monitor: open, reported by its caller')
  })
})
