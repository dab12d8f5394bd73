import { describe, expect, it } from 'vitest'
import type { CircuitRow } from '@/lib/view/circuit-wire'
import { concerned, probeOutcome, probesSentence } from './probe-words'

const now = 1_000_000

function row(caller: string, more: Partial<CircuitRow> = {}): CircuitRow {
  return {
    id: caller,
    caller: { id: `workflow:${caller}`, kind: 'workflow', name: caller },
    downstream: { id: 'spiffe://lab/agent/monitor', kind: 'agent', name: 'monitor' },
    status: 'open',
    shown: 'open',
    since: now - 60_000,
    counts: { calls: 0, failures: 0, rejected: 0 },
    errorRate: 1,
    threshold: 0.5,
    windowS: 60,
    minCalls: 3,
    until: now + 12_000,
    held: false,
    waiting: { count: 1, runs: [] },
    series: [],
    ...more,
  }
}

describe('what comes of probes that were let go', () => {
  const due = row('watch', { until: now - 1 })

  it('names whose turn it is, one at a time', () => {
    expect(probesSentence([row('failover'), row('hourly', { until: now + 40_000 })], false, now).words).toBe(
      'One at a time: the next probe is of failover, in 0:12.',
    )
    expect(probesSentence([row('failover'), due], false, now).words).toBe(
      'One at a time: the next probe is of watch, about to go.',
    )
    const nobody = { ...due, waiting: { count: 0, runs: [] } }
    expect(probesSentence([nobody], false, now).words).toBe(
      'No run waits for it now; should watch call it again, that call is the probe.',
    )
    const over = row('over', { until: now + 1_000, waiting: { count: 0, runs: [] } })
    expect(probesSentence([over, row('failover')], false, now).words, 'who waits comes first').toMatch(
      /failover/,
    )
    expect(probesSentence([over], false, now).words).toMatch(/^No run waits for it now/)
    expect(probesSentence([due, row('failover', { shown: 'half_open' })], false, now)).toEqual({
      state: 'running',
      words: 'The probe of failover is out; the others wait for its answer.',
    })
  })

  it('says how it ended', () => {
    const closed = row('watch', { shown: 'closed', status: 'closed', lastProbe: { at: now, ok: true } })
    expect(probesSentence([closed], false, now).words).toBe('Its breakers are closed: calls pass again.')
    const held = [{ ...due, held: true }]
    expect(probesSentence(held, true, now)).toMatchObject({ state: 'waiting' })
    expect(probesSentence(held, false, now).words).toBe('The answer is on its way to the breakers.')
    expect(probeOutcome(closed, now - 1)).toEqual({ state: 'done', words: 'its probe succeeded, closed' })
    expect(probeOutcome(closed, now + 1).words).toBe('closed')
    expect(probeOutcome({ ...due, held: true }, now).words).toBe('open, held')
    expect(concerned([due, closed, { ...closed, since: now }], now - 1)).toHaveLength(2)
    const failed = { ...due, lastProbe: { at: now, ok: false } }
    expect(probeOutcome(failed, now - 1)).toEqual({ state: 'failed', words: 'its probe failed, still open' })
    expect(probeOutcome(failed, now + 1).words).toBe('open, its turn comes')
    const nobody = { ...due, waiting: { count: 0, runs: [] } }
    expect(probeOutcome(nobody, now).words).toBe('open, no run waits')
  })
})
