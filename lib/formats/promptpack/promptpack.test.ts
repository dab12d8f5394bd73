import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '@/lib/base/canonical-json'
import type { Diagnostic } from '@/lib/base/diagnostic'
import type { Json, JsonObject } from '@/lib/base/json'
import { isProblem } from '@/lib/base/problem'
import { nodeKind } from '@/lib/nodes/registry'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { versionOf } from '@/lib/workflow/versions'
import { last, packOf, to } from './pack-fixture'
import { parsePack, writePack } from './promptpack'

function parsed(pack: JsonObject) {
  return parsePack(JSON.stringify(pack), nodeKind)
}

function faultsOf(pack: JsonObject): Diagnostic[] {
  return parsed(pack).diagnostics.filter(({ code }) => code !== 'promptpack_accepted_by')
}

/** Code and place of everything but remarks. */
function codesOf(pack: JsonObject): string[] {
  return faultsOf(pack)
    .filter(({ severity }) => severity !== 'info')
    .map(({ severity, code, path }) => `${severity} ${code.replace('promptpack_', '')} ${path}`)
}

function read(pack: JsonObject): WorkflowGraph {
  const { graph, diagnostics } = parsed(pack)
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  return graph as WorkflowGraph
}

describe('a pack becomes a stepwise graph', () => {
  it('with a node for each state, an edge for each event, and the entry as its start', () => {
    const graph = read(
      packOf({
        work: { on_event: { Done: 'end', Again: 'work' }, max_visits: 3, on_max_visits: 'end' },
        end: { ...last, description: 'The last' },
      }),
    )
    expect(graph).toMatchObject({
      name: 'a-pack',
      description: 'A pack',
      format: 'promptpack',
      order: 'stepwise',
      starts: [{ name: 'main', node: 'work' }],
      edges: [
        { from: 'work', to: 'end', when: 'Done' },
        { from: 'work', to: 'work', when: 'Again' },
      ],
      nodes: [
        { id: 'work', kind: 'prompt_state', maxVisits: 3, onMaxVisits: 'end' },
        { id: 'end', kind: 'prompt_state', config: { terminal: true }, extra: { description: 'The last' } },
      ],
    })
    expect(graph.nodes[0]?.config).toEqual({ prompt: 'p', template: 'Do it.', backend: 'default' })
  })

  it('with what its prompts say of tools, rounds and parameters', () => {
    const graph = read(
      packOf(
        { s: { ...last, persistence: 'persistent' } },
        {
          prompts: {
            p: {
              tools: ['look', 'touch', 'look'],
              tool_policy: {
                tool_choice: 'required',
                max_rounds: 4,
                max_tool_calls_per_turn: 9,
                blocklist: ['touch'],
              },
              parameters: { temperature: 0.2, max_tokens: 500, top_p: 0.9, top_k: 3 },
            },
          },
          tools: { look: {}, touch: {} },
          engine: { backend: 'fast' },
        },
      ),
    )
    expect(graph.nodes[0]?.config).toMatchObject({
      tools: ['look'],
      tool_choice: 'required',
      max_rounds: 4,
      max_tool_calls: 9,
      temperature: 0.2,
      max_tokens: 500,
      top_p: 0.9,
      persistence: 'persistent',
      backend: 'fast',
    })
    expect(graph.tools?.map(({ name }) => name)).toEqual(['look', 'touch'])
  })

  it('holds numbers within what a step can be given, and says so', () => {
    const pack = packOf(
      { s: last },
      { prompts: { p: { tool_policy: { max_rounds: 500 }, parameters: { max_tokens: 5_000_000 } } } },
    )
    expect(read(pack).nodes[0]?.config).toMatchObject({ max_rounds: 64, max_tokens: 1_000_000 })
    expect(codesOf(pack)).toEqual([
      'warning above_bound /prompts/p/tool_policy/max_rounds',
      'warning above_bound /prompts/p/parameters/max_tokens',
    ])
  })

  it('with a node that waits where the state is led from outside', () => {
    const graph = read(
      packOf(
        {
          ask: { orchestration: 'external', description: 'May it be done?', ...to('mixed', 'Yes') },
          mixed: { orchestration: 'hybrid', ...to('end') },
          end: last,
        },
        { engine: { role: 'operator', roles: { ask: 'operator:oncall' } } },
      ),
    )
    expect(graph.nodes[0]).toMatchObject({
      kind: 'await_event',
      config: { question: 'May it be done?', role: 'operator:oncall', prompt: 'p', template: 'Do it.' },
    })
    expect(graph.nodes[0]?.config).not.toHaveProperty('backend')
    expect(graph.nodes[1]).toMatchObject({
      kind: 'prompt_state',
      config: { orchestration: 'hybrid', role: 'operator' },
    })
    expect(graph.nodes[2]?.config).not.toHaveProperty('role')
  })

  it('lets a state outside that names no event be answered all the same', () => {
    const graph = read(packOf({ ask: { orchestration: 'external', on_event: {} } }))
    expect(graph.nodes[0]?.config).toMatchObject({ question: 'What happened at "ask"?', events: ['Done'] })
  })

  it('waits where the orchestration is no word, so that a slip takes no gate away', () => {
    const ask = (orchestration: string) => packOf({ ask: { orchestration, ...to('end', 'Yes') }, end: last })
    for (const [word, mend] of [
      ['extern', 'Did you mean "external"?'],
      ['External', 'Did you mean "external"?'],
      ['hybird', 'Did you mean "hybrid"?'],
      ['swarm', 'Write internal, hybrid, external.'],
    ] as const) {
      const graph = read(ask(word))
      expect(graph.nodes[0]).toMatchObject({ kind: 'await_event', config: { prompt: 'p' } })
      expect(faultsOf(ask(word))).toMatchObject([
        {
          severity: 'warning',
          code: 'promptpack_unknown_word',
          path: '/workflow/states/ask/orchestration',
          message: expect.stringContaining('waits for its event from outside'),
          mend,
        },
      ])
      expect(writePack(graph)).toContain(`orchestration: ${word}`)
    }
    expect(codesOf(packOf({ end: { orchestration: 'extern', ...last } }))).toEqual([
      'warning terminal_orchestration /workflow/states/end/orchestration',
    ])
  })

  it('asks what came of a composition, which is not run', () => {
    const pack = packOf(
      { s: { orchestration: 'composition', composition: 'c', ...to('end') }, end: last },
      {
        pack: { compositions: { c: { version: 1, steps: [{ id: 'a', kind: 'prompt', prompt_task: 'p' }] } } },
      },
    )
    expect(read(pack).nodes[0]).toMatchObject({
      kind: 'await_event',
      config: { question: 'The composition "c" is not run here: what came of it?' },
    })
    expect(faultsOf(pack)).toContainEqual(
      expect.objectContaining({
        severity: 'info',
        code: 'promptpack_kept_compositions',
        path: '/compositions',
      }),
    )
  })

  it('gives a name that is no id one of its own, and keeps the name', () => {
    const graph = read(
      packOf({
        'wait for input': { on_event: { Done: 'wait_for_input', Skip: 'trigger' } },
        wait_for_input: to('!!'),
        trigger: to('!!'),
        '!!': last,
      }),
    )
    expect(graph.nodes.map(({ id, label }) => [id, label])).toEqual([
      ['wait_for_input_2', 'wait for input'],
      ['wait_for_input', 'wait_for_input'],
      ['state_trigger', 'trigger'],
      ['_', '!!'],
    ])
    expect(graph.edges.map(({ to }) => to)).toEqual(['wait_for_input', 'state_trigger', '_', '_'])
  })

  it('gives names that come to the same letters, or are very long, ids of their own', () => {
    const names = ['!', '?', '', '🚀'.repeat(200), '𝒜'.repeat(200), 'trigger', 'trigger_2']
    const graph = read(packOf(Object.fromEntries(names.map((name) => [name, last]))))
    expect(new Set(graph.nodes.map(({ id }) => id)).size).toBe(names.length)
    expect(parsePack(writePack(graph), nodeKind).graph).toEqual(graph)
  })

  it('shares one slot between the states that declare it', () => {
    const text = { type: 'text/plain' }
    const graph = read(
      packOf({
        a: {
          ...to('b'),
          artifacts: { log: { type: 'application/json', mode: 'append', description: 'All' } },
        },
        b: { ...last, artifacts: { log: { type: 'application/json', mode: 'append' }, sum: text } },
      }),
    )
    expect(graph.artifacts).toEqual([
      { name: 'log', mediaType: 'application/json', mode: 'append', extra: { description: 'All' } },
      { name: 'sum', mediaType: 'text/plain', mode: 'replace', extra: {} },
    ])
    expect(graph.nodes.map(({ config }) => config.artifacts)).toEqual([['log'], ['log', 'sum']])
  })

  it('asks for the variables of its prompts, required where a state that is reached requires them', () => {
    const variable = (name: string, more: JsonObject = {}) => ({
      name,
      type: 'string',
      required: true,
      ...more,
    })
    const pack = packOf(
      { a: { prompt_task: 'p', ...last }, lost: { prompt_task: 'q', ...to('a') } },
      {
        prompts: {
          p: {
            system_template: '{{goal}} {{tone}}',
            variables: [
              variable('goal', {
                description: 'What for',
                validation: { min_length: 2, pattern: '^[a-z]+$' },
              }),
              { name: 'tone', type: 'string', required: false, default: 'calm', example: 'glad' },
            ],
          },
          q: { system_template: '{{other}}', variables: [variable('other', { type: 'number' })] },
          unused: { variables: [variable('never')] },
        },
      },
    )
    expect(read(pack).input).toEqual({
      type: 'object',
      properties: {
        goal: { type: 'string', description: 'What for', minLength: 2, pattern: '^[a-z]+$' },
        tone: { type: 'string', default: 'calm', examples: ['glad'] },
        other: { type: 'number' },
      },
      required: ['goal'],
    })
    expect(read(pack).nodes[0]?.config.variables).toEqual([
      { name: 'goal', required: true },
      { name: 'tone', default: 'calm' },
    ])
  })

  it('fills a name that another prompt declares, and says so', () => {
    const pack = packOf(
      { a: { ...to('b') }, b: { prompt_task: 'q', ...last } },
      {
        prompts: {
          p: {
            system_template: '{{x}}',
            variables: [{ name: 'x', type: 'string', required: false, default: 'd' }],
          },
          q: '{{ x }} and {{y.z}}',
        },
      },
    )
    expect(read(pack).nodes[1]?.config.variables).toEqual([{ name: 'x', default: 'd' }])
    const [shared, nobody] = faultsOf(pack)
    expect(shared).toMatchObject({
      code: 'promptpack_variable_undeclared',
      message:
        'Prompt "q" of state "b" uses {{x}}, which it does not declare; it is filled as prompt "p" declares it.',
    })
    expect(nobody?.message).toContain('uses {{y}} and declares no such variable')
  })
})

describe('a pack without a workflow', () => {
  it('is its entry agent’s prompt as one last state', () => {
    const pack = packOf(undefined, {
      prompts: { p: 'One', q: 'Two' },
      pack: { agents: { entry: 'q', members: { q: {}, p: {} } } },
    })
    expect(read(pack)).toMatchObject({
      starts: [{ name: 'main', node: 'q' }],
      nodes: [{ id: 'q', kind: 'prompt_state', config: { template: 'Two', terminal: true } }],
    })
    expect(faultsOf(pack)).toContainEqual(
      expect.objectContaining({ code: 'promptpack_kept_agents', path: '/agents/members/p' }),
    )
  })

  it('is its only prompt, and nothing where there are several', () => {
    expect(read(packOf(undefined)).nodes).toHaveLength(1)
    const [fault] = faultsOf(packOf(undefined, { prompts: { p: 'One', q: 'Two' } }))
    expect(fault).toMatchObject({
      severity: 'error',
      code: 'promptpack_nothing_to_run',
      message: 'The pack has 2 prompts and neither a workflow nor agents, so there is nothing to run.',
    })
  })

  it('lets agents begin at states of their own', () => {
    const pack = packOf(
      { a: to('end'), b: to('end'), end: last },
      { pack: { agents: { entry: 'p', members: { p: { state: 'b' } } } } },
    )
    expect(read(pack).starts).toEqual([
      { name: 'main', node: 'a' },
      { name: 'p', node: 'b' },
    ])
    // What an agent begins with is reached.
    expect(codesOf(pack)).toEqual([])
  })

  it('refuses agents that lead nowhere', () => {
    const agents = { entry: 'nobody', members: { ghost: {}, p: { state: 'gone' } } }
    expect(codesOf(packOf({ a: last }, { pack: { agents } }))).toEqual([
      'error unknown_agent /agents/entry',
      'error unknown_prompt /agents/members/ghost',
      'error unknown_state /agents/members/p/state',
    ])
  })
})

describe('fragments', () => {
  const fragments = { voice: 'Be brief. {{fragments.rule}}', rule: 'No {{what}}.' }

  it('are put in when the pack is read, one inside another, and by their bare names', () => {
    const graph = read(
      packOf(
        { s: last },
        { prompts: { p: '{{fragments.voice}} {{ rule }} {{artifacts.rule}}' }, pack: { fragments } },
      ),
    )
    expect(graph.nodes[0]?.config.template).toBe('Be brief. No {{what}}. No {{what}}. {{artifacts.rule}}')
  })

  it('that contain each other, or are not there, are errors', () => {
    const pack = (fragments: JsonObject) =>
      packOf({ s: last }, { prompts: { p: '{{fragments.a}}' }, pack: { fragments } })
    const cycle = faultsOf(pack({ a: '{{fragments.b}}', b: '{{fragments.a}}' }))
    expect(cycle).toContainEqual(
      expect.objectContaining({
        severity: 'error',
        code: 'promptpack_fragment_cycle',
        message: 'Fragments contain each other without end: "a" → "b" → "a".',
      }),
    )
    expect(codesOf(pack({ a: '{{fragments.gone}}' }))).toEqual(['error unknown_fragment /fragments/a'])
    expect(faultsOf(pack({ b: 'x' }))).toContainEqual(
      expect.objectContaining({ code: 'promptpack_unknown_fragment', mend: 'Did you mean "b"?' }),
    )
  })

  it('that double each other thirty times cost no more than their bound', () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [
        `f${at}`,
        at === 0 ? 'x' : `{{fragments.f${at - 1}}}`.repeat(2),
      ]),
    )
    const pack = packOf({ s: last }, { prompts: { p: '{{fragments.f29}}' }, pack: { fragments: doubling } })
    expect(codesOf(pack).some((code) => code.startsWith('error template_too_long'))).toBe(true)
  })
})

describe('the rules of RFC 0009', () => {
  it('1: a last state has no events', () => {
    const pack = packOf({ a: { ...last, ...to('a') } })
    expect(codesOf(pack)).toEqual(['warning terminal_events /workflow/states/a/on_event'])
    expect(read(pack)).toMatchObject({ edges: [], nodes: [{ extra: { on_event: { Done: 'a' } } }] })
  })

  it('2: a forced exit leads to a state, and a chain of them comes to an end', () => {
    const bounded = (target: string) => ({ ...to('end'), max_visits: 1, on_max_visits: target })
    expect(codesOf(packOf({ a: bounded('gone'), end: last }))).toEqual([
      'error unknown_state /workflow/states/a/on_max_visits',
    ])
    const closed = packOf({ a: bounded('b'), b: bounded('c'), c: bounded('b'), end: last })
    expect(faultsOf(closed)).toEqual([
      expect.objectContaining({
        severity: 'error',
        code: 'promptpack_exit_cycle',
        message:
          'Forced exits lead around in a circle: "b" → "c" → "b". Once all have had their visits, a run could neither stay nor leave.',
        path: '/workflow/states/b/on_max_visits',
      }),
    ])
    expect(codesOf(packOf({ a: bounded('a'), end: last }))).toEqual([
      'error exit_cycle /workflow/states/a/on_max_visits',
    ])
    expect(codesOf(packOf({ a: bounded('b'), b: bounded('c'), c: bounded('end'), end: last }))).toEqual([])
    expect(codesOf(packOf({ a: { ...to('end'), on_max_visits: 'end' }, end: last }))).toEqual([
      'warning exit_unused /workflow/states/a/on_max_visits',
    ])
  })

  it('3: a name stands once, in either language', () => {
    const text = (slots: string) => `
id: a-pack
name: A
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts: { p: { id: p, name: P, version: 1.0.0, system_template: Hello } }
workflow:
  version: 2
  entry: a
  states:
    a:
      prompt_task: p
      terminal: true
      artifacts:${slots}`
    const twice = '\n        x: { type: text/plain }\n        "x": { type: text/html }\n'
    expect(parsePack(text(twice)).diagnostics).toEqual([
      expect.objectContaining({
        code: 'promptpack_duplicate_name',
        line: 16,
        column: 9,
        path: '/workflow/states/a/artifacts/x',
      }),
    ])
    expect(parsePack('{"id":"a","id":"b"}').diagnostics).toEqual([
      expect.objectContaining({ code: 'promptpack_duplicate_name', line: 1, column: 11 }),
    ])
    const differently = packOf({
      a: { ...to('b'), artifacts: { x: { type: 'text/plain' } } },
      b: { ...last, artifacts: { x: { type: 'text/plain', mode: 'append' } } },
    })
    expect(faultsOf(differently)).toEqual([
      expect.objectContaining({
        severity: 'error',
        code: 'promptpack_artifact_differs',
        path: '/workflow/states/b/artifacts/x',
        message: expect.stringContaining('all states share it'),
      }),
    ])
  })

  it('4: an artifact that a prompt names is declared by its state, or at least by another', () => {
    const pack = packOf(
      { a: { ...to('b'), artifacts: { x: { type: 'text/plain' } } }, b: { prompt_task: 'q', ...last } },
      { prompts: { p: '{{artifacts.x}}', q: '{{artifacts.x}} {{artifacts.y}}' } },
    )
    expect(faultsOf(pack)).toMatchObject([
      {
        severity: 'warning',
        code: 'promptpack_artifact_unknown',
        message: 'Prompt "q" of state "b" names the artifact "y", which no state declares; it stays empty.',
        path: '/prompts/q/system_template',
      },
      {
        severity: 'warning',
        code: 'promptpack_artifact_not_declared',
        message: expect.stringContaining('"x" (of "a")'),
        path: '/workflow/states/b',
      },
    ])
  })

  it('5: the budget leaves room for the visits of the states that can be reached', () => {
    const pack = (most: number) =>
      packOf(
        {
          a: { ...to('b'), max_visits: 3 },
          b: { ...last, max_visits: 2 },
          lost: { ...to('b'), max_visits: 99 },
        },
        { engine: { budget: { max_total_visits: most } } },
      )
    expect(codesOf(pack(5))).toEqual(['warning unreachable_state /workflow/states/lost'])
    expect(faultsOf(pack(4)).find(({ code }) => code.endsWith('below_visits'))).toMatchObject({
      severity: 'warning',
      code: 'promptpack_budget_below_visits',
      path: '/workflow/engine/budget/max_total_visits',
      mend: expect.stringContaining('at least 5'),
    })
  })

  it('6: nothing of it is needed', () => {
    expect(codesOf(packOf({ a: to('b'), b: last }, { workflow: { version: 1 } }))).toEqual([])
  })

  it('7: a state that leads nowhere says that it is the last', () => {
    expect(codesOf(packOf({ a: { on_event: {} } }))).toEqual(['warning dead_end /workflow/states/a'])
    expect(codesOf(packOf({ a: { on_event: {}, max_visits: 1 } }))).toEqual([])
  })
})

describe('loops and names', () => {
  it('are warned of when neither a state nor the budget bounds them', () => {
    const states = {
      a: { on_event: { Go: 'b', Again: 'a' } },
      b: { on_event: { Back: 'a', Out: 'end' } },
      end: last,
    }
    expect(faultsOf(packOf(states))).toMatchObject([
      { code: 'promptpack_loop_unbounded', message: expect.stringContaining('loop "a" → "a"') },
      { code: 'promptpack_loop_unbounded', message: expect.stringContaining('loop "a" → "b" → "a"') },
    ])
    for (const budget of [{ max_total_visits: 9 }, { max_wall_time_sec: 9 }] as JsonObject[])
      expect(codesOf(packOf(states, { engine: { budget } }))).toEqual([])
    expect(codesOf(packOf({ ...states, a: { ...states.a, max_visits: 2 } }))).toEqual([])
    expect(codesOf(packOf(states, { engine: { budget: { max_tool_calls: 9 } } }))).toHaveLength(2)
  })

  it('that lead nowhere are errors, each at its place', () => {
    const pack = packOf(
      { a: { ...to('bb') }, b: { prompt_task: 'gone', ...last } },
      { workflow: { entry: 'start' } },
    )
    expect(codesOf(pack)).toEqual([
      'error unknown_state /workflow/entry',
      'error unknown_state /workflow/states/a/on_event/Done',
      'error unknown_prompt /workflow/states/b/prompt_task',
    ])
  })

  it('of events are PascalCase, or warned of', () => {
    const pack = packOf({ a: { on_event: { tests_passed: 'b', error: 'b', OK2: 'b' } }, b: last })
    expect(faultsOf(pack)).toMatchObject([
      { severity: 'warning', code: 'promptpack_event_case', mend: 'Write "TestsPassed".' },
      { severity: 'warning', message: expect.stringContaining('also taken when the step itself fails') },
    ])
    expect(codesOf(packOf({ a: { on_event: { '': 'b' } }, b: last }))).toContain(
      'error bad_event /workflow/states/a/on_event/',
    )
  })

  it('of another workflow version are not supported', () => {
    const [fault] = faultsOf(packOf({ a: last }, { workflow: { version: 3 } }))
    expect(fault).toMatchObject({
      code: 'promptpack_unsupported_version',
      message: 'The workflow is of version 3, which is not supported; versions 1 and 2 are.',
    })
  })

  it('of template languages that are not run are pointed out', () => {
    const pack = packOf(
      { a: last },
      {
        prompts: { p: '{{#if x}}a{{/if}} {{x | upper}}' },
        pack: { template_engine: { version: 'v1', syntax: '<variable>', features: ['conditionals'] } },
      },
    )
    expect(codesOf(pack)).toEqual([
      'warning template_syntax /template_engine/syntax',
      'warning template_syntax /prompts/p/system_template',
    ])
  })
})

describe('tools', () => {
  const tools = { run_tests: {}, deep: {}, ask: {}, metrics: {} }
  const states = { a: { ...last, artifacts: { test_report: { type: 'application/json' } } } }
  const prompts = { p: { tools: ['run_tests', 'deep', 'ask', 'metrics'] } }
  const bindings = {
    run_tests: {
      shell_run: { command: '/usr/bin/node', args: ['--test', '{{args.test_path}}'] },
      artifacts: { test_report: '' },
    },
    deep: { call: { workflow: 'other.pack.yaml', input_from: 'args.input' } },
    ask: { await_event: { question: '{{args.question}}', role: 'operator' } },
    metrics: { http_request: { method: 'GET', url: '{{args.url}}', expect_status: '{{args.status}}' } },
  }

  it('are bound to what runs them', () => {
    const pack = packOf(states, { tools, prompts, engine: { bindings } })
    expect(codesOf(pack)).toEqual([])
    const graph = read(pack)
    expect(graph.tools?.[0]).toEqual({
      name: 'run_tests',
      description: 'A tool.',
      parameters: { type: 'object', properties: {} },
      binding: {
        kind: 'shell_run',
        config: bindings.run_tests.shell_run,
        artifacts: { test_report: '' },
      },
      extra: {},
    })
    expect(graph.tools?.map(({ binding }) => binding?.kind)).toEqual([
      'shell_run',
      'call',
      'await_event',
      'http_request',
    ])
  })

  it('that a state may use and nothing runs are named, with how to bind them', () => {
    const pack = packOf(states, {
      tools,
      prompts: { p: { tools: ['run_tests', 'deep'] }, unused: { tools: ['ask'] } },
      pack: { agents: { entry: 'p', members: { p: { state: 'a' }, deep: { state: 'a' } } } },
    })
    expect(faultsOf(pack)).toMatchObject([
      {
        severity: 'warning',
        code: 'promptpack_tool_unbound',
        path: '/tools/run_tests',
        mend: expect.stringContaining('workflow.engine.bindings'),
      },
      { code: 'promptpack_tool_unbound', message: expect.stringContaining('an agent has its name') },
    ])
  })

  it('are refused bindings that say nothing, too much or what cannot run one', () => {
    const bound = (binding: Json) =>
      faultsOf(packOf(states, { tools, engine: { bindings: { run_tests: binding } } })).filter(
        ({ severity }) => severity === 'error',
      )
    expect(bound({})).toMatchObject([
      { code: 'promptpack_bad_binding', message: expect.stringContaining('says nothing of what runs it') },
    ])
    expect(bound({ shel_run: {} })).toMatchObject([
      {
        code: 'promptpack_bad_binding',
        mend: 'Did you mean "shell_run"?',
        path: '/workflow/engine/bindings/run_tests/shel_run',
      },
    ])
    expect(bound({ shell_run: { command: '/a' }, call: { workflow: 'x' } })).toMatchObject([
      { message: 'The binding of tool "run_tests" names "shell_run" and "call"; exactly one can run it.' },
    ])
    for (const kind of ['condition', 'prompt_state', 'tool_call', 'task', 'pause_for_approval'])
      expect(bound({ [kind]: {} })).toMatchObject([{ code: 'promptpack_bad_binding' }])
    expect(bound({ shell_run: { command: '/a', argz: [] } })).toMatchObject([
      { code: 'promptpack_unknown_member', mend: 'Did you mean "args"?' },
    ])
    expect(bound({ shell_run: { command: 'make' } })).toMatchObject([
      {
        code: 'promptpack_bad_value',
        message: expect.stringContaining('"shell_run.command" of the binding of tool "run_tests"'),
        path: '/workflow/engine/bindings/run_tests/shell_run/command',
      },
    ])
    expect(bound('x')).toMatchObject([{ message: 'The binding of tool "run_tests" is no object.' }])
    expect(bound({ shell_run: { command: '/a' }, artifacts: { gone: '', test_report: '..' } })).toMatchObject(
      [
        { code: 'promptpack_unknown_artifact' },
        { code: 'promptpack_bad_value', message: expect.stringContaining('from what is no path') },
      ],
    )
  })

  it('are warned of when the model picks the program', () => {
    const engine = { bindings: { run_tests: { shell_run: { command: '{{args.program}}' } } } }
    expect(codesOf(packOf(states, { tools, engine }))).toEqual([
      'warning model_picks_program /workflow/engine/bindings/run_tests/shell_run/command',
    ])
  })

  it('fill artifacts in the short form of the RFC too', () => {
    const with_results = (result_bindings: JsonObject) =>
      packOf(states, { tools, engine: { bindings: { run_tests: bindings.run_tests }, result_bindings } })
    const shell = { run_tests: { shell_run: bindings.run_tests.shell_run } }
    for (const [result, path] of [
      [{ run_tests: 'test_report' }, ''],
      [{ 'run_tests.output': 'artifacts.test_report' }, ''],
      [{ 'run_tests.output.summary': 'test_report' }, 'summary'],
      [{ 'run_tests.stdout': 'test_report' }, 'stdout'],
    ] as const) {
      const graph = read(packOf(states, { tools, engine: { bindings: shell, result_bindings: result } }))
      expect(graph.tools?.[0]?.binding?.artifacts).toEqual({ test_report: path })
    }
    expect(codesOf(with_results({ 'run_tests.stdout': 'test_report' }))).toEqual([
      'error artifact_bound_twice /workflow/engine/result_bindings/run_tests.stdout',
    ])
    expect(codesOf(with_results({ gone: 'test_report', deep: 'gone' }))).toEqual([
      'error unknown_tool /workflow/engine/result_bindings/gone',
      'error unknown_artifact /workflow/engine/result_bindings/deep',
    ])
  })

  it('that prompts name and the pack does not declare are errors; reserved names as well', () => {
    const pack = packOf(
      { a: last },
      { tools: { workflow__transition: {}, 'a b': { name: 'a b' } }, prompts: { p: { tools: ['gone'] } } },
    )
    expect(codesOf(pack)).toEqual([
      'error unknown_tool /prompts/p/tools/0',
      'error bad_name /tools/workflow__transition',
      'warning tool_name /tools/a b',
      'warning tool_name_spaces /tools/a b/name',
    ])
  })
})

describe('the engine', () => {
  it('bounds visits, tool calls and time', () => {
    const budget = { max_total_visits: 30, max_tool_calls: 200, max_wall_time_sec: 600 }
    expect(read(packOf({ a: last }, { engine: { budget } })).budget).toEqual({
      maxTotalVisits: 30,
      maxToolCalls: 200,
      maxActiveS: 600,
    })
  })

  it('keeps a budget that only one schema accepts, and says that it bounds nothing', () => {
    const pack = packOf({ a: last }, { engine: { budget: { max_total_visits: '30', max_tool_calls: 2 } } })
    expect(codesOf(pack)).toEqual(['warning budget_unread /workflow/engine/budget/max_total_visits'])
    expect(read(pack).budget).toEqual({ maxToolCalls: 2 })
  })

  it('names models, secrets, servers and what may be reached, as agentd files do', () => {
    const engine = {
      backends: [{ name: 'fast', provider: 'scripted', path: 'answers.json' }],
      secrets: [{ name: 'KEY', source: 'env', var: 'SHOP_KEY' }],
      mcp_servers: [{ name: 'shop', command: ['npx', 'shop'] }],
      policy: {
        roots: [{ path: '/data', access: 'write' }],
        private_targets: ['127.0.0.1:8080'],
        shell: { commands: ['/usr/bin/node'] },
      },
      timeout: '30s',
    }
    const graph = read(packOf({ a: last }, { engine }))
    expect(graph).toMatchObject({
      backends: [{ name: 'fast', provider: 'scripted', path: 'answers.json' }],
      secrets: [{ name: 'KEY', from: { env: 'SHOP_KEY' } }],
      policy: {
        roots: [{ path: '/data', access: 'write' }],
        privateTargets: ['127.0.0.1:8080'],
        allow: { shell: { commands: ['/usr/bin/node'] } },
      },
      extra: { mcp_servers: engine.mcp_servers, workflow: { engine: { timeout: '30s' } } },
    })
    const declared = read(packOf({ a: last }, { engine: { policy: { roots: engine.policy.roots } } }))
    expect(declared.policy.allow).toBeUndefined()
  })

  it('refuses what it cannot read of its own members', () => {
    const engine = {
      backend: 7,
      roles: { gone: 'operator', a: 'operator' },
      policy: { rootz: [], private_targets: [''] },
      secrets: [{ name: 'K' }],
      bindings: [],
    }
    expect(
      codesOf(packOf({ a: last }, { engine })).map((code) => code.replace(/^(\S+ \S+) .*engine/, '$1 ')),
    ).toEqual(
      expect.arrayContaining([
        'error bad_value /backend',
        'error unknown_state /roles/gone',
        'warning role_unused /roles/a',
        'error bad_value /bindings',
        'error bad_value /policy/private_targets/0',
      ]),
    )
  })
})

describe('what is not executed', () => {
  it('is kept, and named once each', () => {
    const evaluation = { id: 'e', type: 't', trigger: 'every_turn' }
    const pack = packOf(
      { a: { ...last, skills: './skills' } },
      {
        prompts: {
          p: {
            evals: [evaluation],
            validators: [{ type: 'v', enabled: true }],
            pipeline: { stages: ['template'] },
            media: { enabled: true },
            model_overrides: { m: {} },
            parameters: { top_k: 3 },
          },
          q: { evals: [evaluation] },
        },
        pack: { evals: [evaluation], skills: ['./skills'] },
      },
    )
    const remarks = faultsOf(pack).filter(({ severity }) => severity === 'info')
    expect(remarks.map(({ code }) => code.replace('promptpack_kept_', '')).sort()).toEqual(
      ['evals', 'media', 'model_overrides', 'parameters', 'pipeline', 'skills', 'validators'].sort(),
    )
    expect(read(pack).nodes[0]?.extra.skills).toBe('./skills')
  })
})

describe('writing', () => {
  it('gives back what was read, in either language', () => {
    const pack = packOf(
      {
        'first one': { on_event: { Done: 'end', Again: 'first one' }, max_visits: 2, on_max_visits: 'end' },
        end: {
          ...last,
          artifacts: { x: { type: 'text/plain', mode: 'append', description: 'X' } },
          skills: 'none',
        },
      },
      {
        tools: { t: { name: 'T t', parameters: { type: 'object', properties: { a: { type: 'string' } } } } },
        engine: {
          budget: { max_total_visits: 9 },
          bindings: { t: { shell_run: { command: '/bin/true' } } },
          hint: [1, 'yes', null],
        },
        pack: { description: 'Long\ntext: "quoted"', fragments: { '<<': 'kept' }, metadata: { tags: ['a'] } },
      },
    )
    const graph = read(pack)
    for (const language of ['yaml', 'json'] as const) {
      const again = parsePack(writePack(graph, language), nodeKind)
      expect(again.graph && versionOf(again.graph)).toBe(versionOf(graph))
    }
    expect(canonicalJson(JSON.parse(writePack(graph, 'json')))).toBe(canonicalJson(pack))
  })

  it('refuses a graph that a pack has no words for', () => {
    const graph = read(packOf({ a: last }))
    const written = (other: WorkflowGraph) => {
      try {
        return writePack(other)
      } catch (error) {
        expect(isProblem(error, 'workflow_invalid')).toBe(true)
        return (error as Error).message
      }
    }
    expect(written({ ...graph, vocabulary: 'cascade' })).toContain('a pack has no words for its vocabulary')
    expect(
      written({ ...graph, policy: { roots: [{ path: '/', access: 'read' }], privateTargets: [] } }),
    ).toContain('no words for its policy')
    expect(written(graphOf({ a: {} }))).toContain('came as atd')
  })

  it('loses nothing of any pack', () => {
    fc.assert(
      fc.property(packs, (pack) => {
        const { graph, diagnostics } = parsed(pack)
        expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
        const whole = graph as WorkflowGraph
        expect(canonicalJson(JSON.parse(writePack(whole, 'json')))).toBe(canonicalJson(pack))
        expect(parsePack(writePack(whole, 'yaml'), nodeKind).graph).toEqual(whole)
      }),
      { numRuns: 60 },
    )
  })
})

const awkward = fc.constantFrom(
  '',
  ' ',
  'yes',
  'null',
  '1.0',
  '0x1F',
  '- a',
  'a: b',
  '# no',
  "it's",
  '"',
  '\n',
  'a\n\n b\n',
  ' lead',
  'trail ',
  '\t',
  '&a',
  '*a',
  '!t',
  '%x',
  '@',
  '<<',
  '{{',
  '🚀 é',
  '\u2028',
  '\u0085',
  '---',
  '...',
)
const words = fc.oneof(awkward, fc.string({ unit: 'grapheme', maxLength: 30 }))
const anyName = fc
  .oneof(awkward, fc.string({ unit: 'grapheme', maxLength: 12 }))
  .filter((name) => name !== '__proto__')
const anyValue = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.parse(JSON.stringify(value).replaceAll('__proto__', 'p')) as Json)
const filledText = words.map((text) => text || 'x')

const packs: fc.Arbitrary<JsonObject> = fc
  .record({
    names: fc.uniqueArray(anyName, { minLength: 1, maxLength: 5 }),
    bits: fc.array(fc.nat({ max: 1_000 }), { minLength: 40, maxLength: 40 }),
    texts: fc.array(filledText, { minLength: 12, maxLength: 12 }),
    hint: anyValue,
    slots: fc.uniqueArray(anyName, { maxLength: 3 }),
  })
  .map(({ names, bits, texts, hint, slots }) => {
    let at = 0
    const bit = (most: number) => (bits[at++ % bits.length] ?? 0) % most
    const text = () => texts[bit(texts.length)] ?? 'x'
    const name = () => names[bit(names.length)] ?? ''
    const maybe = (members: JsonObject): JsonObject => (bit(2) === 0 ? {} : members)
    const artifacts = Object.fromEntries(
      slots.map((slot) => [slot, { type: 'text/plain', description: text(), ...maybe({ mode: 'replace' }) }]),
    )
    const states = names.map((own): [string, JsonObject] => {
      const terminal = bit(4) === 0
      const onEvent = Object.fromEntries(
        ['Go', 'Back', 'low'].slice(0, 1 + bit(3)).map((event) => [event, name()]),
      )
      return [
        own,
        {
          prompt_task: 'p',
          ...(terminal
            ? { terminal, ...maybe({ on_event: onEvent }) }
            : { on_event: bit(5) === 0 ? {} : onEvent }),
          ...maybe({ description: text() }),
          ...maybe({ max_visits: 1 + bit(9) }),
          ...maybe({ orchestration: ['internal', 'external', 'hybrid'][bit(3)] ?? 'internal' }),
          ...maybe({ persistence: ['transient', 'persistent'][bit(2)] ?? 'transient' }),
          ...maybe({ skills: text() }),
          ...maybe({ artifacts }),
        },
      ]
    })
    return packOf(Object.fromEntries(states), {
      prompts: { p: { system_template: text(), description: text(), tools: ['t'] }, q: text() },
      tools: { t: { description: text(), parameters: { type: 'object', properties: { a: { x: hint } } } } },
      engine: {
        hint,
        ...maybe({ budget: { max_total_visits: 9 } }),
        ...maybe({ bindings: { t: { await_event: { question: text() } } } }),
        ...maybe({ backend: 'b' }),
      },
      pack: {
        description: text(),
        fragments: Object.fromEntries(slots.map((slot) => [slot, 'y'])),
        metadata: { hint },
      },
    })
  })

describe('a hostile text', () => {
  it('of 2,000 states is read, faults and all', () => {
    const states = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, at) => [
        `s${at}`,
        {
          on_event: { Next: `s${(at + 1) % 2_000}`, Back: `s${at - 1}` },
          artifacts: { [`a${at}`]: { type: 'text/plain' } },
        },
      ]),
    )
    const pack = packOf(states, {
      prompts: { p: Array.from({ length: 50 }, (_, at) => `{{artifacts.a${at}}}`).join('') },
    })
    expect(parsed(pack).diagnostics).toHaveLength(100)
    const yaml = writePack(read(packOf(Object.fromEntries(Object.keys(states).map((name) => [name, last])))))
    expect(parsePack(yaml, nodeKind).graph?.nodes).toHaveLength(2_000)
  })

  it('is refused for its size or depth before it costs anything', () => {
    expect(parsePack(`id: ${'x'.repeat(9_000_000)}`).diagnostics).toMatchObject([
      { code: 'promptpack_too_long' },
    ])
    for (const text of [`a: ${'['.repeat(100_000)}`, '- '.repeat(100_000), '{a: '.repeat(50_000)])
      expect(parsePack(text).diagnostics[0]?.severity).toBe('error')
    expect(parsePack('\n'.repeat(1_000_000)).diagnostics[0]?.code).toBe('promptpack_too_many_values')
  })

  it('never throws, and always says where', () => {
    const text = JSON.stringify(packOf({ a: { ...to('b'), max_visits: 2 }, b: last }))
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"',
      '\n',
      '- ',
      'a: ',
      '&a ',
      '*a',
      '!!binary x',
      '<<: ',
      '#',
      '|\n',
      '\t',
      '? ',
      '---\n',
      '\ud800',
      '\u0000',
      '{{',
    )
    fc.assert(
      fc.property(
        fc.array(fc.oneof(piece, fc.string()), { maxLength: 20 }),
        fc.nat({ max: 400 }),
        (pieces, at) => {
          for (const broken of [pieces.join(''), text.slice(0, at) + pieces.join('') + text.slice(at)]) {
            const { graph, diagnostics } = parsePack(broken, nodeKind)
            expect(graph !== undefined || diagnostics.length > 0).toBe(true)
            for (const { line, column } of diagnostics) expect(Math.min(line, column)).toBeGreaterThan(0)
          }
        },
      ),
      { numRuns: 150 },
    )
  })

  it('cannot poison what is looked up by name', () => {
    for (const text of ['{"__proto__": {"id": "x"}}', 'a: { __proto__: { id: x } }'])
      expect(parsePack(text).diagnostics).toMatchObject([
        { code: 'promptpack_bad_name', message: '"__proto__" is reserved and cannot be a name.' },
      ])
    const pack = packOf(
      { constructor: to('toString'), toString: last },
      { prompts: { p: '{{fragments.valueOf}} {{artifacts.hasOwnProperty}}' }, pack: { fragments: {} } },
    )
    expect(codesOf(pack)).toContain('error unknown_fragment /prompts/p/system_template')
    expect(codesOf(packOf({ a: to('constructor') }))).toContain(
      'error unknown_state /workflow/states/a/on_event/Done',
    )
    const variable = { name: '__proto__', type: 'string', required: true }
    expect(codesOf(packOf({ a: last }, { prompts: { p: { variables: [variable] } } }))).toContain(
      'error bad_name /prompts/p/variables/0/name',
    )
  })
})

describe('a slip in a name is told with the name that was meant', () => {
  const meant = (pack: JsonObject) =>
    faultsOf(pack)
      .filter(({ severity }) => severity === 'error')
      .map(({ path, mend }) => `${path} ${mend}`)

  it('of a state, a prompt and a tool', () => {
    expect(
      meant(
        packOf(
          {
            work: { ...to('reveiw'), max_visits: 2, on_max_visits: 'revew' },
            review: { ...to('end'), prompt_task: 'codr' },
            end: last,
          },
          { prompts: { p: { tools: ['lok'] }, coder: 'Code.' }, tools: { look: {} } },
        ),
      ).sort(),
    ).toEqual([
      '/prompts/p/tools/0 Did you mean "look"?',
      '/workflow/states/review/prompt_task Did you mean "coder"?',
      '/workflow/states/work/on_event/Done Did you mean "review"?',
      '/workflow/states/work/on_max_visits Did you mean "review"?',
    ])
  })

  it('of the member that is missing', () => {
    const pack = packOf({ work: { prompt_tsk: 'p', ...to('end') }, end: last })
    const { work } = (pack.workflow as JsonObject).states as Record<string, JsonObject>
    delete work?.prompt_task
    expect(meant(pack).sort()).toEqual([
      '/workflow/states/work Did you mean "prompt_task" where "prompt_tsk" is written?',
      '/workflow/states/work/prompt_tsk Did you mean "prompt_task"?',
    ])
  })
})

describe('arguments that a binding takes', () => {
  const binding = (parameters: JsonObject | undefined, bound: JsonObject) =>
    faultsOf(
      packOf(
        { s: last },
        { tools: { find: parameters ? { parameters } : {} }, engine: { bindings: { find: bound } } },
      ),
    ).map(({ severity, code, path, message, mend }) => `${severity} ${code} ${path} ${message} ${mend}`)
  const declared = { type: 'object', properties: { pattern: { type: 'string' }, folder: { type: 'string' } } }
  const grep = (args: string[], more: JsonObject = {}) => ({
    shell_run: { command: '/usr/bin/grep', args, ...more },
  })

  it('are those that its tool has', () => {
    expect(binding(declared, grep(['-e', '{{args.pattern}}', '{{ args.folder.0 }}']))).toEqual([])
    expect(binding(declared, { read_file: { path_from: 'args.folder' } })).toEqual([])
    expect(binding(declared, grep(['{{args.patern}}', '{{args.depth}}']))).toEqual([
      'warning promptpack_unknown_argument /workflow/engine/bindings/find/shell_run/args/0 The binding of tool "find" takes the argument "patern", which the tool does not have; it has "pattern", "folder". Did you mean "pattern"?',
      'warning promptpack_unknown_argument /workflow/engine/bindings/find/shell_run/args/1 The binding of tool "find" takes the argument "depth", which the tool does not have; it has "pattern", "folder". Take one of those, or declare it under "properties" of the parameters.',
    ])
    expect(binding(declared, { read_file: { path_from: 'args.foldr' } })).toEqual([
      expect.stringContaining(
        '/find/read_file/path_from The binding of tool "find" takes the argument "foldr"',
      ),
    ])
  })

  it('are not judged where the tool names none, or takes others too', () => {
    const takes = grep(['{{args.depth}}'])
    expect(binding(undefined, takes)).toEqual([])
    expect(binding({ ...declared, additionalProperties: true }, takes)).toEqual([])
    expect(binding({ ...declared, anyOf: [{}] }, takes)).toEqual([])
    expect(binding({ ...declared, properties: {} }, takes)).toEqual([expect.stringContaining('it has none.')])
  })
})

it('never says of a faulty pack that nothing is to be done', () => {
  const { diagnostics } = parsed(packOf({ work: to('nowhere') }))
  expect(diagnostics.map(({ severity, code, mend }) => [severity, code, mend])).toEqual(
    expect.arrayContaining([['info', 'promptpack_accepted_by', 'Its form needs no change.']]),
  )
  expect(diagnostics.map(({ mend }) => mend).join(' ')).not.toContain('Nothing is to be done')
})
