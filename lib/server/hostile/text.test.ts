/** Texts that are no workflows: told in sentences with their places, in bounded time, and nothing of them is kept. */
import { describe, expect, it } from 'vitest'
import type { Diagnostic } from '@/lib/base/diagnostic'
import { parseAgentd } from '@/lib/formats/agentd/agentd'
import { nodeKind } from '@/lib/nodes/registry'
import { edge, node, workflow } from './scene'

function faultsOf(text: string): Diagnostic[] {
  const { graph, diagnostics } = parseAgentd(text, nodeKind)
  expect(graph).toBeUndefined()
  return diagnostics
}

/** Milliseconds that reading takes, and what it said. */
describe('a text that is no workflow', () => {
  it('says where its TOML breaks off, and repeats nothing of it', () => {
    const [fault, ...more] = faultsOf('name = "x"\nkey = "hunter2\n')
    expect(more).toEqual([])
    expect(fault).toMatchObject({ code: 'agentd_not_toml', line: 2, severity: 'error' })
    expect(fault?.message).toMatch(/^The text is not TOML: /)
    expect(fault?.message).not.toContain('hunter2')
  })

  it('says where a type is wrong deep inside a node', () => {
    const text = workflow(
      'go',
      `${node('go', 'http_request', 'method = "GET"', 'url_from = "trigger.url"', '[nodes.headers]', 'X-One = "1"', 'X-Two = ["2"]')}`,
    )
    const [fault, ...more] = faultsOf(text)
    expect(more).toEqual([])
    expect(fault).toMatchObject({ line: text.split('\n').indexOf('X-Two = ["2"]') + 1 })
    expect(fault?.path).toBe('/nodes/0/headers/X-Two')
  })

  it('of 10,000 nodes is refused in one sentence', () => {
    const nodes = Array.from({ length: 10_000 }, (_, at) => node(`n${at}`, 'merge'))
    const edges = Array.from({ length: 9_999 }, (_, at) => edge(`n${at}`, `n${at + 1}`))
    const faults = faultsOf(workflow('n0', [...nodes, ...edges].join('')))
    expect(faults.map(({ message }) => message)).toEqual([expect.stringMatching(/10,000 nodes.*5,000/)])
  })

  it.each<[string, string]>([
    ['a key of a million dots', `${Array(1_000_000).fill('a').join('.')} = 1\n`],
    ['a table of a million dots', `[${Array(1_000_000).fill('a').join('.')}]\n`],
    ['a list of tables of a million dots', `[[${Array(1_000_000).fill('a').join(' . ')}]]\n`],
    ['a key of a million dots inside a value', `x = { ${Array(1_000_000).fill('"a"').join('.')} = 1 }\n`],
    [
      'the same behind a string that looks like its end',
      `a = """\n"\n"""\n${Array(500_000).fill('b').join('.')} = 1\n`,
    ],
    ['100,000 brackets', `x = ${'['.repeat(100_000)}${']'.repeat(100_000)}\n`],
    ['100,000 braces', `x = ${'{a='.repeat(100_000)}1${'}'.repeat(100_000)}\n`],
    ['2 MB of quotation marks', `x = ${'"'.repeat(2_000_000)}\n`],
    ['2 MB of line breaks and then rubbish', `${'\n'.repeat(2_000_000)}=`],
    [
      '50,000 keys of 64 parts',
      Array.from({ length: 50_000 }, (_, at) => `k${at}${'.a'.repeat(63)} = 1`).join('\n'),
    ],
  ])('of %s is refused', (_name, text) => {
    const faults = faultsOf(text)
    expect(faults[0]?.code).toMatch(/^agentd_/)
    expect(JSON.stringify(faults).length).toBeLessThan(100_000)
  })

  it('may say dots where they are no key', () => {
    const dots = Array(1_000).fill('a').join('.')
    const text = workflow(
      'go',
      node('go', 'template_render', `template = "${dots}" # ${dots}`, 'input_from = "trigger"'),
    )
    expect(parseAgentd(text, nodeKind).diagnostics).toEqual([])
  })

  it('takes a pattern that looks like a regular expression by its letters, and says so', () => {
    const text = workflow(
      'go',
      `[policy.fs]\nread = ["/srv/.*\\\\.json$", "/srv/*/x"]\n${node('go', 'read_file', 'path_from = "trigger.path"')}`,
    )
    const { graph, diagnostics } = parseAgentd(text, nodeKind)
    expect(graph?.policy.allow?.fs.read).toEqual(['/srv/.*\\.json$', '/srv/*/x'])
    expect(diagnostics.map(({ severity }) => severity)).toEqual(['warning', 'warning'])
    expect(diagnostics[0]?.message).toMatch(/liter|as it stands|by its letters/)
  })
})
