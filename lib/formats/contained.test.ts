import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Diagnostic } from '@/lib/base/diagnostic'
import type { JsonObject } from '@/lib/base/json'
import { agentLoopGraph } from '@/lib/nodes/agent-loop-graph'
import { promptTurnGraph, turnNode } from '@/lib/nodes/prompt-turn-graph'
import { nodeKind } from '@/lib/nodes/registry'
import type { GraphNode, WorkflowGraph } from '@/lib/workflow/graph'
import { versionOf } from '@/lib/workflow/versions'
import { parseAgentd, writeAgentd } from './agentd/agentd'
import { parseAtd, writeAtd } from './atd'
import { readWorkflow } from './format'
import { last, packOf } from './promptpack/pack-fixture'
import { parsePack, writePack } from './promptpack/promptpack'

/** The claims as the draft prints them (ATD sections 6.4 and 9.1), and Holdpoint's own beside them. */
const constraints = {
  'atd.circuit_threshold': 0.5,
  'atd.circuit_window_s': 60,
  'atd.resource_cpu': '2',
  'atd.resource_memory_mb': 4096,
  'atd.resource_timeout_s': 300,
  'atd.resource_priority': 'high',
  'atd.resource_gpu': '0',
  'atd.resource_network_mbps': 100,
  'hp.circuit_min_calls': 3,
  'hp.when_open': 'degrade',
  'hp.on_error': 'rollback',
  'acme.zone': 'eu',
}
const hints = { priority: 'critical', timeout_s: 20, memory_mb: '512', acme: 1 }
const containment = { on_error: 'escalate', on_unprepared: 'partial' }

const meant: Partial<GraphNode> = {
  priority: 'high',
  timeoutS: 300,
  resources: { cpu: 2, memoryMb: 4096, gpu: 0, networkMbps: 100 },
  circuit: { threshold: 0.5, windowS: 60, minCalls: 3 },
  whenOpen: 'degrade',
  onError: 'rollback',
}

interface Language {
  name: string
  /** A workflow of one step that says these members, and this of the whole. */
  text(said: JsonObject, whole?: JsonObject): string
  parse(text: string): {
    graph?: WorkflowGraph
    diagnostics: Diagnostic[]
  }
  write(graph: WorkflowGraph): string
  /** Pointer of the step's member, and of the containment. */
  member: string
  whole: string
  /** What makes the step one that changes nothing, where it is not one. */
  reading: JsonObject
}

const languages: Language[] = [
  {
    name: 'atd',
    text: (said, whole) =>
      JSON.stringify({
        wf_id: 'w',
        ...(whole ? { containment: whole } : {}),
        nodes: [{ id: 'a', ...said }],
        edges: [],
      }),
    parse: (text) => parseAtd(text, nodeKind),
    write: writeAtd,
    member: '/nodes/0/',
    whole: '/containment/',
    reading: { action: { type: 'read_file', path: 'a.txt' } },
  },
  {
    name: 'agentd',
    text: (said, whole) =>
      [
        'name = "w"',
        ...(whole ? [`containment = ${inline(whole)}`] : []),
        '[[start_nodes]]\nname = "main"\nsource = "manual"\nentry_node = "a"',
        '[[nodes]]\nid = "a"\ntype = "merge"',
        ...Object.entries(said).map(([name, value]) => `${name} = ${inline(value)}`),
      ].join('\n'),
    parse: (text) => parseAgentd(text, nodeKind),
    write: writeAgentd,
    member: '/nodes/0/',
    whole: '/containment/',
    reading: {},
  },
  {
    name: 'promptpack',
    text: (said, whole) => packText({ states: { a: said }, ...(whole ? { containment: whole } : {}) }),
    parse: (text) => parsePack(text, nodeKind),
    write: writePack,
    member: '/workflow/engine/states/a/',
    whole: '/workflow/engine/containment/',
    reading: {},
  },
]

function inline(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)} = ${inline(one)}`)
  return `{ ${members.join(', ')} }`
}

function packText(engine: JsonObject): string {
  return JSON.stringify(packOf({ a: last }, { engine }))
}

describe.each(languages)(
  'what a step asks for, in $name',
  ({ text, parse, write, member, whole, reading }) => {
    const read = (source: string): WorkflowGraph => {
      const { graph, diagnostics } = parse(source)
      expect(graph, JSON.stringify(diagnostics)).toBeDefined()
      return graph as WorkflowGraph
    }
    const faults = (source: string) =>
      parse(source)
        .diagnostics.filter(({ code }) => /wrong_type|unknown_|_bounds/.test(code))
        .map(({ code, path, message }) => `${code.replace(/^[a-z]+_/, '')} ${path} ${message}`)

    it('is warned of where "rollback" has no checkpoint to go back to, and is a workflow all the same', () => {
      const told = (source: string) => {
        const { graph, diagnostics } = parse(source)
        expect(graph).toBeDefined()
        const about = diagnostics.filter(({ code }) => code.endsWith('_nothing_to_roll_back'))
        for (const { severity, line, column } of about) {
          expect(severity).toBe('warning')
          expect(source.split('\n')[line - 1]?.slice(column - 1)).toMatch(
            /^"?(hp\.on_error|on_error|rollback)/,
          )
        }
        return about.map(({ path, message, mend }) => [path, message, mend])
      }
      const step = told(text({ ...reading, constraints: { 'hp.on_error': 'rollback' } }))
      expect(step).toEqual([
        [
          `${member}constraints/hp.on_error`,
          expect.stringContaining('says "rollback" on an error, but'),
          expect.stringContaining('Choose "escalate"'),
        ],
      ])
      const all = told(text(reading, { on_error: 'rollback' }))
      expect(all).toEqual([
        [
          `${whole}on_error`,
          'The workflow says "rollback" on an error, but no step that it holds for takes a checkpoint to go back to: nothing follows from an error in one.',
          expect.stringContaining('add a step that has an effect'),
        ],
      ])
      expect(told(text(reading, { on_error: 'escalate' }))).toEqual([])
    })

    it('is read from its constraints as the draft prints them', () => {
      expect(read(text({ constraints })).nodes[0]).toMatchObject(meant)
    })

    it('is what the hints say, where they say something', () => {
      expect(read(text({ constraints, resource_hints: hints })).nodes[0]).toMatchObject({
        ...meant,
        priority: 'critical',
        timeoutS: 20,
        resources: { cpu: 2, memoryMb: 512, gpu: 0, networkMbps: 100 },
      })
    })

    it('comes back from its own text as the same version, with what nobody here reads', () => {
      const graph = read(text({ constraints, resource_hints: hints }, containment))
      expect(graph.containment).toEqual({ onError: 'escalate', onUnprepared: 'partial' })
      const again = read(write(graph))
      expect(again).toEqual(graph)
      expect(versionOf(again)).toBe(versionOf(graph))
      for (const kept of ['acme.zone', 'acme', '512']) expect(write(graph)).toContain(kept)
    })

    it('is written as changed when the graph was changed', () => {
      const graph = read(text({ constraints }))
      const { whenOpen: _, resources: __, ...rest } = graph.nodes[0] as GraphNode
      const node: GraphNode = { ...rest, priority: 'low', circuit: { windowS: 90 } }
      const again = read(write({ ...graph, nodes: [node] })).nodes[0]
      expect(again).toMatchObject({
        priority: 'low',
        circuit: { windowS: 90 },
        timeoutS: 300,
        onError: 'rollback',
      })
      expect(again).not.toHaveProperty('whenOpen')
      expect(again).not.toHaveProperty('resources')
      expect(again?.circuit).toEqual({ windowS: 90 })
    })

    it('adds nothing to a step that says nothing', () => {
      const [node] = read(text({})).nodes
      expect(node?.priority).toBe('normal')
      expect(Object.keys(node?.extra ?? {})).not.toContain('constraints')
      expect(write(read(text({})))).not.toMatch(/constraints|resource_hints|states: *\{\}/)
    })

    it.each<[string, JsonObject, string, string]>([
      [
        'a share above all',
        { constraints: { 'atd.circuit_threshold': 50 } },
        'constraints/atd.circuit_threshold',
        '"atd.circuit_threshold" is 50; a number from 0 to 1 was expected.',
      ],
      [
        'a window of no seconds',
        { constraints: { 'atd.circuit_window_s': 0 } },
        'constraints/atd.circuit_window_s',
        '"atd.circuit_window_s" is 0; a number from 1 to 3,600 was expected.',
      ],
      [
        'half a call',
        { constraints: { 'hp.circuit_min_calls': 0.5 } },
        'constraints/hp.circuit_min_calls',
        '"hp.circuit_min_calls" is 0.5; a whole number from 1 to 10,000 was expected.',
      ],
      [
        'another way out',
        { constraints: { 'hp.when_open': 'skip' } },
        'constraints/hp.when_open',
        '"hp.when_open" is "skip"; one of "wait", "fail", "degrade" was expected.',
      ],
      [
        'another consequence',
        { constraints: { 'hp.on_error': true } },
        'constraints/hp.on_error',
        '"hp.on_error" is true; one of "nothing", "escalate", "rollback" was expected.',
      ],
      [
        'a fifth class',
        { resource_hints: { priority: 'urgent' } },
        'resource_hints/priority',
        '"priority" is "urgent"; one of "critical", "high", "normal", "low" was expected.',
      ],
      [
        'memory in words',
        { resource_hints: { memory_mb: 'much' } },
        'resource_hints/memory_mb',
        '"memory_mb" is "much"; a number from 0 to 100,000,000 was expected.',
      ],
      [
        'hints that are none',
        { resource_hints: 'fast' },
        'resource_hints',
        '"resource_hints" is "fast"; an object was expected.',
      ],
    ])('is refused where it is %s', (_, said, at, message) => {
      expect(faults(text(said))).toEqual([`wrong_type ${member}${at} ${message}`])
    })

    it('is a slip where one of our own constraints is spelled wrong', () => {
      const { graph, diagnostics } = parse(text({ constraints: { 'hp.when_opne': 'fail' } }))
      expect(graph?.nodes[0]).not.toHaveProperty('whenOpen')
      expect(diagnostics).toContainEqual(
        expect.objectContaining({
          severity: 'warning',
          code: expect.stringMatching(/_unknown_constraint$/),
          path: `${member}constraints/hp.when_opne`,
          mend: 'Did you mean "hp.when_open"?',
        }),
      )
    })

    it('is held against the bounds of the graph, at its place', () => {
      const { diagnostics } = parse(text({ resource_hints: { timeout_s: -1 } }))
      expect(diagnostics).toContainEqual(
        expect.objectContaining({ path: `${member}resource_hints/timeout_s`, severity: 'error' }),
      )
    })

    it('and what the whole says of errors, are refused alike', () => {
      expect(faults(text({}, { on_error: 'panic', on_eror: 'nothing' }))).toEqual(
        expect.arrayContaining([
          `wrong_type ${whole}on_error "on_error" is "panic"; one of "nothing", "escalate", "rollback" was expected.`,
          `unknown_member ${whole}on_eror "containment" has no member "on_eror"; it knows on_error, on_unprepared.`,
        ]),
      )
    })
  },
)

describe('a constraint in TOML without quotation marks', () => {
  const file = (lines: string) =>
    `name = "w"\n[[start_nodes]]\nname = "main"\nsource = "manual"\nentry_node = "a"\n[[nodes]]\nid = "a"\ntype = "merge"\n[nodes.constraints]\n${lines}\n`

  it('means the same', () => {
    const { graph } = parseAgentd(file('atd.circuit_window_s = 90\nhp.when_open = "fail"'), nodeKind)
    expect(graph?.nodes[0]).toMatchObject({ circuit: { windowS: 90 }, whenOpen: 'fail' })
    expect(parseAgentd(writeAgentd(graph as WorkflowGraph)).graph).toEqual(graph)
  })

  it('may not stand there in both ways', () => {
    const { diagnostics } = parseAgentd(
      file('atd.circuit_window_s = 90\n"atd.circuit_window_s" = 30'),
      nodeKind,
    )
    expect(diagnostics).toMatchObject([
      { code: 'agentd_constraint_twice', line: 11, message: expect.stringContaining('only one can count') },
    ])
  })

  it('is told where it stands', () => {
    const { diagnostics } = parseAgentd(file('atd.circuit_window_s = 90\nhp.when_open = "skip"'), nodeKind)
    expect(diagnostics).toMatchObject([
      { code: 'agentd_wrong_type', line: 11, column: 16, path: '/nodes/0/constraints/hp/when_open' },
    ])
  })
})

describe('a pack', () => {
  it('may not speak of a state that is not there', () => {
    const { diagnostics } = parsePack(
      packText({ states: { gone: { resource_hints: { priority: 'low' } } } }),
      nodeKind,
    )
    expect(diagnostics).toContainEqual(
      expect.objectContaining({
        code: 'promptpack_unknown_state',
        path: '/workflow/engine/states/gone',
        severity: 'error',
      }),
    )
  })

  it('keeps what another runtime reads of a state', () => {
    const { graph, diagnostics } = parsePack(packText({ states: { a: { gpu_class: 'b' } } }), nodeKind)
    expect(diagnostics).toContainEqual(
      expect.objectContaining({ code: 'promptpack_unknown_member', severity: 'warning' }),
    )
    expect(writePack(graph as WorkflowGraph)).toContain('gpu_class: b')
  })
})

describe('a step that is done as a graph of its own', () => {
  it('gives its breakers and its urgency to the steps of that graph', () => {
    const said = {
      constraints: { 'hp.when_open': 'degrade', 'atd.circuit_window_s': 90 },
      resource_hints: { priority: 'high', cpu: 4 },
    }
    const { graph } = parsePack(packText({ states: { a: said }, containment }), nodeKind)
    const inner = promptTurnGraph(graph?.nodes[0] as GraphNode, graph as WorkflowGraph)
    // Without its model a turn is nothing, so it is not done without.
    expect(inner.nodes.find(({ id }) => id === turnNode)).toMatchObject({
      priority: 'high',
      circuit: { windowS: 90 },
      whenOpen: 'fail',
    })
    expect(inner.nodes[0]).not.toHaveProperty('resources')
    expect(inner.containment).toEqual({ onUnprepared: 'partial' })
  })

  it('does so in agent loops, whose tools are done without', () => {
    const parent = parseAgentd(languages[1]?.text({}) ?? '', nodeKind).graph as WorkflowGraph
    const owner: GraphNode = {
      ...(parent.nodes[0] as GraphNode),
      whenOpen: 'degrade',
      circuit: { threshold: 0.2 },
    }
    const { nodes } = agentLoopGraph(
      { backend: 'm', instructions: 'x', tools: ['http_request'], max_steps: 2 },
      parent,
      owner,
    )
    expect(nodes.map(({ whenOpen }) => whenOpen)).toEqual(['fail', ...nodes.slice(1).map(() => 'degrade')])
    for (const { circuit } of nodes) expect(circuit).toEqual({ threshold: 0.2 })
  })
})

it('is written in docs/containment.md in three ways that mean the same', () => {
  const page = readFileSync(new URL('../../docs/containment.md', import.meta.url), 'utf8')
  const texts = [...page.matchAll(/```(?:json|toml|yaml)\n([\s\S]*?)```/g)].map(([, text]) => text ?? '')
  const graphs = texts.map((text) => {
    const { graph, diagnostics } = readWorkflow(text, undefined, nodeKind)
    expect(diagnostics.filter(({ severity }) => severity !== 'info')).toEqual([])
    return graph
  })
  expect(graphs.map((graph) => graph?.format)).toEqual(['atd', 'agentd', 'promptpack'])
  for (const graph of graphs) {
    expect(graph?.containment).toEqual({ onError: 'escalate', onUnprepared: 'partial' })
    expect(graph?.nodes[0]).toMatchObject({
      id: 'read-flows',
      priority: 'high',
      timeoutS: 20,
      resources: { memoryMb: 512 },
      circuit: { threshold: 0.3, windowS: 120 },
      whenOpen: 'degrade',
    })
  }
})
