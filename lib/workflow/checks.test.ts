import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkGraph } from './checks'
import type { WorkflowGraph } from './graph'
import { graphOf } from './graph-fixture'
import type { KindFacts, KindLookup } from './kind-facts'
import { shortVersion, versionOf } from './versions'

const knownKinds: Record<string, KindFacts> = {
  task: { config: z.strictObject({}) },
  read_file: { config: z.strictObject({ path_from: z.string(), mode: z.enum(['a', 'b']).optional() }) },
}
const kinds: KindLookup = Object.assign((kind: string) => knownKinds[kind], {
  names: Object.keys(knownKinds),
})

function said(graph: WorkflowGraph, lookup?: KindLookup): string[] {
  return checkGraph(graph, lookup).map((p) => `${p.path.join('/')} ${p.code}: ${p.message}`)
}

describe('a graph', () => {
  it('that is right has no problems', () => {
    const graph = graphOf({ a: {}, b: { kind: 'read_file', config: { path_from: 'a.path' } }, c: {} }, [
      'a>b',
      'a>c',
      'b>c',
    ])
    expect(said(graph, kinds)).toEqual([])
  })

  it('hears of all its problems at once', () => {
    const graph = graphOf(
      {
        a: { kind: 'no_such' },
        'b c': { kind: 'read_file', config: { path_form: 'x' } },
        c: { timeoutS: 0, retry: { maxAttempts: 99, baseMs: 1, factor: 1, maxMs: 1, jitter: 0 } },
        trigger: { approval: { role: '', reason: '', onSilence: 'continue' } },
      },
      ['a>a', 'a>c', 'a>c', 'c>nowhere'],
    )
    expect(said(graph, kinds)).toEqual([
      'nodes/1/id bad_id: The id "b c" is not usable: 1 to 128 letters, digits, "_", ".", ":" or "-", the first a letter, a digit or "_".',
      'nodes/3/id bad_id: "trigger" is reserved and cannot be the id of a node.',
      'nodes/0/kind unknown_kind: Node "a": "no_such" is no node kind.',
      'nodes/1/config/path_from bad_config: Node "b c": "path_from" of read_file is missing.',
      'nodes/1/config/path_form unknown_config: Node "b c": read_file has no "path_form"; it takes path_from, mode.',
      'nodes/2/retry/maxAttempts retry_bounds: Node "c": the retry\'s maxAttempts is 99; it must be a whole number from 1 to 20.',
      'nodes/2/timeoutS timeout_bounds: Node "c" has a timeout of 0 s; it must be above 0 and at most 2,592,000 s (30 days).',
      'nodes/3/approval/role approval_spec: Node "trigger": the role that decides must have 1 to 128 characters.',
      'nodes/3/approval/onSilence approval_spec: Node "trigger": it says what silence means, but there is no deadline after which silence would count.',
      'edges/0 self_edge: Edge 1 goes from "a" to itself, so the node would wait for itself.',
      'edges/2 duplicate_edge: Edge 3 repeats edge 2, "a" → "c".',
      'edges/3/to dangling_edge: Edge 4 goes to "nowhere", and no node has that id.',
    ])
  })

  it('says where "rollback" on an error has nothing to go back to, whatever steps before it did', () => {
    const graph = graphOf(
      {
        write: { kind: 'write_file' },
        read: { kind: 'read_file', label: 'Read the notes', onError: 'rollback' },
        again: { kind: 'write_file', onError: 'rollback' },
        ask: { kind: 'read_file', onError: 'escalate' },
        other: { kind: 'no_such', onError: 'rollback' },
      },
      ['write>read', 'read>again'],
    )
    const facts: Record<string, KindFacts> = {
      write_file: { config: z.strictObject({}), consequence: () => 'reversible' },
      read_file: { config: z.strictObject({}), consequence: () => 'read_only' },
    }
    const about = (of: WorkflowGraph) =>
      said(of, (kind) => facts[kind]).filter((line) => line.includes('nothing_to_roll_back'))
    expect(about(graph)).toEqual([
      'nodes/1/onError nothing_to_roll_back: Node "read" ("Read the notes") says "rollback" on an error, but read_file changes nothing and takes no checkpoint to go back to: nothing follows, and what steps before it did stays.',
    ])
    const whole = { containment: { onError: 'rollback' } } as const
    expect(about(graphOf({ a: { kind: 'read_file' }, b: { kind: 'write_file' } }, [], whole))).toEqual([])
    expect(about(graphOf({ a: { kind: 'read_file', onError: 'nothing' } }, [], whole))).toEqual([])
    expect(about(graphOf({ a: { kind: 'read_file' } }, [], whole))).toEqual([
      'containment/onError nothing_to_roll_back: The workflow says "rollback" on an error, but no step that it holds for takes a checkpoint to go back to: nothing follows from an error in one.',
    ])
  })

  it('suggests the name that was meant, and lists those there are', () => {
    const graph = graphOf({
      a: { kind: 'read_fil' },
      b: { kind: 'read_file', config: { path_from: 7, mode: 'c', mod: 'a' } },
    })
    expect(checkGraph(graph, kinds).map(({ message, mend }) => `${message} ${mend}`)).toEqual([
      'Node "a": "read_fil" is no node kind; did you mean read_file? Kinds: task, read_file.',
      'Node "b": "path_from" of read_file is a number; text was expected. Correct the value.',
      'Node "b": "mode" of read_file is not one of "a", "b". Correct the value.',
      'Node "b": read_file has no "mod"; it takes path_from, mode. Did you mean "mode"?',
    ])
  })

  it('is told which cycles it has, one for each knot', () => {
    const graph = graphOf({ a: {}, b: {}, c: {}, d: {}, e: {}, f: {} }, [
      'a>b',
      'b>c',
      'c>a',
      'c>d',
      'd>e',
      'e>d',
      'e>f',
    ])
    expect(said(graph)).toEqual([
      'edges/5 cycle: The edges form a cycle: d → e → d.',
      'edges/2 cycle: The edges form a cycle: a → b → c → a.',
    ])
  })

  it('may loop in stepwise order where the loop is declared', () => {
    const loop = graphOf({ a: {}, b: {} }, ['a>b', 'b>a'], { order: 'stepwise' })
    expect(said(loop)).toEqual(['edges/1 cycle: The edges form a cycle: a → b → a.'])
    const [there, back] = loop.edges
    const bounded = { ...loop, edges: [there, { ...back, maxIterations: 3 }] } as WorkflowGraph
    expect(said(bounded)).toEqual([])
    expect(said({ ...bounded, order: 'topological' })).toHaveLength(1)
  })

  it('is warned of values that may not be there yet', () => {
    const graph = graphOf(
      {
        a: { config: { input_from: 'trigger.x' } },
        b: { config: { input_from: 'c.y', path_from: 'a.z', body_from: 'nobody.at.all' } },
        c: { config: { input_from: 'a.b' } },
      },
      ['a>b', 'a>c'],
    )
    expect(checkGraph(graph).every((p) => p.severity === 'warning')).toBe(true)
    expect(said(graph)).toEqual([
      'nodes/1/config/input_from source_not_before: Node "b" takes input_from from "c.y", but "c" is not one of the nodes before it.',
      'nodes/1/config/body_from source_unknown: Node "b" takes body_from from "nobody.at.all", which begins with neither "trigger" nor a node\'s id.',
    ])
  })

  it('of 5,000 nodes in a row is checked, and one more is refused', () => {
    const names = Array.from({ length: 5_000 }, (_, at) => `n${at}`)
    const row = (ids: string[]) =>
      graphOf(
        Object.fromEntries(ids.map((id) => [id, { config: { input_from: 'n0.x' } }])),
        ids.slice(1).map((id, at) => `${ids[at]}>${id}`),
      )
    expect(said(row(names))).toEqual([
      'nodes/0/config/input_from source_not_before: Node "n0" takes input_from from "n0.x", but "n0" is not one of the nodes before it.',
    ])
    expect(said(row([...names, 'more']))).toEqual([
      'nodes too_many_nodes: The workflow has 5,001 nodes; at most 5,000 are accepted.',
    ])
  })
})

describe('a version', () => {
  it('is the same for the same graph, whatever the order of its members', () => {
    const graph = graphOf({ a: {} })
    const turned = Object.fromEntries(Object.entries(graph).reverse()) as unknown as WorkflowGraph
    expect(versionOf(turned)).toBe(versionOf(graph))
    expect(versionOf(graphOf({ b: {} }))).not.toBe(versionOf(graph))
    expect(shortVersion(versionOf(graph))).toHaveLength(8)
  })
})
