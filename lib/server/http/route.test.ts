import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Principal } from '@/lib/auth/principal'
import { Problem } from '@/lib/base/problem'
import type { IdempotentAnswer } from '@/lib/engine/ports'
import { readBytes } from './body'
import { detailsOf } from './problem-response'
import { type Edge, json, type RouteContext, routesFor } from './route'

const ada: Principal = { kind: 'person', id: 'p1', name: 'ada', roles: ['operator'], session: 's1' }
const ci: Principal = {
  kind: 'api_token',
  id: 't1',
  name: 'ci',
  person: { id: 'p1', name: 'ada' },
  roles: ['operator'],
  scopes: ['runs:read'],
}

/** An installation with one person (cookie `session=ada`), one token (`Bearer ci`), answers in memory, and its log. */
function installationOf() {
  const kept = new Map<string, IdempotentAnswer>()
  const logged: { data: object; sentence: string }[] = []
  const log = (data: object, sentence: string) => void logged.push({ data, sentence })
  const edge: Edge = {
    log: { warn: log, error: log },
    answers: {
      answer: async (scope, key) => kept.get(`${scope} ${key}`),
      remember: async (answer) => void kept.set(`${answer.scope} ${answer.key}`, answer),
    },
    personOf: async (request) => (request.headers.get('cookie') === 'session=ada' ? ada : undefined),
    tokenOf: async (request) => (request.headers.get('authorization') === 'Bearer ci' ? ci : undefined),
  }
  return { edge, kept, logged, route: routesFor(async () => edge) }
}

type Handler = (request: Request, context: RouteContext) => Promise<Response>
const servers: http.Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** The handler behind a real HTTP server; `fetch` of it knows the server's own origin. */
async function serve(handler: Handler) {
  const server = http.createServer(async (req, res) => {
    const hasBody = req.method !== 'GET' && req.method !== 'HEAD'
    const request = new Request(`http://${req.headers.host}${req.url}`, {
      method: req.method,
      headers: Object.entries(req.headers).map(([name, value]) => [name, String(value)] as [string, string]),
      ...(hasBody ? { body: Readable.toWeb(req) as ReadableStream, duplex: 'half' } : {}),
    } as RequestInit)
    const response = await handler(request, { params: Promise.resolve({ run: 'run_1' }) })
    res.writeHead(response.status, Object.fromEntries(response.headers))
    res.end(Buffer.from(await response.arrayBuffer()))
  })
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { origin, call: (init: RequestInit = {}, path = '/') => fetch(origin + path, init) }
}

const byPage = (origin: string, more: Record<string, string> = {}) => ({
  cookie: 'session=ada',
  origin,
  'sec-fetch-site': 'same-origin',
  'content-type': 'application/json',
  ...more,
})

/** What a refusal says: status, code and sentence. */
async function refused(response: Response) {
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  const details = (await response.json()) as {
    status: number
    code: string
    detail: string
    [more: string]: unknown
  }
  expect(details.status).toBe(response.status)
  return details
}

it.each([
  ['ect_malformed', 'Token malformed'],
  ['ect_alg_refused', 'Token algorithm refused'],
  ['url_refused', 'URL refused'],
  ['approval_decided', 'Approval decided'],
] as const)('the code %s has the title "%s"', (code, title) => {
  expect(detailsOf(new Problem(code, 'It was refused.')).title).toBe(title)
})

describe('who', () => {
  it('lets a signed-in person in and tells anyone else to sign in', async () => {
    const { route } = installationOf()
    const { call } = await serve(
      route({ auth: 'session' }, async ({ principal }) => json({ name: principal.name })),
    )
    expect(await (await call({ headers: { cookie: 'session=ada' } })).json()).toEqual({ name: 'ada' })
    const details = await refused(await call())
    expect(details).toMatchObject({ status: 401, code: 'not_signed_in', title: 'Not signed in' })
    expect(details.detail).toBe('Nobody is signed in; sign in first.')
  })

  it('asks a token for its scope, and a person and a token for the role', async () => {
    const { route } = installationOf()
    const { call } = await serve(route({ auth: 'either', scope: 'runs:write' }, async () => json({})))
    const scope = await refused(await call({ headers: { authorization: 'Bearer ci' } }))
    expect(scope).toMatchObject({ status: 403, code: 'scope_missing' })
    expect(scope.detail).toContain('"ci" has no scope runs:write')

    const strict = await serve(
      route({ auth: 'either', scope: 'runs:read', role: 'coordinator' }, async () => json({})),
    )
    const askers: Record<string, string>[] = [{ authorization: 'Bearer ci' }, { cookie: 'session=ada' }]
    for (const headers of askers) {
      const role = await refused(await strict.call({ headers }))
      expect(role).toMatchObject({ status: 403, code: 'role_missing' })
      expect(role.detail).toContain('needs the role coordinator')
    }
  })

  it('never falls back to the cookie when an Authorization header is there and wrong', async () => {
    const { route } = installationOf()
    const { call } = await serve(route({ auth: 'either', scope: 'runs:read' }, async () => json({})))
    const response = await call({ headers: { authorization: 'Bearer wrong', cookie: 'session=ada' } })
    expect((await refused(response)).code).toBe('not_signed_in')
  })

  it('keeps tokens out of what is for people', async () => {
    const { route } = installationOf()
    const { call } = await serve(route({ auth: 'session' }, async () => json({})))
    const details = await refused(await call({ headers: { authorization: 'Bearer ci' } }))
    expect(details.detail).toContain('not for API tokens')
  })
})

describe('where a write comes from', () => {
  async function decided(headers: (origin: string) => Record<string, string>, publicOrigin?: string) {
    const { edge } = installationOf()
    let worked = 0
    const route = routesFor(async () => ({ ...edge, publicOrigin }))
    const { origin, call } = await serve(
      route({ auth: 'either', scope: 'runs:read', body: z.unknown() }, async () => {
        worked++
        return json({})
      }),
    )
    const all = { 'content-type': 'application/json', ...headers(origin) }
    const response = await call({ method: 'POST', body: '{}', headers: all })
    return { worked, response }
  }
  const cookie = 'session=ada'

  it('takes it from our own pages', async () => {
    for (const headers of [
      (origin: string) => ({ cookie, origin, 'sec-fetch-site': 'same-origin' }),
      (origin: string) => ({ cookie, origin }),
      () => ({ cookie, origin: 'null', 'sec-fetch-site': 'same-origin' }),
    ]) {
      expect((await decided(headers)).worked).toBe(1)
    }
  })

  it('refuses it from anywhere else, and does nothing', async () => {
    const cases: Record<string, (origin: string) => Record<string, string>> = {
      'cross-site page': (origin) => ({ cookie, origin, 'sec-fetch-site': 'cross-site' }),
      'same-site page': (origin) => ({ cookie, origin, 'sec-fetch-site': 'same-site' }),
      'its origin is "https://evil.example"': () => ({ cookie, origin: 'https://evil.example' }),
      'its origin is "null"': () => ({ cookie, origin: 'null' }),
      'its origin is "http://127.0.0.1:1"': () => ({
        cookie,
        origin: 'http://127.0.0.1:1',
        'sec-fetch-site': 'same-origin',
      }),
      'neither a Sec-Fetch-Site nor an Origin': () => ({ cookie }),
    }
    for (const [words, headers] of Object.entries(cases)) {
      const { worked, response } = await decided(headers)
      expect(worked).toBe(0)
      const details = await refused(response)
      expect(details).toMatchObject({ status: 403, code: 'cross_site' })
      expect(details.detail).toContain(words)
    }
  })

  it('knows the public origin behind a proxy, and asks nothing of a token', async () => {
    const proxied = await decided(
      () => ({ cookie, origin: 'https://holdpoint.example.com' }),
      'https://holdpoint.example.com',
    )
    expect(proxied.worked).toBe(1)
    expect((await decided(() => ({ authorization: 'Bearer ci' }))).worked).toBe(1)
  })
})

describe('what is sent', () => {
  const schema = z.strictObject({ verdict: z.enum(['approve', 'refuse']), comment: z.string().max(10) })
  async function send(body: BodyInit, headers: Record<string, string> = {}, maxBodyBytes = 1_000) {
    const { route } = installationOf()
    const { origin, call } = await serve(
      route({ auth: 'session', body: schema, maxBodyBytes }, async ({ body }) => json({ got: body.verdict })),
    )
    const init = { method: 'POST', body, headers: byPage(origin, headers), duplex: 'half' } as RequestInit
    return call(init)
  }

  it('hands the parsed body on', async () => {
    const response = await send(JSON.stringify({ verdict: 'approve', comment: '' }), {
      'content-type': 'application/json; charset=utf-8',
    })
    expect(await response.json()).toEqual({ got: 'approve' })
  })

  const body = (bytes: number, sending: (sent: number) => void = () => undefined) => {
    let sent = 0
    const chunk = new Uint8Array(65_536).fill(0x20)
    return new ReadableStream({
      pull(controller) {
        sent += chunk.byteLength
        sending(sent)
        if (sent > bytes) controller.close()
        else controller.enqueue(chunk)
      },
    })
  }

  it('says that a body without a declared length is too long once it was sent', async () => {
    expect(await refused(await send(body(50_000_000)))).toMatchObject({
      status: 413,
      code: 'body_too_large',
    })
  })

  it('cuts off a body that does not end', async () => {
    let sent = 0
    const endless = body(Number.POSITIVE_INFINITY, (bytes) => {
      sent = bytes
    })
    // The server answers and hangs up while we are still sending: fetch either sees the answer or a broken pipe.
    const response = await send(endless).catch(() => undefined)
    if (response) expect(await refused(response)).toMatchObject({ status: 413, code: 'body_too_large' })
    expect(sent).toBeGreaterThan(100_000_000)
  })

  it('refuses a declared length over the bound with one sentence', async () => {
    const details = await refused(await send(`"${'x'.repeat(2_000)}"`))
    expect(details).toMatchObject({
      status: 413,
      code: 'body_too_large',
      maxBytes: 1_000,
    })
    expect(details.detail).toContain('longer than 1000 bytes')
  })

  it.each([
    [9_437_184, 'longer than 9 MiB (9437184 bytes),'],
    [65_536, 'longer than 64 KiB (65536 bytes),'],
    [5_000_000, 'longer than 5000000 bytes,'],
  ])('says a bound of %i bytes as people say sizes', async (maxBytes, words) => {
    const upload = new Request('http://localhost/', {
      method: 'POST',
      headers: { 'content-length': String(maxBytes + 1) },
      body: 'x',
    })
    await expect(readBytes(upload, maxBytes)).rejects.toThrow(words)
  })

  it('refuses another media type, broken text, and nesting that is too deep', async () => {
    const cases: [BodyInit, Record<string, string>, number, string, string][] = [
      [
        'a=b',
        { 'content-type': 'application/x-www-form-urlencoded' },
        415,
        'unsupported_media_type',
        'send application/json',
      ],
      ['{"verdict":', {}, 400, 'body_not_json', 'is not JSON'],
      ['', {}, 400, 'body_not_json', 'is empty'],
      [new Uint8Array([0x22, 0xff, 0x22]), {}, 400, 'body_not_json', 'not UTF-8'],
      ['['.repeat(65) + ']'.repeat(65), {}, 400, 'body_not_json', 'deeper than 64'],
    ]
    for (const [body, headers, status, code, words] of cases) {
      const details = await refused(await send(body, headers))
      expect(details).toMatchObject({ status, code })
      expect(details.detail).toContain(words)
    }
  })

  it('names every place that does not fit, unknown members included', async () => {
    const details = await refused(
      await send(JSON.stringify({ verdict: 'maybe', comment: 'x'.repeat(11), extra: 1 })),
    )
    expect(details).toMatchObject({ status: 400, code: 'bad_request' })
    const issues = details.issues as { path: string; message: string }[]
    expect(issues.map((issue) => issue.path)).toEqual(['/verdict', '/comment', '/'])
    expect(details.detail).toContain('and 2 more')
  })

  it('a GET never reaches a handler that writes', async () => {
    const { route } = installationOf()
    let worked = 0
    const { call } = await serve(
      route({ auth: 'session', body: z.unknown() }, async () => {
        worked++
        return json({})
      }),
    )
    const response = await call({ headers: { cookie: 'session=ada' } })
    expect(response.headers.get('allow')).toBe('POST')
    expect(await refused(response)).toMatchObject({ status: 405, code: 'method_not_allowed' })
    expect(worked).toBe(0)
  })
})

describe('the same write again', () => {
  async function counting(fail?: () => Problem | undefined) {
    const { route, kept } = installationOf()
    let worked = 0
    const handler = route({ auth: 'session', body: z.unknown(), idempotent: true }, async () => {
      worked++
      const problem = fail?.()
      if (problem) throw problem
      return json({ worked }, { status: 201 })
    })
    const { origin, call } = await serve(handler)
    const post = (body: string, key: string) =>
      call({ method: 'POST', body, headers: byPage(origin, { 'idempotency-key': key }) })
    return { post, kept, count: () => worked }
  }

  it('gets the first answer and is not done twice', async () => {
    const { post, count } = await counting()
    const first = await post('{"a":1}', 'k1')
    const second = await post('{"a":1}', 'k1')
    expect([first.status, await first.json()]).toEqual([201, { worked: 1 }])
    expect([second.status, await second.json()]).toEqual([201, { worked: 1 }])
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect((await post('{"a":1}', 'k2')).status).toBe(201)
    expect(count()).toBe(2)
  })

  it('twenty at once are one', async () => {
    const { post, count } = await counting()
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('{}', 'same')))
    expect(await Promise.all(answers.map((a) => a.json()))).toEqual(answers.map(() => ({ worked: 1 })))
    expect(count()).toBe(1)
  })

  it('refuses the key with another body', async () => {
    const { post, count } = await counting()
    await post('{"a":1}', 'k1')
    const details = await refused(await post('{"a":2}', 'k1'))
    expect(details).toMatchObject({ status: 409, code: 'idempotency_key_reused' })
    expect(details.detail).toContain('use a new key')
    expect(count()).toBe(1)
  })

  it('does not keep a refusal, and refuses a key that is none', async () => {
    let fail: Problem | undefined = new Problem('run_paused', 'The run is paused.')
    const { post, kept } = await counting(() => fail)
    expect((await refused(await post('{}', 'k1'))).code).toBe('run_paused')
    expect(kept.size).toBe(0)
    fail = undefined
    expect((await post('{}', 'k1')).status).toBe(201)
    expect((await refused(await post('{}', 'a b'))).code).toBe('bad_request')
  })
})

describe('the answer', () => {
  it('carries the common headers', async () => {
    const { route } = installationOf()
    const { call } = await serve(route({ auth: 'none' }, async () => json({})))
    const { headers } = await call()
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  })

  it('says nothing of an unexpected failure but an id that the log knows', async () => {
    const { route, logged } = installationOf()
    const { call } = await serve(
      route({ auth: 'none' }, async () => {
        throw new Error('SQLITE_ERROR: near "hunter2"')
      }),
    )
    const response = await call()
    const details = await refused(response)
    expect(details).toMatchObject({ status: 500, code: 'internal' })
    expect(JSON.stringify(details)).not.toContain('hunter2')
    expect(logged).toHaveLength(1)
    expect(logged[0]?.sentence).toContain(String(details.errorId))
  })

  it('gives a refusal its data and how long to wait', async () => {
    const { route } = installationOf()
    const { call } = await serve(
      route({ auth: 'none' }, async () => {
        throw new Problem('too_many_attempts', 'Wait 4 s.', { retryAfterS: 3.2, status: 200, code: 'x' })
      }),
    )
    const response = await call()
    expect(response.headers.get('retry-after')).toBe('4')
    expect(await refused(response)).toMatchObject({
      status: 429,
      code: 'too_many_attempts',
      retryAfterS: 3.2,
    })
  })
})
