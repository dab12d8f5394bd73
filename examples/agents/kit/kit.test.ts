import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '@/lib/base/hash'
import { parseKeySet } from '@/lib/ect/keys'
import { type KeyRing, openKeyRing } from '@/lib/ect/keys-file'
import { signClaims } from '@/lib/ect/sign'
import { verifyTokenSync } from '@/lib/ect/verify-node'
import { Breaker } from './breaker'
import { serve } from './serve'
import type { Agent, Refusal, Values } from './terms'

/* The kit as a caller sees it, with tokens that the product's own code signs and verifies. */

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
    callers: () => ring.jwks(),
    calls,
    now: () => clock,
  })
}

function counter(): Agent {
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
  }
  const onError = async (signal: Values) => void told.push(signal)
  return { id, name: 'counter', operations, onError }
}

function token(wid: string, exec_act: string, par: string[] = [], ext: Record<string, string> = {}): string {
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
const execute = (wid: string, checkpoint_id: string, rollback_id: string) =>
  ask('/.well-known/cascade/rollback', token(wid, 'rollback_start', [checkpoint_id]), {
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

const files = readdirSync(import.meta.dirname).filter((name) => /^[a-z]+\.ts$/.test(name))

it('stays small: at most 472 lines that are neither blank nor a comment', () => {
  const lines = files.flatMap((name) => readFileSync(path.join(import.meta.dirname, name), 'utf8').split('\n'))
  expect(lines.filter((line) => !/^\s*($|\/\/|\*|\/\*)/.test(line)).length).toBeLessThanOrEqual(472)
})

it('can be copied: it stands on Node and jose alone', () => {
  const imported = files.flatMap((name) => {
    const text = readFileSync(path.join(import.meta.dirname, name), 'utf8')
    return [...text.matchAll(/from '([^']+)'/g)].map(([, from]) => from)
  })
  expect(imported.filter((from) => !/^(node:|\.\/|jose$)/.test(from ?? ''))).toEqual([])
})
