import { generateKeyPairSync } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AgentActivity, AgentRow, PublishedKeys } from '@/lib/view/agent-wire'
import type { Page } from '@/lib/view/wire'
import { type Browser, TestConsole } from '../testing/console'
import {
  deleteAgent,
  getAgentActivity,
  listAgents,
  lookUpKeys,
  postAgent,
  revokeAgentKey,
  rotateAgentKeys,
} from './agents'

let at: TestConsole
let ada: Browser
beforeAll(async () => {
  at = await TestConsole.open()
  ada = await at.person('ada', 'administrator')
})
afterAll(() => at.close())

function keyPair(kid: string) {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const more = { kid, alg: 'ES256' }
  return {
    open: { ...pair.publicKey.export({ format: 'jwk' }), ...more },
    secret: { ...pair.privateKey.export({ format: 'jwk' }), ...more },
  }
}

/** An agent's web server on a loopback port that answers everything alike. */
async function serving<T>(
  status: number,
  body: string,
  work: (baseUrl: string) => Promise<T>,
  headers: Record<string, string> = {},
): Promise<T> {
  const server = http.createServer((_request, response) => response.writeHead(status, headers).end(body))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.close()
  }
}

const id = 'spiffe://example.com/agent/router'
const list = async () => (await ada.ask<Page<AgentRow>>(listAgents, 'GET')).body.items
const lookUp = (base_url: string) =>
  ada.ask<PublishedKeys & { code?: string; detail?: string }>(lookUpKeys, 'POST', { body: { base_url } })

describe('agents', () => {
  it('are seen by whoever is signed in, and changed by administrators alone', async () => {
    const bo = await at.person('bo', 'coordinator')
    const body = { id, name: 'x', base_url: 'http://127.0.0.1:1', jwks: {} }
    expect((await bo.ask(listAgents, 'GET')).status).toBe(200)
    for (const answer of [
      await bo.ask(rotateAgentKeys, 'POST', { body: { id } }),
      await bo.ask(revokeAgentKey, 'POST', { body: { id, kid: 'k' } }),
      await bo.ask(postAgent, 'POST', { body }),
      await bo.ask(lookUpKeys, 'POST', { body: { base_url: 'http://127.0.0.1:1' } }),
      await bo.ask(deleteAgent, 'DELETE', { query: `?id=${encodeURIComponent(id)}` }),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([403, 'role_missing'])
    }
  })

  it('are registered with their keys, changed only when that is meant, and removed', async () => {
    const first = keyPair('2026-a')
    const body = { id, name: 'Router', base_url: 'http://127.0.0.1:4701/', jwks: { keys: [first.open] } }
    expect((await ada.ask(postAgent, 'POST', { body })).status).toBe(201)
    const [row] = await list()
    expect(row).toMatchObject({ id, name: 'Router', baseUrl: 'http://127.0.0.1:4701', addedBy: 'person:ada' })
    expect(row?.keys).toEqual([
      { kid: '2026-a', alg: 'ES256', thumbprint: expect.stringMatching(/^[\w-]{43}$/) },
    ])

    const taken = await ada.ask(postAgent, 'POST', { body })
    expect([taken.status, taken.body.code]).toEqual([409, 'name_taken'])
    expect(taken.body.detail).toContain('registered already, for "Router"')
    const jwks = { keys: [first.open, keyPair('2026-b').open] }
    await ada.ask(postAgent, 'POST', { body: { ...body, name: 'Router 7', jwks, replace: true } })
    expect((await list()).map((one) => [one.name, one.keys.length])).toEqual([['Router 7', 2]])

    const query = `?id=${encodeURIComponent(id)}`
    expect((await ada.ask(deleteAgent, 'DELETE', { query })).status).toBe(204)
    expect(await list()).toEqual([])
    const unknown = await ada.ask(deleteAgent, 'DELETE', { query: '?id=spiffe://nobody/x' })
    expect([unknown.status, unknown.body.code]).toEqual([404, 'not_found'])
    expect((await ada.ask(postAgent, 'POST', { body })).status).toBe(201)
  })

  it('have a domain, a role, protocols and limits, and keys that end', async () => {
    const [first, second] = [keyPair('a'), keyPair('b')]
    const other = `${id}-limits`
    const query = `?id=${encodeURIComponent(other)}`
    const said = {
      id: other,
      name: 'Limits',
      base_url: 'http://127.0.0.1:4709',
      jwks: { keys: [first.open] },
    }
    const more = {
      domain: 'core',
      role: 'planner',
      protocols: ['cascade', 'holdpoint'],
      limits: { connections: 4 },
    }
    await ada.ask(postAgent, 'POST', { body: { ...said, ...more, jwks_url: 'http://127.0.0.1:4709/keys' } })
    const row = async () => (await list()).find((one) => one.id === other) as AgentRow
    expect(await row()).toMatchObject({
      ...more,
      protocols: ['holdpoint', 'cascade'],
      jwksUrl: 'http://127.0.0.1:4709/keys',
    })
    // What is not said stays; a key that is left out has ended, and its kid can name no other.
    const jwks = { keys: [second.open] }
    await ada.ask(postAgent, 'POST', { body: { ...said, jwks, replace: true } })
    expect(await row()).toMatchObject({ domain: 'core', limits: { connections: 4 } })
    expect((await row()).keys).toMatchObject([{ kid: 'b' }, { kid: 'a', endedBy: 'publisher' }])
    const forged = { keys: [second.open, keyPair('a').open] }
    const refused = await ada.ask(postAgent, 'POST', { body: { ...said, jwks: forged, replace: true } })
    expect([refused.status, refused.body.detail]).toEqual([
      400,
      expect.stringContaining('a new key needs a new kid'),
    ])

    expect((await ada.ask(revokeAgentKey, 'POST', { body: { id: other, kid: 'b' } })).status).toBe(200)
    const again = await ada.ask<AgentRow>(revokeAgentKey, 'POST', { body: { id: other, kid: 'b' } })
    expect(again.body.keys[0]).toMatchObject({ kid: 'b', endedBy: 'person:ada' })
    await ada.ask(postAgent, 'POST', { body: { ...said, jwks, replace: true } })
    expect((await row()).keys.every(({ endedAt }) => endedAt !== undefined)).toBe(true)
    const unknown = await ada.ask(revokeAgentKey, 'POST', { body: { id: other, kid: 'x' } })
    expect([unknown.status, unknown.body.code]).toEqual([404, 'not_found'])

    const idle = await ada.ask<AgentActivity>(getAgentActivity, 'GET', { query })
    expect(idle.body).toEqual({ steps: [], runs: [], more: false })
    await ada.ask(deleteAgent, 'DELETE', { query })
  })

  it('are not registered under a name that is this installation’s', async () => {
    const body = {
      id: at.house.id,
      name: 'me',
      base_url: 'http://127.0.0.1:1',
      jwks: { keys: [keyPair('k').open] },
    }
    const refused = await ada.ask(postAgent, 'POST', { body })
    expect([refused.status, refused.body.field]).toEqual([400, 'id'])
  })

  it('are not registered with what is no set of public keys', async () => {
    const { secret } = keyPair('k')
    const wrong: [unknown, string][] = [
      ['keys', 'expected a JWK set'],
      [{ keys: [] }, '0 keys that can be used'],
      [{ keys: [secret] }, 'holds a private key'],
    ]
    for (const [jwks, words] of wrong) {
      const body = { id: `${id}-2`, name: 'x', base_url: 'http://127.0.0.1:1', jwks }
      const refused = await ada.ask(postAgent, 'POST', { body })
      expect([refused.status, refused.body.code, refused.body.field]).toEqual([400, 'bad_request', 'jwks'])
      expect(refused.body.detail).toContain(words)
      expect(JSON.stringify(refused.body)).not.toContain(secret.d)
    }
  })
})

describe('the keys an agent publishes', () => {
  it('are shown with their thumbprints and registered by nobody', async () => {
    const { open } = keyPair('2026-a')
    const before = await list()
    const found = await serving(200, JSON.stringify({ keys: [open, { kty: 'RSA', kid: 'old' }] }), lookUp)
    expect(found.status).toBe(200)
    expect(found.body.keys.map((key) => key.kid)).toEqual(['2026-a'])
    expect(found.body.jwks.keys).toHaveLength(1)
    expect(await list()).toEqual(before)
  })

  it('are refused in plain words, without what was answered', async () => {
    const { secret } = keyPair('k')
    const cases: [number, string, string, string][] = [
      [200, 'secret words', 'effect_failed', 'is not JSON'],
      [200, JSON.stringify({ keys: [secret] }), 'bad_request', 'holds a private key'],
      [404, 'secret words', 'effect_failed', 'with 404'],
      [200, 'x'.repeat(1_048_577), 'effect_failed', 'more than 1,048,576 bytes'],
    ]
    for (const [status, body, code, words] of cases) {
      const refused = await serving(status, body, lookUp)
      expect([refused.body.code, refused.body.detail]).toEqual([code, expect.stringContaining(words)])
      expect(JSON.stringify(refused.body)).not.toContain('secret words')
      expect(JSON.stringify(refused.body)).not.toContain(secret.d)
    }
  })

  it('are not looked for where a redirect leads, where nobody listens, or at no address', async () => {
    const { open } = keyPair('k')
    const led = await serving(200, JSON.stringify({ keys: [open] }), (there) =>
      serving(302, '', lookUp, { location: `${there}/.well-known/jwks.json` }),
    )
    expect([led.body.code, led.body.detail]).toEqual(['effect_failed', expect.stringContaining('with 302')])
    const gone = await serving(200, '', async (baseUrl) => baseUrl)
    expect((await lookUp(gone)).body.detail).toContain('could not connect')
    expect((await lookUp('router')).body.code).toBe('bad_request')
    expect((await lookUp('file:///etc')).body.detail).toContain('only http and https are allowed')
    expect((await lookUp('http://0.0.0.0:80')).body.detail).toContain('which no request may go to')
  })
})
