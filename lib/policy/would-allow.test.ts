import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '@/lib/base/json'
import { policyAllowing } from './fixtures'
import { grantedTo } from './grants'
import { regoInput } from './rego-question'
import type { ToolCall } from './tool-call'
import { decisive, policyAnswers } from './would-allow'

const rego = { text: '', data: {}, query: 'data.agent.allow' }
const read: ToolCall = { tool: 'fs.read', path: '/data/x' }

describe('policyAnswers', () => {
  test('asks Rego only about what the list let through', async () => {
    const asked: JsonObject[] = []
    const ask = async (input: JsonObject) => ({ value: asked.push(input) > 0 })
    const policy = { ...policyAllowing({ read: ['/data/**'] }), rego }
    const denied = await policyAnswers(policy, { tool: 'fs.read', path: '/etc/shadow' }, ask)
    expect(denied.rego).toBeUndefined()
    expect(decisive(denied)).toMatchObject({ allowed: false, rule: 'policy.fs.read' })
    expect(asked).toEqual([])
    expect(decisive(await policyAnswers(policy, read, ask))).toEqual({
      allowed: true,
      rule: 'policy.rego: data.agent.allow',
    })
    expect(asked).toEqual([{ tool: 'fs.read', args: { path: '/data/x' } }])
  })

  test.each([
    [undefined, 'is undefined'],
    [false, 'is false'],
    ['true', 'is not true'],
    [1, 'is not true'],
    [[true], 'is not true'],
    [{ allow: true }, 'is not true'],
    [null, 'is not true'],
  ])('takes the answer %j for a denial', async (value, words) => {
    const policy = { ...policyAllowing({ read: ['*'] }), rego }
    const answers = await policyAnswers(policy, read, async () => ({ value: value as Json }))
    expect(answers.allowlist).toMatchObject({ allowed: true })
    expect(decisive(answers)).toMatchObject({
      allowed: false,
      code: 'policy_denied',
      sentence: `fs.read denied on /data/x: policy.rego: data.agent.allow ${words}`,
    })
  })

  test('says which lines were tried, and which held', async () => {
    const policy = { ...policyAllowing({ read: ['*'] }), rego }
    const said = async (value: boolean, ...holds: boolean[]) =>
      decisive(
        await policyAnswers(policy, read, async () => ({
          value,
          tried: holds.map((one, at) => ({ line: at + 5, holds: one })),
        })),
      )
    expect(await said(true, false, true)).toEqual({
      allowed: true,
      rule: 'policy.rego: data.agent.allow (line 6)',
    })
    expect(await said(false, false, false)).toMatchObject({
      sentence: 'fs.read denied on /data/x: policy.rego: data.agent.allow is false (lines 5, 6 not holding)',
    })
    expect(await said(false, true)).toMatchObject({
      sentence: 'fs.read denied on /data/x: policy.rego: data.agent.allow is false (line 5)',
    })
  })

  test('denies when Rego cannot be asked, and says why', async () => {
    const policy = { ...policyAllowing({ read: ['*'] }), rego }
    const answers = await policyAnswers(policy, read, () =>
      Promise.reject(new Error('OPA cannot be reached')),
    )
    expect(decisive(answers)).toMatchObject({
      allowed: false,
      sentence: 'fs.read denied on /data/x: policy.rego could not be asked: OPA cannot be reached',
    })
  })

  test('denies nothing where no policy is stated', async () => {
    const answers = await policyAnswers({}, read, async () => ({ value: false }))
    expect(answers).toEqual({})
    expect(decisive(answers)).toEqual({ allowed: true, rule: 'no policy is stated' })
  })
})

describe('regoInput', () => {
  test.each<[ToolCall, Json]>([
    [{ tool: 'env.read', key: 'HOME' }, { key: 'HOME' }],
    [
      { tool: 'http.request', method: 'post', url: 'HTTPS://API.internal:443/a/../b' },
      { method: 'POST', url: 'https://api.internal/b' },
    ],
    [
      { tool: 'shell.run', command: '/usr/bin/git', args: ['log'] },
      { command: '/usr/bin/git', args: ['log'] },
    ],
    [
      { tool: 'mcp.tool', name: 'post', server: 'docs' },
      { name: 'post', server: 'docs' },
    ],
    [{ tool: 'mcp.resource', uri: 'docs://a' }, { uri: 'docs://a' }],
  ])('%j', (call, args) => {
    expect(regoInput(call)).toEqual({ tool: call.tool, args })
  })
})

describe('grantedTo', () => {
  const silent = { roots: [], privateTargets: [] }
  const house = { installationRoots: ['/srv/files', '/mnt'] }
  const own = { ...house, unconfined: true }

  test('gives an agentd workflow without a policy the installation’s folders, and no private address', () => {
    const folders = [
      { path: '/srv/files', access: 'write' },
      { path: '/mnt', access: 'write' },
    ]
    expect(grantedTo({ format: 'agentd', policy: silent }, house)).toEqual({
      policy: { roots: folders, privateTargets: [] },
      installationRoots: ['/srv/files', '/mnt'],
    })
    const onOwn = grantedTo({ format: 'agentd', policy: silent }, own)
    expect(onOwn.policy).toEqual({
      roots: [...folders, { path: '/', access: 'write' }],
      privateTargets: ['0.0.0.0/0', '::/0'],
    })
    expect(onOwn.installationRoots).toEqual(['/srv/files', '/mnt', '/'])
  })

  test('gives other formats what they declare, wherever they run', () => {
    for (const where of [house, own]) {
      expect(grantedTo({ format: 'atd', policy: silent }, where)).toEqual({
        policy: silent,
        installationRoots: house.installationRoots,
      })
    }
  })

  test('lets an allowlist name private hosts, and starts its folders in the first folder', () => {
    const policy = policyAllowing({ read: ['docs/**'], urls: ['*', 'http://127.0.0.1:9/**'] })
    const { policy: granted } = grantedTo({ format: 'agentd', policy }, own)
    expect(granted.privateTargets).toEqual(['127.0.0.1:9'])
    expect(granted.roots).toEqual([])
    expect(granted.allow?.fs.read).toEqual(['/srv/files/docs/**'])
  })
})
