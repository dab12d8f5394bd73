import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '@/lib/base/json'
import type { ToolCall } from '@/lib/policy/tool-call'
import { actionFor, described, effectsWith, failureOf, nodeOf, runnerFor } from '@/lib/runners/fixtures'
import { type Calls, EffectFailed, type Effects } from '@/lib/runners/runner'
import { openMcpPool } from './servers'

const root = path.resolve(import.meta.dirname, '../../..')
const docs = path.join(root, 'examples/agentd/servers/docs-server.mjs')
const pool = openMcpPool({
  servers: [{ name: 'docs', command: process.execPath, args: [docs], env: {}, passEnv: [] }],
  env: (name) => process.env[name],
  cwd: root,
})
afterAll(() => pool.close())

function reaching(more: Partial<Effects> = {}): Effects {
  return effectsWith({ mcp: pool.serversOf(), ...more })
}

const call = runnerFor('call_mcp_tool')
const comment = { tool: 'comment_on_page', args_from: 'classify.comment_payload' }
const values: Record<string, Json> = { 'classify.comment_payload': { page_id: 42, comment: 'nit' } }
const compensate = { tool: 'remove_comment', args: { comment_id: '{{response.structured.comment_id}}' } }

async function commentsNow(): Promise<Json> {
  const action = await actionFor(nodeOf('call_mcp_tool', { tool: 'list_comments' }), reaching())
  const { output } = await call.perform(action, reaching())
  return ((output as JsonObject).structured as JsonObject).comments as Json
}

function denying(...tools: string[]): Effects['allow'] {
  return async (asked: ToolCall) => {
    const name = asked.tool === 'mcp.tool' ? asked.name : asked.tool === 'mcp.resource' ? asked.uri : ''
    if (tools.includes(name))
      throw new EffectFailed('policy_denied', `${asked.tool} denied on ${name}: not listed`)
  }
}

describe('call_mcp_tool', () => {
  it('calls the tool with the arguments found in the run', async () => {
    const { action, preview } = await described(nodeOf('call_mcp_tool', comment), reaching(), values)
    expect(action).toMatchObject({
      consequence: 'irreversible',
      target: 'comment_on_page',
      sentence: 'Call the MCP tool comment_on_page of docs',
    })
    expect(preview).toMatchObject({ show: 'text', text: expect.stringContaining('"nit"') })
    const { output, label } = await call.perform(action, reaching())
    expect(label).toBeUndefined()
    expect(output).toMatchObject({
      tool: 'comment_on_page',
      content: [{ type: 'text', text: expect.stringContaining('page 42') }],
      is_error: false,
      structured: { comment_id: expect.any(String) },
    })
  })

  it('an answer that is an error takes the error branch', async () => {
    const wrong = { 'classify.comment_payload': { page_id: 7, comment: 'x' } }
    const action = await actionFor(nodeOf('call_mcp_tool', comment), reaching(), wrong)
    expect(await call.perform(action, reaching())).toMatchObject({
      label: 'error',
      output: { is_error: true, structured: null },
    })
  })

  it('is no change when the tool says that it only reads, and can be taken back where the author says how', async () => {
    const list = nodeOf('call_mcp_tool', { tool: 'list_comments', server: 'docs' })
    expect(await actionFor(list, reaching())).toMatchObject({ consequence: 'read_only' })
    const both = nodeOf('call_mcp_tool', { ...comment, compensate })
    expect(await actionFor(both, reaching(), values)).toMatchObject({
      consequence: 'reversible',
      undo: 'compensate',
      undoSentence: 'Call the MCP tool remove_comment',
    })
  })

  it('is taken back by the declared call, filled from the recorded answer', async () => {
    const before = await commentsNow()
    const action = await actionFor(nodeOf('call_mcp_tool', { ...comment, compensate }), reaching(), values)
    const snapshot = await call.snapshot?.(action, reaching(), 'cp_1')
    const { output } = await call.perform(action, reaching(), snapshot)
    expect(await commentsNow()).not.toEqual(before)
    const rollback = {
      id: 'rb_1',
      reason: 'wrong page',
      checkpointId: 'cp_1',
      requestToken: '',
      requestJti: 'j',
      deadlineAt: 1e15,
      wid: 'w',
      scope: 'single' as const,
    }
    if (!snapshot) throw new Error('There is no snapshot')
    const undone = await call.undo?.(action, snapshot, reaching(), { ...rollback, output })
    expect(undone?.description).toBe('Called the MCP tool remove_comment')
    expect(await commentsNow()).toEqual(before)
    const lost = await failureOf(call.undo?.(action, snapshot, reaching(), rollback) ?? Promise.resolve())
    expect(lost).toMatchObject({ code: 'value_missing' })
    expect(lost.message).toContain('the answer to the call was never recorded')
    const other = { ...action, do: { ...action.do, tool: 'other' } }
    expect(
      (await failureOf(call.undo?.(other, snapshot, reaching(), rollback) ?? Promise.resolve())).code,
    ).toBe('checkpoint_tampered')
  })

  it('is taken back past an open breaker, and counted there', async () => {
    const asked: string[] = []
    const refusing: Calls = {
      through: async (downstream) => {
        asked.push(`through ${downstream}`)
        throw new EffectFailed('circuit_open', 'The breaker is open')
      },
      counted: (downstream, work) => {
        asked.push(`counted ${downstream}`)
        return work()
      },
    }
    const action = await actionFor(nodeOf('call_mcp_tool', { ...comment, compensate }), reaching(), values)
    const snapshot = await call.snapshot?.(action, reaching(), 'cp_2')
    const { output } = await call.perform(action, reaching(), snapshot)
    if (!snapshot) throw new Error('There is no snapshot')
    const behind = reaching({ mcp: pool.serversOf([], refusing) })
    expect(await failureOf(call.perform(action, behind, snapshot))).toMatchObject({ code: 'circuit_open' })
    const rollback = { id: 'rb_2', reason: 'wrong page', checkpointId: 'cp_2', requestToken: '' }
    const undone = await call.undo?.(action, snapshot, behind, {
      ...{ ...rollback, requestJti: 'j', deadlineAt: 1e15, wid: 'w', scope: 'single', output },
    })
    expect(undone?.description).toBe('Called the MCP tool remove_comment')
    expect(asked).toEqual(['through mcp:docs', 'counted mcp:docs', 'counted mcp:docs'])
  })

  it('policy is asked before the server is, about the call and about the one that takes it back', async () => {
    const never: Effects['mcp'] = {
      ...pool.serversOf(),
      tool: () => Promise.reject(new Error('The server was asked')),
    }
    const node = nodeOf('call_mcp_tool', { ...comment, compensate })
    for (const tool of ['comment_on_page', 'remove_comment']) {
      const failure = await failureOf(actionFor(node, reaching({ allow: denying(tool), mcp: never }), values))
      expect(failure).toMatchObject({ code: 'policy_denied', retriable: false })
      expect(failure.message).toContain(`mcp.tool denied on ${tool}`)
    }
  })

  it('a dry run reaches nobody', async () => {
    const effects = effectsWith({ dryRun: true })
    const action = await actionFor(nodeOf('call_mcp_tool', comment), effects, values)
    expect(await call.perform(action, effects)).toEqual({
      output: { tool: 'comment_on_page', dry_run: true },
    })
  })

  it('after a crash only a tool that may be called twice is called again', async () => {
    const state = { state: {}, hash: '', undo: 'compensate' as const }
    const probed = async (tool: string) => {
      const action = await actionFor(nodeOf('call_mcp_tool', { tool }), reaching())
      return call.probe?.(action, state, reaching())
    }
    expect(await probed('remove_comment')).toBe('not_taken')
    expect(await probed('comment_on_page')).toBe('unknown')
  })

  it('arguments must stand by name', async () => {
    const failure = await failureOf(
      actionFor(nodeOf('call_mcp_tool', comment), reaching(), { 'classify.comment_payload': [1] }),
    )
    expect(failure).toMatchObject({ code: 'value_wrong' })
  })
})

describe('read_mcp_resource', () => {
  const node = nodeOf('read_mcp_resource', { resource_from: 'trigger.resource_uri' })
  const page = { 'trigger.resource_uri': 'docs://pages/42' }
  const read = runnerFor('read_mcp_resource')

  it('gives what the server has under the address', async () => {
    const action = await actionFor(node, reaching(), page)
    expect(action).toMatchObject({ consequence: 'read_only', target: 'docs://pages/42' })
    expect((await read.perform(action, reaching())).output).toEqual({
      uri: 'docs://pages/42',
      contents: [
        { uri: 'docs://pages/42', mimeType: 'text/markdown', text: expect.stringContaining('Rolling back') },
      ],
    })
  })

  it('asks the policy first, and nobody in a dry run', async () => {
    const denied = await failureOf(actionFor(node, reaching({ allow: denying('docs://pages/42') }), page))
    expect(denied.message).toContain('mcp.resource denied on docs://pages/42')
    const effects = effectsWith({ dryRun: true })
    const action = await actionFor(node, effects, page)
    expect(await read.perform(action, effects)).toEqual({ output: { uri: 'docs://pages/42', dry_run: true } })
  })

  it('says when the server has none, and when nothing stands at the path', async () => {
    const missing = { 'trigger.resource_uri': 'docs://pages/1000' }
    const action = await actionFor(node, reaching(), missing)
    expect(await failureOf(read.perform(action, reaching()))).toMatchObject({
      code: 'mcp_refused',
      retriable: true,
    })
    expect((await failureOf(actionFor(node, reaching()))).code).toBe('value_missing')
  })
})
