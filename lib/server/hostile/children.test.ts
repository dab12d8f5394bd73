/** Files and workflows that a workflow names: only where its author may name them, and none of their content in errors. */
import { execFileSync } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isProblem } from '@/lib/base/problem'
import { parseAgentd } from '@/lib/formats/agentd/agentd'
import { nodeKind } from '@/lib/nodes/registry'
import { grantedTo } from '@/lib/policy/grants'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { underCaller } from '../child-workflows'
import { node, Scene, workflow } from './scene'

let scene: Scene
beforeEach(async () => {
  scene = await Scene.open()
})
afterEach(async () => {
  expect(await scene.close()).toEqual([])
})

/** Texts as they stand in files that nobody should see, in the shapes of the readers they are fed to. */
const kept: [string, string][] = [
  ['shadow', 'root:$6$hunter2$hunter2:19000:0:99999:7:::\n'],
  ['env.toml', 'API_KEY="hunter2"\nTOKEN=\'hunter2\'\n'],
  ['json', '{"hunter2":"hunter2","type":"hunter2","answers":{"hunter2":1}}\n'],
  ['json-list', '["hunter2"]\n'],
  ['broken-json', '{"a": hunter2 }\n'],
  ['tables.toml', 'hunter2 = "hunter2"\nname = "hunter2"\n[hunter2]\n'],
  ['refs', '{"$ref":"#/hunter2","type":"hunter2","pattern":"(hunter2"}\n'],
  ['rego', 'package hunter2\nallow if hunter2 hunter2\n'],
]

const quoted = (text: string) => JSON.stringify(text)
const calling = (file: string) => workflow('go', node('go', 'call', `workflow = ${quoted(file)}`))

const asking = (file: string, schema?: string) =>
  workflow(
    'go',
    [
      node(
        'go',
        'llm_infer',
        'backend = "m"',
        'prompt = "x"',
        ...(schema === undefined ? [] : [`output_schema = ${quoted(schema)}`]),
      ),
      `[[intelligence.backends]]\nname = "m"\nprovider = "scripted"\npath = ${quoted(file)}\n`,
    ].join(''),
  )

/** How it ended in words, whatever refused it, with all it says of the reasons. */
async function said(way: 'served' | 'alone', text: string): Promise<string> {
  try {
    const outcome = await scene[way](text, { input: { x: 1 } })
    return JSON.stringify(outcome)
  } catch (error) {
    if (!isProblem(error)) throw error
    return `${error.code}: ${error.message} ${JSON.stringify(error.data)}`
  }
}

describe('a file the author names', () => {
  const ways: [string, (file: string) => string, RegExp][] = [
    [
      'a child workflow',
      calling,
      /workflow_unknown|There is no workflow|cannot be run|This is not a workflow/,
    ],
    ['a scripted backend', (file) => asking(file), /script/],
    ['an output schema', (file) => asking('answers.json', file), /schema|"parsed":|content/],
    [
      'a Rego policy',
      (file) =>
        `${workflow('go', node('go', 'read_env', 'key = "LANG"'))}[policy.rego]\npolicy = ${quoted(file)}\n`,
      /policy/,
    ],
  ]

  it.each(ways)('as %s tells nothing of what stands in it', async (_name, of, words) => {
    await scene.file('authored/answers.json', '{"answers":["plain text"],"repeat":true}')
    for (const [name, content] of kept) {
      const file = await scene.file(`secrets/${name}`, content)
      await scene.file(`authored/${name}`, content)
      for (const way of ['served', 'alone'] as const) {
        for (const named of way === 'served' ? [file, name] : [file]) {
          const told = (await said(way, of(named))).replaceAll(named, '')
          expect({ name, named, way, told }).toEqual({ name, named, way, told: expect.stringMatching(words) })
          expect({ name, named, way, told }).not.toEqual({
            name,
            named,
            way,
            told: expect.stringContaining('hunter2'),
          })
        }
      }
    }
  })

  it('is a file: devices, pipes, folders and endless ones are passed over at once', async () => {
    const at = (name: string) => path.join(scene.authored, name)
    execFileSync('mkfifo', [at('pipe')])
    await mkdir(at('folder'))
    await scene.file('authored/long', `#${'x'.repeat(6_000_000)}`)
    for (const file of [
      'pipe',
      'folder',
      'long',
      at('pipe'),
      '/dev/zero',
      '/dev/stdin',
      '/dev/tty',
      '/proc/self/mem',
      '.',
      '/',
      '',
    ]) {
      for (const way of ['served', 'alone'] as const) {
        for (const [, of] of ways) {
          const told = await said(way, of(file))
          expect(told).not.toContain('completed')
        }
      }
    }
  })

  it('lies in the installation’s own folder for such files, and no symlink leads out of it', async () => {
    const child = workflow('end', node('end', 'terminate'))
    const outside = await scene.file('outside/child.toml', child)
    await symlink(outside, path.join(scene.authored, 'link.toml'))
    await symlink(path.dirname(outside), path.join(scene.authored, 'sub'))
    for (const named of [outside, '../outside/child.toml', 'link.toml', 'sub/child.toml']) {
      expect(await said('served', calling(named))).toContain('There is no workflow')
      expect(JSON.parse(await said('alone', calling(named)))).toMatchObject({ status: 'completed' })
    }
  })

  it('is no file of the run’s own making: steps’ folders are not looked in', async () => {
    await scene.file('data/files/child.toml', workflow('end', node('end', 'terminate')))
    expect(await said('served', calling('child.toml'))).toContain('There is no workflow')
  })
})

describe('a child workflow with a wider policy than its caller’s', () => {
  const wide =
    '[policy.fs]\nread = ["*"]\nwrite = ["*"]\n[policy.shell]\ncommands = ["*"]\n[policy.env]\nread_keys = ["*"]\n[policy.http]\nurls = ["*"]\n'
  const narrow = '[policy.fs]\nread = ["open/**"]\n'

  const children: [string, string, RegExp][] = [
    ['reads a file', node('go', 'read_file', 'path_from = "trigger.path"'), /fs\.read denied/],
    [
      'writes a file',
      node('go', 'write_file', 'path_from = "trigger.path"', 'content_from = "trigger.path"'),
      /fs\.write denied/,
    ],
    ['runs a program', node('go', 'shell_run', 'command = "/bin/true"'), /shell\.run denied/],
    ['reads a variable', node('go', 'read_env', 'key = "HOME"'), /env\.read denied/],
    [
      'sends a request',
      node('go', 'http_request', 'method = "GET"', 'url_from = "trigger.url"'),
      /http\.request denied/,
    ],
  ]

  it.each(children)('that %s is held to the caller’s', async (_name, step, words) => {
    await scene.file('data/files/kept.txt', 'kept')
    await scene.file('authored/child.toml', `${workflow('go', step)}${wide}`)
    const input = { path: 'kept.txt', url: 'http://127.0.0.1:9/' }
    const text = `${calling('child.toml')}${narrow}`
    expect(JSON.stringify(await scene.served(text, { input }))).toMatch(words)
    expect(JSON.stringify(await scene.alone(text, { input }))).toMatch(words)
  })

  it('gets no programs and no variables on a server where its caller names none at all', async () => {
    for (const [step, words] of [
      [node('go', 'shell_run', 'command = "/bin/true"'), /shell\.run denied/],
      [node('go', 'read_env', 'key = "HOME"'), /env\.read denied/],
    ] as const) {
      await scene.file('authored/child.toml', `${workflow('go', step)}${wide}`)
      expect(JSON.stringify(await scene.served(calling('child.toml')))).toMatch(words)
    }
  })

  it('holds a grandchild, too, and one that a loop or a list begins', async () => {
    await scene.file(
      'authored/grandchild.toml',
      `${workflow('go', node('go', 'read_env', 'key = "HOME"'))}${wide}`,
    )
    await scene.file('authored/child.toml', `${calling('grandchild.toml')}${wide}`)
    const mapping = workflow(
      'go',
      node('go', 'map', 'items_from = "trigger.items"', 'workflow = "child.toml"', 'max_items = 3'),
    )
    const told = JSON.stringify(await scene.served(`${mapping}${narrow}`, { input: { items: [1, 2] } }))
    expect(told).toMatch(/env\.read denied on HOME/)
    expect(told).not.toContain(process.env.HOME ?? '/root')
  })

  it('cannot be undone past it: a compensation that names a denied target refuses the step before it is done', async () => {
    const asked: string[] = []
    const url = await scene.server((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      response.end('{}')
    })
    const step = (compensate: string) =>
      workflow(
        'go',
        node(
          'go',
          'http_request',
          'method = "POST"',
          'url_from = "trigger.url"',
          '[nodes.compensate]',
          'method = "DELETE"',
          `url = "${compensate}"`,
        ),
      )
    const policy = `[policy.http]\nurls = ["${url}/orders/**"]\nmethods = ["POST", "DELETE"]\n`
    for (const denied of [
      `${url}/admin`,
      `${url}/orders/../admin`,
      'http://169.254.169.254/x',
      `${url}/orders/..%2fadmin`,
    ]) {
      const outcome = await scene.served(`${step(denied)}${policy}`, { input: { url: `${url}/orders/1` } })
      expect({ denied, status: outcome.status, asked }).toEqual({ denied, status: 'errored', asked: [] })
      expect(outcome.reason).toMatch(/denied on/)
    }
  })
})

describe('a child of a workflow that declares its folders', () => {
  const atd = (policy: object): WorkflowGraph => ({
    ...(parseAgentd(calling('child.toml'), nodeKind).graph as WorkflowGraph),
    format: 'atd',
    policy: { roots: [], privateTargets: [], ...policy },
  })
  const silent = parseAgentd(workflow('go', node('go', 'read_file', 'path_from = "trigger.path"')), nodeKind)
    .graph as WorkflowGraph
  const house = { installationRoots: ['/srv/lab'], unconfined: false }

  it('gets those folders and no others', () => {
    const roots = [{ path: 'open', access: 'read' as const }]
    expect(grantedTo(underCaller(silent, atd({ roots }), false), house).policy.roots).toEqual(roots)
  })

  it('gets none where its caller declares none, though by itself it would get all', () => {
    const { policy } = grantedTo(underCaller(silent, atd({}), false), house)
    expect(policy).toMatchObject({
      roots: [],
      privateTargets: [],
      allow: { fs: { read: [] }, shell: { commands: [] } },
    })
  })
})
