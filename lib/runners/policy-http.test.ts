/* What a request may reach under an allowlist, with a real server on loopback that must not see what is denied. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { policyAllowing } from '@/lib/policy/fixtures'
import { grantedTo } from '@/lib/policy/grants'
import type { Policy } from '@/lib/workflow/graph'
import { actionFor, effectsWith, failureOf, nodeOf, runnerFor } from './fixtures'
import { Policies } from './policy-gate'

let server: http.Server
let port: number
let seen: string[]

beforeEach(async () => {
  seen = []
  server = http.createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    if (request.url === '/away')
      response.writeHead(302, { location: `http://localhost:${port}/secret` }).end()
    else response.end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})

afterEach(() => new Promise((resolve) => server.close(resolve)))

const policies = new Policies({
  authoredFolders: [],
  unconfined: false,
  compile: () => ({ explain: () => ({ value: undefined }) }),
  now: () => 0,
})

/** Sends a request as a step of a workflow with that policy would. */
async function sent(url: string, policy: Policy, { method = 'GET', unconfined = false } = {}) {
  const granted = grantedTo({ format: 'agentd', policy }, { installationRoots: [], unconfined })
  const effects = effectsWith({ ...granted, allow: policies.gateOf(granted.policy) })
  const action = await actionFor(nodeOf('http_request', { method, url }), effects)
  return runnerFor('http_request').perform(action, effects)
}

const naming = (...urls: string[]) => policyAllowing({ urls })
const own = () => naming(`http://127.0.0.1:${port}/public/**`, `http://127.0.0.1:${port}/away`)

describe('a request under an allowlist', () => {
  test('reaches the private host that a pattern spells out, in any spelling of its address', async () => {
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '0177.0.0.1', '127.1']) {
      const { output } = await sent(`http://${host}:${port}/public/x?y=1`, own())
      expect(output).toMatchObject({ status: 200, body: 'ok' })
    }
    expect(seen).toHaveLength(5)
  })

  test.each([
    ['another path', '/private'],
    ['dots', '/public/../private'],
    ['escaped dots', '/public/%2e%2e/private'],
    ['an escaped slash', '/public/..%2fprivate'],
    ['a backslash', '/public\\..\\private'],
  ])('is denied by %s', async (_, path) => {
    const failure = await failureOf(sent(`http://127.0.0.1:${port}${path}`, own()))
    expect(failure).toMatchObject({ code: 'policy_denied', retriable: false })
    expect(failure.message).toMatch(
      /^http\.request denied on GET http:\/\/127\.0\.0\.1:\d+\/\S+: no rule of policy\.http\.urls names it$/,
    )
    expect(seen).toEqual([])
  })

  test('does not follow a redirect to what is not named', async () => {
    const { output, label } = await sent(`http://127.0.0.1:${port}/away`, own())
    expect([output, label]).toMatchObject([{ status: 302 }, 'error'])
    expect(seen).toEqual(['GET /away'])
  })

  test.each([
    ['a loopback name', 'localhost'],
    ['loopback', '127.0.0.1'],
    ['a decimal address', '2130706433'],
    ['a hexadecimal address', '0x7f000001'],
    ['an octal address', '0177.0.0.1'],
    ['a mapped address', '[::ffff:127.0.0.1]'],
    ['IPv6 loopback', '[::1]'],
    ['the unspecified address', '0.0.0.0'],
  ])('that allows every URL still keeps from %s', async (_, host) => {
    for (const pattern of ['*', 'http://*', `http://${host}.example/**`]) {
      const failure = await failureOf(sent(`http://${host}:${port}/`, naming(pattern), { unconfined: true }))
      expect(['target_private', 'policy_denied']).toContain(failure.code)
      expect(failure.message).toMatch(/^http\.request denied on /)
    }
    expect(seen).toEqual([])
  })

  test('is held to its methods', async () => {
    const policy = policyAllowing({ urls: [`http://127.0.0.1:${port}/**`], methods: ['GET'] })
    expect(
      (await failureOf(sent(`http://127.0.0.1:${port}/`, policy, { method: 'DELETE' }))).message,
    ).toContain('policy.http.methods allows GET only')
    expect(seen).toEqual([])
  })
})

describe('a request without any policy', () => {
  const silent = { roots: [], privateTargets: [] }

  test('reaches private addresses on the user’s own command line, and nowhere else', async () => {
    expect((await sent(`http://localhost:${port}/`, silent, { unconfined: true })).output).toMatchObject({
      status: 200,
    })
    expect((await failureOf(sent(`http://127.0.0.1:${port}/`, silent))).code).toBe('target_private')
    const anywhere = await failureOf(sent(`http://0.0.0.0:${port}/`, silent, { unconfined: true }))
    expect(anywhere.code).toBe('target_private')
    expect(seen).toEqual(['GET /'])
  })
})
