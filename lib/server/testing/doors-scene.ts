/*
 * A run that agents have a part in, for tests of the protocol endpoints: agent A did the first step as a task, then this
 * installation wrote a file, then agent B reported on it. Agent C is registered and did nothing.
 *
 *   look (A) ─▶ write ─▶ report (B)
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { registerAgent } from '@/lib/auth/agents'
import { mintUuid, type RunId, widOf } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import type { Claims } from '@/lib/ect/claims'
import { type KeyRing, openKeyRing } from '@/lib/ect/keys-file'
import { signClaims } from '@/lib/ect/sign'
import type { Run } from '@/lib/engine/run'
import { startWorker, type Worker } from '@/lib/worker/worker'
import type { RouteContext } from '../http/route'
import type { Installation } from '../installation'
import { startRun } from '../runs'
import { claimTask, completeTask } from '../tasks'
import { importWorkflow } from '../workflows'
import { TestConsole } from './console'

const hints = { priority: 'normal', timeout_s: 30 }
const step = { reversible: true, hitl_required: false, resource_hints: hints }

/** The workflow; `more` is merged into its top level, `write` into the middle step. */
function workflow(more: object, write: object) {
  return JSON.stringify({
    wf_id: 'doors',
    description: 'Looks, writes, reports',
    policy: { roots: [{ path: 'notes', access: 'write' }] },
    nodes: [
      { id: 'look', label: 'Look', ...step },
      {
        id: 'write',
        label: 'Write the note',
        ...step,
        action: { type: 'write_file', path: 'notes/hello.txt', content: 'Hello\n' },
        ...write,
      },
      { id: 'report', label: 'Report', ...step },
    ],
    edges: [
      { from: 'look', to: 'write' },
      { from: 'write', to: 'report' },
    ],
    ...more,
  })
}

/** An agent with its keys. */
export class TestAgent {
  constructor(
    readonly id: string,
    readonly keys: KeyRing,
    private readonly house: Installation,
  ) {}

  /** A token for one request of this agent. */
  token(act: string, runId: RunId, more: Partial<Claims> = {}): string {
    const iat = Math.floor(Date.now() / 1000)
    const claims: Claims = {
      iss: this.id,
      aud: this.house.id,
      iat,
      exp: iat + 600,
      jti: mintUuid(),
      wid: widOf(runId),
      exec_act: act,
      par: [],
      ...more,
    }
    return signClaims(claims, this.keys.current)
  }
}

export interface Spoken {
  status: number
  /** As it came, byte for byte. */
  text: string
  body: JsonObject
  headers: Headers
}

export class DoorsScene {
  private constructor(
    readonly console: TestConsole,
    readonly worker: Worker,
    readonly folder: string,
    readonly a: TestAgent,
    readonly b: TestAgent,
    readonly c: TestAgent,
  ) {}

  static async open(): Promise<DoorsScene> {
    const console = await TestConsole.open()
    const { house } = console
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-doors-'))
    fs.mkdirSync(path.join(console.folder, 'files/notes'), { recursive: true })
    const agent = async (name: string, id: string) => {
      const keys = openKeyRing(path.join(folder, name), Date.now())
      const baseUrl = 'http://127.0.0.1:1'
      await registerAgent(house.auth, { id, name, baseUrl, jwks: keys.jwks() }, 'person:ada')
      return new TestAgent(id, keys, house)
    }
    const [a, b, c] = [
      await agent('A', 'spiffe://example.com/agent/0a0a0a0a-1111-4111-8111-aaaaaaaaaaaa'),
      await agent('B', 'spiffe://example.com/agent/b'),
      await agent('C', 'spiffe://example.com/agent/c'),
    ]
    const worker = startWorker(house.ports, 'doors')
    return new DoorsScene(console, worker, folder, a, b, c)
  }

  get house(): Installation {
    return this.console.house
  }

  get file(): string {
    return path.join(this.console.folder, 'files/notes/hello.txt')
  }

  async close(): Promise<void> {
    await this.worker.stop()
    await this.console.close()
    fs.rmSync(this.folder, { recursive: true, force: true })
  }

  /** Waits until the run looks as told; every append asks again. */
  until<T>(runId: RunId, look: (run: Run) => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const ask = () =>
        this.house.book.read(runId, look).then((found) => {
          if (found === undefined) return
          off()
          resolve(found)
        }, reject)
      const off = this.house.store.onAppend((event) => void (event.runId === runId && ask()))
      void ask()
    })
  }

  /** A run whose first step agent A has done. */
  async begun({ more = {}, write = {} }: { more?: object; write?: object } = {}): Promise<{ runId: RunId }> {
    const { record } = await importWorkflow(this.house, workflow(more, write), { by: 'person:ada' })
    const { version } = record
    const runId = await startRun(this.house, { version, input: {}, by: 'person:ada', dryRun: false })
    await this.does(runId, 'look', this.a)
    return { runId }
  }

  /** A run up to where `report` is offered, and the checkpoint of `write`. */
  async written(
    before = 'before\n',
    changed: { more?: object; write?: object } = {},
  ): Promise<{ runId: RunId; checkpoint: string }> {
    fs.writeFileSync(this.file, before)
    const { runId } = await this.begun(changed)
    const checkpoint = await this.until(runId, (run) => {
      const { state, checkpoint } = run.visits.get('write') ?? {}
      return state?.status === 'done' ? checkpoint : undefined
    })
    return { runId, checkpoint }
  }

  /** An agent does an offered task. */
  async does(runId: RunId, node: string, agent: TestAgent): Promise<void> {
    await this.until(runId, (run) => {
      const state = run.visits.get(node)?.state
      return (state?.status === 'waiting' && state.for === 'agent') || undefined
    })
    await claimTask(this.house, { runId, node, visit: 1 }, agent.id, 60)
    await completeTask(this.house, { runId, node, visit: 1 }, agent.id, { ok: true })
  }
}

/** Asks a protocol endpoint. */
export async function knock(
  handler: (request: Request, context?: RouteContext) => Promise<Response>,
  {
    path: at,
    token,
    body,
    headers = {},
    params = {},
  }: {
    path: string
    token?: string
    /** Text is sent as it is. */
    body?: string | object
    headers?: Record<string, string>
    params?: Record<string, string>
  },
): Promise<Spoken> {
  const response = await handler(
    new Request(`http://localhost:3998${at}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { 'execution-context': token }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }),
    { params: Promise.resolve(params) },
  )
  const text = await response.text()
  return { status: response.status, text, body: JSON.parse(text) as JsonObject, headers: response.headers }
}
