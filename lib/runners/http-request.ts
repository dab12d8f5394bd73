/*
 * One HTTP request as a step. A method that is not safe may change the world: it goes out with an `Idempotency-Key`,
 * and when its answer is lost the outcome is unknown and nobody sends it again on his own.
 *
 * Taking it back is another request, declared beside it. Its texts are filled from what was recorded: the request as
 * `{{request.…}}`, the answer as `{{response.status}}`, `{{response.headers.…}}`, `{{response.body.…}}`. The other
 * side wrote that answer, so it fills in path segments and values, and never decides where the request goes.
 */
import { z } from 'zod'
import { hashJson } from '@/lib/base/hash'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { isProblem } from '@/lib/base/problem'
import type { Downstream } from '@/lib/breaker/terms'
import {
  type Compensation,
  compensation,
  expectedStatus,
  httpRequestConfig,
  isSafeMethod,
  requestHeaders,
  requestMethod,
} from '@/lib/nodes/http-request'
import { narrowed } from '@/lib/nodes/node-kind'
import { renderJson, renderTemplate } from '@/lib/nodes/template'
import { denial } from '@/lib/policy/denial'
import type { Target } from '@/lib/policy/targets'
import { mayMatchHost } from '@/lib/policy/url-pattern'
import { notDone } from './dry-run'
import { filledHeaders } from './header-secrets'
import { deeperThan, maxJsonDepth } from './parse-bounded'
import { actionOf, configOf, definedOnly, given, givenText, refusal } from './resolved'
import { EffectFailed, type Effects, type Performed, type Preview, type Runner } from './runner'
import { type HttpAnswer, judgedTarget, maxBodyBytes, send, spokenTarget } from './send'
import { requestTime } from './time-left'
import { oneLine, previewText, textOf } from './words'

const requestDo = z.strictObject({
  method: requestMethod.transform((method) => method.toUpperCase()),
  url: z.string().min(1).max(8_192),
  body: z.json().optional(),
  headers: requestHeaders.optional(),
  expect_status: expectedStatus.optional(),
  compensate: compensation.optional(),
})

type RequestDo = z.infer<typeof requestDo>

const sealedRequest = z.strictObject({ request: z.string(), compensate: compensation.optional() })

export const httpRequestRunner: Runner = {
  async resolve(step) {
    const config = configOf(httpRequestConfig, step.node)
    const hasBody = config.body !== undefined || config.body_from !== undefined
    return definedOnly({
      method: (await givenText(step, 'method', config.method, config.method_from)).toUpperCase(),
      url: await givenText(step, 'url', config.url, config.url_from),
      body: hasBody ? await given(step, 'body', config.body, config.body_from) : undefined,
      headers: config.headers,
      expect_status: config.expect_status,
      compensate: config.compensate as Json | undefined,
    })
  },

  async describe(action, step, effects) {
    const wanted = actionOf(requestDo, action, step.node.id)
    await allowed(wanted, effects)
    const target = judgedTarget(wanted.url, effects.policy.privateTargets)
    encodedBody(wanted)
    if (wanted.compensate) await checkCompensation(wanted.compensate, effects)
    const consequence = narrowed(consequenceOf(wanted), step.node)
    const spoken = spokenTarget(wanted.method, target)
    return {
      action: {
        kind: 'http_request',
        node: step.node.id,
        visit: step.visit,
        do: action,
        consequence,
        target: spoken,
        sentence: oneLine(`Send ${spoken}`),
        ...(consequence === 'reversible' && wanted.compensate
          ? {
              undo: 'compensate' as const,
              undoSentence: oneLine(`Send ${spokenTemplate(wanted.compensate)}`),
            }
          : {}),
      },
      preview: previewOf(spoken, wanted),
    }
  },

  async snapshot(action) {
    const wanted = actionOf(requestDo, action.do, action.node)
    const state = definedOnly({
      request: hashJson(action.do),
      compensate: wanted.compensate as Json | undefined,
    })
    return { state, hash: hashJson(state), undo: 'compensate' }
  },

  async perform(action, effects) {
    const wanted = actionOf(requestDo, action.do, action.node)
    await allowed(wanted, effects)
    const target = judgedTarget(wanted.url, effects.policy.privateTargets)
    if (effects.dryRun) return notDone({ method: wanted.method, url: wanted.url })
    const answer = await effects.calls.through(
      hostOf(target),
      () => exchange(wanted, target, effects.idempotencyKey, effects),
      undefined,
      isUnwell,
    )
    return performed(answer, wanted)
  },

  async undo(action, snapshot, effects, rollback) {
    const sealed = sealedRequest.safeParse(snapshot.state)
    if (!sealed.success || sealed.data.request !== hashJson(action.do)) {
      throw refusal(
        'checkpoint_tampered',
        'The checkpoint does not belong to this request; nothing was sent.',
      )
    }
    if (!sealed.data.compensate) {
      throw refusal(
        'nothing_declared',
        `No request is declared that takes ${action.target} back; take it back by hand.`,
      )
    }
    const wanted = filled(sealed.data.compensate, action.do, rollback.output)
    await allowed(wanted, effects)
    const target = judgedTarget(wanted.url, effects.policy.privateTargets)
    const spoken = spokenTarget(wanted.method, target)
    // Its own key: under the request's key a server would take it for the request again.
    const answer = await effects.calls.counted(
      hostOf(target),
      () => exchange(wanted, target, `${rollback.checkpointId}-undo`, effects),
      isUnwell,
    )
    return { description: takenBack(spoken, wanted, answer) }
  },
}

function hostOf({ host, port }: Target): Downstream {
  return `host:${host}:${port}`
}

/** A no is an answer; a fault of its own is a failure, whatever the step expects. */
function isUnwell({ status }: HttpAnswer): boolean {
  return status >= 500
}

/** Sends it with the secrets its headers name; what comes back holds none of them. */
async function exchange(
  wanted: Sendable,
  target: Target,
  key: string,
  effects: Effects,
): Promise<HttpAnswer> {
  const { headers, hide } = await filledHeaders(wanted.headers ?? {}, effects)
  const answer = await send({
    method: wanted.method,
    target,
    ...encodedRequest({ ...wanted, headers }, key),
    privateTargets: effects.policy.privateTargets,
    signal: requestTime(effects).signal,
  })
  return hide(answer)
}

function allowed({ method, url }: Sendable, effects: Effects): Promise<void> {
  return effects.allow({ tool: 'http.request', method, url })
}

function consequenceOf(wanted: RequestDo) {
  if (isSafeMethod(wanted.method)) return 'read_only'
  return wanted.compensate ? 'reversible' : 'irreversible'
}

interface Sendable {
  /** In capitals. */
  method: string
  url: string
  body?: Json
  headers?: Record<string, string>
}

function encodedBody(wanted: Sendable): Buffer | undefined {
  if (wanted.body === undefined) return undefined
  const bytes = Buffer.from(typeof wanted.body === 'string' ? wanted.body : JSON.stringify(wanted.body))
  if (bytes.byteLength <= maxBodyBytes) return bytes
  throw refusal(
    'too_large',
    `The body of the ${wanted.method} request is larger than 1 MiB, the most that is sent.`,
  )
}

function encodedRequest(wanted: Sendable, idempotencyKey: string) {
  const body = encodedBody(wanted)
  const headers: Record<string, string> = { ...wanted.headers }
  const named = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  if (body && !named.has('content-type')) {
    headers['content-type'] = isJsonBody(wanted.body) ? 'application/json' : 'text/plain; charset=utf-8'
  }
  if (!named.has('user-agent')) headers['user-agent'] = 'Holdpoint'
  if (!isSafeMethod(wanted.method)) headers['idempotency-key'] = idempotencyKey
  return { headers, body }
}

/** A value that is no text, or a text that says a JSON object or list, as templates and models write them. */
function isJsonBody(body: Json | undefined): boolean {
  if (typeof body !== 'string') return true
  if (!/^\s*[[{]/.test(body)) return false
  try {
    JSON.parse(body)
    return true
  } catch {
    return false
  }
}

function performed(answer: HttpAnswer, wanted: RequestDo): Performed {
  const text = textOf(answer.body)
  const output: JsonObject = {
    status: answer.status,
    headers: answer.headers,
    body: text ?? answer.body.toString('base64'),
    bytes: answer.body.byteLength,
    ...(text === undefined ? { encoding: 'base64' } : {}),
  }
  return isExpected(answer.status, wanted.expect_status) ? { output } : { output, label: 'error' }
}

function isExpected(status: number, expected: RequestDo['expect_status']): boolean {
  if (expected === undefined) return status >= 200 && status < 300
  return Array.isArray(expected) ? expected.includes(status) : expected === status
}

const marker = /\{\{[^{}]*\}\}/g

/**
 * Refuses a compensating request that could never be sent, before anything is done that it should undo. What its
 * templates make of it is only known then; until then a policy is asked for its host.
 */
async function checkCompensation(declared: Compensation, effects: Effects): Promise<void> {
  if (!/^https?:\/\/[^/?#{}]+([/?#]|$)/i.test(declared.url)) {
    throw refusal(
      'url_refused',
      'The URL of "compensate" must name its host itself, such as https://api.example.com/orders/{{response.body.id}}.',
    )
  }
  const { url: written, method } = declared
  const url = written.replace(marker, 'x')
  judgedTarget(url, effects.policy.privateTargets)
  if (url === written) return allowed({ method: method.toUpperCase(), url }, effects)
  const { allow } = effects.policy
  if (!allow || allow.http.urls.some((pattern) => mayMatchHost(pattern, url))) return
  const { code, sentence } = denial(
    { tool: 'http.request', method: method.toUpperCase(), url: written },
    'policy.http.urls',
    'no rule of policy.http.urls names the host of "compensate"',
  )
  throw refusal(code, sentence)
}

function spokenTemplate(declared: Compensation): string {
  return `${declared.method.toUpperCase()} ${declared.url.split(/[?#]/)[0] ?? ''}`
}

/** The compensating request with its templates filled. Throws EffectFailed `value_missing` when something is not there. */
function filled(declared: Compensation, request: JsonObject, output: Json | undefined): Sendable {
  const root: JsonObject = { request, ...(output === undefined ? {} : { response: readable(output) }) }
  const { url, body } = rendered(declared, root)
  const missing = [...url.missing, ...(body?.missing ?? [])]
  if (missing.length > 0) {
    const why =
      output === undefined
        ? 'the answer to the request was never recorded'
        : 'the recorded answer has no such value'
    throw refusal(
      'value_missing',
      `The compensating request needs ${missing.map((key) => `"${key}"`).join(', ')}, and ${why}; take it back by hand.`,
    )
  }
  return {
    method: declared.method.toUpperCase(),
    url: url.text,
    body: body?.value,
    headers: declared.headers,
  }
}

function rendered(declared: Compensation, root: JsonObject) {
  try {
    const url = renderTemplate(declared.url, root, asSegment)
    return { url, body: declared.body === undefined ? undefined : renderJson(declared.body, root) }
  } catch (error) {
    if (!isProblem(error, 'too_large')) throw error
    throw refusal(
      'too_large',
      'The compensating request grows past 1 MiB with the recorded answer in it; take it back by hand.',
    )
  }
}

/** A value as part of a URL: it cannot add or leave a segment, nor empty one, which would name a whole collection. */
function asSegment(text: string): string {
  if (/^\.{0,2}$/.test(text)) {
    throw refusal(
      'value_wrong',
      'A value in the URL of the compensating request is empty or only dots; take it back by hand.',
    )
  }
  return encodeURIComponent(text)
}

/** The recorded output, with a JSON body as the value it says. */
function readable(output: Json): Json {
  if (!isJsonObject(output) || typeof output.body !== 'string') return output
  try {
    const body: Json = JSON.parse(output.body)
    return deeperThan(body, maxJsonDepth) ? output : { ...output, body }
  } catch {
    return output // Not JSON: the text is the value.
  }
}

function takenBack(spoken: string, wanted: Sendable, answer: HttpAnswer): string {
  if (isExpected(answer.status, undefined))
    return oneLine(`Sent ${spoken}, which was answered ${answer.status}`)
  if (wanted.method === 'DELETE' && (answer.status === 404 || answer.status === 410)) {
    return oneLine(`Sent ${spoken}, which was gone already (${answer.status})`)
  }
  throw new EffectFailed(
    'compensation_refused',
    oneLine(
      `The compensating request ${spoken} was answered ${answer.status}; look at the target and try again.`,
    ),
    { retriable: answer.status >= 500 || answer.status === 429 },
  )
}

// Names of headers that carry secrets; people see that they are there, not what they say.
const secretHeader = /auth|cookie|token|key|secret|signature/i

function previewOf(spoken: string, wanted: RequestDo): Preview {
  const headers = Object.entries(wanted.headers ?? {}).map(
    ([name, value]) => `${name}: ${secretHeader.test(name) ? '(not shown)' : value}`,
  )
  const body =
    wanted.body === undefined
      ? []
      : ['', typeof wanted.body === 'string' ? wanted.body : JSON.stringify(wanted.body, null, 2)]
  return { show: 'text', title: spoken, text: previewText([spoken, ...headers, ...body].join('\n')) }
}
