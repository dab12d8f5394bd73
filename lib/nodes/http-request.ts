import { z } from 'zod'
import { dottedPath, oneOf, strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'
import { placeholderFault } from './secret-placeholder'

export const httpMethods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

const safeMethods: readonly string[] = ['GET', 'HEAD', 'OPTIONS']

/** True for methods that ask and change nothing (RFC 9110 section 9.2.1), in capitals or not. */
export function isSafeMethod(method: string): boolean {
  return safeMethods.includes(method.toUpperCase())
}

// What the connection itself decides, and the key that makes a repeated request harmless, are not the author's.
const reservedHeaders: readonly string[] = [
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'proxy-authorization',
  'proxy-connection',
  'accept-encoding',
  'idempotency-key',
]

/** Why a header cannot be sent, or undefined when it can. */
export function headerFault(name: string, value: string): string | undefined {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/.test(name)) {
    return `${JSON.stringify(name.slice(0, 60))} is not a header name; use letters, digits and hyphens.`
  }
  if (reservedHeaders.includes(name.toLowerCase())) {
    return `The header "${name}" is set by the request itself; leave it out.`
  }
  if (holdsCode(value, (code) => (code < 0x20 && code !== 0x09) || code === 0x7f)) {
    return `The value of the header "${name}" holds a line break or another control character; write it on one line.`
  }
  if (holdsCode(value, (code) => code > 0xff)) {
    return `The value of the header "${name}" holds a character that headers cannot carry; use plain ASCII.`
  }
  return undefined
}

function holdsCode(text: string, refused: (code: number) => boolean): boolean {
  for (let at = 0; at < text.length; at++) if (refused(text.charCodeAt(at))) return true
  return false
}

/** Headers as literals: at most 32, each value at most 8,192 characters, no line breaks; secrets only by their name. */
export const requestHeaders = z
  .record(z.string(), z.string().max(8_192, 'A header value has at most 8,192 characters.'))
  .superRefine((headers, context) => {
    const names = Object.keys(headers)
    if (names.length > 32) context.addIssue({ code: 'custom', message: 'A request has at most 32 headers.' })
    if (new Set(names.map((name) => name.toLowerCase())).size < names.length) {
      context.addIssue({ code: 'custom', message: 'A header is given twice, in two spellings; keep one.' })
    }
    for (const [name, value] of Object.entries(headers)) {
      const fault = headerFault(name, value) ?? placeholderFault(name, value)
      if (fault) context.addIssue({ code: 'custom', path: [name], message: fault })
    }
  })

const methodExpected = `A method was expected: ${httpMethods.join(', ')}.`

/** A method as authors write it: in capitals, or not. It is sent in capitals. */
export const requestMethod = z.union(
  [
    z.enum(httpMethods),
    z.string().regex(new RegExp(`^(?:${httpMethods.join('|')})$`, 'i'), { error: methodExpected }),
  ],
  { error: methodExpected },
)

const requestUrl = z
  .string()
  .min(1, 'A URL was expected; the text is empty.')
  .max(8_192, 'A URL has at most 8,192 characters.')

export const compensation = strictConfig({
  method: requestMethod,
  url: requestUrl,
  body: z.json().optional(),
  headers: requestHeaders.optional(),
})

/** The request that takes another one back; its texts are templates over `{{request…}}` and `{{response…}}`. */
export type Compensation = z.infer<typeof compensation>

const status = z.int().min(100).max(599)

export const expectedStatus = z.union([status, z.array(status).min(1).max(32)], {
  error: 'A status from 100 to 599 was expected, or a list of them.',
})

/** Refuses a fixed body, and a way to take it back, for a method that changes nothing. */
export function safeCarriesNothing(config: { method?: string }, context: z.RefinementCtx): void {
  if (config.method === undefined || !isSafeMethod(config.method)) return
  for (const name of ['body', 'compensate']) {
    if ((config as Record<string, unknown>)[name] === undefined) continue
    context.addIssue({
      code: 'custom',
      path: [name],
      message: `A ${config.method.toUpperCase()} request changes nothing and has no "${name}"; leave it out or choose another method.`,
    })
  }
}

export const httpRequestConfig = strictConfig({
  method: requestMethod.optional(),
  method_from: dottedPath.optional(),
  url: requestUrl.optional(),
  url_from: dottedPath.optional(),
  body: z.json().optional(),
  body_from: dottedPath.optional(),
  headers: requestHeaders.optional(),
  expect_status: expectedStatus.optional(),
  compensate: compensation.optional(),
})
  .superRefine(oneOf('method', 'method_from'))
  .superRefine(oneOf('url', 'url_from'))
  .superRefine(oneOf('body', 'body_from', 'at_most_one'))
  .superRefine(safeCarriesNothing)

export type HttpRequestConfig = z.infer<typeof httpRequestConfig>

export const httpRequest: NodeKind<HttpRequestConfig> = {
  kind: 'http_request',
  title: 'Send an HTTP request',
  summary: 'Sends one request and gives back status, headers and body; redirects are not followed.',
  family: 'action',
  config: httpRequestConfig,
  fields: {
    method: {
      label: 'Method',
      help: 'GET, HEAD and OPTIONS change nothing; all others do.',
      example: 'POST',
    },
    method_from: {
      label: 'Method from',
      help: 'Where the method stands among the run’s values.',
      internal: true,
    },
    url: {
      label: 'URL',
      help: 'An http or https address without a password in it.',
      example: 'https://api.example.com/orders',
    },
    url_from: {
      label: 'URL from',
      help: 'Where the URL stands among the run’s values, instead of a fixed one.',
      example: 'trigger.webhook_url',
    },
    body: {
      label: 'Body',
      help: 'What is sent; a value that is no text is sent as JSON.',
      example: { state: 'drained' },
    },
    body_from: {
      label: 'Body from',
      help: 'Where the body stands among the run’s values, instead of a fixed one.',
      example: 'render.rendered',
    },
    headers: {
      label: 'Headers',
      help: 'Fixed headers; a secret goes in by its name, values of the run never do.',
      example: { 'X-Api-Version': '58.0', Authorization: 'Bearer {{secret:API_TOKEN}}' },
    },
    expect_status: {
      label: 'Expected status',
      help: 'Statuses that count as success; without it, every 2xx does. All others take the edge "error".',
      example: [200, 201],
    },
    compensate: {
      label: 'To take it back',
      help: 'The request that undoes this one; it may use the recorded answer as {{response.body.id}}.',
      example: { method: 'DELETE', url: 'https://api.example.com/orders/{{response.body.id}}' },
    },
  },
  labels: () => ['error'],
  consequence: (config) =>
    config.method !== undefined && isSafeMethod(config.method)
      ? 'read_only'
      : config.compensate
        ? 'reversible'
        : 'irreversible',
  timeoutS: 30,
  checkpoint: {
    holds: 'The request’s digest and the request that takes it back.',
    undo: 'Sends the declared compensating request.',
  },
}
