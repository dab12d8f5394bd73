import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { isProblem } from '@/lib/base/problem'
import type { ToolBinding } from '@/lib/workflow/graph'
import { setBinding } from './set-binding'

const shell: ToolBinding = {
  kind: 'shell_run',
  config: { command: '/usr/bin/node', args: ['--test', '{{args.test_path}}'] },
  artifacts: { test_report: '' },
}

const pack = `# A pack of ours
id: fixer # its name
version: 1.0.0
prompts:
  coder:
    system_template: |
      Fix it.

      Report: {{artifacts.test_report}}
    tools: [run_tests, read_file]

tools:
  run_tests: { name: run_tests, description: "Runs the tests" }
  read_file:
    name: read_file
    description: 'Reads a file'
workflow:
  version: 2
  entry: work
  engine:
    budget: # kept
      max_tool_calls: 50
    bindings:
      # how files are read
      read_file:
        read_file: { path: "{{args.path}}" }
  states:
    work:
      prompt_task: coder
      terminal: true
`

function refusalOf(act: () => unknown): string | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    if (!isProblem(error, 'bad_request')) throw error
    return error.message
  }
}

describe('a tool is bound in the text of its pack', () => {
  it('and nothing else of the text changes', () => {
    const bound = setBinding(pack, 'run_tests', shell)
    const added = `      run_tests:
        shell_run:
          command: /usr/bin/node
          args:
            - --test
            - "{{args.test_path}}"
        artifacts:
          test_report: ""
`
    expect(bound).toBe(pack.replace('  states:\n', `${added}  states:\n`))
    expect(setBinding(bound, 'run_tests', undefined)).toBe(pack)
  })

  it('in the place of the binding it had, comments around it kept', () => {
    const again = setBinding(pack, 'read_file', {
      kind: 'http_request',
      config: { method: 'GET', url: 'http://x' },
      artifacts: {},
    })
    expect(again).toContain(
      '      # how files are read\n      read_file:\n        http_request:\n          method: GET',
    )
    expect(again).not.toContain('{{args.path}}')
    expect(again.startsWith('# A pack of ours\nid: fixer # its name\n')).toBe(true)
  })

  it('where the pack has no engine, no bindings, or an empty one', () => {
    const bare = pack.replace(/ {2}engine:[\s\S]*? {2}states:/, '  states:')
    const none = pack.replace(/ {4}bindings:[\s\S]*? {2}states:/, '    bindings: {}\n  states:')
    for (const text of [bare, none]) {
      const read = parse(setBinding(text, 'run_tests', shell))
      expect(read.workflow.engine.bindings).toEqual({
        run_tests: { shell_run: shell.config, artifacts: shell.artifacts },
      })
      expect({ ...read, workflow: { ...read.workflow, engine: undefined } }).toEqual({
        ...parse(text),
        workflow: { ...parse(text).workflow, engine: undefined },
      })
    }
  })

  it('and takes over what result bindings say of it, those of others kept', () => {
    const text = pack.replace(
      '    bindings:\n',
      '    result_bindings:\n      run_tests.output: artifacts.test_report\n      read_file: seen # theirs\n    bindings:\n',
    )
    const bound = setBinding(text, 'run_tests', shell)
    expect(parse(bound).workflow.engine.result_bindings).toEqual({ read_file: 'seen' })
    expect(bound).toContain('read_file: seen # theirs')
    const own = pack.replace(
      '    bindings:\n',
      '    result_bindings: # ours\n      run_tests: test_report\n    bindings:\n',
    )
    expect(setBinding(own, 'run_tests', shell)).toBe(setBinding(pack, 'run_tests', shell))
  })

  it('in JSON as well, in its own indentation', () => {
    const json = `${JSON.stringify(parse(pack), null, 4)}\n`
    const bound = setBinding(json, 'run_tests', shell)
    expect(bound).toContain('\n                "run_tests": {\n                    "shell_run"')
    expect(JSON.parse(setBinding(bound, 'run_tests', undefined))).toEqual(JSON.parse(json))
  })

  it('also where an anchor is shared: the other place keeps what it had', () => {
    const shared = pack
      .replace('    budget: # kept', '    budget: &shared # kept')
      .replace('read_file: { path: "{{args.path}}" }', 'read_file: &read { path: "{{args.path}}" }')
    expect(
      parse(setBinding(shared, 'run_tests', shell)).workflow.engine.bindings.read_file.read_file.path,
    ).toBe('{{args.path}}')
    const alias = `${pack.replace('    bindings:\n', '    bindings: &all\n')}extra: &e\n  same: *all\n`
    expect(refusalOf(() => setBinding(alias, 'run_tests', shell))).toContain('without changing other parts')
  })

  it('only of a pack that has that tool and a workflow', () => {
    expect(refusalOf(() => setBinding(pack, 'ghost', shell))).toContain(
      'declares no tool "ghost"; there are: run_tests, read_file',
    )
    expect(refusalOf(() => setBinding('id: x\nprompts: {}\n', 'a', shell))).toContain('has no workflow')
    expect(refusalOf(() => setBinding('a: [', 'a', shell))).toContain('has no workflow')
    expect(refusalOf(() => setBinding(pack, '__proto__', shell))).toContain('declares no tool')
  })

  it('whatever the binding holds, and however the pack is written', () => {
    const text = fc.string({
      unit: fc.constantFrom(
        'a',
        '{{args.x}}',
        '\n',
        '#',
        ': ',
        '- ',
        '"',
        "'",
        '*a',
        '&b',
        '<<',
        '😀',
        '  ',
        'null',
        '1',
      ),
    })
    const config = fc.dictionary(
      fc.constantFrom('command', 'url', 'body', 'x y', '~'),
      fc.oneof(text, fc.integer(), fc.boolean(), fc.array(text)),
    )
    const name = fc.constantFrom('run_tests', 'read file', '1', 'true', 'a.b')
    fc.assert(
      fc.property(config, name, fc.boolean(), fc.boolean(), (config, tool, flow, json) => {
        const value = {
          id: 'x',
          tools: { [tool]: { description: 'd' }, other: {} },
          workflow: {
            engine: { bindings: { other: { shell_run: {} } } },
            states: { a: { description: '# no comment' } },
          },
        }
        const before = json
          ? JSON.stringify(value)
          : stringify(value, flow ? { collectionStyle: 'flow' } : {})
        const after = setBinding(before, tool, { kind: 'shell_run', config, artifacts: {} })
        expect(parse(after).workflow.engine.bindings).toEqual({
          ...value.workflow.engine.bindings,
          [tool]: { shell_run: config },
        })
      }),
      { examples: [[{ command: ['  \n'] }, 'a.b', false, false]] },
    )
  })
})
