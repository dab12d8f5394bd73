import { describe, expect, it } from 'vitest'
import type { ToolBinding, ToolDeclaration } from '@/lib/workflow/graph'
import { bindingFields, bindingFrom, boundKinds, isByHand, kindOf, typedFrom } from './binding-form'

const tool = (binding?: ToolBinding): ToolDeclaration => ({
  name: 'run_tests',
  description: '',
  parameters: { type: 'object', properties: { test_path: { type: 'string' } } },
  ...(binding && { binding }),
  extra: {},
})
const shell: ToolBinding = {
  kind: 'shell_run',
  config: { command: '/usr/bin/node', args: ['--test', '{{args.test_path}}'], timeout_secs: 60 },
  artifacts: {},
}

describe('the form of a binding', () => {
  it('asks for what its kind takes, in the kind’s own words', () => {
    expect(bindingFields('shell_run').map(({ name, label }) => `${name}: ${label}`)).toEqual([
      'command: Command',
      'args: Arguments',
      'timeout_secs: Timeout',
      'compensate: To take it back',
    ])
    for (const kind of boundKinds) for (const { help } of bindingFields(kind)) expect(help).not.toBe('')
  })

  it('begins with the binding there is, and gives it back unchanged', () => {
    expect(kindOf(tool(shell))).toBe('shell_run')
    const typed = typedFrom(tool(shell), 'shell_run')
    expect(typed).toEqual({
      command: '/usr/bin/node',
      args: '--test\n{{args.test_path}}',
      timeout_secs: '60',
      compensate: '',
    })
    expect(bindingFrom(tool(shell), 'shell_run', typed, {})).toEqual({ binding: shell })
  })

  it('begins with every argument handed on, where there is none', () => {
    expect(typedFrom(tool(), 'call_mcp_tool')).toMatchObject({
      tool: 'run_tests',
      args: '{\n  "test_path": "{{args.test_path}}"\n}',
    })
    expect(typedFrom(tool(), 'call')).toMatchObject({ workflow: '', input_from: 'args' })
    expect(typedFrom(tool(), 'await_event').question).toBe('run_tests: {{args.test_path}}')
  })

  it('says what is missing, and what is no JSON or number', () => {
    const typed = { command: ' ', timeout_secs: 'soon', compensate: '{' }
    expect(bindingFrom(tool(), 'shell_run', typed, {})).toEqual({
      faults: {
        command: 'Command is needed.',
        timeout_secs: 'Write a whole number.',
        compensate: 'This is not JSON; text goes in quotation marks, and nothing follows a last member.',
      },
    })
  })

  it('takes one argument as a whole member, and fills artifacts', () => {
    const typed = { method: 'POST', url: 'https://x', body: '{{args.config}}' }
    expect(bindingFrom(tool(), 'http_request', typed, { report: 'body.id' })).toEqual({
      binding: {
        kind: 'http_request',
        config: { method: 'POST', url: 'https://x', body: '{{args.config}}' },
        artifacts: { report: 'body.id' },
      },
    })
  })

  it('keeps members it does not ask for, and leaves kinds it does not know to the text', () => {
    const from = tool({
      kind: 'http_request',
      config: { method: 'GET', url_from: 'args.url', expect_status: 200 },
      artifacts: {},
    })
    expect(bindingFrom(from, 'http_request', typedFrom(from, 'http_request'), {})).toEqual({
      binding: {
        kind: 'http_request',
        config: { method: 'GET', url_from: 'args.url', expect_status: 200 },
        artifacts: {},
      },
    })
    expect(isByHand(from)).toBe(false)
    expect(isByHand(tool({ kind: 'write_file', config: {}, artifacts: {} }))).toBe(true)
    expect(isByHand(tool())).toBe(false)
  })
})
