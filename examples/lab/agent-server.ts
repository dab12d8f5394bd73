/*
 * An agent's endpoints on loopback.
 *
 *   GET  /.well-known/jwks.json            its public keys
 *   GET  /health, /state, …                what it sees
 *   POST /.well-known/holdpoint/task       describe · checkpoint · execute · probe · state
 *   POST /.well-known/atd/rollback         takes a checkpoint back (ATD, Rollback Protocol)
 *
 * The two POSTs need a token of the console in `Execution-Context`: signed by one of its keys, meant for this agent,
 * fresh, and not used before. A task's token also names the phase and the body's hash, so that nobody who catches it
 * can send something else with it. A checkpoint belongs to the run (`wid`) whose token made it; nobody else gets it back.
 *
 * One request at a time changes this agent: describe, checkpoint, execute and rollback stand in one line, so that a
 * snapshot is never of a file that is half way to something else. GETs do not wait; files change in one piece.
 *
 * The same question gets the same answer: `execute` by its idempotency key, a rollback by its request's `jti` and
 * checkpoint, looked up before the replay check (NOTES 1). Answers are on disk before they are given.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Hash, sha256 } from '@/lib/base/hash'
import { Problem } from '@/lib/base/problem'
import type { Jwks } from '@/lib/ect/keys'
import type { KeyRing } from '@/lib/ect/keys-file'
import { AgentDoor } from './agent-door'
import type { AgentFolder } from './agent-folder'
import { AgentRollback } from './agent-rollback'
import { AgentTasks } from './agent-tasks'
import type { ConsoleKeys } from './console-keys'
import { type Answer, type LabAgent, OperationFailed, type World } from './lab-agent'

export interface AgentParts {
  agent: LabAgent
  folder: AgentFolder
  keys: KeyRing
  console: ConsoleKeys
  baseUrlOf(name: string): string
  log(sentence: string): void
  now(): number
}

const maxBodyBytes = 1_048_576
const purgeEveryMs = 600_000

export class AgentServer {
  readonly agent: LabAgent
  readonly #parts: AgentParts
  readonly #server: Server
  readonly #stopping = new AbortController()
  readonly #tasks: AgentTasks
  readonly #rollback: AgentRollback
  #line: Promise<unknown> = Promise.resolve()
  #purge: NodeJS.Timeout | undefined
  #baseUrl = ''

  constructor(parts: AgentParts) {
    this.agent = parts.agent
    this.#parts = parts
    const door = new AgentDoor(parts, () => this.#baseUrl)
    this.#tasks = new AgentTasks(parts, door, () => this.#baseUrl)
    this.#rollback = new AgentRollback(parts, door)
    this.#server = createServer((request, response) => void this.#serve(request, response))
    this.#server.requestTimeout = 30_000
    this.#server.headersTimeout = 10_000
  }

  get baseUrl(): string {
    return this.#baseUrl
  }

  get jwks(): Jwks {
    return this.#parts.keys.jwks()
  }

  /** Listens on loopback; port 0 takes a free one. Rejects when the port is taken. */
  async listen(port: number): Promise<void> {
    await this.#parts.folder.prepare(this.agent.files)
    await this.#parts.folder.purge(this.#parts.now())
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, '127.0.0.1', resolve)
    })
    this.#baseUrl = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    this.#purge = setInterval(
      () => void this.#parts.folder.purge(this.#parts.now()).catch(() => undefined),
      purgeEveryMs,
    )
    this.#purge.unref()
  }

  /** Finishes what is under way, then stops listening. */
  async stop(): Promise<void> {
    clearInterval(this.#purge)
    await this.#line
    this.#stopping.abort()
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.#answer(request).catch((error: unknown) => this.#refusal(error))
    const isText = typeof answer.body === 'string'
    const type = isText
      ? 'text/plain; charset=utf-8'
      : answer.status < 400
        ? 'application/json'
        : 'application/problem+json'
    response.writeHead(answer.status, { 'content-type': type, 'cache-control': 'no-store' })
    response.end(isText ? answer.body : JSON.stringify(answer.body))
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    const { pathname } = new URL(request.url ?? '/', 'http://agent')
    if (request.method === 'POST') {
      const token = headerOf(request, 'execution-context')
      if (pathname === '/.well-known/holdpoint/task') {
        const body = await readBody(request)
        return this.#inLine(() => this.#tasks.answer(token, body, this.#world()))
      }
      if (pathname === '/.well-known/atd/rollback') {
        const body = await readBody(request)
        return this.#inLine(() => this.#rollback.answer(token, body.json))
      }
    } else if (request.method === 'GET') {
      if (pathname === '/health') return { status: 200, body: { status: 'ok', agent: this.agent.id } }
      if (pathname === '/.well-known/jwks.json') return { status: 200, body: { keys: [...this.jwks.keys] } }
      if (pathname === '/state') return { status: 200, body: await this.agent.seen(this.#world()) }
      const read =
        this.agent.reads && Object.hasOwn(this.agent.reads, pathname) ? this.agent.reads[pathname] : undefined
      if (read)
        return read(this.#world(), { 'x-collector-address': headerOf(request, 'x-collector-address') })
    }
    throw new Problem(
      'not_found',
      `${this.agent.name} has no ${request.method ?? ''} ${pathname.slice(0, 100)}.`,
    )
  }

  /** One after the other; one that fails does not hold up the next. */
  #inLine<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#line.then(act)
    this.#line = turn.catch(() => undefined)
    return turn
  }

  #world(): World {
    const { folder, baseUrlOf } = this.#parts
    return { text: (file) => folder.text(file), baseUrlOf, signal: this.#stopping.signal }
  }

  #refusal(error: unknown): Answer {
    if (error instanceof OperationFailed) return { status: error.status, body: failureBody(error) }
    if (error instanceof Problem) {
      const body = {
        code: error.code,
        detail: error.message,
        error_type: 'constraint_violation',
        severity: 'error',
        retriable: false,
      }
      return { status: error.status, body: { title: error.code, status: error.status, ...body } }
    }
    this.#parts.log(`${this.agent.name} could not answer: ${error instanceof Error ? error.name : 'unknown'}`)
    const detail = `${this.agent.name} could not do this; its disk may be full or not writable.`
    return {
      status: 500,
      body: {
        title: 'internal',
        status: 500,
        code: 'internal',
        detail,
        error_type: 'unknown',
        severity: 'error',
        retriable: true,
      },
    }
  }
}

/** A failed operation as problem details (RFC 9457) with the words of ATD section 5. */
export function failureBody(error: OperationFailed) {
  return {
    title: error.code,
    status: error.status,
    code: error.code,
    detail: error.message,
    error_type: error.errorType,
    severity: error.severity,
    retriable: error.retriable,
  }
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** A request's body, and the hash of its octets as they came. */
export interface Body {
  hash: Hash
  json: unknown
}

async function readBody(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length
    if (bytes > maxBodyBytes) throw new Problem('body_too_large', 'The body is larger than 1 MiB.')
    chunks.push(chunk as Buffer)
  }
  try {
    const octets = Buffer.concat(chunks)
    return { hash: sha256(octets), json: JSON.parse(octets.toString('utf8')) }
  } catch {
    throw new Problem('body_not_json', 'The body is not JSON; a JSON object was expected.')
  }
}
