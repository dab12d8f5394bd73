import { describe, expect, it } from 'vitest'
import type { JsonObject } from '@/lib/base/json'
import { parsePack } from '@/lib/formats/promptpack/promptpack'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { reachProblems } from './reach'

/** What is said of a pack with one tool `t`: message, mend, and where it stands in the text. */
function said(binding: JsonObject, policy: JsonObject | undefined, wantsNames = true): string[] {
  const text = JSON.stringify({
    id: 'a-pack',
    name: 'A pack',
    version: '1.0.0',
    template_engine: { version: 'v1', syntax: '{{variable}}' },
    prompts: { p: { id: 'p', name: 'P', version: '1.0.0', system_template: 'Do it.', tools: ['t'] } },
    tools: { t: { name: 't', description: 'A tool.' } },
    workflow: {
      version: 2,
      entry: 's',
      states: { s: { prompt_task: 'p', terminal: true } },
      engine: { bindings: { t: binding }, ...(policy ? { policy } : {}) },
    },
  })
  const { graph, place } = parsePack(text)
  return reachProblems(graph as WorkflowGraph, { wantsNames }).map((problem) => {
    const { path, message, mend } = place?.(problem) ?? { path: '', message: '', mend: '' }
    return `${path} ${message} ${mend}`
  })
}

const df = { shell_run: { command: '/bin/df', args: ['-h'] } }
const refusedDf =
  '/workflow/engine/bindings/t/shell_run/command The tool "t" will be refused: the pack’s policy allows no command "/bin/df". Name it under workflow.engine.policy.shell.commands.'

describe('a binding whose program the policy does not name', () => {
  it('is told at its place', () => {
    expect(said(df, { shell: { commands: ['/usr/bin/git'] } })).toEqual([refusedDf])
    expect(said(df, { fs: { read: ['*'] } })).toEqual([refusedDf])
  })

  it('is told without a policy only where a server wants names', () => {
    expect(said(df, undefined)).toEqual([refusedDf])
    expect(said(df, undefined, false)).toEqual([])
  })

  it('is not told when the list names it, or one that it may really be', () => {
    for (const listed of ['/bin/df', '/usr/bin/df', '/usr/bin/*', '/bin/**', '*', '/opt/coreutils/df'])
      expect(said(df, { shell: { commands: [listed] } })).toEqual([])
    expect(said({ shell_run: { command: '{{args.program}}' } }, { shell: { commands: ['/x'] } })).toEqual([])
  })
})

describe('a binding whose address the policy does not name', () => {
  const get = (url: string) => ({ http_request: { method: 'GET', url } })
  const policy = { http: { urls: ['https://api.example.com/*'], methods: ['POST', 'GET'] } }

  it('is told with its host, and never with its query', () => {
    expect(said(get('https://other.example.com/x?key=secret'), policy)).toEqual([
      '/workflow/engine/bindings/t/http_request/url The tool "t" will be refused: the pack’s policy allows no such request to "other.example.com". Name it under workflow.engine.policy.http.urls.',
    ])
    expect(said({ http_request: { method: 'DELETE', url: 'https://api.example.com/x' } }, policy)).toEqual([
      expect.stringContaining(
        'allows no method "DELETE". Name it under workflow.engine.policy.http.methods.',
      ),
    ])
    expect(said(get('https://api.example.com/x'), policy)).toEqual([])
    expect(said(get('https://other.example.com/{{args.id}}'), policy)).toEqual([])
  })
})
