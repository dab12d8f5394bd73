/*
 * One HTTP exchange with a target that was judged first. The name is resolved once, every address is judged by the
 * policy, and the connection goes to exactly those addresses: a name that answers differently a moment later gains
 * nothing. Redirects are answers, not orders. Certificates are always verified.
 *
 * What matters when it fails is whether the other side may have acted:
 *
 *   judge ─▶ resolve ─▶ connect ─▶ │ send ─▶ wait ─▶ read ─▶ answer
 *   nothing happened: retriable    │ an unsafe request may have taken effect: the outcome is unknown
 *
 * Failures name the method and the host. Never the path's query, a header or a body.
 */
import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import http from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import { isSafeMethod } from '@/lib/nodes/http-request'
import type { Refused } from '@/lib/policy/answer'
import {
  answerByName,
  deniedTarget,
  isRefused,
  type Target,
  targetAnswer,
  targetOf,
} from '@/lib/policy/targets'
import { errnoOf } from './fs-failure'
import { refusal } from './resolved'
import { EffectFailed } from './runner'
import { bytesInWords, oneLine } from './words'

/** Largest request and response body. */
export const maxBodyBytes = 1_048_576

export interface Exchange {
  method: string
  target: Target
  headers: Record<string, string>
  body?: Uint8Array
  privateTargets: readonly string[]
  signal: AbortSignal
}

export interface HttpAnswer {
  status: number
  /** Names in lower case; a repeated header is joined by commas. */
  headers: Record<string, string>
  body: Buffer
}

/** A URL as a target that may be reached as far as its text can tell. Throws EffectFailed `url_refused`, `target_private`. */
export function judgedTarget(url: string, privateTargets: readonly string[]): Target {
  const target = targetOf(url)
  if (isRefused(target)) throw refusal(target.code, target.sentence)
  const answer = answerByName(target, privateTargets)
  if (answer && isRefused(answer)) throw denied(target, answer)
  return target
}

/** `POST https://api.example.com/orders`: what a request acts on, without its query. */
export function spokenTarget(method: string, target: Target): string {
  return oneLine(`${method} ${target.url.origin}${target.url.pathname}`, 200)
}

/**
 * Sends one request and reads its answer, whatever its status. Throws EffectFailed: `target_private`, `url_refused`,
 * `too_large` (request), `unreachable`, `answer_lost`, `answer_too_large`, `effect_timeout`.
 */
export async function send(exchange: Exchange): Promise<HttpAnswer> {
  if ((exchange.body?.byteLength ?? 0) > maxBodyBytes) {
    throw refusal(
      'too_large',
      `The body of ${spokenHost(exchange)} is larger than 1 MiB, the most that is sent.`,
    )
  }
  if (exchange.signal.aborted) throw timedOut(exchange, false)
  return transmit(exchange, await judgedAddresses(exchange))
}

function denied(target: Target, refused: Refused): EffectFailed {
  const { code, sentence } = deniedTarget(target, refused)
  return refusal(code, sentence)
}

async function judgedAddresses(exchange: Exchange): Promise<LookupAddress[]> {
  const { target, privateTargets } = exchange
  const early = answerByName(target, privateTargets)
  if (early && isRefused(early)) throw denied(target, early)
  const addresses = await withSignal(lookup(target.host, { all: true, verbatim: true }), exchange).catch(
    (error: unknown) => {
      if (error instanceof EffectFailed) throw error
      throw new EffectFailed(
        'unreachable',
        `The name "${target.host}" could not be resolved (${errnoOf(error) ?? 'unknown error'}); nothing was sent.`,
        { retriable: true },
      )
    },
  )
  const answer = targetAnswer(
    target,
    addresses.map((found) => found.address),
    privateTargets,
  )
  if (isRefused(answer)) throw denied(target, answer)
  return addresses
}

/** Name look-ups cannot be stopped; their waiting can. */
async function withSignal<T>(work: Promise<T>, exchange: Exchange): Promise<T> {
  const { signal } = exchange
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(timedOut(exchange, false))
    signal.addEventListener('abort', stop, { once: true })
  })
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', stop))
}

/** A look-up that gives the judged addresses and asks nobody. */
function pinned(addresses: LookupAddress[]): LookupFunction {
  return (_hostname, options, done) => {
    const first = addresses[0]
    if (options.all) done(null, addresses)
    else if (first) done(null, first.address, first.family)
  }
}

function transmit(exchange: Exchange, addresses: LookupAddress[]): Promise<HttpAnswer> {
  const { method, target, body, signal } = exchange
  const secure = target.url.protocol === 'https:'
  return new Promise((resolve, reject) => {
    let connected = false
    const request = (secure ? https : http).request({
      method,
      host: target.host,
      port: target.port,
      path: `${target.url.pathname}${target.url.search}`,
      headers: {
        ...exchange.headers,
        'accept-encoding': 'identity',
        ...(body ? { 'content-length': String(body.byteLength) } : {}),
      },
      lookup: pinned(addresses),
      agent: false,
      signal,
    })
    request.on('socket', (socket) => {
      // From here on the other side may have read what was sent.
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        connected = true
      })
    })
    request.on('error', (error) =>
      reject(signal.aborted ? timedOut(exchange, connected) : lost(exchange, error, connected)),
    )
    request.on('response', (response) => {
      readBody(response, exchange).then((bytes) => {
        resolve({ status: response.statusCode ?? 0, headers: plainHeaders(response.headers), body: bytes })
      }, reject)
    })
    request.end(body)
  })
}

async function readBody(response: http.IncomingMessage, exchange: Exchange): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      length += chunk.byteLength
      if (length > maxBodyBytes) throw answerTooLarge(exchange, response.statusCode ?? 0)
      chunks.push(chunk)
    }
  } catch (error) {
    response.destroy()
    if (error instanceof EffectFailed) throw error
    throw exchange.signal.aborted ? timedOut(exchange, true) : lost(exchange, error, true)
  }
  return Buffer.concat(chunks)
}

function plainHeaders(headers: http.IncomingHttpHeaders): Record<string, string> {
  const plain: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return plain
}

/** What is known after a request broke off: nothing was sent, or an unsafe one may have been acted on. */
function fate(exchange: Exchange, connected: boolean): { retriable: boolean; outcomeUnknown: boolean } {
  const mayHaveActed = connected && !isSafeMethod(exchange.method)
  return { retriable: !mayHaveActed, outcomeUnknown: mayHaveActed }
}

function spokenHost({ method, target }: Exchange): string {
  return `${method} to ${target.host}:${target.port}`
}

function spokenFate(exchange: Exchange, connected: boolean): string {
  if (!connected) return 'nothing was sent'
  return isSafeMethod(exchange.method)
    ? 'it changes nothing and can be sent again'
    : 'whether it took effect is not known'
}

function lost(exchange: Exchange, error: unknown, connected: boolean): EffectFailed {
  const reason = errnoOf(error) ?? 'the connection broke'
  return new EffectFailed(
    connected ? 'answer_lost' : 'unreachable',
    `${spokenHost(exchange)} ${connected ? 'got no whole answer' : 'could not connect'} (${reason}); ${spokenFate(exchange, connected)}.`,
    fate(exchange, connected),
  )
}

function timedOut(exchange: Exchange, connected: boolean): EffectFailed {
  return new EffectFailed(
    'effect_timeout',
    `${spokenHost(exchange)} was given up before an answer came; ${spokenFate(exchange, connected)}.`,
    { errorType: 'timeout', ...fate(exchange, connected) },
  )
}

function answerTooLarge(exchange: Exchange, status: number): EffectFailed {
  return new EffectFailed(
    'answer_too_large',
    `${spokenHost(exchange)} was answered ${status} with more than ${bytesInWords(maxBodyBytes)}, the most that is read; ${spokenFate(exchange, true)}.`,
    {
      errorType: 'resource_exhausted',
      retriable: false,
      outcomeUnknown: fate(exchange, true).outcomeUnknown,
    },
  )
}
