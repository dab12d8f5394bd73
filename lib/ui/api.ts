/*
 * The one door from the browser to `/api/v1`. Every refusal comes out as an ApiProblem with the code and the sentence the
 * server wrote; a lost connection is one too (`offline`), so that a screen has a single kind of error to show. A write
 * whose answer was lost on the way is `answer_lost`: nobody here knows whether it was done, and no screen may claim it.
 */
import { plainWords } from '@/lib/view/plain-words'
import type { ProblemDetails } from '@/lib/view/wire'

/** A refusal, as the server worded it. `data` is the whole problem document. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly code: string
  readonly status: number
  readonly data: Readonly<Record<string, unknown>>

  constructor(code: string, sentence: string, status: number, data: Record<string, unknown> = {}) {
    super(sentence)
    this.code = code
    this.status = status
    this.data = data
  }
}

export interface ApiOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Sent as JSON; a string or Blob goes as it is, under `mediaType`. */
  body?: unknown
  mediaType?: string
  /** Query members; those undefined or empty are left out. */
  query?: Record<string, string | number | boolean | undefined>
  /** A POST that only asks, like a check of a text: with its answer lost, nothing is left open. */
  onlyAsks?: boolean
  /** The same key gets the same answer: pass one to make a repeated click harmless. Writes get a fresh one. */
  idempotencyKey?: string
  signal?: AbortSignal
  /** Told the status of a good answer, where 200 and 201 mean different things. */
  onStatus?: (status: number) => void
}

/** A key for one intended write: 128 bits of chance. Works without a secure context, unlike `randomUUID`. */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}

/**
 * Asks the API and gives the parsed JSON answer (undefined for 204). `path` starts behind `/api/v1`: `/runs/run_7f…`.
 * Throws ApiProblem; an abort throws the browser's own AbortError.
 */
export async function api<T>(path: string, options: ApiOptions = {}): Promise<T> {
  const method = options.method ?? 'GET'
  const writes = method !== 'GET' && !options.onlyAsks
  const headers: Record<string, string> = { accept: 'application/json' }
  let body: BodyInit | undefined
  if (options.body !== undefined) {
    const raw = typeof options.body === 'string' || options.body instanceof Blob
    body = raw ? (options.body as BodyInit) : JSON.stringify(options.body)
    headers['content-type'] = options.mediaType ?? 'application/json'
  }
  if (method !== 'GET') headers['idempotency-key'] = options.idempotencyKey ?? newIdempotencyKey()

  let response: Response
  try {
    response = await fetch(urlOf(path, options.query), {
      method,
      headers,
      credentials: 'same-origin',
      cache: 'no-store',
      ...(body === undefined ? {} : { body }),
      ...(options.signal ? { signal: options.signal } : {}),
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw writes ? answerLost() : unanswered()
  }
  const answer = await answerOf<T>(response, writes)
  options.onStatus?.(response.status)
  return answer
}

/** A question that got no answer, or half of one: asking again is harmless. */
function unanswered(): ApiProblem {
  return new ApiProblem('offline', 'Holdpoint did not answer: the connection or the server is down.', 0)
}

/** A write that went out and got no whole answer. The browser cannot tell whether it arrived before the line broke. */
function answerLost(): ApiProblem {
  return new ApiProblem(
    'answer_lost',
    'Holdpoint did not finish its answer; whether it was done is not known yet.',
    0,
  )
}

function urlOf(path: string, query: ApiOptions['query']): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== '') search.set(name, String(value))
  }
  return `/api/v1${path}${search.size > 0 ? `?${search}` : ''}`
}

async function answerOf<T>(response: Response, writes: boolean): Promise<T> {
  if (response.status === 204) return undefined as T
  const json: unknown = await response.json().catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    return undefined
  })
  if (response.ok && json !== undefined) return json as T
  if (response.ok) throw writes ? answerLost() : unanswered()
  const problem = json as Partial<ProblemDetails> | undefined
  throw new ApiProblem(
    problem?.code ?? 'internal',
    problem?.detail ??
      problem?.title ??
      `Holdpoint answered with status ${response.status} and no words; its log says more.`,
    response.status,
    { ...problem },
  )
}

/** True for a refusal, with that code if one is given. */
export function isApiProblem(error: unknown, code?: string): error is ApiProblem {
  return error instanceof ApiProblem && (code === undefined || error.code === code)
}

/**
 * True when the server refused, so that what was asked for was surely not done. A lost answer and a fault of the server
 * (5xx) leave that open; a breaker that keeps work out does not.
 */
export function isRefusal(error: unknown): error is ApiProblem {
  if (!(error instanceof ApiProblem)) return false
  return (error.status >= 400 && error.status < 500) || error.code === 'dependency_open'
}

/** The sentence to show for anything thrown. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ApiProblem) return plainWords(error.message)
  return 'This page met an error of its own. Reload it; if it happens again, the browser console names the place.'
}
