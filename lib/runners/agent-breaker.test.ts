import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '@/lib/base/hash'
import { effectsWith, runnerFor } from './fixtures'
import type { Action, Calls, RegisteredAgent, SignedAnswer } from './runner'

const id = 'spiffe://example.com/agent/router'
const wid = '7f3a0c1e-5b1d-4c1e-9d2a-0c1e5b1dc2e1'
const request = `e30.${Buffer.from(JSON.stringify({ jti: 'asked', wid })).toString('base64url')}.sig`
const good = JSON.stringify({ output: { applied: true } })

let server: http.Server
let baseUrl: string
let answer: { status: number; body: string; token?: string }
beforeEach(async () => {
  answer = { status: 200, body: good }
  server = http.createServer((_request, response) => {
    const { status, body, token } = answer
    response.writeHead(status, token === undefined ? {} : { 'execution-context': token }).end(body)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => void server.close())

/** What the breaker is told of one call: whom it was to, whether it failed, and whether the answer is the agent's own. */
async function judged(protocols: string[], signed?: SignedAnswer) {
  const told: { downstream?: string; verified?: boolean; failed?: boolean } = {}
  const calls: Calls = {
    async through(downstream, call, verified, failed) {
      const said = await call()
      Object.assign(told, { downstream, verified: await verified?.(said), failed: failed?.(said) })
      return said
    },
    counted: (_downstream, call) => call(),
  }
  const agent: RegisteredAgent = { id, name: 'router', baseUrl, protocols }
  const agents = {
    find: async () => agent,
    requestToken: async () => request,
    signedBy: async (_id: string, token: string) => (token === 'theirs' ? signed : undefined),
  }
  const effects = effectsWith({ calls, agents })
  const action: Action = {
    kind: 'agent',
    node: 'ask',
    visit: 1,
    do: { agent: id, operation: 'reload', input: {} },
    consequence: 'irreversible',
    target: 'router',
    sentence: 'Reload the router',
  }
  await runnerFor('agent')
    .perform?.(action, effects)
    .catch(() => undefined)
  return told
}

describe('what an agent’s answer says to its breaker', () => {
  it('is its own when it signed it for this request, octet for octet', async () => {
    answer.token = 'theirs'
    const own = { wid, par: ['asked'], outHash: sha256(good) }
    expect(await judged(['holdpoint'], own)).toEqual({ downstream: id, verified: true, failed: false })
    for (const wrong of [
      { ...own, wid: 'another' },
      { ...own, par: ['another'] },
      { ...own, outHash: sha256('another') },
    ]) {
      expect(await judged(['holdpoint'], wrong)).toMatchObject({ verified: false })
    }
    answer.token = 'another'
    expect(await judged(['holdpoint'], own)).toMatchObject({ verified: false })
  })

  it('is believed without a signature only of an agent that gives none', async () => {
    expect(await judged(['holdpoint', 'atd'])).toMatchObject({ verified: false })
    expect(await judged(['atd'])).toMatchObject({ verified: true })
  })

  it('is a failure with 5xx or when nobody can read it, and no failure when it is a no', async () => {
    answer = { status: 503, body: 'busy' }
    expect(await judged(['atd'])).toMatchObject({ failed: true })
    answer = { status: 200, body: 'what?' }
    expect(await judged(['atd'])).toMatchObject({ failed: true })
    answer = { status: 409, body: '{}' }
    expect(await judged(['atd'])).toMatchObject({ failed: false })
  })
})
