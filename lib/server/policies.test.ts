/* Policies as workflows state them, asked of the evaluator that ships. */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '@/lib/base/json'
import { policyAllowing } from '@/lib/policy/fixtures'
import type { ToolCall } from '@/lib/policy/tool-call'
import { decisive } from '@/lib/policy/would-allow'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { policiesOf } from './policies'
import { policyFaults } from './policy-faults'

const contract = `package agent

default allow = false

allow if {
  input.tool == "fs.read"
  startswith(input.args.path, "/data/safe/")
}

allow if {
  input.tool == "http.request"
  input.args.method == "POST"
  startswith(input.args.url, data.api)
}
`

const policies = policiesOf({})
const stating = (text: string, data: JsonObject = {}, query = 'data.agent.allow') => ({
  ...policyAllowing({ read: ['/data/**'], urls: ['*'], env: ['*'] }),
  rego: { text, data, query },
})

async function answer(call: ToolCall, policy = stating(contract, { api: 'https://api.internal/' })) {
  return decisive(await policies.answers(policy, call))
}

describe('a Rego policy', () => {
  it('narrows what the allowlist lets through, and never widens it', async () => {
    expect(await answer({ tool: 'fs.read', path: '/data/safe/x' })).toEqual({
      allowed: true,
      rule: 'policy.rego: data.agent.allow (line 5)',
    })
    expect(await answer({ tool: 'fs.read', path: '/data/x' })).toMatchObject({
      sentence:
        'fs.read denied on /data/x: policy.rego: data.agent.allow is false (line 3, lines 5, 10 not holding)',
    })
    expect(await answer({ tool: 'fs.read', path: '/etc/shadow' })).toMatchObject({ rule: 'policy.fs.read' })
    expect(await answer({ tool: 'env.read', key: 'HOME' })).toMatchObject({ allowed: false })
  })

  it('reads its data at the root, and the URL as it is sent', async () => {
    const post = (url: string): ToolCall => ({ tool: 'http.request', method: 'post', url })
    expect(await answer(post('HTTPS://API.internal/x'))).toMatchObject({ allowed: true })
    expect(await answer(post('https://api.internal.evil.example/x'))).toMatchObject({ allowed: false })
    expect(
      await answer({ tool: 'http.request', method: 'GET', url: 'https://api.internal/x' }),
    ).toMatchObject({
      allowed: false,
    })
  })

  it('denies when it says anything but true, or cannot be evaluated', async () => {
    const read: ToolCall = { tool: 'fs.read', path: '/data/x' }
    for (const [text, words] of [
      ['package agent\nallow := "true"', 'is not true'],
      ['package agent\nallow := 1', 'is not true'],
      ['package agent\nother := true', 'is undefined'],
      ['package agent\nallow := true if input.tool\nallow := false if input.args', 'could not be asked'],
    ] as const) {
      expect(await answer(read, stating(text)), text).toMatchObject({
        allowed: false,
        sentence: expect.stringContaining(words),
      })
    }
  })

  it('refuses its workflow when it cannot be read, with the place in the workflow’s own text', async () => {
    const text = 'package agent\n\nallow if {\n  http.send({"url": "http://x"})\n}\n'
    const source = `[policy.rego]\ninline = '''\n${text}'''\n`
    const faults = await policyFaults({ policies }, graphOf({}, [], { policy: stating(text) }), source)
    expect(faults[0]).toMatchObject({ severity: 'error', line: 6, path: '/policy/rego' })
    expect(faults[0]?.message).toMatch(/^policy\.rego, line 4, column \d+: /)
    expect(await policyFaults({ policies }, graphOf({}, [], { policy: stating(contract) }), '')).toEqual([])
  })
})
