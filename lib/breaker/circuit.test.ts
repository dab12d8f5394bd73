import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultPolicy, force, forcedNow, lift, newCircuit, outcome, permit, trips } from './circuit'
import type { CircuitPolicy, CircuitState } from './terms'
import { CallWindow } from './window'

const policy: CircuitPolicy = { ...defaultPolicy, minCalls: 4 }
const t0 = 1_000_000

/** A circuit with its window, moved along as the keeper of circuits does. */
class Bench {
  state: CircuitState = newCircuit(t0)
  window = new CallWindow(policy.windowS)
  now = t0
  calls = 0

  ask(held = false) {
    for (;;) {
      const answer = permit(this.state, this.now, `call-${this.calls}`, policy, held)
      if (answer.next) this.state = answer.next
      if (answer.pass || !answer.next) return answer
    }
  }

  end(ok: boolean, probe?: string) {
    if (probe === undefined) this.window.add(ok, this.now)
    const next = outcome(this.state, this.window.at(this.now), { ok, probe, at: this.now }, policy)
    if (next?.calculated.status === 'closed') this.window.reset()
    if (next) this.state = next
    return next
  }

  /** Opened by four failures. */
  opened(): this {
    for (let at = 0; at < 4; at++) this.end(false)
    return this
  }
}

describe('a circuit breaker', () => {
  it('opens when more than half of at least four calls failed, and not before', () => {
    const circuit = new Bench()
    circuit.end(false)
    circuit.end(false)
    circuit.end(false)
    expect(circuit.state.calculated.status).toBe('closed')
    circuit.end(true)
    expect(circuit.state.calculated).toMatchObject({
      status: 'open',
      errorRate: 0.75,
      calls: 4,
      failures: 3,
      cooldownS: 30,
    })
    expect(circuit.ask()).toMatchObject({ pass: false, because: 'open', retryAt: t0 + 30_000 })
  })

  it('stays closed at exactly the threshold', () => {
    expect(trips({ calls: 10, failures: 5 }, policy)).toBe(false)
    expect(trips({ calls: 10, failures: 6 }, policy)).toBe(true)
  })

  it('lets one probe go after the cooldown, and nobody else until it is back', () => {
    const circuit = new Bench().opened()
    circuit.now += 30_000
    expect(circuit.ask()).toMatchObject({ pass: true, probe: true })
    expect(circuit.ask()).toMatchObject({ pass: false, because: 'probing', retryAt: circuit.now + 60_000 })
  })

  it('closes by the probe’s success, with counters that begin anew', () => {
    const circuit = new Bench().opened()
    circuit.now += 30_000
    circuit.ask()
    circuit.end(true, 'call-0')
    expect(circuit.state.calculated).toEqual({ status: 'closed', since: circuit.now })
    expect(circuit.window.at(circuit.now)).toEqual({ calls: 0, failures: 0 })
    circuit.end(false)
    expect(circuit.state.calculated.status).toBe('closed')
  })

  it('doubles the cooldown with each failed probe, up to 300 s', () => {
    const circuit = new Bench().opened()
    const cooldowns: number[] = []
    for (let round = 0; round < 6; round++) {
      const { calculated } = circuit.state
      if (calculated.status !== 'open') throw new Error('It is not open')
      cooldowns.push(calculated.cooldownS)
      circuit.now = calculated.until
      circuit.ask()
      circuit.end(false, 'call-0')
    }
    expect(cooldowns).toEqual([30, 60, 120, 240, 300, 300])
    expect(circuit.state.calculated).toMatchObject({ reopened: 6 })
  })

  it('takes a probe that never comes back as failed, at the time it ran out', () => {
    const circuit = new Bench().opened()
    circuit.now += 30_000
    circuit.ask()
    circuit.now += 70_000
    expect(circuit.ask()).toMatchObject({ pass: false, because: 'open', retryAt: t0 + 90_000 + 60_000 })
    // What the lost probe brings after all is nobody's.
    expect(circuit.end(true, 'call-0')).toBeUndefined()
    expect(circuit.state.calculated.status).toBe('open')
  })

  it('believes nobody but the probe while it is half-open', () => {
    const circuit = new Bench().opened()
    circuit.now += 30_000
    circuit.ask()
    expect(circuit.end(true)).toBeUndefined()
    expect(circuit.end(true, 'another')).toBeUndefined()
    expect(circuit.state.calculated.status).toBe('half_open')
  })

  it('holds its probe while people are asked', () => {
    const circuit = new Bench().opened()
    circuit.now += 30_000
    expect(circuit.ask(true)).toMatchObject({ pass: false, because: 'held' })
    expect(circuit.ask()).toMatchObject({ pass: true, probe: true })
  })

  it('does as a person says until that lapses, and goes on from where it was', () => {
    const circuit = new Bench().opened()
    const said = { by: 'person:ada', reason: 'INC-2214', since: t0 }
    circuit.state = force(circuit.state, { ...said, to: 'closed', until: t0 + 10_000 })
    expect(circuit.ask()).toMatchObject({ pass: true })
    expect(circuit.end(false)).toBeUndefined()
    circuit.now += 10_000
    expect(forcedNow(circuit.state, circuit.now)).toBeUndefined()
    expect(circuit.ask()).toMatchObject({ pass: false, because: 'open', retryAt: t0 + 30_000 })
    circuit.state = force(circuit.state, { ...said, to: 'open', until: t0 + 90_000 })
    circuit.now = t0 + 40_000
    expect(circuit.ask()).toMatchObject({ pass: false, because: 'forced', retryAt: t0 + 90_000 })
    circuit.state = lift(circuit.state) ?? circuit.state
    expect(circuit.ask()).toMatchObject({ pass: true, probe: true })
    expect(lift(newCircuit(t0))).toBeUndefined()
  })
})

/** What can happen to a circuit, in any order. */
const happening = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ what: 'call' } as const) },
  {
    weight: 6,
    arbitrary: fc.record({ what: fc.constant('end' as const), ok: fc.boolean(), which: fc.nat(7) }),
  },
  { weight: 4, arbitrary: fc.record({ what: fc.constant('wait' as const), ms: fc.nat(120_000) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('restart' as const) }) },
)

describe('whatever happens, in any order (cascade section 4)', () => {
  it('never has two probes, doubles what fails, and closes by a probe’s success alone', () => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 300 }), (story) => {
        const circuit = new Bench()
        /** Calls under way: the id of a probe, or undefined for any other. */
        let underWay: { id: string; probe: boolean }[] = []
        for (const step of story) {
          const before = circuit.state.calculated
          if (step.what === 'wait') circuit.now += step.ms
          else if (step.what === 'restart') circuit.state = JSON.parse(JSON.stringify(circuit.state))
          else if (step.what === 'call') {
            circuit.calls++
            const answer = circuit.ask()
            const current = circuit.state.calculated
            if (answer.pass) underWay.push({ id: `call-${circuit.calls}`, probe: answer.probe === true })
            if (before.status === 'closed') expect(answer.pass).toBe(true)
            if (answer.pass && answer.probe) {
              // Exactly one: this one, and only once the cooldown was over.
              expect(current).toMatchObject({ status: 'half_open', probe: `call-${circuit.calls}` })
              if (before.status === 'open') expect(circuit.now).toBeGreaterThanOrEqual(before.until)
            }
            if (answer.pass && !answer.probe) expect(current.status).toBe('closed')
            if (!answer.pass) expect(answer.retryAt).toBeGreaterThan(circuit.now)
          } else {
            const call = underWay[step.which % Math.max(1, underWay.length)]
            if (!call) continue
            underWay = underWay.filter((one) => one !== call)
            circuit.end(step.ok, call.probe ? call.id : undefined)
            const after = circuit.state.calculated
            const isThisProbe = before.status === 'half_open' && call.probe && before.probe === call.id
            if (after !== before) {
              if (after.status === 'closed') {
                expect(isThisProbe && step.ok).toBe(true)
                expect(circuit.window.counts).toEqual({ calls: 0, failures: 0 })
              }
              if (after.status === 'open' && before.status === 'half_open') {
                expect(isThisProbe && !step.ok).toBe(true)
                expect(after.cooldownS).toBe(Math.min(2 * before.cooldownS, 300))
                expect(after.reopened).toBe(before.reopened + 1)
              }
              if (after.status === 'open' && before.status === 'closed') {
                expect(after.calls).toBeGreaterThanOrEqual(policy.minCalls)
                expect(after.errorRate).toBeGreaterThan(policy.threshold)
                expect(after.cooldownS).toBe(30)
              }
            }
          }
          const { calculated } = circuit.state
          if (calculated.status === 'open') expect(calculated.cooldownS).toBeLessThanOrEqual(300)
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('the sliding window', () => {
  it('counts what a list of the window’s calls would', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 90 }),
        fc.array(fc.record({ waitMs: fc.nat(20_000), ok: fc.boolean() }), { maxLength: 200 }),
        (windowS, calls) => {
          const window = new CallWindow(windowS)
          const ended: { second: number; ok: boolean }[] = []
          let now = t0
          for (const { waitMs, ok } of calls) {
            now += waitMs
            window.add(ok, now)
            ended.push({ second: Math.floor(now / 1000), ok })
            const within = ended.filter(({ second }) => second >= Math.floor(now / 1000) - windowS)
            expect(window.counts).toEqual({
              calls: within.length,
              failures: within.filter((call) => !call.ok).length,
            })
          }
        },
      ),
    )
  })

  it('refuses a window that is none', () => {
    for (const windowS of [0, -1, 1.5, 3601, Number.NaN]) {
      expect(() => new CallWindow(windowS)).toThrow('expected 1 to 3600 whole seconds')
    }
  })
})
