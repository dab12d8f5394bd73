import { describe, expect, it } from 'vitest'
import { isProblem } from '@/lib/base/problem'
import type { ToolDeclaration } from './graph'
import { graphOf } from './graph-fixture'
import { refuseUnbound, unboundTools } from './unbound-tools'

const tool = (name: string, bound: boolean): ToolDeclaration => ({
  name,
  description: '',
  parameters: {},
  ...(bound && { binding: { kind: 'shell_run', config: {}, artifacts: {} } }),
  extra: {},
})
const state = (...tools: string[]) => ({ kind: 'prompt_state', config: { prompt: 'p', template: '', tools } })

function refusal(...args: Parameters<typeof graphOf>): { sentence: string; data: unknown } | undefined {
  try {
    refuseUnbound(graphOf(...args))
    return undefined
  } catch (error) {
    if (!isProblem(error, 'tool_unbound')) throw error
    return { sentence: error.message, data: error.data.tools }
  }
}

describe('tools that nothing runs', () => {
  it('are told with the states that use them and how to bind them', () => {
    const tools = [tool('run_tests', false), tool('read', true), tool('unused', false)]
    const found = refusal({ a: state('run_tests', 'read'), b: state('run_tests') }, [], { tools })
    expect(found?.data).toEqual([{ tool: 'run_tests', states: ['a', 'b'] }])
    expect(found?.sentence).toBe(
      'The tool "run_tests" (used by a, b) is bound to nothing, so no run can begin. Bind it on the workflow\'s page, or in the pack: workflow.engine.bindings: { run_tests: { shell_run: { command: … } } }.',
    )
  })

  it('are counted when they are many, and quoted where their names need it', () => {
    const names = ['run tests', 'b', 'c', 'd', 'e']
    const states = Object.fromEntries(['s1', 's2', 's3', 's4', 's5'].map((id) => [id, state(...names)]))
    const found = refusal(states, [], { tools: names.map((name) => tool(name, false)) })
    expect(found?.sentence).toContain('"c" (used by s1, s2, s3 and 2 more), and 2 more are bound to nothing')
    expect(found?.sentence).toContain('{ "run tests": {')
  })

  it('are none where every tool is bound, or no prompt uses it', () => {
    expect(
      refusal({ a: state('read') }, [], { tools: [tool('read', true), tool('other', false)] }),
    ).toBeUndefined()
    expect(refusal({ a: { kind: 'agent_loop', config: { tools: ['read_file'] } } })).toBeUndefined()
  })

  it('count a tool that nobody declared as unbound', () => {
    expect(unboundTools(graphOf({ a: state('ghost') }))).toEqual([{ tool: 'ghost', states: ['a'] }])
  })
})
