import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '@/lib/base/canonical-json'
import type { Json, JsonObject } from '@/lib/base/json'
import { isProblem } from '@/lib/base/problem'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { versionOf } from '@/lib/workflow/versions'
import { parseAtd, writeAtd } from './atd'

const sample = readFileSync(
  new URL('../../examples/workflows/bgp-failover.atd.json', import.meta.url),
  'utf8',
)

function graphOf(text: string): WorkflowGraph {
  const { graph, diagnostics } = parseAtd(text)
  expect(diagnostics.filter((d) => d.severity === 'error')).toEqual([])
  return graph as WorkflowGraph
}

function descriptor(more: JsonObject = {}, node: JsonObject = {}): string {
  return JSON.stringify({ wf_id: 'w', nodes: [{ id: 'a', ...node }], edges: [], ...more })
}

/** The one error of a text, as code, words and place. */
function refusal(text: string): string {
  const { graph, diagnostics } = parseAtd(text)
  expect(graph).toBeUndefined()
  expect(diagnostics).toHaveLength(1)
  const [d] = diagnostics
  return `${d?.line}:${d?.column} ${d?.code} ${d?.path} ${d?.message}`
}

describe("the draft's own descriptor", () => {
  it('is read into tasks, with approval, priority and timeout', () => {
    const graph = graphOf(sample)
    expect(graph.name).toBe('bgp-failover-v2')
    expect(graph.nodes.map((node) => [node.id, node.label, node.kind, node.priority, node.timeoutS])).toEqual(
      [
        ['n1', 'validate-config', 'task', 'normal', 30],
        ['n2', 'update-bgp-peer', 'task', 'critical', 120],
        ['n3', 'verify-session', 'task', 'high', 60],
      ],
    )
    expect(graph.nodes[1]?.approval).toMatchObject({ role: 'operator', onSilence: 'hold' })
    expect(graph.nodes[0]?.approval).toBeUndefined()
    expect(graph.edges.map(({ from, to }) => [from, to])).toEqual([
      ['n1', 'n2'],
      ['n2', 'n3'],
    ])
  })

  it('is written back byte for byte', () => {
    expect(writeAtd(graphOf(sample))).toBe(sample)
  })
})

describe('a text with more findings than are told', () => {
  it('is refused for its error, however many warnings stand before it', () => {
    const nodes = Array.from({ length: 151 }, (_, at) => ({ id: `n${at}` }))
    const edges = Array.from({ length: 150 }, (_, at) => ({ from: `n${at}`, to: `n${at + 1}`, when: 'ok' }))
    const text = JSON.stringify({ wf_id: 'w', nodes: [...nodes, { id: 'n0' }], edges })
    const { graph, diagnostics } = parseAtd(text)
    expect(graph).toBeUndefined()
    expect(diagnostics).toHaveLength(100)
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toHaveLength(1)
  })
})

describe('extension members', () => {
  it('bind a node to a kind', () => {
    const graph = graphOf(descriptor({}, { action: { type: 'read_file', path_from: 'trigger.path' } }))
    expect(graph.nodes[0]).toMatchObject({ kind: 'read_file', config: { path_from: 'trigger.path' } })
  })

  it('bind a node to a remote agent, whose operation is the label', () => {
    const agent = 'spiffe://holdpoint.local/agent/x'
    const graph = graphOf(descriptor({}, { label: 'check', agent, agent_config: { input_from: 'trigger' } }))
    expect(graph.nodes[0]).toMatchObject({
      kind: 'agent',
      config: { agent, operation: 'check', input_from: 'trigger' },
    })
  })

  it('refine an approval', () => {
    const hitl = {
      role: 'operator:oncall',
      reason: 'r',
      deadline_s: 60,
      unreachable_human: { escalate_to: 'lead' },
    }
    const graph = graphOf(descriptor({}, { hitl_required: true, hitl }))
    expect(graph.nodes[0]?.approval).toEqual({
      role: 'operator:oncall',
      reason: 'r',
      deadlineS: 60,
      onSilence: { escalateTo: 'lead' },
    })
  })

  it('let resource_hints speak before the constraints, which are kept', () => {
    const constraints = {
      'atd.resource_priority': 'high',
      'atd.resource_cpu': '2',
      'atd.resource_timeout_s': 9,
    }
    const text = descriptor({}, { constraints })
    expect(graphOf(text).nodes[0]).toMatchObject({ priority: 'high', timeoutS: 9, extra: { constraints } })
    const both = descriptor({}, { constraints, resource_hints: { priority: 'low' } })
    expect(graphOf(both).nodes[0]).toMatchObject({ priority: 'low', timeoutS: 9 })
    expect(JSON.parse(writeAtd(graphOf(text)))).toEqual({ ...JSON.parse(text), description: undefined })
  })

  it('say what a step asks of its pool and of the breaker before it', () => {
    const constraints = {
      'atd.resource_cpu': '2',
      'atd.resource_gpu': '0',
      'atd.resource_network_mbps': 100,
      'atd.circuit_threshold': 0.3,
      'atd.circuit_window_s': 120,
      'hp.circuit_min_calls': 5,
      'hp.when_open': 'degrade',
      'hp.on_error': 'rollback',
      note: 1,
    }
    const hints = { cpu: '1.5', memory_mb: 4096 }
    const containment = { on_error: 'escalate', on_unprepared: 'partial' }
    const text = descriptor({ containment }, { constraints, resource_hints: hints })
    const graph = graphOf(text)
    expect(graph.containment).toEqual({ onError: 'escalate', onUnprepared: 'partial' })
    expect(graph.nodes[0]).toMatchObject({
      resources: { cpu: 1.5, memoryMb: 4096, gpu: 0, networkMbps: 100 },
      circuit: { threshold: 0.3, windowS: 120, minCalls: 5 },
      whenOpen: 'degrade',
      onError: 'rollback',
    })
    expect(JSON.parse(writeAtd(graph))).toEqual({ ...JSON.parse(text), description: undefined })
  })

  it('of rules that ask a person are kept, and said not to ask', () => {
    const rule = {
      id: 'r-critical-error',
      trigger: { kind: 'keyword_match', op: 'eq', value: 'critical', input_ref: 'atd.severity' },
      required_role: 'operator:oncall',
      action: 'escalate',
      allow_override: true,
      override_action: 'continue',
    }
    for (const [top, node, path, words] of [
      [{ rules: [rule] }, {}, '/rules', 'This HITL rule is kept'],
      [{ hitl: { rules: [rule, rule] } }, {}, '/hitl/rules', 'These 2 HITL rules are kept'],
      [{}, { hitl_rules: [rule] }, '/nodes/0/hitl_rules', 'nothing waits for a person because of it'],
    ] as [JsonObject, JsonObject, string, string][]) {
      const text = descriptor(top, node)
      const { graph, diagnostics } = parseAtd(text)
      expect(diagnostics).toMatchObject([
        {
          severity: 'warning',
          code: 'atd_rules_kept',
          path,
          message: expect.stringContaining(words),
          line: 1,
        },
      ])
      expect(JSON.parse(writeAtd(graph as WorkflowGraph))).toEqual({
        ...JSON.parse(text),
        description: undefined,
      })
    }
    expect(parseAtd(descriptor({ rules: ['be kind'] })).diagnostics).toEqual([])
  })

  it('are changed where the graph was changed, and stay as they were spelled elsewhere', () => {
    const constraints = {
      'atd.resource_cpu': '2',
      'atd.circuit_window_s': '90',
      'hp.when_open': 'fail',
      note: 1,
    }
    const graph = graphOf(descriptor({}, { constraints, resource_hints: { memory_mb: '64', gpu: '1' } }))
    const [node] = graph.nodes as [WorkflowGraph['nodes'][number]]
    const { whenOpen: _, ...rest } = node
    const resources = { memoryMb: 64, gpu: 2 }
    const changed = { ...rest, resources, circuit: { ...node.circuit, threshold: 0.1 } }
    expect(JSON.parse(writeAtd({ ...graph, nodes: [changed] })).nodes[0]).toEqual({
      id: 'a',
      resource_hints: { memory_mb: '64', gpu: 2 },
      constraints: { 'atd.circuit_window_s': '90', note: 1, 'atd.circuit_threshold': 0.1 },
    })
  })

  it('are written as changed when the graph was changed', () => {
    const graph = graphOf(descriptor({ zeta: 1 }, { priority_note: 'x' }))
    const [node] = graph.nodes
    const changed = {
      ...graph,
      nodes: [{ ...(node as NonNullable<typeof node>), label: 'New', timeoutS: 5 }],
    }
    expect(JSON.parse(writeAtd(changed))).toEqual({
      wf_id: 'w',
      nodes: [{ id: 'a', label: 'New', priority_note: 'x', resource_hints: { timeout_s: 5 } }],
      edges: [],
      zeta: 1,
    })
  })
})

describe('refuses, with a place and a way to mend', () => {
  it.each([
    ['no JSON', 'hello', '1:1 atd_not_json  The text is not JSON. This is not a JSON value.'],
    ['nothing', '', '1:1 atd_empty  The text is empty.'],
    ['blanks', '\uFEFF \n\t', '1:1 atd_empty  The text is empty.'],
    ['a value left out', '{"wf_id":}', '1:10 atd_not_json  The text is not JSON. A value was expected here.'],
    ['a list', '[]', '1:1 atd_not_object  A workflow descriptor is an object, and this is a list.'],
    [
      'a comment',
      '{"wf_id":"w","nodes":[{"id":"a"}],\n  // why\n"edges":[]}',
      '2:3 atd_comment  JSON has no comments, and one begins here.',
    ],
    [
      'a trailing comma',
      '{"wf_id":"w","nodes":[{"id":"a"},],"edges":[]}',
      '1:33 atd_trailing_comma  Nothing follows this comma.',
    ],
    [
      'a doubled name',
      '{"wf_id":"w","wf_id":"v","nodes":[{"id":"a"}],"edges":[]}',
      '1:14 atd_duplicate_name /wf_id The name "wf_id" stands twice in this object; only one of the two would count.',
    ],
    [
      'a number beyond a double',
      '{"wf_id":"w","nodes":[{"id":"a"}],"edges":[],"n":12345678901234567890}',
      '1:50 atd_number_inexact /n The number 12345678901234567890 cannot be kept exactly; it would become 12345678901234567000.',
    ],
    [
      'half a character',
      '{"wf_id":"\\ud800","nodes":[{"id":"a"}],"edges":[]}',
      '1:10 atd_half_character /wf_id This string holds one half of a surrogate pair, which is no character.',
    ],
    ['no wf_id', '{"nodes":[{"id":"a"}],"edges":[]}', '1:1 atd_missing  The descriptor has no "wf_id".'],
    ['no edges', '{"wf_id":"w","nodes":[{"id":"a"}]}', '1:1 atd_missing  The descriptor has no "edges".'],
    [
      'a bad priority',
      '{"wf_id":"w","nodes":[{"id":"a","resource_hints":{"priority":"urgent"}}],"edges":[]}',
      '1:62 atd_wrong_type /nodes/0/resource_hints/priority "priority" is "urgent"; one of "critical", "high", "normal", "low" was expected.',
    ],
    [
      'a bad priority among constraints',
      descriptor({}, { constraints: { 'atd.resource_priority': 1 } }),
      '1:72 atd_wrong_type /nodes/0/constraints/atd.resource_priority "atd.resource_priority" is 1; one of "critical", "high", "normal", "low" was expected.',
    ],
    [
      'an amount that is none',
      descriptor({}, { resource_hints: { cpu: 'two' } }),
      '1:57 atd_wrong_type /nodes/0/resource_hints/cpu "cpu" is "two"; a number from 0 to 10,000 was expected.',
    ],
    [
      'a share of failures above all of them',
      descriptor({}, { constraints: { 'atd.circuit_threshold': 50 } }),
      '1:72 atd_wrong_type /nodes/0/constraints/atd.circuit_threshold "atd.circuit_threshold" is 50; a number from 0 to 1 was expected.',
    ],
    [
      'a breaker rule that is none',
      descriptor({}, { constraints: { 'hp.when_open': 'skip' } }),
      '1:63 atd_wrong_type /nodes/0/constraints/hp.when_open "hp.when_open" is "skip"; one of "wait", "fail", "degrade" was expected.',
    ],
    [
      'a containment that is none',
      descriptor({ containment: { on_unprepared: 'go' } }),
      '1:77 atd_wrong_type /containment/on_unprepared "on_unprepared" is "go"; one of "ask", "partial", "abort" was expected.',
    ],
    [
      'a wrong type',
      descriptor({}, { hitl_required: 'yes' }),
      '1:49 atd_wrong_type /nodes/0/hitl_required "hitl_required" is "yes"; true or false was expected.',
    ],
    [
      'deciders without a decision',
      descriptor({}, { hitl: { role: 'x' } }),
      '1:33 atd_hitl_not_required /nodes/0/hitl This node says in "hitl" who decides, but not in "hitl_required" that anybody must.',
    ],
    [
      'a misspelled policy',
      descriptor({ policy: { root: [] } }),
      '1:56 atd_unknown_member /policy/root "policy" has no member "root"; it knows roots, private_targets.',
    ],
    [
      'a cycle',
      '{"wf_id":"w","nodes":[{"id":"a"},{"id":"b"}],"edges":[{"from":"a","to":"b"},{"from":"b","to":"a"}]}',
      '1:77 atd_cycle /edges/1 The edges form a cycle: a → b → a.',
    ],
    [
      'a dangling edge',
      descriptor({ edges: [{ from: 'a', to: 'z' }] }),
      '1:61 atd_dangling_edge /edges/0/to Edge 1 goes to "z", and no node has that id.',
    ],
    [
      'a doubled id',
      '{"wf_id":"w","nodes":[{"id":"a"},{"id":"a"}],"edges":[]}',
      '1:40 atd_duplicate_id /nodes/1/id Node 2 has the id "a", which node 1 has already.',
    ],
    [
      'a POST that is said to be reversible and is not',
      descriptor(
        {},
        { reversible: true, action: { type: 'http_request', method: 'POST', url: 'https://x' } },
      ),
      '1:46 atd_not_reversible /nodes/0/reversible Node "a" says it is reversible, but a POST request without "compensate" cannot be taken back.',
    ],
  ])('%s', (_, text, words) => {
    expect(refusal(text)).toBe(words)
    expect(parseAtd(text).diagnostics[0]?.mend).toMatch(/^[A-Z].*\.$/)
  })

  it('all at once, in the order of the text', () => {
    const { graph, diagnostics } = parseAtd(
      '{\n"wf_id": 7,\n"nodes": [{"id":"a","label":1}, 5, {"id":"b c"}],\n"edges": [{"from":"a"}]\n}',
    )
    expect(graph).toBeUndefined()
    expect(diagnostics.map((d) => `${d.line} ${d.code} ${d.path}`)).toEqual([
      '2 atd_wrong_type /wf_id',
      '3 atd_wrong_type /nodes/0/label',
      '3 atd_wrong_type /nodes/1',
      '3 atd_bad_id /nodes/2/id',
      '4 atd_missing /edges/0',
    ])
  })

  it('a million nodes, before building anything of them', () => {
    const text = `{"wf_id":"w","nodes":[${'{},'.repeat(999_999)}{}],"edges":[]}`
    expect(refusal(text)).toBe(
      '1:15022 atd_too_many_nodes /nodes The list "nodes" goes on past 5,000 entries; at most 5,000 are accepted.',
    )
  })

  it('50 MB, a hundred thousand levels, and too many values', () => {
    expect(refusal(' '.repeat(50_000_000))).toContain('atd_too_long')
    expect(refusal('é'.repeat(5_000_000))).toContain('atd_too_long')
    expect(refusal('['.repeat(100_000))).toBe('1:65 atd_too_deep  The text is nested deeper than 64 levels.')
    expect(refusal(`{"x":[${'1,'.repeat(500_000)}1]}`)).toContain('atd_too_many_values')
  })

  it('a graph that ATD has no words for', () => {
    const graph = { ...graphOf(sample), order: 'stepwise' as const }
    expect(() => writeAtd(graph)).toThrow('cannot be written as an ATD descriptor: ATD has no stepwise order')
    try {
      writeAtd(graph)
    } catch (error) {
      expect(isProblem(error, 'workflow_invalid')).toBe(true)
    }
  })
})

it('reads past a byte order mark', () => {
  expect(graphOf(`\uFEFF${sample}`)).toEqual(graphOf(sample))
})

it('keeps a member named __proto__ a member', () => {
  const text = '{"wf_id":"w","nodes":[{"id":"a","__proto__":{"x":1}}],"edges":[],"__proto__":{"kind":"y"}}'
  const graph = graphOf(text)
  expect(graph.nodes[0]).not.toHaveProperty('x')
  expect(JSON.stringify(JSON.parse(writeAtd(graph)))).toBe(text)
})

describe('any descriptor', () => {
  const rare = (value: fc.Arbitrary<Json>) => fc.option(value, { nil: undefined, freq: 2 })
  const json = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>
  const unknown = fc.dictionary(
    fc.oneof(
      fc.constantFrom('$shape', '$$shape', '__proto__', 'note', 'disk', '0', 'constructor'),
      fc.string().map((name) => `x-${name}`),
    ),
    json,
    { maxKeys: 3 },
  )
  const shuffled = (fields: Record<string, fc.Arbitrary<Json | undefined>>) =>
    fc.tuple(fc.record(fields), unknown, fc.infiniteStream(fc.nat())).map(([known, more, order]) => {
      const entries = [...Object.entries(known), ...Object.entries(more)].filter(([, v]) => v !== undefined)
      const keyed = entries.map((entry) => [order.next().value as number, entry] as const)
      return Object.fromEntries(keyed.sort((a, b) => a[0] - b[0]).map(([, entry]) => entry)) as JsonObject
    })
  const closed = (fields: Record<string, fc.Arbitrary<Json | undefined>>) =>
    shuffled(fields).map(
      (object) =>
        Object.fromEntries(
          Object.entries(object).filter(([name]) => Object.hasOwn(fields, name)),
        ) as JsonObject,
    )
  const priority = fc.constantFrom('critical', 'high', 'normal', 'low')
  const hitl = closed({
    role: rare(fc.constantFrom('operator', 'lead')),
    reason: rare(fc.constantFrom('Because.', 'The workflow asks for a decision before this step.')),
    deadline_s: fc.integer({ min: 1, max: 9_999 }),
    unreachable_human: rare(
      fc.constantFrom('hold', 'deny', 'rollback', 'continue', { escalate_to: 'lead' } as Json),
    ),
  })
  const node = (id: string) =>
    fc
      .tuple(
        shuffled({
          id: fc.constant(id),
          label: rare(fc.oneof(fc.constant(id), fc.string())),
          reversible: rare(fc.boolean()),
          resource_hints: rare(
            shuffled({
              priority: rare(priority),
              timeout_s: rare(fc.integer({ min: 1, max: 99 })),
              cpu: rare(fc.constantFrom('2', 2, '0.5')),
              gpu: rare(fc.constantFrom('0', 0)),
              memory_mb: rare(fc.constant(4096)),
            }),
          ),
          constraints: rare(
            shuffled({
              'atd.resource_priority': rare(priority),
              'atd.resource_timeout_s': rare(fc.constant(9)),
              'atd.resource_cpu': rare(fc.constantFrom('2', 2)),
              'atd.circuit_threshold': rare(fc.constantFrom(0.25, '0.25')),
              'hp.when_open': rare(fc.constantFrom('wait', 'degrade')),
            }),
          ),
          retry: rare(
            closed({
              max_attempts: fc.integer({ min: 1, max: 20 }),
              base_ms: rare(fc.constantFrom(1_000, 5)),
              factor: rare(fc.constantFrom(2, 1.5)),
              jitter: rare(fc.constantFrom(0.2, 0.1)),
            }),
          ),
        }),
        fc.oneof(
          fc.constant({}),
          fc
            .constantFrom('task', 'agent', 'read_file')
            .chain((type) =>
              shuffled({ path: rare(fc.string()) }).map((config) => ({ action: { ...config, type } })),
            ),
          fc.record({ agent: fc.constant('spiffe://x/y') }),
          fc.record({
            agent: fc.constant('spiffe://x/y'),
            agent_config: shuffled({
              operation: rare(fc.constantFrom(id, 'op')),
              input_from: rare(fc.constant('trigger')),
            }),
          }),
        ),
        fc.oneof(
          fc.constant({}),
          fc.boolean().map((hitl_required) => ({ hitl_required })),
          hitl.map((inner) => ({ hitl: inner, hitl_required: true })),
        ),
      )
      .map((parts) => Object.assign({}, parts[1], ...parts.slice(2), parts[0]) as JsonObject)
  const anyDescriptor = fc.integer({ min: 1, max: 5 }).chain((count) => {
    const ids = Array.from({ length: count }, (_, at) => `n${at}`)
    const pairs = ids.flatMap((from, at) => ids.slice(at + 1).map((to) => ({ from, to })))
    const edge = ({ from, to }: { from: string; to: string }) =>
      shuffled({ from: fc.constant(from), to: fc.constant(to) })
    return shuffled({
      wf_id: fc.constantFrom('w', 'bgp failover'),
      description: rare(fc.string()),
      vocabulary: rare(fc.constantFrom('atd', 'cascade')),
      nodes: fc.tuple(...ids.map(node)) as fc.Arbitrary<Json>,
      edges: fc.subarray(pairs).chain((some) => fc.tuple(...some.map(edge))) as fc.Arbitrary<Json>,
      input: rare(fc.constant({ type: 'object', properties: { a: { type: 'string' } } })),
      policy: rare(
        closed({
          roots: rare(
            fc.array(closed({ path: fc.constant('notes'), access: fc.constantFrom('read', 'write') })),
          ),
          private_targets: rare(fc.array(fc.constant('127.0.0.1:80'))),
        }),
      ),
      containment: rare(
        closed({
          on_error: rare(fc.constantFrom('nothing', 'rollback')),
          on_unprepared: rare(fc.constant('partial')),
        }),
      ),
      budget: rare(closed({ max_run_s: rare(fc.constant(9)), max_concurrent: rare(fc.constant(2)) })),
    })
  })

  it('comes back from the graph as it was, members, order and all', () => {
    fc.assert(
      fc.property(anyDescriptor, (value) => {
        const text = JSON.stringify(value)
        const back = JSON.parse(writeAtd(graphOf(text)))
        expect(canonicalJson(back)).toBe(canonicalJson(JSON.parse(text)))
        const order = (object: Json) => JSON.stringify(object, (_, v) => v)
        // Only the roots of a policy are written in an order of their own.
        const unrooted = (object: JsonObject) => ({ ...object, policy: null })
        expect(order(unrooted(back))).toBe(order(unrooted(JSON.parse(text))))
      }),
      { numRuns: 200 },
    )
  })

  it('has the same version after a trip through text', () => {
    fc.assert(
      fc.property(anyDescriptor, (value) => {
        const graph = graphOf(JSON.stringify(value))
        expect(versionOf(graphOf(writeAtd(graph)))).toBe(versionOf(graph))
      }),
      { numRuns: 100 },
    )
  })
})
