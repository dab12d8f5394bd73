import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '@/lib/base/json'
import { actionFor, described, effectsWith, failureOf, nodeOf, runnerFor } from './fixtures'
import { withMargin } from './time-left'

describe('the time given to whoever is asked', () => {
  it('is shorter than the caller has, however long the chain, and never by more than five seconds a link', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 400_000_000 }),
        fc.integer({ min: 1, max: 8 }),
        (leftMs, links) => {
          let caller = leftMs
          for (let link = 0; link < links && caller > 1; link++) {
            const inner = withMargin(caller)
            expect(inner).toBeLessThan(caller)
            expect(caller - inner).toBeLessThanOrEqual(5_000)
            caller = inner
          }
        },
      ),
    )
  })

  it('is told to an agent, shorter than its request has, which is shorter than the step has', async () => {
    const told: JsonObject[] = []
    const agent = { id: 'spiffe://example.com/agent/a', name: 'a', baseUrl: 'http://127.0.0.1:1' }
    const effects = effectsWith({
      until: 100_000,
      request: { signal: new AbortController().signal, until: 95_000 },
      agents: {
        find: async () => agent as never,
        requestToken: async ({ ext }) => {
          told.push(ext)
          return 'e30.e30.sig'
        },
      },
    })
    await failureOf(described(nodeOf('agent', { agent: agent.id, operation: 'look' }), effects))
    expect(told[0]?.['hp.deadline_ms']).toBe(90_000)
  })

  it('ends a request while the step that made it goes on', async () => {
    const asked = new AbortController()
    asked.abort()
    const effects = effectsWith({
      request: { signal: asked.signal, until: 0 },
      policy: { roots: [], privateTargets: ['127.0.0.1:1'] },
    })
    const get = nodeOf('http_request', { method: 'GET', url: 'http://127.0.0.1:1/x' })
    const action = await actionFor(get, effects)
    const failure = await failureOf(runnerFor('http_request').perform(action, effects))
    expect(failure).toMatchObject({ code: 'effect_timeout', errorType: 'timeout' })
    expect(failure.message).toContain('was given up before an answer came')
    expect(effects.signal.aborted).toBe(false)
  })
})
