import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '@/lib/base/hash'
import { runIdOf } from '@/lib/base/ids'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import type { Claims } from '@/lib/ect/claims'
import { parseKeySet } from '@/lib/ect/keys'
import { type KeyRing, openKeyRing } from '@/lib/ect/keys-file'
import { signClaims } from '@/lib/ect/sign'
import { verifyTokenSync } from '@/lib/ect/verify-node'
import { labId } from './lab-agent'
import { collectorAddress } from './running-config'
import { type Lab, startLab } from './start-lab'
import { storyAgents } from './story'

const console07 = 'spiffe://holdpoint.local/console'
const router = 'edge-router-07'

let folder: string
let consoleKeys: KeyRing
let lab: Lab
let clock: number
let jwksAsked: number

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'lab-'))
  clock = Date.now()
  jwksAsked = 0
  consoleKeys = openKeyRing(path.join(folder, 'console-keys'), clock)
  lab = await start()
})

afterEach(async () => {
  await lab.stop()
  rmSync(folder, { recursive: true })
})

function start(): Promise<Lab> {
  const consoleJwks = () => {
    jwksAsked++
    return consoleKeys.jwks()
  }
  return startLab({ dataDir: path.join(folder, 'lab'), basePort: 0, consoleJwks, now: () => clock })
}

function baseUrl(name: string): string {
  return lab.agents.find((agent) => agent.name === name)?.baseUrl ?? ''
}

function routerFile(): string {
  return path.join(folder, 'lab', router, 'running-config')
}

/** A token of the console for one request. */
function token(to: string, wid: string, more: Partial<Claims> = {}, keys = consoleKeys): string {
  const iat = Math.floor(clock / 1000)
  const claims = {
    iss: console07,
    aud: labId(to),
    iat,
    exp: iat + 600,
    jti: randomUUID(),
    wid,
    exec_act: 'hp:task',
    par: [],
  }
  return signClaims({ ...claims, ...more }, keys.current)
}

interface Answered {
  status: number
  body: JsonObject
}

async function post(to: string, at: string, ect: string | undefined, body: JsonObject): Promise<Answered> {
  const answer = await fetch(`${baseUrl(to)}${at}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(ect ? { 'execution-context': ect } : {}) },
    body: JSON.stringify(body),
  })
  const json: unknown = await answer.json()
  return { status: answer.status, body: isJsonObject(json) ? json : {} }
}

function task(
  to: string,
  wid: string,
  phase: string,
  operation: string,
  more: JsonObject = {},
  ect?: string,
) {
  const body = { phase, run: runIdOf(wid), node: operation, visit: 1, operation, ...more }
  return post(to, '/.well-known/holdpoint/task', ect ?? token(to, wid, boundTo(phase, body)), body)
}

/** What binds a task's token to its phase and body. */
function boundTo(phase: string, body: JsonObject): Partial<Claims> {
  return {
    exec_act: `hp:agent_${phase}`,
    ext: { 'hp.body_hash': sha256(JSON.stringify(body)) },
  }
}

function rollback(to: string, wid: string, checkpoint: string, ect?: string) {
  const asked = ect ?? token(to, wid, { exec_act: 'atd:rollback_request', par: [checkpoint] })
  const body = {
    rollback_id: 'rb_1',
    checkpoint_id: checkpoint,
    reason: 'It broke the monitor.',
    cascade: false,
    scope: 'single',
  }
  return post(to, '/.well-known/atd/rollback', asked, body)
}

async function state(name: string): Promise<Json | string> {
  const answer = await fetch(`${baseUrl(name)}/state`)
  return answer.headers.get('content-type') === 'application/json'
    ? ((await answer.json()) as Json)
    : answer.text()
}

/** Checkpoint and change of the router, as a run does it. */
async function change(wid: string, more: JsonObject = {}): Promise<{ checkpoint: string; answer: Answered }> {
  const checkpoint = randomUUID()
  const kept = await task(router, wid, 'checkpoint', 'update-bgp-peer', { checkpoint_id: checkpoint })
  expect(kept.status).toBe(200)
  const answer = await task(router, wid, 'execute', 'update-bgp-peer', {
    idempotency_key: `k-${wid}`,
    ...more,
  })
  return { checkpoint, answer }
}

describe('the six agents', () => {
  it('are those of the story, each with a key of its own', async () => {
    expect(lab.agents.map(({ id, name }) => ({ id, name }))).toEqual(
      storyAgents.map(({ id, name }) => ({ id, name })),
    )
    expect(new Set(lab.agents.map((agent) => agent.jwks.keys[0]?.kid)).size).toBe(6)
    const answer = await fetch(`${baseUrl(router)}/.well-known/jwks.json`)
    expect(await answer.json()).toEqual(lab.agents[0]?.jwks)
    expect(await (await fetch(`${baseUrl(router)}/health`)).json()).toEqual({
      status: 'ok',
      agent: labId(router),
    })
  })

  it("see each other: the monitor asks the router, and the router's access list decides", async () => {
    expect(await state('traffic-monitor')).toMatchObject({ reachable: true, status: 200 })
    const config = await readFile(routerFile(), 'utf8')
    expect(await state(router)).toBe(config)
    expect(config.split('\n').length).toBeGreaterThan(38)
    await writeFile(
      routerFile(),
      config.replace(`permit host ${collectorAddress}`, `deny host ${collectorAddress}`),
    )
    expect(await state('traffic-monitor')).toMatchObject({ reachable: false, status: 403 })
  })
})

describe('the failover', () => {
  it('is described with its diff before anything happens', async () => {
    const before = await readFile(routerFile(), 'utf8')
    const { body } = await task(router, randomUUID(), 'describe', 'update-bgp-peer', { input: {} })
    expect(body).toMatchObject({
      consequence: 'reversible',
      target: 'running-config of edge-router-07',
      sentence:
        'Moves traffic of edge-router-07 from transit-a to transit-b and replaces its telemetry access list.',
      undo_sentence: 'Puts the running configuration of edge-router-07 back, byte for byte.',
      preview: { before },
    })
    expect(await readFile(routerFile(), 'utf8')).toBe(before)
  })

  it('changes the router, cuts the monitor off, misleads the classifier, and is taken back byte for byte', async () => {
    const wid = randomUUID()
    await chmod(routerFile(), 0o640)
    const before = await readFile(routerFile())
    expect((await task(router, wid, 'execute', 'validate-config')).body).toMatchObject({
      output: { valid: true },
    })

    const { checkpoint, answer } = await change(wid)
    expect(answer).toMatchObject({ status: 200, body: { output: { changed: true } } })
    expect(await readFile(routerFile(), 'utf8')).not.toContain(collectorAddress)

    const check = await task('traffic-monitor', wid, 'execute', 'check-flows')
    expect(check.status).toBe(502)
    expect(check.body).toMatchObject({
      code: 'exporter_refused',
      detail: `edge-router-07 refused its flow records (HTTP 403): its access list does not let the collector ${collectorAddress} in.`,
      error_type: 'action_failed',
      severity: 'critical',
      retriable: false,
    })
    const labelled = await task('classifier', wid, 'execute', 'classify-traffic')
    expect(labelled.body).toMatchObject({ output: { class: 'outage', basis: 'no flow records' } })

    const undone = await rollback(router, wid, checkpoint)
    expect(undone).toMatchObject({
      status: 200,
      body: { status: 'completed', rollback_id: 'rb_1', checkpoint_id: checkpoint },
    })
    expect(await readFile(routerFile())).toEqual(before)
    expect((await stat(routerFile())).mode & 0o777).toBe(0o640)
    expect(await state('traffic-monitor')).toMatchObject({ reachable: true })
  })

  it('shows what putting its state back would undo where that is asked for, in its own run alone', async () => {
    const wid = randomUUID()
    const before = await readFile(routerFile(), 'utf8')
    const { checkpoint } = await change(wid)
    const look = async (run: string, more: JsonObject) =>
      (await task(router, run, 'state', 'update-bgp-peer', { checkpoint_id: checkpoint, ...more })).body
    const asked = { undo_preview: true }
    expect((await look(wid, asked)).undo_preview).toEqual({
      ...{ title: 'running-config', before: await readFile(routerFile(), 'utf8'), after: before },
    })
    expect(Object.keys(await look(wid, {}))).toEqual(['state_hash'])
    expect(Object.keys(await look(randomUUID(), asked))).toEqual(['state_hash'])
  })

  it('keeps the collector when the input says so', async () => {
    const wid = randomUUID()
    await change(wid, { input: { keep_collector: true } })
    expect((await task('traffic-monitor', wid, 'execute', 'check-flows')).status).toBe(200)
  })

  it('happens once under one idempotency key, and another request under it is refused', async () => {
    const wid = randomUUID()
    const { answer } = await change(wid)
    const { body: left } = await task(router, wid, 'state', 'update-bgp-peer')
    expect(answer.body.state_hash).toBe(left.state_hash)
    const config = await readFile(routerFile(), 'utf8')
    await writeFile(routerFile(), `${config}! touched\n`)
    const again = await task(router, wid, 'execute', 'update-bgp-peer', { idempotency_key: `k-${wid}` })
    expect(again).toEqual(answer)
    expect(await readFile(routerFile(), 'utf8')).toBe(`${config}! touched\n`)
    const other = await task(router, wid, 'execute', 'validate-config', { idempotency_key: `k-${wid}` })
    expect(other).toMatchObject({ status: 409, body: { code: 'idempotency_key_reused' } })
  })

  it('can be looked for after a crash', async () => {
    const wid = randomUUID()
    const checkpoint = randomUUID()
    const asked = { idempotency_key: 'k', checkpoint_id: checkpoint }
    await task(router, wid, 'checkpoint', 'update-bgp-peer', { checkpoint_id: checkpoint })
    const probe = async (more: JsonObject = asked) =>
      (await task(router, wid, 'probe', 'update-bgp-peer', more)).body
    expect(await probe()).toEqual({ outcome: 'not_taken' })
    await task(router, wid, 'execute', 'update-bgp-peer', asked)
    expect(await probe()).toEqual({ outcome: 'took_effect' })
    expect(await probe({ checkpoint_id: checkpoint, idempotency_key: 'another' })).toEqual({
      outcome: 'took_effect',
    })
    await writeFile(routerFile(), 'hostname somebody-else\n')
    expect(await probe({ checkpoint_id: checkpoint, idempotency_key: 'another' })).toEqual({
      outcome: 'unknown',
    })
  })
})

describe('a checkpoint', () => {
  it('is sealed on disk, hashed, and answered the same when asked for twice', async () => {
    const wid = randomUUID()
    const id = randomUUID()
    const first = await task(router, wid, 'checkpoint', 'update-bgp-peer', { checkpoint_id: id })
    expect(first.body).toMatchObject({
      checkpoint_id: id,
      ttl: 86_400,
      reversible: true,
      rollback_uri: `${baseUrl(router)}/.well-known/atd/rollback`,
    })
    const { body } = await task(router, wid, 'state', 'update-bgp-peer')
    expect(body.state_hash).toBe(first.body.out_hash)
    await change(wid)
    expect(await task(router, wid, 'checkpoint', 'update-bgp-peer', { checkpoint_id: id })).toEqual(first)
    const kept = path.join(folder, 'lab', router, 'checkpoints')
    for (const name of await readdir(kept)) {
      const text = await readFile(path.join(kept, name), 'utf8')
      expect(text).not.toContain(Buffer.from('hostname').toString('base64'))
      expect((await stat(path.join(kept, name))).mode & 0o777).toBe(0o600)
    }
  })

  it('outlives a restart, and so does the answer to its rollback', async () => {
    const wid = randomUUID()
    const before = await readFile(routerFile())
    const { checkpoint } = await change(wid)
    await lab.stop()
    lab = await start()
    const ect = token(router, wid, { exec_act: 'atd:rollback_request', par: [checkpoint] })
    const first = await rollback(router, wid, checkpoint, ect)
    expect(first.body.status).toBe('completed')
    expect(await readFile(routerFile())).toEqual(before)
    await writeFile(routerFile(), 'something newer\n')
    await lab.stop()
    lab = await start()
    expect(await rollback(router, wid, checkpoint, ect)).toEqual(first)
    expect(await readFile(routerFile(), 'utf8')).toBe('something newer\n')
  })

  it('of what cannot be undone escalates and changes nothing', async () => {
    const wid = randomUUID()
    const { body } = await task('classifier', wid, 'checkpoint', 'notify-customers')
    expect(body.reversible).toBe(false)
    const sent = { idempotency_key: 'n1', input: { notice: 'We are moving traffic.' } }
    await task('classifier', wid, 'execute', 'notify-customers', sent)
    const log = path.join(folder, 'lab', 'classifier', 'sent-notices.log')
    const written = await readFile(log, 'utf8')
    expect(written).toContain('We are moving traffic.')
    const undone = await rollback('classifier', wid, String(body.checkpoint_id))
    expect(undone.body.status).toBe('escalated')
    expect(await readFile(log, 'utf8')).toBe(written)
  })

  it('that was changed on disk is refused', async () => {
    const wid = randomUUID()
    const { checkpoint } = await change(wid)
    const file = path.join(folder, 'lab', router, 'checkpoints', `${checkpoint}.json`)
    const kept = JSON.parse(await readFile(file, 'utf8'))
    const parts = String(kept.sealed).split('.')
    const hidden = Buffer.from(parts[3] ?? '', 'base64url')
    hidden[20] = (hidden[20] ?? 0) ^ 1
    const sealed = parts.with(3, hidden.toString('base64url')).join('.')
    await writeFile(file, JSON.stringify({ ...kept, sealed }))
    const config = await readFile(routerFile(), 'utf8')
    expect(await rollback(router, wid, checkpoint)).toMatchObject({
      status: 409,
      body: { code: 'checkpoint_tampered' },
    })
    expect(await readFile(routerFile(), 'utf8')).toBe(config)
  })
})

describe('the answer to a rollback', () => {
  it("carries the agent's own signed result token", async () => {
    const wid = randomUUID()
    const { checkpoint } = await change(wid)
    const jti = randomUUID()
    const ect = token(router, wid, { jti, exec_act: 'atd:rollback_request', par: [checkpoint] })
    const { body } = await rollback(router, wid, checkpoint, ect)
    const keys = parseKeySet(lab.agents[0]?.jwks)
    const result = verifyTokenSync(body.result_ect, keys, { mode: 'live', nowMs: clock, audience: console07 })
    expect(result.claims).toMatchObject({
      iss: labId(router),
      wid,
      exec_act: 'atd:rollback_result',
      par: [jti],
      out_hash: body.state_hash_after,
      ext: { 'atd.status': 'completed', 'atd.checkpoint_id': checkpoint },
    })
    expect(body.state_hash_before).not.toBe(body.state_hash_after)
  })
})

describe('refuses with 403 and changes nothing', () => {
  const refused = (answer: Answered) => `${answer.status} ${answer.body.code}: ${answer.body.detail}`
  let wid: string
  let checkpoint: string
  let config: string

  beforeEach(async () => {
    wid = randomUUID()
    const changed = await change(wid)
    checkpoint = changed.checkpoint
    config = await readFile(routerFile(), 'utf8')
  })

  afterEach(async () => {
    expect(await readFile(routerFile(), 'utf8')).toBe(config)
  })

  it('a request without a token', async () => {
    const body = { rollback_id: 'rb_1', checkpoint_id: checkpoint }
    expect(refused(await post(router, '/.well-known/atd/rollback', undefined, body))).toBe(
      '403 ect_malformed: There is no Execution-Context header; a compact token was expected.',
    )
    const execute = { phase: 'execute', run: wid, node: 'n', visit: 1, operation: 'update-bgp-peer' }
    expect((await post(router, '/.well-known/holdpoint/task', undefined, execute)).status).toBe(403)
  })

  it('a token that another key signed', async () => {
    const stranger = openKeyRing(path.join(folder, 'stranger'), clock)
    const more = { exec_act: 'atd:rollback_request', par: [checkpoint] }
    const asked = jwksAsked
    clock += 10_000
    expect(refused(await rollback(router, wid, checkpoint, token(router, wid, more, stranger)))).toMatch(
      /^403 ect_key_unknown: The token does not verify: no applicable key found/,
    )
    expect(jwksAsked).toBe(asked + 1)
  })

  it('a token of another run', async () => {
    const ect = token(router, randomUUID(), { exec_act: 'atd:rollback_request', par: [checkpoint] })
    expect(refused(await rollback(router, wid, checkpoint, ect))).toBe(
      '403 rollback_outside_run: The checkpoint belongs to another run than the token.',
    )
    const foreign = { phase: 'execute', run: runIdOf(wid), node: 'n', visit: 1, operation: 'update-bgp-peer' }
    const bound = token(router, randomUUID(), boundTo('execute', foreign))
    expect(refused(await post(router, '/.well-known/holdpoint/task', bound, foreign))).toBe(
      '403 rollback_outside_run: The token belongs to another run than the body names.',
    )
  })

  it('a token that does not name the checkpoint, or asks for something else', async () => {
    const other = token(router, wid, { exec_act: 'atd:rollback_request', par: [randomUUID()] })
    expect(refused(await rollback(router, wid, checkpoint, other))).toBe(
      '403 rollback_outside_run: The token does not name this checkpoint among its parents.',
    )
    const forTask = token(router, wid, { par: [checkpoint] })
    expect(refused(await rollback(router, wid, checkpoint, forTask))).toBe(
      '403 ect_claim_invalid: A token for "hp:task" does not ask for a rollback.',
    )
  })

  it('a token for another agent, an expired one, and one used before', async () => {
    const operation = 'update-bgp-peer'
    const bound = boundTo('state', {
      phase: 'state',
      run: runIdOf(wid),
      node: operation,
      visit: 1,
      operation,
    })
    const asked = (ect: string) => task(router, wid, 'state', operation, {}, ect)
    expect((await asked(token('classifier', wid, bound))).body.code).toBe('ect_audience')
    const late = token(router, wid, bound)
    clock += 631_000
    expect((await asked(late)).body.code).toBe('ect_expired')
    const once = token(router, wid, bound)
    expect((await asked(once)).status).toBe(200)
    expect(refused(await asked(once))).toMatch(/^403 ect_replayed: The token .* was used before/)
  })

  it('a token that was caught and sent with another body or for another phase', async () => {
    const operation = 'update-bgp-peer'
    const said = { phase: 'execute', run: runIdOf(wid), node: operation, visit: 1, operation, input: {} }
    const sent = { ...said, input: { keep_collector: true } }
    const path07 = '/.well-known/holdpoint/task'
    expect(refused(await post(router, path07, token(router, wid, boundTo('execute', said)), sent))).toBe(
      '403 ect_claim_invalid: The token was made for another body.',
    )
    expect(refused(await post(router, path07, token(router, wid, boundTo('describe', said)), said))).toBe(
      '403 ect_claim_invalid: A token for "hp:agent_describe" is not for "execute".',
    )
  })

  it('a checkpoint past its time, or that is not there', async () => {
    clock += 86_400_000
    expect(await rollback(router, wid, checkpoint)).toMatchObject({
      status: 409,
      body: { code: 'checkpoint_expired' },
    })
    expect(await rollback(router, wid, randomUUID())).toMatchObject({
      status: 404,
      body: { code: 'checkpoint_missing' },
    })
  })
})

it('says what is wrong with a request', async () => {
  const wid = randomUUID()
  const unknown = await task(router, wid, 'execute', 'no-such')
  expect(unknown).toMatchObject({ status: 422, body: { code: 'operation_unknown', retriable: false } })
  expect((await task(router, wid, 'dance', 'validate-config')).body.code).toBe('bad_request')
  const long = await task(router, wid, 'execute', 'validate-config', {
    input: { x: 'x'.repeat(2_000_000) },
  }).catch(() => ({ status: 413 }))
  expect(long.status).toBe(413)
  expect((await fetch(`${baseUrl(router)}/nothing`)).status).toBe(404)
})
