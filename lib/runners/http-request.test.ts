import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hashJson } from '@/lib/base/hash'
import type { Json, JsonObject } from '@/lib/base/json'
import { actionFor, described, effectsWith, failureOf, nodeOf, runnerFor } from './fixtures'
import { type Action, EffectFailed, type Effects } from './runner'

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

/** A key and a certificate that only vouches for itself. */
function selfSigned() {
  const folder = mkdtempSync(path.join(tmpdir(), 'holdpoint-tls-'))
  const [key, cert] = [path.join(folder, 'key'), path.join(folder, 'cert')]
  const made = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    key,
    '-out',
    cert,
  ]
  execFileSync('openssl', ['req', '-x509', '-days', '1', '-subj', '/CN=127.0.0.1', ...made], {
    stdio: 'ignore',
  })
  const read = { key: readFileSync(key), cert: readFileSync(cert) }
  rmSync(folder, { recursive: true })
  return read
}

interface Seen {
  method: string
  url: string
  headers: http.IncomingHttpHeaders
  body: string
}

let server: http.Server
let port: number
let seen: Seen[]
let answer: (request: Seen, response: http.ServerResponse) => void

beforeEach(async () => {
  seen = []
  answer = (_, response) => response.end('ok')
  server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() }
      seen.push(one)
      answer(one, response)
    })
  })
  port = await listen(server)
})

afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

async function listen(one: net.Server): Promise<number> {
  await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve))
  return (one.address() as AddressInfo).port
}

const urlOf = (path: string) => `http://127.0.0.1:${port}${path}`

/** The workflow names this test's server. */
function named(more: Partial<Effects> = {}): Effects {
  return effectsWith({ grants: { privateTargets: [`127.0.0.1:${port}`] }, ...more })
}

const request = (config: JsonObject) => nodeOf('http_request', { method: 'GET', ...config })
const runner = runnerFor('http_request')
const back = {
  id: 'rb_1',
  reason: 'test',
  checkpointId: 'c1',
  requestToken: 't',
  requestJti: 'j',
  deadlineAt: 1e15,
  wid: 'w',
  scope: 'single' as const,
}

async function sent(config: JsonObject, effects = named()) {
  return runner.perform(await actionFor(request(config), effects), effects)
}

async function undone(config: JsonObject, output: Json | undefined, effects = named()) {
  const action = await actionFor(request(config), effects)
  const snapshot = await runner.snapshot?.(action, effects, 'c1')
  if (!snapshot || !runner.undo) throw new Error('No snapshot')
  return runner.undo(action, snapshot, effects, { ...back, output })
}

/** An action that skipped `describe`, to reach the checks that `perform` makes itself. */
function raw(config: JsonObject): Action {
  return {
    kind: 'http_request',
    node: 'n1',
    visit: 1,
    do: config,
    consequence: 'read_only',
    target: '',
    sentence: '',
  }
}

describe('private targets', () => {
  test.each([
    '127.0.0.1',
    'localhost',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0.0.0.0',
    '2130706433',
    '127.1',
    'a.localhost',
  ])('are refused by default: %s', async (host) => {
    const url = `http://${host}:${port}/`
    const failure = await failureOf(described(request({ url }), effectsWith()))
    expect(failure).toMatchObject({
      code: 'target_private',
      errorType: 'constraint_violation',
      retriable: false,
    })
    expect((await failureOf(runner.perform(raw({ method: 'GET', url }), effectsWith()))).code).toBe(
      'target_private',
    )
    expect(seen).toEqual([])
  })

  test('are reached when the policy names them, by address or by name', async () => {
    expect((await sent({ url: urlOf('/') })).output).toMatchObject({ status: 200, body: 'ok', bytes: 2 })
    const byName = effectsWith({ grants: { privateTargets: [`localhost:${port}`] } })
    expect((await sent({ url: `http://localhost:${port}/` }, byName)).output).toMatchObject({ status: 200 })
    expect(seen.at(-1)?.headers.host).toBe(`localhost:${port}`)
  })

  test('stay closed on another port than the named one', async () => {
    const other = effectsWith({ grants: { privateTargets: [`127.0.0.1:${port + 1}`] } })
    expect((await failureOf(sent({ url: urlOf('/') }, other))).code).toBe('target_private')
  })
})

describe('URLs', () => {
  test.each([
    ['ftp://example.com/', 'only http and https'],
    ['file:///etc/passwd', 'only http and https'],
    ['http://ada:hunter2@example.com/', 'user name or password'],
    ['nonsense', 'is not one'],
  ])('refuses %s', async (url, words) => {
    const failure = await failureOf(described(request({ url }), named()))
    expect(failure.code).toBe('url_refused')
    expect(failure.message).toContain(words)
    expect(failure.message).not.toContain('hunter2')
  })
})

describe('an exchange', () => {
  test('gives status, headers and body', async () => {
    answer = (_, response) =>
      response.writeHead(201, { 'X-One': 'a', 'Set-Cookie': ['a=1', 'b=2'] }).end('{"id":7}')
    const done = await sent({ method: 'POST', url: urlOf('/orders?x=1'), body: { b: 1 } })
    expect(done.label).toBeUndefined()
    expect(done.output).toMatchObject({
      status: 201,
      body: '{"id":7}',
      bytes: 8,
      headers: { 'x-one': 'a', 'set-cookie': 'a=1, b=2' },
    })
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/orders?x=1', body: '{"b":1}' })
    expect(seen[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'idempotency-key': 'run_1/n1/1/1',
    })
  })

  test('sends no idempotency key with safe methods, and a text as it is', async () => {
    await sent({ url: urlOf('/') })
    expect(seen[0]?.headers['idempotency-key']).toBeUndefined()
    await sent({
      method: 'PUT',
      url: urlOf('/'),
      body: 'plain',
      headers: { 'Content-Type': 'text/csv', 'X-A': 'b' },
    })
    expect(seen[1]).toMatchObject({ body: 'plain', headers: { 'content-type': 'text/csv', 'x-a': 'b' } })
  })

  test('does not follow redirects', async () => {
    answer = (_, response) => response.writeHead(302, { Location: urlOf('/elsewhere') }).end()
    const done = await sent({ url: urlOf('/') })
    expect(done).toMatchObject({
      label: 'error',
      output: { status: 302, headers: { location: urlOf('/elsewhere') } },
    })
    expect(seen).toHaveLength(1)
  })

  test('takes the edge "error" past 2xx, and keeps the output', async () => {
    answer = (_, response) => response.writeHead(500).end('broken')
    expect(await sent({ url: urlOf('/') })).toMatchObject({
      label: 'error',
      output: { status: 500, body: 'broken' },
    })
  })

  test('goes by the statuses its author expects', async () => {
    answer = (_, response) => response.writeHead(404).end()
    expect((await sent({ url: urlOf('/'), expect_status: [200, 404] })).label).toBeUndefined()
    expect((await sent({ url: urlOf('/'), expect_status: 200 })).label).toBe('error')
  })

  test('keeps bytes that are no text as base64', async () => {
    answer = (_, response) => response.end(Buffer.from([0, 255]))
    expect((await sent({ url: urlOf('/') })).output).toMatchObject({
      body: 'AP8=',
      bytes: 2,
      encoding: 'base64',
    })
  })

  test('sends nothing in a dry run', async () => {
    const dry = named({ dryRun: true })
    expect((await sent({ method: 'POST', url: urlOf('/') }, dry)).output).toEqual({
      method: 'POST',
      url: urlOf('/'),
      dry_run: true,
    })
    expect(seen).toEqual([])
  })
})

describe('bounds', () => {
  test('an answer of more than 1 MiB is given up', async () => {
    answer = (_, response) => response.end(Buffer.alloc(1_048_577, 97))
    const failure = await failureOf(sent({ url: urlOf('/') }))
    expect(failure).toMatchObject({ code: 'answer_too_large', outcomeUnknown: false, retriable: false })
    expect(failure.message).toContain('more than 1,048,576 bytes')
    expect(await failureOf(sent({ method: 'POST', url: urlOf('/') }))).toMatchObject({ outcomeUnknown: true })
  })

  test('an answer of exactly 1 MiB is read', async () => {
    answer = (_, response) => response.end(Buffer.alloc(1_048_576, 97))
    expect((await sent({ url: urlOf('/') })).output).toMatchObject({ bytes: 1_048_576 })
  })

  test('a body of more than 1 MiB is not sent', async () => {
    const failure = await failureOf(
      described(request({ method: 'POST', url: urlOf('/'), body: 'a'.repeat(1_048_577) }), named()),
    )
    expect(failure.code).toBe('too_large')
    expect(seen).toEqual([])
  })
})

describe('TLS', () => {
  test.runIf(hasOpenssl)('refuses a certificate nobody vouches for, before anything is sent', async () => {
    const secure = https.createServer(selfSigned(), (_, response) => response.end())
    const securePort = await listen(secure)
    const effects = effectsWith({ grants: { privateTargets: [`127.0.0.1:${securePort}`] } })
    const failure = await failureOf(
      sent({ method: 'POST', url: `https://127.0.0.1:${securePort}/` }, effects),
    )
    await new Promise((resolve) => secure.close(resolve))
    expect(failure).toMatchObject({ code: 'unreachable', outcomeUnknown: false })
    expect(failure.message).toContain('DEPTH_ZERO_SELF_SIGNED_CERT')
  })
})

describe('headers', () => {
  test.each<JsonObject>([
    { 'X-A': 'a\r\nX-Injected: 1' },
    { 'X-A\r\nX-Injected': '1' },
    { Host: 'evil' },
    { 'Idempotency-Key': 'x' },
  ])(
    'that could smuggle something are refused, in the config and in an edited action: %j',
    async (headers) => {
      expect((await failureOf(described(request({ url: urlOf('/'), headers }), named()))).code).toBe(
        'config_invalid',
      )
      const edited = raw({ method: 'GET', url: urlOf('/'), headers })
      expect((await failureOf(runner.perform(edited, named()))).code).toBe('action_invalid')
      expect(seen).toEqual([])
    },
  )
})

describe('when it breaks', () => {
  test('before anything was sent, it may be tried again', async () => {
    const unused = net.createServer()
    const closed = await listen(unused)
    await new Promise((resolve) => unused.close(resolve))
    const effects = effectsWith({ grants: { privateTargets: [`127.0.0.1:${closed}`] } })
    const failure = await failureOf(sent({ method: 'POST', url: `http://127.0.0.1:${closed}/` }, effects))
    expect(failure).toMatchObject({ code: 'unreachable', retriable: true, outcomeUnknown: false })
    expect(failure.message).toContain('ECONNREFUSED')
  })

  test('after an unsafe request was sent, nobody knows', async () => {
    answer = (_, response) => response.destroy()
    const failure = await failureOf(
      sent({
        method: 'POST',
        url: urlOf('/pay?token=hunter2'),
        body: 'hunter2',
        headers: { 'X-Key': 'hunter2' },
      }),
    )
    expect(failure).toMatchObject({ code: 'answer_lost', retriable: false, outcomeUnknown: true })
    expect(failure.message).toContain('whether it took effect is not known')
    expect(failure.message).not.toContain('hunter2')
  })

  test('in the middle of an answer, likewise', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'Content-Length': '100' }).write('half')
      setImmediate(() => response.destroy())
    }
    expect(await failureOf(sent({ method: 'POST', url: urlOf('/') }))).toMatchObject({
      code: 'answer_lost',
      outcomeUnknown: true,
    })
  })

  test('after a safe request, it may be tried again', async () => {
    answer = (_, response) => response.destroy()
    expect(await failureOf(sent({ url: urlOf('/') }))).toMatchObject({
      code: 'answer_lost',
      retriable: true,
      outcomeUnknown: false,
    })
  })

  test('when time is up, it says so', async () => {
    const stop = new AbortController()
    answer = () => stop.abort()
    const failure = await failureOf(sent({ method: 'POST', url: urlOf('/') }, named({ signal: stop.signal })))
    expect(failure).toMatchObject({ code: 'effect_timeout', errorType: 'timeout', outcomeUnknown: true })
    expect(
      await failureOf(sent({ method: 'POST', url: urlOf('/') }, named({ signal: stop.signal }))),
    ).toMatchObject({ outcomeUnknown: false, retriable: true })
    expect(seen).toHaveLength(1)
  })

  test('on a name nobody knows, nothing was sent', async () => {
    const failure = await failureOf(sent({ method: 'POST', url: 'http://nowhere.invalid/' }))
    expect(failure).toMatchObject({ code: 'unreachable', retriable: true, outcomeUnknown: false })
  })
})

describe('what people read', () => {
  test('names method and target without the query, and hides secret headers', async () => {
    const { action, preview } = await described(
      request({
        method: 'POST',
        url: urlOf('/pay?token=hunter2'),
        body: { a: 1 },
        headers: { Authorization: 'Bearer hunter2', 'X-A': 'b' },
      }),
      named(),
    )
    expect(action).toMatchObject({
      consequence: 'irreversible',
      target: `POST ${urlOf('/pay')}`,
      sentence: `Send POST ${urlOf('/pay')}`,
    })
    expect(action.undo).toBeUndefined()
    expect(preview).toEqual({
      show: 'text',
      title: `POST ${urlOf('/pay')}`,
      text: `POST ${urlOf('/pay')}\nAuthorization: (not shown)\nX-A: b\n\n{\n  "a": 1\n}`,
    })
  })
})

describe('taking it back', () => {
  const order = (compensate: JsonObject): JsonObject => ({
    method: 'POST',
    url: urlOf('/orders'),
    body: { item: 'x' },
    compensate,
  })
  const remove = (url: string) => order({ method: 'DELETE', url: urlOf(url) })
  const created = {
    status: 201,
    headers: { location: '/orders/7' },
    body: '{"id":7,"tag":"a b/../c"}',
    bytes: 8,
  }

  test('is declared, said and sealed before the request goes out', async () => {
    const action = await actionFor(request(remove('/orders/{{response.body.id}}')), named())
    expect(action).toMatchObject({
      consequence: 'reversible',
      undo: 'compensate',
      undoSentence: `Send DELETE ${urlOf('/orders/{{response.body.id}}')}`,
    })
    const snapshot = await runner.snapshot?.(action, named(), 'c1')
    expect(snapshot).toMatchObject({ undo: 'compensate', hash: hashJson(snapshot?.state) })
    expect(JSON.stringify(snapshot?.state)).not.toContain('item')
  })

  test('sends the declared request, filled from the recorded answer, under its own key', async () => {
    const told = await undone(remove('/orders/{{response.body.id}}'), created)
    expect(seen[0]).toMatchObject({
      method: 'DELETE',
      url: '/orders/7',
      headers: { 'idempotency-key': 'c1-undo' },
    })
    expect(told.description).toBe(`Sent DELETE ${urlOf('/orders/7')}, which was answered 200`)
  })

  test('fills bodies with values of their own type, also from the request', async () => {
    const body = {
      id: '{{response.body.id}}',
      item: '{{request.body.item}}',
      note: 'order {{response.body.id}}',
    }
    await undone(order({ method: 'POST', url: urlOf('/cancel'), body }), created)
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ id: 7, item: 'x', note: 'order 7' })
  })

  test('never lets the answer leave its place in the URL', async () => {
    await undone(remove('/orders/{{response.body.tag}}'), created)
    expect(seen[0]?.url).toBe('/orders/a%20b%2F..%2Fc')
    for (const id of ['', '.', '..']) {
      const failure = await failureOf(
        undone(remove('/orders/{{response.body.id}}'), { ...created, body: JSON.stringify({ id }) }),
      )
      expect(failure).toMatchObject({ code: 'value_wrong' })
    }
    expect(seen).toHaveLength(1)
  })

  test('refuses a URL whose host the answer would decide', async () => {
    for (const url of [
      '{{response.body.url}}',
      'http://{{response.body.host}}/x',
      `http://127.0.0.1:${port}{{response.body.x}}`,
      '//x/y',
    ]) {
      expect((await failureOf(actionFor(request(order({ method: 'DELETE', url })), named()))).code, url).toBe(
        'url_refused',
      )
    }
  })

  test('refuses a private target that is not named, before the request goes out', async () => {
    const node = request(order({ method: 'DELETE', url: 'http://10.0.0.1/x' }))
    expect((await failureOf(actionFor(node, named()))).code).toBe('target_private')
  })

  test('needs the recorded answer when it uses it', async () => {
    const lost = await failureOf(undone(remove('/orders/{{response.body.id}}'), undefined))
    expect(lost.code).toBe('value_missing')
    expect(lost.message).toContain('"response.body.id", and the answer to the request was never recorded')
    const other = await failureOf(undone(remove('/orders/{{response.body.nope}}'), created))
    expect(other.message).toContain('the recorded answer has no such value')
    expect(seen).toEqual([])
    await expect(undone(remove('/orders/last'), undefined)).resolves.toBeDefined()
  })

  test('takes "gone already" for done, and nothing else', async () => {
    answer = (_, response) => response.writeHead(404).end()
    expect((await undone(remove('/orders/1'), created)).description).toContain('was gone already (404)')
    answer = (_, response) => response.writeHead(503).end()
    expect(await failureOf(undone(remove('/orders/1'), created))).toMatchObject({
      code: 'compensation_refused',
      retriable: true,
    })
    answer = (_, response) => response.writeHead(403).end()
    expect(await failureOf(undone(remove('/orders/1'), created))).toMatchObject({
      code: 'compensation_refused',
      retriable: false,
    })
  })

  test('refuses a checkpoint of another request', async () => {
    const action = await actionFor(request(remove('/orders/1')), named())
    const snapshot = await runner.snapshot?.(action, named(), 'c1')
    const other = { ...action, do: { ...action.do, url: urlOf('/other') } }
    if (!snapshot || !runner.undo) throw new Error('No snapshot')
    expect((await failureOf(runner.undo(other, snapshot, named(), back))).code).toBe('checkpoint_tampered')
  })

  test('says when nothing is declared', async () => {
    const failure = await failureOf(undone({ method: 'POST', url: urlOf('/orders') }, created))
    expect(failure.code).toBe('nothing_declared')
    expect(failure.message).toContain('by hand')
  })
})

describe('the policy', () => {
  test('is asked with method and URL before, again when it is sent, and when it is taken back', async () => {
    const asked: unknown[] = []
    const effects = named({ allow: async (call) => void asked.push(call) })
    const compensate = { method: 'delete', url: urlOf('/orders/{{response.status}}') }
    const { output } = await sent({ method: 'post', url: urlOf('/orders?a=1'), compensate }, effects)
    await undone({ method: 'post', url: urlOf('/orders?a=1'), compensate }, output, effects)
    const post = { tool: 'http.request', method: 'POST', url: urlOf('/orders?a=1') }
    expect(asked).toEqual([
      post,
      post,
      post,
      { tool: 'http.request', method: 'DELETE', url: urlOf('/orders/200') },
    ])
    expect(seen.map(({ method }) => method)).toEqual(['POST', 'DELETE'])
  })

  test('that denies it lets nothing out', async () => {
    const allow = async () => {
      throw new EffectFailed('policy_denied', 'http.request denied on it: no rule names it')
    }
    const action = await actionFor(request({ url: urlOf('/') }), named())
    expect((await failureOf(runner.perform(action, named({ allow })))).code).toBe('policy_denied')
    expect((await failureOf(described(request({ url: urlOf('/') }), named({ allow })))).code).toBe(
      'policy_denied',
    )
    expect((await failureOf(runner.perform(action, named({ allow, dryRun: true })))).code).toBe(
      'policy_denied',
    )
    expect(seen).toEqual([])
  })
})

describe('secrets in headers', () => {
  const secret = 'tok "en"/1+é'
  const config = {
    headers: { Authorization: 'Bearer {{secret:API_TOKEN}}', 'X-Twice': '{{secret:API_TOKEN}}' },
  }
  const holding = (values: Record<string, string>, more: Partial<Effects> = {}) =>
    named({ secret: async (name) => values[name], ...more })

  test('go into the request and nowhere else', async () => {
    const effects = holding({ API_TOKEN: secret })
    const wanted = request({ url: urlOf('/'), ...config })
    const { action, preview } = await described(wanted, effects)
    const { output } = await runner.perform(action, effects)
    expect(seen[0]?.headers).toMatchObject({ authorization: `Bearer ${secret}`, 'x-twice': secret })
    for (const kept of [action, preview, output]) expect(JSON.stringify(kept)).not.toContain('tok')
    expect(action.do.headers).toEqual(config.headers)
    expect(JSON.stringify(preview)).toContain('X-Twice: {{secret:API_TOKEN}}')
  })

  test('are taken out of what comes back, however it is spelled', async () => {
    answer = ({ headers }, response) => {
      response.setHeader('x-echo', headers.authorization ?? '')
      response.end(JSON.stringify({ said: headers['x-twice'], url: encodeURIComponent(secret) }))
    }
    const { output } = await sent({ url: urlOf('/'), ...config }, holding({ API_TOKEN: secret }))
    expect(output).toMatchObject({
      status: 200,
      headers: { 'x-echo': 'Bearer {{secret:API_TOKEN}}' },
      body: '{"said":"{{secret:API_TOKEN}}","url":"{{secret:API_TOKEN}}"}',
    })
  })

  test('stop the request when they are unknown', async () => {
    const failure = await failureOf(sent({ url: urlOf('/'), ...config }, holding({})))
    expect(failure).toMatchObject({ code: 'secret_unknown', retriable: false, outcomeUnknown: false })
    expect(failure.message).toContain('needs the secret "API_TOKEN"')
    expect(seen).toEqual([])
  })

  test.each(['a\r\nX-Admin: 1', 'a\nb', 'a\0b', 'snowman ☃'])(
    'stop it when a header cannot carry %j',
    async (value) => {
      const failure = await failureOf(sent({ url: urlOf('/'), ...config }, holding({ API_TOKEN: value })))
      expect(failure.code).toBe('header_refused')
      expect(failure.message).toContain('The value of the header "Authorization"')
      expect(failure.message).not.toContain(value)
      expect(seen).toEqual([])
    },
  )

  test('are not looked up in a dry run, nor when it is only described', async () => {
    const effects = named({
      secret: async () => {
        throw new Error('looked up')
      },
    })
    await described(request({ url: urlOf('/'), ...config }), effects)
    const { output } = await sent({ url: urlOf('/'), ...config }, { ...effects, dryRun: true })
    expect(output).toEqual({ method: 'GET', url: urlOf('/'), dry_run: true })
  })

  test('go into the request that takes it back, too', async () => {
    const compensate = { method: 'DELETE', url: urlOf('/x'), ...config }
    await undone({ method: 'POST', url: urlOf('/x'), compensate }, {}, holding({ API_TOKEN: secret }))
    expect(seen[0]?.headers.authorization).toBe(`Bearer ${secret}`)
  })

  test('are never filled from values of the run', async () => {
    const hostile = { 'trigger.body': '{{secret:API_TOKEN}}' }
    const effects = holding({ API_TOKEN: secret })
    const wanted = request({ method: 'POST', url: urlOf('/'), body_from: 'trigger.body' })
    await runner.perform(await actionFor(wanted, effects, hostile), effects)
    expect(seen[0]?.body).toBe('{{secret:API_TOKEN}}')
  })
})

describe('what agentd’s workflows send', () => {
  test('names its method in any case, or takes it from the run', async () => {
    await sent({ method: 'post', url: urlOf('/') })
    const wanted = nodeOf('http_request', { method_from: 'call.method', url: urlOf('/') })
    const action = await actionFor(wanted, named(), { 'call.method': 'put' })
    expect(action).toMatchObject({ consequence: 'irreversible', target: `PUT ${urlOf('/')}` })
    await runner.perform(action, named())
    expect(seen.map(({ method }) => method)).toEqual(['POST', 'PUT'])
    const wrong = await failureOf(actionFor(wanted, named(), { 'call.method': 'CONNECT' }))
    expect(wrong.message).toContain('A method was expected')
  })

  test.each([
    ['{"a": 1}', 'application/json'],
    [' [1]', 'application/json'],
    ['{{a}}', 'text/plain; charset=utf-8'],
    ['1', 'text/plain; charset=utf-8'],
    ['hello', 'text/plain; charset=utf-8'],
    [{ a: 1 }, 'application/json'],
  ])('says what the body %j is', async (body, type) => {
    await sent({ method: 'POST', url: urlOf('/'), body })
    expect(seen[0]?.headers['content-type']).toBe(type)
  })
})
