/** Errors told to the agents of the action chain (AERR section 5), over real HTTP. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { registerAgent } from '@/lib/auth/agents'
import { mintUuid, type RunId } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import type { CircuitChange } from '@/lib/breaker/terms'
import { parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import { verifyTokenSync } from '@/lib/ect/verify-node'
import type { SignalList } from '@/lib/view/signal-wire'
import { startWorker } from '@/lib/worker/worker'
import type { Browser } from '../testing/console'
import { DoorsScene } from '../testing/doors-scene'
import { getCheckpoint } from './checkpoints'
import { getSignals } from './signals'

let scene: DoorsScene
let ada: Browser
beforeAll(async () => {
  scene = await DoorsScene.open()
  ada = await scene.console.person('ada', 'operator')
})
afterAll(() => scene.close())

interface Heard {
  path: string
  body: JsonObject
  token: string
}

/** Agent A on loopback: answers each signal with the next of these, the last one for good. */
class Listener {
  readonly heard: Heard[] = []
  readonly #server: http.Server
  private constructor(answers: number[]) {
    this.#server = http.createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject
        const token = String(request.headers['execution-context'])
        this.heard.push({ path: request.url ?? '', body, token })
        response.writeHead(answers.length > 1 ? (answers.shift() ?? 500) : (answers[0] ?? 500))
        response.end(JSON.stringify({ detail: 'said by the agent' }))
      })
    })
  }

  static async open(...answers: number[]): Promise<Listener> {
    const listener = new Listener(answers)
    await new Promise<void>((resolve) => listener.#server.listen(0, '127.0.0.1', resolve))
    const { port } = listener.#server.address() as AddressInfo
    const { id, keys } = scene.a
    const baseUrl = `http://127.0.0.1:${port}`
    const protocols = ['atd' as const, 'aerr' as const]
    await registerAgent(
      scene.house.auth,
      { id, name: 'A', baseUrl, jwks: keys.jwks(), protocols },
      'person:ada',
    )
    open.push(listener)
    return listener
  }

  close(): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}

const open: Listener[] = []
afterEach(async () => {
  for (const listener of open.splice(0)) await listener.close()
})

const failing = { action: { type: 'read_file', path: 'notes/none.txt' } }

/** A run whose second step fails, after agent A did the first. */
async function failed(): Promise<{ runId: RunId; error: string }> {
  const { runId } = await scene.begun({ write: failing })
  const error = await scene.until(runId, (run) => {
    const state = run.visits.get('write')?.state
    return state?.status === 'failed' ? state.error.jti : undefined
  })
  return { runId, error }
}

async function list(runId: RunId): Promise<SignalList> {
  const { status, body } = await ada.ask<SignalList>(getSignals, 'GET', { params: { run: runId } })
  expect(status).toBe(200)
  return body
}

describe('an error of a step', () => {
  it('is told to the agents before it, in the words of AERR and signed', async () => {
    const listener = await Listener.open(202)
    const { runId, error } = await failed()
    await expect.poll(async () => (await list(runId)).out[0]?.state).toBe('told')
    expect((await list(runId)).out).toEqual([
      {
        error,
        agent: scene.a.id,
        state: 'told',
        at: expect.any(Number),
        attempts: 1,
        answer: 'Answered 202',
      },
    ])
    const [told] = listener.heard
    expect(told?.path).toBe('/aerr/error')
    expect(told?.body).toEqual({
      error_id: `urn:uuid:${error}`,
      source_agent: expect.stringMatching(/^urn:uuid:[0-9a-f-]{36}$/),
      severity: 'error',
      error_type: 'constraint_violation',
      description: expect.any(String),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      upstream_errors: [],
    })
    const { claims } = verifyTokenSync(told?.token ?? '', scene.house.keys.keys, {
      mode: 'live',
      nowMs: Date.now(),
      audience: scene.a.id,
    })
    expect(parseClaims({ ...claims })).toMatchObject({ exec_act: 'atd:error', par: [error] })
  })

  it('is told again when nobody answered, as the same error, and is given up when it is refused', async () => {
    const listener = await Listener.open(503, 403)
    const { runId } = await failed()
    await expect.poll(async () => (await list(runId)).out[0]?.state).toBe('given_up')
    const [row] = (await list(runId)).out
    expect(row).toMatchObject({ attempts: 2, answer: 'Answered 403: said by the agent' })
    expect(row?.nextAt).toBeUndefined()
    expect(listener.heard.map(({ body }) => body.error_id)).toEqual([
      listener.heard[0]?.body.error_id,
      listener.heard[0]?.body.error_id,
    ])
    expect(listener.heard[0]?.token).not.toBe(listener.heard[1]?.token)
  })

  it('waits in the store while no worker is there, and is told by the next one', async () => {
    const listener = await Listener.open(202)
    const { ledger, signals } = scene.house.store
    const { runId } = await scene.begun({ write: failing })
    await scene.until(runId, (run) => (run.state.status === 'ended' ? true : undefined))
    await expect.poll(async () => (await list(runId)).out[0]?.state).toBe('told')
    // As a worker that was lost between taking and telling leaves it.
    const id = (await signals.ofRun(runId))[0]?.id ?? ''
    await signals.tell(id, { state: 'waiting', nextAt: Date.now(), answer: '' })
    const worker = startWorker(scene.house.ports, 'second')
    await expect.poll(async () => (await list(runId)).out[0]).toMatchObject({ state: 'told', attempts: 2 })
    await worker.stop()
    expect(listener.heard).toHaveLength(2)
    expect(await ledger.lastPosition()).toBeGreaterThan(0)
  })

  it('may be a breaker that opened: the agents before the step are warned of what it calls', async () => {
    const listener = await Listener.open(202)
    const { runId } = await scene.written()
    const change = {
      ...{ circuit: mintUuid(), caller: 'workflow:doors', downstream: scene.b.id, to: 'open' },
      ...{ errorRate: 0.75, calls: 8, failures: 6, windowS: 60, cooldownS: 30, until: Date.now() + 30_000 },
      ...{ reopened: 0, change: mintUuid() },
    } as CircuitChange
    const where = { node: 'write', visit: 1, attempt: 1 }
    for (const to of ['open', 'half_open', 'closed'] as const) {
      await scene.house.book.execute(runId, { type: 'circuit_changed', ...where, change: { ...change, to } })
    }
    await expect.poll(async () => (await list(runId)).out[0]?.state).toBe('told')
    const opened = await scene.house.store.ledger.row(runId, (await list(runId)).out[0]?.error ?? '')
    expect(parseClaims(unverifiedPayload(opened?.token ?? '')).exec_act).toBe('atd:circuit_open')
    expect(listener.heard.map(({ body }) => body)).toEqual([
      {
        error_id: `urn:uuid:${opened?.jti}`,
        source_agent: expect.stringMatching(/^urn:uuid:[0-9a-f-]{36}$/),
        severity: 'warning',
        error_type: 'upstream_cascade',
        description: `The breaker to ${scene.b.id} is open: 75 % of the calls within 60 s failed; calls wait for it or are refused.`,
        timestamp: expect.stringMatching(/Z$/),
        upstream_errors: [],
      },
    ])
  })

  it('is told to nobody who does not speak AERR', async () => {
    const { id, keys } = scene.a
    const agent = { id, name: 'A', baseUrl: 'http://127.0.0.1:1', jwks: keys.jwks() }
    await registerAgent(scene.house.auth, { ...agent, protocols: ['atd'] }, 'person:ada')
    const { runId } = await failed()
    expect((await list(runId)).out).toEqual([])
  })
})

describe('a checkpoint', () => {
  it('is shown to people with its token and its worth, never with what it holds', async () => {
    const { runId, checkpoint } = await scene.written('secret before\n')
    const params = { run: runId, checkpoint }
    const { status, body } = await ada.ask<JsonObject>(getCheckpoint, 'GET', { params })
    expect(status).toBe(200)
    expect(body).toEqual({
      checkpoint_id: checkpoint,
      ect: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      verification: { signature_valid: true, out_hash_matches: true, expired: false },
    })
    expect(JSON.stringify(body)).not.toContain('secret')
    const unknown = await ada.ask(getCheckpoint, 'GET', { params: { run: runId, checkpoint: 'none' } })
    expect([unknown.status, unknown.body.detail]).toEqual([404, 'This run has no checkpoint "none"'])
  })
})
