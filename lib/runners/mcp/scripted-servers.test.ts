import { expect, it } from 'vitest'
import { failureOf } from '@/lib/runners/fixtures'
import { mcpScript, scriptedMcp } from './scripted-servers'

const never = new AbortController().signal

it('answers as the fixture says, in order, and never twice', async () => {
  const script = mcpScript.parse({
    tools: { say_hi: [{ content: [{ type: 'text', text: 'hi' }] }, { is_error: true }] },
    resources: { 'docs://pages/*': [{ contents: [{ uri: 'docs://pages/42', text: 'x' }] }] },
  })
  const mcp = scriptedMcp(script).serversOf()
  expect(await mcp.call('say_hi', {}, never)).toEqual({
    content: [{ type: 'text', text: 'hi' }],
    isError: false,
    structured: null,
  })
  expect((await mcp.call('say_hi', {}, never)).isError).toBe(true)
  expect((await failureOf(mcp.call('say_hi', {}, never))).message).toBe(
    'The script has 2 answers for the MCP tool say_hi, and this was call 3; add one.',
  )
  expect((await mcp.read('docs://pages/42', never)).contents).toHaveLength(1)
  expect((await failureOf(mcp.read('docs://pages/42', never))).code).toBe('answer_missing')
  expect((await failureOf(mcp.read('other://x', never))).message).toContain(
    '0 answers for the MCP resource other://x',
  )
  expect(await mcp.tool('toString', never)).toBeUndefined()
})
