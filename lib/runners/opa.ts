/*
 * A real Open Policy Agent over its HTTP API, where an address is configured. A policy is uploaded once, in a package of
 * its own (lib/policy/opa-module.ts says why and how), its data beside it, and each check asks for a decision.
 *
 *   load   PUT  /v1/data/holdpoint/p_<hash>               the policy's own data
 *          PUT  /v1/policies/holdpoint-p_<hash>           compiles there; what is wrong comes back with its place
 *   ask    POST /v1/data/holdpoint/p_<hash>/agent/allow   {"input": …} → {"result": true}
 *
 * Everything else denies: no answer in time, another status, a body that is not the one expected, a redirect. An OPA that
 * was restarted has forgotten the policy; it is uploaded again once, and asked again.
 */
import { hashJson } from '@/lib/base/hash'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { movedModule, OpaRefused, queryPath } from '@/lib/policy/opa-module'

export interface RegoSource {
  text: string
  data: JsonObject
  query: string
}

export interface OpaFault {
  code: string
  message: string
  line: number
  column: number
}

/** OPA found the policy wrong, or it cannot be uploaded. */
export class OpaRejected extends Error {
  constructor(readonly faults: readonly OpaFault[]) {
    super(faults.map(({ line, column, message }) => `${line}:${column}: ${message}`).join('; '))
    this.name = 'OpaRejected'
  }
}

/** OPA could not be asked. The sentence names no contents. */
export class OpaUnreachable extends Error {
  override readonly name = 'OpaUnreachable'
}

export interface OpaOptions {
  /** Such as `http://127.0.0.1:8181`. */
  url: string
  /** Sent as a bearer token. */
  token?: string
  /** 2 s: a decision takes OPA milliseconds, and a step waits for it. */
  timeoutMs?: number
}

/** Longest answer of OPA that is read: a decision is a word, a list of compile errors a page. */
const maxAnswerBytes = 262_144
/** Policies remembered as uploaded. */
const maxRemembered = 512

export class Opa {
  readonly #base: string
  readonly #headers: Record<string, string>
  readonly #timeoutMs: number
  readonly #loaded = new Map<string, Promise<void>>()

  constructor({ url, token, timeoutMs = 2_000 }: OpaOptions) {
    this.#base = url.replace(/\/+$/, '')
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    this.#timeoutMs = timeoutMs
  }

  /** Uploads the policy unless this process did. Throws OpaRejected, OpaUnreachable. */
  async load(source: RegoSource): Promise<void> {
    const room = roomOf(source)
    const known = this.#loaded.get(room)
    if (known) return known
    const loading = this.#upload(source, room)
    this.#loaded.set(room, loading)
    loading.catch(() => this.#loaded.delete(room))
    const [oldest] = this.#loaded.keys()
    if (this.#loaded.size > maxRemembered && oldest !== undefined) this.#loaded.delete(oldest)
    return loading
  }

  /** What the policy's query gives for the input. Throws OpaRejected, OpaUnreachable. */
  async ask(source: RegoSource, input: JsonObject): Promise<Json | undefined> {
    await this.load(source)
    const answer = await this.#decision(source, input)
    if (answer !== undefined) return answer
    // Undefined is an answer of a policy, and also what an OPA says that was restarted and knows no policy.
    if (await this.#knows(source)) return undefined
    this.#loaded.delete(roomOf(source))
    await this.load(source)
    return this.#decision(source, input)
  }

  async #upload(source: RegoSource, room: string): Promise<void> {
    const text = moved(source, room)
    // The data first: a rule such as `not data.blocked[x]` must never be asked without it.
    const data = await this.#send(
      'PUT',
      `/v1/data/holdpoint/${room}`,
      'application/json',
      JSON.stringify(source.data),
    )
    if (data.status !== 204 && data.status !== 200) {
      throw new OpaUnreachable(`OPA answered ${data.status} to the upload of a policy’s data`)
    }
    const policy = await this.#send('PUT', `/v1/policies/holdpoint-${room}`, 'text/plain', text)
    if (policy.status === 400) throw new OpaRejected(faultsOf(policy.body))
    if (policy.status !== 200) {
      throw new OpaUnreachable(`OPA answered ${policy.status} to the upload of a policy`)
    }
  }

  async #decision(source: RegoSource, input: JsonObject): Promise<Json | undefined> {
    const path = `/v1/data/holdpoint/${roomOf(source)}/${queryPath(source.query)}`
    const { status, body } = await this.#send('POST', path, 'application/json', JSON.stringify({ input }))
    if (status !== 200 || !isJsonObject(body))
      throw new OpaUnreachable(`OPA answered ${status} to a question`)
    return body.result
  }

  async #knows(source: RegoSource): Promise<boolean> {
    const { status } = await this.#send('GET', `/v1/policies/holdpoint-${roomOf(source)}`)
    if (status === 200) return true
    if (status === 404) return false
    throw new OpaUnreachable(`OPA answered ${status} when asked whether it knows a policy`)
  }

  async #send(method: string, path: string, mediaType?: string, body?: string): Promise<OpaAnswer> {
    const request: RequestInit = {
      method,
      headers: { ...this.#headers, ...(mediaType ? { 'content-type': mediaType } : {}) },
      ...(body === undefined ? {} : { body }),
      redirect: 'error',
    }
    return within(this.#timeoutMs, (signal) => exchange(`${this.#base}${path}`, { ...request, signal }))
  }
}

interface OpaAnswer {
  status: number
  /** Undefined when it is no JSON. */
  body: Json | undefined
}

/**
 * The work, or a refusal once the time is up, whatever the work does then. A signal alone does not bound it: fetch forgets
 * its signal once the headers are there, and half an answer would be waited for without end.
 */
async function within(
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<OpaAnswer>,
): Promise<OpaAnswer> {
  const stop = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new OpaUnreachable(`OPA did not answer within ${timeoutMs} ms`))
      stop.abort()
    }, timeoutMs)
  })
  return Promise.race([work(stop.signal), late]).finally(() => clearTimeout(timer))
}

async function exchange(url: string, request: RequestInit & { signal: AbortSignal }): Promise<OpaAnswer> {
  try {
    const response = await fetch(url, request)
    return { status: response.status, body: await jsonOf(response, request.signal) }
  } catch (error) {
    if (error instanceof OpaUnreachable) throw error
    throw new OpaUnreachable('OPA cannot be reached')
  }
}

/** The policy's own corner of OPA, named by all that decides what it says. */
function roomOf({ text, data, query }: RegoSource): string {
  return `p_${Buffer.from(hashJson({ text, data, query }), 'base64url').toString('hex')}`
}

function moved({ text, query }: RegoSource, room: string): string {
  try {
    queryPath(query)
    return movedModule(text, room)
  } catch (error) {
    if (!(error instanceof OpaRefused)) throw error
    const { line, column, message } = error
    throw new OpaRejected([{ code: 'opa_not_uploaded', message: `The policy ${message}`, line, column }])
  }
}

async function jsonOf(response: Response, signal: AbortSignal): Promise<Json | undefined> {
  const reader = response.body?.getReader()
  if (!reader) return undefined
  const giveUp = () => void reader.cancel().catch(() => undefined)
  signal.addEventListener('abort', giveUp, { once: true })
  const chunks: Uint8Array[] = []
  let length = 0
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    length += read.value.byteLength
    chunks.push(read.value)
    if (length > maxAnswerBytes) {
      giveUp()
      throw new OpaUnreachable('OPA answered with more than is read')
    }
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Json
  } catch {
    return undefined
  }
}

/** OPA's compile errors: `{ errors: [{ code, message, location: { row, col } }] }`. */
function faultsOf(body: Json | undefined): OpaFault[] {
  const errors = isJsonObject(body) && Array.isArray(body.errors) ? body.errors.slice(0, 100) : []
  const faults = errors.filter(isJsonObject).map((error) => {
    const location = isJsonObject(error.location) ? error.location : {}
    return {
      code: textOr(error.code, 'opa_refused').slice(0, 60),
      message: textOr(error.message, 'OPA refuses it').slice(0, 400),
      line: numberOr(location.row, 1),
      column: numberOr(location.col, 1),
    }
  })
  return faults.length > 0
    ? faults
    : [{ code: 'opa_refused', message: 'OPA refuses the policy and does not say why', line: 1, column: 1 }]
}

function textOr(value: Json | undefined, other: string): string {
  return typeof value === 'string' ? value : other
}

function numberOr(value: Json | undefined, other: number): number {
  return typeof value === 'number' && value > 0 ? value : other
}
