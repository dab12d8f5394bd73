import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createLocalJWKSet, type JWTVerifyGetKey } from 'jose'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sha256 } from '@/lib/base/hash'
import { parseKeySet } from '@/lib/ect/keys'
import { type KeyRing, openKeyRing } from '@/lib/ect/keys-file'
import { signClaims } from '@/lib/ect/sign'
import { verifyTokenSync } from '@/lib/ect/verify-node'
import { type Served, serve } from '../serve'
import { openAgent } from './agent'
import { ok, type Refusal, type Values } from './answers'
import { Breaker } from './breaker'
import { take } from './checkpoints'
import { begin } from './once'
import type { Agent, Store } from './terms'

/* The kit as a caller sees it, mostly through tasks on top of it, with tokens that the product's own code signs and verifies. */

const caller = 'spiffe://holdpoint.local/holdpoint'
const id = 'spiffe://example.com/agent/counter'
let folder: string
let ring: KeyRing
let clock: number
let counters: Record<string, number>
let running: Awaited<ReturnType<typeof serve>>
let calls: Breaker
let told: Values[]

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'kit-'))
  clock = Date.now()
  ring = openKeyRing(path.join(folder, 'caller'), clock)
  counters = { a: 0, b: 0 }
  told = []
  await start()
})

afterEach(async () => {
  await running.stop()
  rmSync(folder, { recursive: true })
})

async function start(): Promise<void> {
  calls = new Breaker(() => clock)
  const own = path.join(folder, 'agent')
  running = await serve(counter(), {
    folder: own,
    port: 0,
    callers: (header, token) => createLocalJWKSet(ring.jwks())(header, token),
    calls,
    now: () => clock,
  })
}

function counter(): Served {
  const add = (name: string, consequence: 'reversible' | 'irreversible') => ({
    consequence,
    describe: async () => ({ sentence: `Adds one to ${name}.`, target: name }),
    execute: async () => {
      counters[name] = (counters[name] ?? 0) + 1
      return { output: counters[name] }
    },
    state: async () => ({ [name]: counters[name] }),
    restore: async (state: Values) => void Object.assign(counters, state),
  })
  const operations = {
    'add-a': add('a', 'reversible'),
    'add-b': add('b', 'reversible'),
    send: add('sent', 'irreversible'),
    look: {
      consequence: 'read_only' as const,
      describe: async () => ({ sentence: 'Looks.', target: 'what it sees' }),
      execute: async () => ({ output: 'seen' }),
    },
    'add-unseen': {
      ...add('unseen', 'reversible'),
      execute: async () => ({ output: 'done' }),
      state: () => Promise.reject(new Error('nobody sees it')),
    },
  }
  const onError = async (signal: Values) => void told.push(signal)
  return { id, name: 'counter', operations, onError }
}

function token(wid: string, exec_act: string, par: string[] = [], ext: Record<string, string | string[]> = {}): string {
  const iat = Math.floor(clock / 1000)
  const head = { iss: caller, aud: id, iat, exp: iat + 600, jti: randomUUID(), wid }
  return signClaims({ ...head, exec_act, par, ext }, ring.current)
}

async function ask(at: string, ect: string, body?: object) {
  const more = body ? { method: 'POST', body: JSON.stringify(body) } : {}
  const answer = await fetch(running.baseUrl + at, { ...more, headers: { 'execution-context': ect } })
  const text = await answer.text()
  return {
    status: answer.status,
    body: JSON.parse(text),
    text,
    token: answer.headers.get('execution-context'),
  }
}

function task(wid: string, phase: string, operation: string, more: object = {}) {
  const body = { phase, node: operation, visit: 1, operation, ...more }
  const bound = { 'hp.body_hash': sha256(JSON.stringify(body)) }
  return ask('/.well-known/holdpoint/task', token(wid, `hp:agent_${phase}`, [], bound), body)
}

async function changed(wid: string, operation = 'add-a'): Promise<string> {
  const checkpoint_id = randomUUID()
  expect((await task(wid, 'checkpoint', operation, { checkpoint_id })).status).toBe(200)
  expect((await task(wid, 'execute', operation, { checkpoint_id, idempotency_key: checkpoint_id })).status).toBe(200)
  return checkpoint_id
}

const rollbackId = () => `urn:uuid:${randomUUID()}`
const vote = (wid: string, checkpoint_id: string, rollback_id: string, scope = 'sub_dag') =>
  ask('/.well-known/cascade/rollback/prepare', token(wid, 'rollback_start', [checkpoint_id]), {
    ...{ rollback_id, checkpoint_id, scope },
  })
const execute = (wid: string, checkpoint_id: string, rollback_id: string, ext?: Record<string, string[]>) =>
  ask('/.well-known/cascade/rollback', token(wid, 'rollback_start', [checkpoint_id], ext), {
    ...{ rollback_id, checkpoint_id, phase: 'execute' },
  })

describe('in two phases', () => {
  it('votes as NOTES 4 prints it, restores once, and answers the same again, also after a restart', async () => {
    const wid = randomUUID()
    const checkpoint_id = await changed(wid)
    const rollback_id = rollbackId()
    expect((await vote(wid, checkpoint_id, rollback_id)).body).toEqual({
      rollback_id,
      checkpoint_id,
      status: 'prepared',
    })
    expect(counters.a).toBe(1)
    const done = await execute(wid, checkpoint_id, rollback_id)
    expect(done.body).toMatchObject({
      rollback_id,
      checkpoint_id,
      status: 'completed',
      cascaded: [],
      failed_agents: [],
    })
    expect(done.body.state_hash_after).toBe(sha256('{"a":0}'))
    expect(done.body.state_hash_before).toBe(sha256('{"a":1}'))
    expect(counters.a).toBe(0)
    counters.a = 7
    await running.stop()
    await start()
    expect((await execute(wid, checkpoint_id, rollback_id)).text).toBe(done.text)
    expect(counters.a).toBe(7)
  })

  it('says why it cannot: irreversible, expired, changed on disk, unknown', async () => {
    const wid = randomUUID()
    const reason = async (checkpoint: string) => (await vote(wid, checkpoint, rollbackId())).body
    expect(await reason(await changed(wid, 'send'))).toMatchObject({
      status: 'cannot_prepare',
      reason: 'irreversible',
    })
    expect(await reason(randomUUID())).toMatchObject({
      status: 'cannot_prepare',
      reason: 'unknown_checkpoint',
    })
    const tampered = await changed(wid)
    const file = path.join(folder, 'agent', 'checkpoints', `${tampered}.json`)
    const kept = JSON.parse(readFileSync(file, 'utf8'))
    const other = JSON.parse(readFileSync(file.replace(tampered, await changed(wid)), 'utf8'))
    const { writeFileSync } = await import('node:fs')
    writeFileSync(file, JSON.stringify({ ...kept, sealed: other.sealed }))
    expect(await reason(tampered)).toMatchObject({ status: 'cannot_prepare', reason: 'hash_mismatch' })
    const old = await changed(wid)
    clock += 86_400_001
    expect(await reason(old)).toMatchObject({ status: 'cannot_prepare', reason: 'expired' })
  })

  it('holds a checkpoint for who prepared it: an equal one loses and is told to whom, a broader one takes over', async () => {
    const wid = randomUUID()
    const checkpoint = await changed(wid)
    const [first, second, broader] = [rollbackId(), rollbackId(), rollbackId()]
    await vote(wid, checkpoint, first)
    const lost = { status: 'cannot_prepare', reason: 'conflict', conflicting_rollback_id: first }
    expect((await vote(wid, checkpoint, second)).body).toMatchObject(lost)
    expect((await vote(wid, checkpoint, second, 'single')).body).toMatchObject(lost)
    expect(await execute(wid, checkpoint, second)).toMatchObject({
      status: 409,
      body: { code: 'rollback_conflict', conflicting_rollback_id: first },
    })
    expect((await vote(wid, checkpoint, broader, 'full_workflow')).body.status).toBe('prepared')
    expect((await execute(wid, checkpoint, first)).body).toMatchObject({ conflicting_rollback_id: broader })
    expect(counters.a).toBe(1)
    expect((await execute(wid, checkpoint, broader)).body.status).toBe('completed')
  })

  it('lets go of what was prepared and never executed', async () => {
    const wid = randomUUID()
    const checkpoint = await changed(wid)
    await vote(wid, checkpoint, rollbackId())
    clock += 61_000
    expect((await vote(wid, checkpoint, rollbackId())).body.status).toBe('prepared')
  })
})

it('puts nothing back in a state that the request does not expect, and says which one it is in', async () => {
  const wid = randomUUID()
  const checkpoint = await changed(wid)
  const expecting = (...states: string[]) => ({ 'hp.expected_states': states.map(sha256) })
  counters.a = 9
  const [first, second] = [rollbackId(), rollbackId()]
  const refused = await execute(wid, checkpoint, first, expecting('{"a":1}', '{"a":2}'))
  expect(refused.body).toMatchObject({
    ...{ status: 'escalated', failed_agents: [] },
    ...{ state_hash_before: sha256('{"a":9}'), state_hash_after: sha256('{"a":9}') },
    description: 'It is in no state that the request expects; nothing was put back.',
  })
  expect(counters.a).toBe(9)
  counters.a = 1
  expect((await execute(wid, checkpoint, first, expecting('{"a":1}'))).text, 'its first answer').toBe(refused.text)
  const done = await execute(wid, checkpoint, second, expecting('{"a":2}', '{"a":1}'))
  expect(done.body.status).toBe('completed')
  expect(counters.a).toBe(0)
})

it('is as before already, whatever the request expects', async () => {
  const wid = randomUUID()
  const checkpoint = await changed(wid)
  counters.a = 0
  const done = await execute(wid, checkpoint, rollbackId(), { 'hp.expected_states': [sha256('{"a":1}')] })
  expect(done.body.status).toBe('completed')
})

it('takes a group back, latest first', async () => {
  const wid = randomUUID()
  const children = [await changed(wid), await changed(wid, 'add-b'), await changed(wid)]
  const checkpoint_id = randomUUID()
  const kept = await task(wid, 'checkpoint', 'add-a', { checkpoint_id, children })
  expect(kept.status).toBe(200)
  expect(counters).toMatchObject({ a: 2, b: 1 })
  const done = await execute(wid, checkpoint_id, rollbackId())
  expect(done.body).toMatchObject({ status: 'completed', state_hash_after: kept.body.out_hash })
  expect(counters).toMatchObject({ a: 0, b: 0 })
})

it('makes no group of what another run keeps', async () => {
  const children = [await changed(randomUUID())]
  const kept = await task(randomUUID(), 'checkpoint', 'add-a', { checkpoint_id: randomUUID(), children })
  expect(kept).toMatchObject({ status: 404, body: { code: 'checkpoint_missing' } })
  expect(kept.body.detail).toBe('A checkpoint of the group is gone.')
})

it('answers AERR as section 7 prints it', async () => {
  const wid = randomUUID()
  const checkpoint = await changed(wid)
  const [rollback_id, checkpoint_id] = [rollbackId(), `urn:uuid:${checkpoint}`]
  const body = { rollback_id, checkpoint_id, reason: 'It broke.', initiator: caller, cascade: true }
  const { body: said } = await ask('/.well-known/aerr/rollback', token(wid, 'atd:rollback_request', [checkpoint]), body)
  const hex = (text: string) => `sha256:${Buffer.from(sha256(text), 'base64url').toString('hex')}`
  expect(said).toMatchObject({
    ...{ rollback_id, checkpoint_id, status: 'completed', cascaded_rollbacks: [] },
    ...{ state_hash_before: hex('{"a":1}'), state_hash_after: hex('{"a":0}') },
  })
})

it('takes an ATD rollback that is a token and nothing else, once, and answers with its result token', async () => {
  const wid = randomUUID()
  const checkpoint = await changed(wid)
  const ect = token(wid, 'atd:rollback_request', [checkpoint], { 'atd.reason': 'It broke.' })
  const send = () =>
    fetch(`${running.baseUrl}/.well-known/atd/rollback`, { method: 'POST', headers: { 'execution-context': ect } })
  const answer = await send()
  const text = await answer.text()
  expect(answer.status).toBe(200)
  const said = JSON.parse(text)
  expect(said).toMatchObject({ status: 'completed', checkpoint_id: checkpoint })
  const keys = parseKeySet(running.jwks)
  const { claims } = verifyTokenSync(said.result_ect, keys, { mode: 'live', nowMs: clock, audience: caller })
  expect(claims).toMatchObject({ exec_act: 'atd:rollback_result', ext: { 'atd.status': 'completed' } })
  expect(counters.a).toBe(0)
  counters.a = 5
  expect(await (await send()).text()).toBe(text)
  expect(counters.a).toBe(5)
})

it('does nothing for a token that was signed for another body, or for something else', async () => {
  const wid = randomUUID()
  const checkpoint_id = await changed(wid)
  const [rollback_id, error_id] = [rollbackId(), rollbackId()]
  const other = { 'hp.body_hash': sha256('another body') }
  const bound = (act: string) => token(wid, act, [checkpoint_id], other)
  const refused = { status: 403, body: { code: 'ect_claim_invalid' } }
  const rollback = { rollback_id, checkpoint_id, phase: 'execute' }
  const signal = { error_id, checkpoint_id, severity: 'critical' }
  expect(await ask('/.well-known/cascade/rollback', bound('rollback_start'), rollback)).toMatchObject(refused)
  expect(await ask('/aerr/rollback', bound('atd:rollback_request'), rollback)).toMatchObject(refused)
  expect(await ask('/aerr/error', bound('atd:error'), signal)).toMatchObject(refused)
  expect(await ask('/aerr/error', token(wid, 'rollback_start', [checkpoint_id]), signal)).toMatchObject(refused)
  expect([counters.a, told]).toEqual([1, []])
})

it('takes an error signal once, and none about a run it has no part in', async () => {
  const wid = randomUUID()
  const checkpoint_id = await changed(wid)
  const signal = {
    error_id: rollbackId(),
    source_agent: id,
    severity: 'critical',
    checkpoint_id,
    upstream_errors: [],
  }
  const tell = (of: string) => ask('/aerr/error', token(of, 'atd:error'), signal)
  expect(await tell(wid)).toMatchObject({
    status: 202,
    body: { error_id: signal.error_id, status: 'accepted' },
  })
  expect((await tell(wid)).status).toBe(202)
  expect(told).toHaveLength(1)
  expect(await tell(randomUUID())).toMatchObject({ status: 403, body: { code: 'signal_outside_chain' } })
})

describe('every answer to a verified request', () => {
  it("is signed by the agent's own key over the octets sent, refusals too", async () => {
    const wid = randomUUID()
    const keys = parseKeySet(await (await fetch(`${running.baseUrl}/.well-known/jwks.json`)).json())
    for (const answer of [await task(wid, 'state', 'add-a'), await task(wid, 'execute', 'no-such')]) {
      const { claims } = verifyTokenSync(answer.token, keys, { mode: 'live', nowMs: clock, audience: caller })
      expect(claims).toMatchObject({ iss: id, wid, out_hash: sha256(answer.text) })
      expect(claims.par).toHaveLength(1)
    }
    const refused = await fetch(`${running.baseUrl}/aerr/circuits`)
    expect([refused.status, refused.headers.get('execution-context')]).toEqual([403, null])
  })

  it('refuses a clock 40 s ahead and takes one 25 s ahead', async () => {
    const [now, wid] = [clock, randomUUID()]
    clock = now + 40_000
    const ahead = token(wid, 'hp:circuits')
    clock = now + 25_000
    const near = token(wid, 'hp:circuits')
    clock = now
    expect(await ask('/aerr/circuits', ahead)).toMatchObject({
      status: 403,
      body: { code: 'ect_from_future' },
    })
    expect((await ask('/aerr/circuits', near)).status).toBe(200)
  })
})

it('shows a checkpoint by its token and what it is worth, to its run alone', async () => {
  const wid = randomUUID()
  const checkpoint = await changed(wid)
  const at = `/.well-known/cascade/checkpoints/${checkpoint}`
  const { body } = await ask(at, token(wid, 'hp:look'))
  expect(body).toMatchObject({
    checkpoint_id: checkpoint,
    verification: { signature_valid: true, out_hash_matches: true, expired: false },
  })
  const { claims } = verifyTokenSync(body.ect, parseKeySet(running.jwks), { mode: 'ledger' })
  expect(claims).toMatchObject({
    jti: checkpoint,
    wid,
    exec_act: 'atd:checkpoint',
    out_hash: sha256('{"a":0}'),
  })
  expect((await ask(at, token(randomUUID(), 'hp:look'))).status).toBe(404)
})

it('keeps keys and checkpoints to its owner, made once', async () => {
  const wid = randomUUID()
  await changed(wid)
  const { kid } = running.jwks.keys[0] as { kid: string }
  await running.stop()
  await start()
  expect(running.jwks.keys[0]?.kid).toBe(kid)
  for (const part of ['keys', 'checkpoints'])
    for (const name of readdirSync(path.join(folder, 'agent', part)))
      expect(statSync(path.join(folder, 'agent', part, name)).mode & 0o777).toBe(0o600)
})

it('forgets checkpoints past their time while it runs', async () => {
  await running.stop()
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    await start()
    const [old, fresh] = [await changed(randomUUID()), await changed(randomUUID(), 'add-b')]
    const kept = () => readdirSync(path.join(folder, 'agent', 'checkpoints'))
    expect(kept().sort()).toEqual([`${old}.json`, `${fresh}.json`].sort())
    clock += 86_400_000
    await vi.advanceTimersByTimeAsync(3_600_000)
    const later = await changed(randomUUID())
    clock += 1
    await vi.advanceTimersByTimeAsync(3_600_000)
    vi.useRealTimers()
    await expect.poll(kept).toEqual([`${later}.json`])
  } finally {
    vi.useRealTimers()
  }
})

describe('its own breaker', () => {
  const failing = () => Promise.reject(new Error('no answer'))
  const fails = async (times: number) => {
    for (let at = 0; at < times; at++) await calls.through('spiffe://b', failing).catch(() => undefined)
  }

  it('opens past half of five calls, refuses with the structured error, and lets one verified probe close it', async () => {
    await fails(5)
    const refusal = await calls.through('spiffe://b', async () => 'sent').catch((error: unknown) => error)
    expect((refusal as Refusal).answer).toMatchObject({
      status: 503,
      body: { error_type: 'circuit_open', downstream_agent: 'spiffe://b', retry_after_s: 30 },
    })
    clock += 30_000
    let asked = 0
    const probe = () =>
      calls.through(
        'spiffe://b',
        async () => ++asked,
        () => true,
      )
    const both = await Promise.allSettled([probe(), probe()])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(asked).toBe(1)
    expect(calls.circuits()[0]).toMatchObject({ state: 'closed', error_rate: 0 })
  })

  it('stays open, twice as long, when the probe fails or its answer is nobody’s', async () => {
    await fails(5)
    clock += 30_000
    await calls.through(
      'spiffe://b',
      async () => 'stolen',
      () => false,
    )
    const { body } = await ask('/.well-known/cascade/circuits', token(randomUUID(), 'hp:circuits'))
    expect(body.circuits).toEqual([
      {
        downstream_agent: 'spiffe://b',
        ...{ state: 'open', error_rate: 1, window_s: 60, cooldown_remaining_s: 60, forced: false },
        last_failure: new Date(clock).toISOString(),
      },
    ])
    for (const expected of [120, 240, 300, 300]) {
      clock += 300_000
      await fails(1)
      expect(calls.circuits()[0]?.cooldown_remaining_s).toBe(expected)
    }
  })
})

describe('what an operation left', () => {
  it('is hashed in the answer to execute as the state phase hashes it, and tells of a change by others', async () => {
    const wid = randomUUID()
    const done = await task(wid, 'execute', 'add-a', { idempotency_key: 'k' })
    expect(done.body).toEqual({ output: 1, state_hash: sha256('{"a":1}') })
    expect((await task(wid, 'state', 'add-a')).body).toEqual({ state_hash: done.body.state_hash })
    counters.a = 9
    expect((await task(wid, 'execute', 'add-a', { idempotency_key: 'k' })).body).toEqual(done.body)
    expect((await task(wid, 'state', 'add-a')).body.state_hash).toBe(sha256('{"a":9}'))
  })

  it('is not hashed where there is no state, nor where it cannot be read once it is done', async () => {
    const wid = randomUUID()
    expect((await task(wid, 'execute', 'look')).body).toEqual({ output: 'seen' })
    expect((await task(wid, 'execute', 'add-unseen')).body).toEqual({ output: 'done' })
  })
})

describe('without tasks', () => {
  const switches = async () => {
    const shelves = new Map<string, object>()
    const store: Store = {
      get: async <T>(kind: string, name: string) => shelves.get(`${kind} ${name}`) as T | undefined,
      put: async (kind, name, document) => void shelves.set(`${kind} ${name}`, document),
      names: async (kind) => [...shelves.keys()].filter((key) => key.startsWith(`${kind} `)),
    }
    const lamp: Agent = {
      id,
      name: 'lamp',
      states: {
        lamp: {
          now: async () => ({ lit: counters.lit ?? 0 }),
          restore: async (state) => void Object.assign(counters, state),
        },
      },
      routes: {
        async 'POST /switch'(parts, { claims, json }) {
          await begin(parts, claims)
          const taken = await take(parts, claims, randomUUID(), { operation: 'lamp', children: [] })
          counters.lit = Number(json.lit)
          return ok(taken)
        },
      },
    }
    const callers: JWTVerifyGetKey = (header, token) => createLocalJWKSet(ring.jwks())(header, token)
    return openAgent(lamp, { store, baseUrl: 'https://lamp.example.com', callers, now: () => clock })
  }

  it('an endpoint of the author takes a checkpoint, and every published protocol takes it back', async () => {
    const { app } = await switches()
    const wid = randomUUID()
    const post = async (at: string, ect: string, body: object) => {
      const headers = { 'execution-context': ect }
      const answer = await app.request(at, { method: 'POST', headers, body: JSON.stringify(body) })
      return { status: answer.status, body: await answer.json() }
    }
    const ways = [
      ['/.well-known/atd/rollback', 'atd:rollback_request'],
      ['/.well-known/cascade/rollback', 'rollback_start'],
      ['/aerr/rollback', 'atd:rollback_request'],
      ['/.well-known/aerr/rollback', 'atd:rollback_request'],
    ] as const
    for (const [at, act] of ways) {
      const { body: taken } = await post('/switch', token(wid, 'lamp:switch'), { lit: 1 })
      expect(taken).toMatchObject({ rollback_uri: 'https://lamp.example.com/.well-known/atd/rollback' })
      expect(counters.lit).toBe(1)
      const { checkpoint_id } = taken
      const asked = { rollback_id: rollbackId(), checkpoint_id, reason: 'Too bright.', cascade: false }
      const undone = await post(at, token(wid, act, [checkpoint_id]), asked)
      expect(undone).toMatchObject({ status: 200, body: { status: 'completed', checkpoint_id } })
      expect(counters.lit).toBe(0)
    }
  })

  it('a token serves one request of the author’s, and a stranger none', async () => {
    const { app } = await switches()
    const ect = token(randomUUID(), 'lamp:switch')
    const post = (ect: string) =>
      app.request('/switch', { method: 'POST', headers: { 'execution-context': ect }, body: '{"lit":1}' })
    expect((await post(ect)).status).toBe(200)
    const again = await post(ect)
    expect(again.status).toBe(403)
    expect(await again.json()).toMatchObject({
      code: 'ect_replayed',
      detail: expect.stringContaining('was used before'),
    })
    expect((await post('')).status).toBe(403)
    const unknown = await app.request('/.well-known/holdpoint/task', { method: 'POST' })
    expect(await unknown.json()).toMatchObject({
      ...{ status: 404, code: 'not_found', detail: 'lamp has no POST /.well-known/holdpoint/task.' },
    })
    const long = await app.request('/switch', { method: 'POST', body: 'x'.repeat(1_048_577) })
    expect(await long.json()).toMatchObject({ status: 413, code: 'body_too_large' })
  })
})

describe('its size', () => {
  const files = readdirSync(import.meta.dirname).filter((name) => /^[a-z]+\.ts$/.test(name))
  const textOf = (name: string) => readFileSync(path.join(import.meta.dirname, name), 'utf8')
  const linesOf = (name: string) => textOf(name).trimEnd().split('\n')

  it('is under 400 lines of code, and 520 with every comment and blank line', () => {
    const lines = files.flatMap(linesOf)
    expect(lines.filter((line) => !/^\s*($|\/\/|\*|\/\*)/.test(line)).length).toBeLessThan(400)
    expect(lines.length).toBeLessThan(520)
  })

  it('lets it be copied: it stands on Node, jose and Hono alone', () => {
    const imported = files.flatMap((name) => [...textOf(name).matchAll(/from '([^']+)'/g)].map(([, from]) => from))
    expect(imported.filter((from) => !/^(node:|\.\/|(jose|hono)(\/|$))/.test(from ?? ''))).toEqual([])
  })
})
