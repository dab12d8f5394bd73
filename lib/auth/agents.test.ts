import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Claims } from '@/lib/ect/claims'
import { parseKeySet } from '@/lib/ect/keys'
import { type SigningKey, signClaims } from '@/lib/ect/sign'
import { type NewAgent, refuseReplay, registerAgent, verifyAgentRequest } from './agents'
import { refusal, type TestInstallation, testInstallation } from './test-installation'

const router = 'spiffe://lab.example/agent/edge-router-07'
const audience = 'spiffe://holdpoint.local/holdpoint'

function keyPair(kid: string): { key: SigningKey; jwk: object; privateJwk: object } {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    key: { kid, alg: 'ES256', privateKey: pair.privateKey },
    jwk: { ...pair.publicKey.export({ format: 'jwk' }), kid, alg: 'ES256' },
    privateJwk: { ...pair.privateKey.export({ format: 'jwk' }), kid },
  }
}

let at: TestInstallation
const own = keyPair('router-1')
const agent = (more: Partial<NewAgent> = {}): NewAgent => ({
  id: router,
  name: 'edge-router-07',
  baseUrl: 'http://127.0.0.1:7007/',
  jwks: { keys: [own.jwk] },
  ...more,
})
beforeAll(async () => {
  at = await testInstallation()
  await registerAgent(at, agent(), 'person:ada')
})
afterAll(() => at.close())

function claims(more: Partial<Claims> = {}): Claims {
  const iat = Math.floor(at.clock.time / 1000)
  return {
    iss: router,
    aud: audience,
    iat,
    exp: iat + 600,
    jti: randomUUID(),
    wid: randomUUID(),
    exec_act: 'atd:rollback_request',
    par: [],
    ...more,
  }
}

const live = (token: string) =>
  new Request('http://localhost/', { method: 'POST', headers: { 'Execution-Context': token } })
const verify = (token: string) => verifyAgentRequest(at, live(token), audience)

describe('an agent', () => {
  it('is known by a token signed with its registered key', async () => {
    const signed = claims()
    const verified = await verify(signClaims(signed, own.key))
    expect(verified.principal).toEqual({ kind: 'agent', id: router, name: 'edge-router-07', roles: [] })
    expect(verified.claims).toMatchObject({ jti: signed.jti, exec_act: 'atd:rollback_request' })
  })

  it('is refused without a token, with two, under another key, for another audience, too late', async () => {
    const refused = async (work: Promise<unknown>) => (await refusal(work)).code
    expect(await refused(verifyAgentRequest(at, new Request('http://localhost/'), audience))).toBe(
      'ect_malformed',
    )
    const good = signClaims(claims(), own.key)
    expect(await refused(verify(`${good}, ${good}`))).toBe('ect_malformed')
    expect(await refused(verify(signClaims(claims(), keyPair('router-1').key)))).toBe('ect_signature_invalid')
    expect(await refused(verify(signClaims(claims(), keyPair('other').key)))).toBe('ect_key_unknown')
    expect(await refused(verify(signClaims(claims({ aud: 'spiffe://elsewhere.example/x' }), own.key)))).toBe(
      'ect_audience',
    )
    const iat = Math.floor(at.clock.time / 1000) - 1_000
    expect(await refused(verify(signClaims(claims({ iat, exp: iat + 600 }), own.key)))).toBe('ect_too_old')
  })

  it('cannot speak for another', async () => {
    const peer = keyPair('peer-1')
    const id = 'spiffe://lab.example/agent/peer'
    await registerAgent(at, agent({ id, name: 'peer', jwks: { keys: [peer.jwk] } }), 'person:ada')
    expect((await refusal(verify(signClaims(claims({ iss: router }), peer.key)))).code).toBe(
      'ect_key_unknown',
    )
    const unknown = await refusal(
      verify(signClaims(claims({ iss: 'spiffe://lab.example/agent/nobody' }), peer.key)),
    )
    expect(unknown.message).toContain(
      'No keys are registered for the issuer "spiffe://lab.example/agent/nobody"',
    )
  })

  it('uses each token once', async () => {
    const verified = await verify(signClaims(claims(), own.key))
    await refuseReplay(at.store.ledger, verified)
    const again = await refusal(refuseReplay(at.store.ledger, verified))
    expect(again.code).toBe('ect_replayed')
    expect(again.message).toContain('was used before')
  })

  it('is out with the next request once removed, and its keys stay known', async () => {
    const id = 'spiffe://lab.example/agent/old'
    const old = keyPair('old-1')
    await registerAgent(at, agent({ id, name: 'old', jwks: { keys: [old.jwk] } }), 'person:ada')
    const token = () => signClaims(claims({ iss: id }), old.key)
    await verify(token())
    await at.agents.remove(id, at.clock.time)
    expect((await refusal(verify(token()))).code).toBe('ect_key_unknown')
    expect((await at.agents.list()).map((a) => a.name)).not.toContain('old')
    expect((await at.agents.all()).map((a) => a.name)).toContain('old')
    expect((await refusal(at.agents.remove('spiffe://x/y', 0))).code).toBe('not_found')
  })

  it('signs with new keys as soon as they are registered', async () => {
    const next = keyPair('router-2')
    expect((await refusal(verify(signClaims(claims(), next.key)))).code).toBe('ect_key_unknown')
    await registerAgent(at, agent({ jwks: { keys: [own.jwk, next.jwk] } }), 'person:ada')
    await verify(signClaims(claims(), next.key))
    await verify(signClaims(claims(), own.key))
    expect((await at.agents.get(router))?.baseUrl).toBe('http://127.0.0.1:7007')
  })

  it('is not registered with a wrong id, address or key set, and never with a private key', async () => {
    for (const [wrong, words] of [
      [{ id: 'edge-router-07' }, 'is no SPIFFE id'],
      [{ baseUrl: 'ftp://h/' }, 'must be an http or https URL'],
      [{ baseUrl: 'http://user:secret@h/' }, 'without user'],
      [{ jwks: { keys: [] } }, '0 keys that can be used'],
      [{ jwks: { keys: [own.privateJwk] } }, 'holds a private key'],
      [{ name: ' ' }, '1 to 80 characters'],
    ] as [Partial<NewAgent>, string][]) {
      const problem = await refusal(registerAgent(at, agent(wrong), 'person:ada'))
      expect(problem.code).toBe('bad_request')
      expect(problem.message).toContain(words)
      expect(problem.message).not.toContain('secret')
    }
  })

  it('is not registered with a key that is another agent’s, or this installation’s own', async () => {
    const house = keyPair('house-1')
    const context = { ...at, ownKeys: parseKeySet({ keys: [house.jwk] }) }
    const id = 'spiffe://example.com/agent/thief'
    for (const [taken, kid, holder] of [
      [{ ...own.jwk, kid: 'mine' }, 'mine', '"edge-router-07"'],
      [house.jwk, 'house-1', 'this installation itself'],
    ] as const) {
      const wrong = agent({ id, name: 'thief', jwks: { keys: [taken] } })
      const problem = await refusal(registerAgent(context, wrong, 'person:ada'))
      expect(problem).toMatchObject({ code: 'bad_request', data: { field: 'jwks' } })
      expect(problem.message).toContain(`The key "${kid}" belongs to ${holder}`)
      expect(await at.agents.get(id)).toBeUndefined()
    }
  })
})
