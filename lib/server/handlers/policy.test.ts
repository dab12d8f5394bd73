import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { policyAllowing } from '@/lib/policy/fixtures'
import type { PolicyCheck } from '@/lib/view/workflow-wire'
import type { Policy } from '@/lib/workflow/graph'
import { checkCall } from '../policy-check'
import { type Browser, TestConsole } from '../testing/console'
import { importWorkflow } from '../workflows'
import { postPolicyCheck } from './policy'

let at: TestConsole
let ada: Browser
let version: string
beforeAll(async () => {
  at = await TestConsole.open()
  ada = await at.person('ada', 'viewer')
  for (const root of at.house.ports.installationRoots) fs.mkdirSync(root, { recursive: true })
  const descriptor = {
    wf_id: 'notes',
    version: '1.0',
    nodes: [{ id: 'n1', type: 'action', label: 'One' }],
    edges: [],
    policy: { roots: [{ path: 'notes', access: 'read' }], private_targets: ['127.0.0.1:7'] },
  }
  const text = JSON.stringify(descriptor)
  ;({
    record: { version },
  } = await importWorkflow(at.house, text, { filename: 'notes.json', by: 'person:ada' }))
})
afterAll(() => at.close())

const ask = (body: object) =>
  ada.ask<PolicyCheck & { code?: string }>(postPolicyCheck, 'POST', { params: { version }, body })

describe('would this be allowed?', () => {
  it('is answered for declared folders and targets, with the rule', async () => {
    const read = await ask({ tool: 'fs.read', path: 'notes/a.txt' })
    expect(read).toMatchObject({
      status: 200,
      body: {
        allowed: true,
        sentence: 'fs.read on notes/a.txt is allowed by folder notes (read)',
        answers: [{ by: 'folders', allowed: true, rule: 'folder notes (read)' }],
      },
    })
    const write = await ask({ tool: 'fs.write', path: 'notes/a.txt' })
    expect(write.body).toMatchObject({ allowed: false, answers: [{ by: 'folders', allowed: false }] })
    expect(write.body.sentence).toContain('for reading only')
    expect((await ask({ tool: 'fs.read', path: 'notes/../../x' })).body.allowed).toBe(false)
    expect((await ask({ tool: 'http.request', url: 'http://127.0.0.1:7/x' })).body).toMatchObject({
      allowed: true,
      answers: [{ by: 'targets', rule: 'private target 127.0.0.1:7' }],
    })
    expect((await ask({ tool: 'http.request', url: 'http://127.0.0.1:8/x' })).body).toMatchObject({
      allowed: false,
      answers: [{ by: 'targets', rule: 'private targets must be named' }],
    })
  })

  it('is refused when it is no question', async () => {
    for (const body of [
      { tool: 'fs.read' },
      { tool: 'rm', path: '/' },
      { tool: 'env.read', key: 'A', path: '/' },
    ]) {
      expect((await ask(body)).status).toBe(400)
    }
    const unknown = await ada.ask(postPolicyCheck, 'POST', {
      params: { version: 'nope' },
      body: { tool: 'env.read', key: 'A' },
    })
    expect([unknown.status, unknown.body.code]).toEqual([404, 'not_found'])
  })

  it('is answered for an allowlist as a step would find it, symlinks and all', async () => {
    const { policies, ports } = at.house
    const files = path.join(at.folder, 'files')
    fs.mkdirSync(path.join(files, 'in'), { recursive: true })
    fs.symlinkSync('/etc', path.join(files, 'in', 'door'))
    const policy: Policy = policyAllowing({ read: ['in/**'], env: ['AGENTD_*'], commands: ['/bin/none'] })
    const check = (call: Parameters<typeof checkCall>[1]) =>
      checkCall({ format: 'agentd', policy }, call, { policies, installationRoots: ports.installationRoots })
    expect(await check({ tool: 'fs.read', path: 'in/a' })).toMatchObject({
      allowed: true,
      answers: [{ by: 'allowlist', rule: `policy.fs.read: ${files}/in/**` }],
    })
    for (const name of ['in/door/passwd', 'in/../x', '/etc/passwd']) {
      const answer = await check({ tool: 'fs.read', path: name })
      expect(answer.allowed, name).toBe(false)
      expect(answer.sentence, name).toMatch(/^fs\.read denied on /)
    }
    expect(await check({ tool: 'env.read', key: 'AGENTD_X' })).toMatchObject({ allowed: true })
    expect(await check({ tool: 'shell.run', command: '/bin/sh', args: [] })).toMatchObject({ allowed: false })
    expect((await check({ tool: 'mcp.tool', name: 'x' })).sentence).toBe(
      'mcp.tool denied on x: policy.mcp.tools names nothing',
    )
  })
})
