import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '@/lib/base/json'
import type { ToolDeclaration } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { artifactLines, bindingWords, parameterNames, promptLines, toolLines } from './tool-words'

const bound = (kind: string, config: JsonObject, artifacts: Record<string, string> = {}) => ({
  kind,
  config,
  artifacts,
})
const tool = (name: string, binding?: ToolDeclaration['binding']): ToolDeclaration => ({
  name,
  description: '',
  parameters: {},
  ...(binding && { binding }),
  extra: {},
})

describe('what runs a tool', () => {
  it('is told as the end of a sentence', () => {
    expect(
      bindingWords(bound('shell_run', { command: '/usr/bin/node', args: ['--test', '{{args.test_path}}'] })),
    ).toBe('runs /usr/bin/node --test {{args.test_path}}')
    expect(bindingWords(bound('http_request', { method: 'GET', url: 'https://x/{{args.id}}' }))).toBe(
      'sends GET https://x/{{args.id}}',
    )
    expect(bindingWords(bound('call_mcp_tool', { tool: 'query', server: 'db' }))).toBe(
      'asks the MCP server db for query',
    )
    expect(bindingWords(bound('call', { workflow: 'restart-service' }))).toBe(
      'runs the workflow restart-service',
    )
    expect(bindingWords(bound('await_event', { question: 'Sure?' }))).toBe('asks operator')
    expect(bindingWords(bound('await_event', { question: 'Sure?', role: 'operator:oncall' }))).toBe(
      'asks operator:oncall',
    )
    expect(bindingWords(bound('write_file', { path_from: 'args.path' }))).toBe('writes args.path')
    expect(bindingWords(bound('json_select', {}))).toBe('select from JSON')
    const agent = 'spiffe://holdpoint.local/agent/edge-router-07'
    expect(bindingWords(bound('agent', { agent, operation: 'update-bgp-peer' }))).toBe(
      'has edge-router-07 do update-bgp-peer',
    )
    expect(bindingWords(undefined)).toBe('nothing yet')
  })
})

describe('a tool whose effect stays', () => {
  it('is marked, and one that only reads or can be taken back is not', () => {
    const kinds = [
      bound('shell_run', { command: '/bin/x' }),
      bound('shell_run', { command: '/bin/x', compensate: { command: '/bin/y' } }),
      bound('http_request', { method: 'GET', url: 'http://x' }),
    ]
    const tools = kinds.map((binding, at) => tool(`t${at}`, binding))
    expect(toolLines(graphOf({}, [], { tools })).map(({ isIrreversible }) => isIrreversible)).toEqual([
      true,
      false,
      false,
    ])
  })
})

describe('the lists of a pack', () => {
  const graph = graphOf(
    {
      code: {
        kind: 'prompt_state',
        config: {
          prompt: 'coder',
          template: 'Was: {{artifacts.report}}',
          tools: ['write'],
          artifacts: ['sha'],
        },
      },
      test: {
        kind: 'prompt_state',
        config: {
          prompt: 'tester',
          template: '{{ artifacts.sha }} {{artifacts.reporter}}',
          tools: ['run', 'write'],
          artifacts: ['report'],
        },
      },
      again: { kind: 'prompt_state', config: { prompt: 'tester', template: '', tools: ['run', 'write'] } },
      wait: { kind: 'await_event', config: { question: '?', artifacts: ['report'] } },
    },
    [],
    {
      tools: [tool('write', bound('write_file', {}, { sha: 'commit.sha' })), tool('unused'), tool('run')],
      artifacts: [
        { name: 'sha', mediaType: 'text/plain', mode: 'replace', extra: { description: 'The commit' } },
        { name: 'report', mediaType: 'application/json', mode: 'append', extra: {} },
      ],
    },
  )

  it('name what is missing first, and what nobody needs is not missing', () => {
    expect(
      toolLines(graph).map(({ tool, isReady, isBound, states, fills }) => [
        tool,
        isReady,
        isBound,
        states,
        fills,
      ]),
    ).toEqual([
      ['run', false, false, ['test', 'again'], []],
      ['write', true, true, ['code', 'test', 'again'], ['sha from commit.sha']],
      ['unused', true, false, [], []],
    ])
  })

  it('tell who writes and who reads an artifact', () => {
    expect(artifactLines(graph)).toEqual([
      {
        name: 'sha',
        kind: 'text/plain',
        description: 'The commit',
        writers: ['code', 'write (tool)'],
        readers: ['test'],
      },
      {
        name: 'report',
        kind: 'application/json, each value added to the last',
        description: '',
        writers: ['test', 'wait'],
        readers: ['code'],
      },
    ])
  })

  it('name each prompt once, with its states', () => {
    expect(promptLines(graph)).toEqual([
      { prompt: 'coder', states: ['code'], tools: ['write'] },
      { prompt: 'tester', states: ['test', 'again'], tools: ['run', 'write'] },
    ])
  })

  it('read parameters from a schema, and none from anything else', () => {
    const schema = {
      type: 'object',
      properties: { path: { type: 'string', description: 'Where' }, deep: true },
      required: ['path'],
    }
    expect(parameterNames(schema)).toEqual([
      { name: 'path', type: 'string', required: true, help: 'Where' },
      { name: 'deep', type: 'any', required: false, help: '' },
    ])
    for (const other of [null, 7, {}, { properties: [] }] as Json[]) expect(parameterNames(other)).toEqual([])
  })
})
