import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Json } from '@/lib/base/json'
import { policyAllowing } from '@/lib/policy/fixtures'
import { failureOf } from './fixtures'
import { Opa, OpaRejected, OpaUnreachable } from './opa'
import { Policies } from './policy-gate'

/*
 * A server that speaks the part of OPA's documented HTTP API that is used here, and keeps what it is given. It evaluates
 * nothing: a module `package …` answers with what its comment `# gives <json>` says.
 */
let server: http.Server
let url: string
let policies: Map<string, string>
let data: Map<string, Json>
let requests: { method: string; path: string; token: string | undefined; body: string }[]
let answerWith: ((response: http.ServerResponse) => void) | undefined

beforeEach(async () => {
  policies = new Map()
  data = new Map()
  requests = []
  answerWith = undefined
  server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const body = Buffer.concat(chunks).toString()
      requests.push({ method, path, token: headers.authorization, body })
      if (answerWith) answerWith(response)
      else answer(response, method, path, body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

function answer(response: http.ServerResponse, method: string, path: string, body: string): void {
  const [, kind = '', name = ''] = /^\/v1\/(policies|data)\/(.+)$/.exec(path) ?? []
  const say = (status: number, value?: Json) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(value === undefined ? '' : JSON.stringify(value))
  }
  if (kind === 'policies' && method === 'PUT') {
    if (body.includes('garbage')) {
      return say(400, {
        code: 'invalid_parameter',
        message: 'error(s) occurred while compiling module(s)',
        errors: [
          { code: 'rego_parse_error', message: 'unexpected token', location: { file: name, row: 2, col: 1 } },
        ],
      })
    }
    policies.set(name, body)
    return say(200, {})
  }
  if (kind === 'policies')
    return policies.has(name) ? say(200, { result: {} }) : say(404, { code: 'resource_not_found' })
  if (method === 'PUT') {
    data.set(name, JSON.parse(body) as Json)
    return say(204)
  }
  const text = [...policies.values()].find((module) => {
    const called = /^package (\S+)/m.exec(module)?.[1]?.replaceAll('.', '/')
    return called !== undefined && name.startsWith(`${called}/`)
  })
  const gives = text === undefined ? undefined : /# gives (.+)/.exec(text)?.[1]
  say(200, gives === undefined ? {} : { result: JSON.parse(gives) as Json })
}

const source = (gives: string, more: Json = {}) => ({
  text: `package agent\n# gives ${gives}\ndefault allow = false\nallow if data.region == "eu"`,
  data: { region: 'eu', more },
  query: 'data.agent.allow',
})
const input = { tool: 'env.read', args: { key: 'HOME' } }

describe('a policy in OPA', () => {
  test('is uploaded once with its data in a room of its own, and asked there', async () => {
    const opa = new Opa({ url: `${url}/`, token: 't0ken' })
    expect(await opa.ask(source('true'), input)).toBe(true)
    expect(await opa.ask(source('true'), input)).toBe(true)
    expect(requests.map(({ method, path }) => `${method} ${path.replace(/p_[0-9a-f]{64}/, 'ROOM')}`)).toEqual(
      [
        'PUT /v1/data/holdpoint/ROOM',
        'PUT /v1/policies/holdpoint-ROOM',
        'POST /v1/data/holdpoint/ROOM/agent/allow',
        'POST /v1/data/holdpoint/ROOM/agent/allow',
      ],
    )
    expect(requests.every(({ token }) => token === 'Bearer t0ken')).toBe(true)
    expect(JSON.parse(requests[3]?.body ?? '')).toEqual({ input })
    expect([...data.values()]).toEqual([{ region: 'eu', more: {} }])
    expect([...policies.values()][0]).toMatch(/^package holdpoint\.p_[0-9a-f]{64}\.agent$/m)
    expect([...policies.values()][0]).toMatch(/data\.holdpoint\.p_[0-9a-f]{64}\.region == "eu"/)
  })

  test('does not meet another of the same package', async () => {
    const opa = new Opa({ url })
    expect(await opa.ask(source('true'), input)).toBe(true)
    expect(await opa.ask(source('false'), input)).toBe(false)
    expect(await opa.ask(source('true', 'other data'), input)).toBe(true)
    expect(await opa.ask(source('true'), input)).toBe(true)
    expect(policies.size).toBe(3)
    expect(data.size).toBe(3)
  })

  test('comes back with OPA’s own words and places when OPA refuses it', async () => {
    const wrong = { ...source('true'), text: 'package agent\ngarbage' }
    await expect(new Opa({ url }).load(wrong)).rejects.toMatchObject({
      name: 'OpaRejected',
      faults: [{ code: 'rego_parse_error', message: 'unexpected token', line: 2, column: 1 }],
    })
    await expect(
      new Opa({ url }).load({ ...source('true'), text: 'package a\nx := http.send({})' }),
    ).rejects.toThrow(OpaRejected)
    await expect(new Opa({ url }).load({ ...source('true'), query: 'true' })).rejects.toThrow(OpaRejected)
  })

  test('is uploaded again when OPA was restarted and has forgotten it', async () => {
    const opa = new Opa({ url })
    expect(await opa.ask(source('true'), input)).toBe(true)
    policies.clear()
    data.clear()
    expect(await opa.ask(source('true'), input)).toBe(true)
    expect(policies.size).toBe(1)
    expect(data.size).toBe(1)
  })

  test('is loaded by the next question when OPA was away at first', async () => {
    const opa = new Opa({ url })
    answerWith = (response) => response.writeHead(503).end()
    await expect(opa.ask(source('true'), input)).rejects.toThrow(OpaUnreachable)
    answerWith = undefined
    expect(await opa.ask(source('true'), input)).toBe(true)
  })
})

describe('the gate with OPA', () => {
  const call = { tool: 'env.read', key: 'HOME' } as const
  const policy = (gives: string) => ({ ...policyAllowing({ env: ['*'] }), rego: source(gives) })

  function gate(gives: string, address = url) {
    const policies = new Policies({
      authoredFolders: [],
      unconfined: false,
      compile: () => {
        throw new Error('Rego is asked of OPA here')
      },
      opa: new Opa({ url: address, timeoutMs: 300 }),
      now: () => 0,
    })
    return policies.gateOf(policy(gives))
  }

  test('passes only on true', async () => {
    await gate('true')(call)
    for (const gives of ['false', '"true"', '{"allow": true}', '[true]', 'null']) {
      const failure = await failureOf(gate(gives)(call))
      expect(failure.message).toContain('env.read denied on HOME: policy.rego: data.agent.allow is')
    }
  })

  test.each<[string, (response: http.ServerResponse) => void, string]>([
    ['another status', (response) => response.writeHead(500).end('{"result":true}'), 'OPA answered 500'],
    ['a redirect', (response) => response.writeHead(302, { location: url }).end(), 'OPA cannot be reached'],
    ['no JSON', (response) => response.writeHead(200).end('true'), 'OPA answered 200'],
    ['too much', (response) => response.writeHead(200).end('x'.repeat(300_000)), 'more than is read'],
    [
      'half an answer',
      (response) => response.writeHead(200, { 'content-length': 99 }).write('{'),
      'OPA did not answer',
    ],
    ['silence', () => undefined, 'OPA did not answer within 300 ms'],
    ['a broken connection', (response) => response.destroy(), 'OPA cannot be reached'],
  ])('denies on %s', async (_, misbehave, words) => {
    const asking = gate('true')
    await asking(call)
    answerWith = misbehave
    const failure = await failureOf(asking(call))
    expect(failure).toMatchObject({ code: 'policy_denied', retriable: false })
    expect(failure.message).toContain('env.read denied on HOME: policy.rego could not be asked')
    expect(failure.message).toContain(words)
  })

  test('denies when nobody listens, and refuses the workflow at its start', async () => {
    const nobody = 'http://127.0.0.1:9'
    expect((await failureOf(gate('true', nobody)(call))).message).toContain('OPA cannot be reached')
    const policies = new Policies({
      authoredFolders: [],
      unconfined: false,
      compile: () => ({ explain: () => ({ value: true }) }),
      opa: new Opa({ url: nobody }),
      now: () => 0,
    })
    expect(await policies.check(policy('true'))).toEqual([
      expect.objectContaining({ code: 'opa_unreachable' }),
    ])
  })
})
