/** Random workflows: small graphs with every kind, question, bound and silence the engine knows, in both orders. */

import type { ApprovalSpec, Budget, GraphEdge, GraphNode, Silence } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { type GraphIndex, indexGraph } from '@/lib/workflow/graph-index'
import { agentIds } from './agents'
import type { Dice } from './dice'
import type { simulatedKinds } from './kinds'

const kindWeights = {
  pure: 4,
  file: 5,
  keyed: 4,
  agent: 0,
  http: 3,
  mail: 2,
  task: 3,
  pause_for_approval: 1,
} as const satisfies Record<(typeof simulatedKinds)[number] | 'task' | 'pause_for_approval', number>

/** Where most steps are done by remote agents. */
const agentWeights = { ...kindWeights, pure: 1, file: 2, keyed: 0, agent: 12, http: 1, mail: 0.4, task: 0.2 }

/**
 * The sorts of stories: in which order the run goes, whether its steps begin runs of their own, and whether it is bounded
 * by visits, writes artifacts and waits for events from outside; and whether its steps are done by remote agents, so that
 * rolling back takes two phases.
 */
export const storySorts = [
  'drawn',
  'stepwise',
  'drawn with children',
  'stepwise with children',
  'states',
  'drawn with agents',
] as const
export type StorySort = (typeof storySorts)[number]

export interface Library {
  root: GraphIndex
  /** Workflows that steps name. */
  named: ReadonlyMap<string, GraphIndex>
}

/** The workflows of one story. */
export function randomLibrary(dice: Dice, sort: StorySort): Library {
  if (sort === 'states') return { root: randomStates(dice), named: new Map() }
  if (sort === 'drawn with agents') {
    return { root: randomWorkflow(dice, { most: 9, weights: agentWeights }), named: new Map() }
  }
  const stepwise = sort.startsWith('stepwise')
  if (!sort.endsWith('children')) {
    return { root: stepwise ? randomWalk(dice, {}) : randomWorkflow(dice, {}), named: new Map() }
  }
  const small = (calls: readonly string[]) => {
    const size = { most: 3, calls, isChild: true }
    return dice.chance(0.5) ? randomWalk(dice, size) : randomWorkflow(dice, size)
  }
  const named = new Map([
    ['leaf', small([])],
    ['other leaf', small([])],
    ['branch', small(['leaf'])],
  ])
  const size = { most: 5, calls: ['leaf', 'other leaf', 'branch'] }
  return { root: stepwise ? randomWalk(dice, size) : randomWorkflow(dice, size), named }
}

interface Size {
  /** Nodes, at most. */
  most?: number
  /** Workflows that its steps run; one step at least does, when there are any. */
  calls?: readonly string[]
  /** Nobody resumes a child by itself. */
  isChild?: boolean
  /** How often each kind is drawn; absent: as usual, without remote agents. */
  weights?: typeof kindWeights | typeof agentWeights
}

function randomIds(dice: Dice, most: number): string[] {
  const length = dice.chance(0.15) ? 1 : dice.whole(2, most)
  return Array.from({ length }, (_, index) => `n${index + 1}`)
}

/** One to twelve nodes; edges from earlier to later ones. */
function randomWorkflow(dice: Dice, size: Size): GraphIndex {
  const ids = randomIds(dice, size.most ?? 12)
  const edges: string[] = []
  const density = dice.next() * 0.5
  for (const [to, id] of ids.entries()) {
    for (const parent of ids.slice(Math.max(0, to - 4), to)) {
      if (dice.chance(density)) edges.push(`${parent}>${id}`)
    }
  }
  const parentsOf = (id: string) =>
    edges.filter((edge) => edge.endsWith(`>${id}`)).map((edge) => edge.split('>')[0] as string)
  const nodes = Object.fromEntries(ids.map((id) => [id, randomNode(dice, parentsOf(id), size)]))
  addCalls(dice, nodes, size)
  const vocabulary = dice.chance(0.5) ? 'atd' : 'cascade'
  const containment = size.weights
    ? { containment: { onUnprepared: dice.pick(['ask', 'partial', 'partial', 'abort'] as const) } }
    : {}
  return indexGraph(
    graphOf(nodes, edges, { name: 'story', vocabulary, budget: randomBudget(dice), ...containment }),
  )
}

/** One to seven nodes in a row, with ways past some of them, loops, ends in the middle, and a fault now and then. */
function randomWalk(dice: Dice, size: Size): GraphIndex {
  const ids = randomIds(dice, size.most ?? 7)
  const nodes = Object.fromEntries(ids.map((id, at) => [id, randomNode(dice, ids.slice(0, at), size)]))
  const calling = addCalls(dice, nodes, size)
  const edges: GraphEdge[] = []
  const add = (from: string, to: string, when?: string, maxIterations?: number) =>
    edges.push({ from, to, extra: {}, ...(when && { when }), ...(maxIterations && { maxIterations }) })
  let loops = 0
  for (const [at, id] of ids.entries()) {
    const next = ids[at + 1]
    const labels = new Set<string>()
    if (next) {
      const later = dice.pick(ids.slice(at + 1))
      if (dice.chance(0.3)) {
        add(id, next, 'on')
        if (later !== next) add(id, later, 'past')
        for (const label of ['on', 'past']) labels.add(label)
      } else add(id, next)
      if (dice.chance(calling.has(id) ? 0.6 : 0.3)) add(id, later, 'error')
      if (later !== next && dice.chance(0.03)) add(id, later, labels.has('on') ? 'on' : undefined)
    }
    if (loops < 2 && dice.chance(0.35)) {
      loops += 1
      const label = dice.pick(['again', 'again', 'error'])
      const isTaken = edges.some(({ from, when }) => from === id && when === label)
      if (!isTaken) add(id, dice.pick(ids.slice(0, at + 1)), label, dice.whole(1, 3))
      if (label === 'again') labels.add(label)
    }
    const node = nodes[id] as Partial<GraphNode>
    if (labels.size > 0 && !calling.has(id)) {
      // Without a label as well, where an edge without one leads on.
      const plain = edges.some(({ from, when }) => from === id && when === undefined) ? [''] : []
      node.config = { ...node.config, ...(node.config?.reads && { labels: [...labels, ...plain] }) }
    }
    if (!calling.has(id) && at > 0 && dice.chance(next ? 0.03 : 0.3)) {
      nodes[id] = { kind: dice.pick(['terminate', 'terminate', 'fail']), config: {} }
    }
  }
  const starts = [{ name: 'main', node: dice.chance(0.9) ? 'n1' : dice.pick(ids) }]
  const vocabulary = dice.chance(0.5) ? 'atd' : 'cascade'
  const graph = graphOf(nodes, [], {
    name: 'story',
    order: 'stepwise',
    starts,
    vocabulary,
    budget: randomBudget(dice),
  })
  return indexGraph({ ...graph, edges })
}

/** States with two or three events each, bounded by visits, some of which wait for their event from outside. */
function randomStates(dice: Dice): GraphIndex {
  const ids = randomIds(dice, 5)
  const slots = ['note', 'log']
  const nodes: Record<string, Partial<GraphNode>> = {}
  const edges: GraphEdge[] = []
  for (const [at, id] of ids.entries()) {
    const events = dice.chance(0.15) ? [] : ['on', 'back', 'past'].slice(0, dice.whole(1, 3))
    const waits = events.length > 0 && dice.chance(0.25)
    nodes[id] = {
      ...(waits
        ? { kind: 'await_event', config: { question: 'What happened?' } }
        : randomState(dice, events, slots)),
      ...(dice.chance(0.5) && { maxVisits: dice.whole(1, 3) }),
    }
    if (dice.chance(0.6) && at + 1 < ids.length) nodes[id].onMaxVisits = dice.pick(ids.slice(at + 1))
    for (const when of events) edges.push({ from: id, to: dice.pick(ids), when, extra: {} })
  }
  const graph = graphOf(nodes, [], {
    name: 'story',
    format: 'promptpack',
    order: 'stepwise',
    starts: [{ name: 'main', node: 'n1' }],
    artifacts: slots.map((name) => ({
      name,
      mediaType: 'application/json',
      mode: name === 'log' ? 'append' : 'replace',
      extra: {},
    })),
    budget: {
      maxTotalVisits: dice.whole(4, 14),
      ...(dice.chance(0.2) && { maxActiveS: dice.whole(20, 300) }),
    },
  })
  return indexGraph({ ...graph, edges })
}

function randomState(dice: Dice, events: string[], slots: string[]): Partial<GraphNode> {
  const kind = dice.pick(['pure', 'file', 'keyed'] as const)
  const artifacts = slots.filter(() => dice.chance(0.5))
  return {
    kind,
    config: { reads: [], artifacts, ...(events.length > 0 && { labels: events }) },
    ...(dice.chance(0.3) && {
      retry: { maxAttempts: 3, baseMs: 100, factor: 2, maxMs: 1000, jitter: 0 },
    }),
  }
}

/** Makes one or two of the nodes run other workflows; which ones. */
function addCalls(
  dice: Dice,
  nodes: Record<string, Partial<GraphNode>>,
  { calls = [] }: Size,
): ReadonlySet<string> {
  const calling = new Set<string>()
  for (let left = calls.length > 0 ? dice.whole(1, 2) : 0; left > 0; left--) {
    const id = dice.pick(Object.keys(nodes))
    const { kind: _, config: __, timeoutS: ___, ...rest } = nodes[id] ?? {}
    const late = dice.chance(0.2) ? { timeoutS: dice.whole(5, 120) } : {}
    nodes[id] = { ...rest, ...late, ...randomCall(dice, calls) }
    calling.add(id)
  }
  return calling
}

function randomCall(dice: Dice, calls: readonly string[]): Pick<GraphNode, 'kind' | 'config'> {
  const kind = dice.pick(['call', 'call', 'parallel', 'map'] as const)
  const branch = () => ({ workflow: dice.pick(calls) })
  switch (kind) {
    case 'call':
      return { kind, config: branch() }
    case 'parallel':
      return { kind, config: { branches: Array.from({ length: dice.whole(1, 3) }, branch) } }
    case 'map':
      return {
        kind,
        config: { ...branch(), items_from: 'trigger.items', max_items: 9, max_concurrent: dice.whole(1, 3) },
      }
  }
}

/** What the run of a story is given: the list for its `map` steps. */
export const storyInput = { items: ['a', 'b', 'c'] }

function randomNode(dice: Dice, parents: string[], size: Size): Partial<GraphNode> {
  const { isChild = false, weights = kindWeights } = size
  const drawn = dice.weighted(weights)
  const kind = isChild && drawn === 'pause_for_approval' ? 'file' : drawn
  const node: Partial<GraphNode> = {
    kind,
    config: simulatedConfig(kind, dice, parents),
    // Rollbacks that come from above meet something critical often enough.
    priority: dice.pick(['critical', isChild ? 'critical' : 'high', 'normal', 'low']),
    timeoutS: dice.chance(0.5) ? dice.whole(3, 60) : undefined,
  }
  if (size.weights) return ofAgents(node, dice)
  if (dice.chance(0.15)) node.reversible = false
  if (dice.chance(kind === 'pause_for_approval' ? 0.5 : 0.25)) node.approval = randomApproval(dice)
  if (dice.chance(0.4)) {
    node.retry = {
      maxAttempts: dice.whole(1, 4),
      baseMs: dice.whole(0, 4000),
      factor: 2,
      maxMs: 10_000,
      jitter: dice.next(),
    }
  }
  return node
}

/** Mostly done, so that there is much to take back. */
function ofAgents({ priority, ...node }: Partial<GraphNode>, dice: Dice): Partial<GraphNode> {
  return {
    ...node,
    priority: priority === 'critical' && dice.chance(0.7) ? 'normal' : priority,
    timeoutS: undefined,
    retry: { maxAttempts: 4, baseMs: 500, factor: 2, maxMs: 5000, jitter: 0 },
    ...(dice.chance(0.05) && { reversible: false }),
  }
}

/** Simulated kinds read some of their parents; the kinds of the product are left to their own resolvers. */
function simulatedConfig(kind: string, dice: Dice, parents: string[]): GraphNode['config'] {
  if (kind === 'task' || kind === 'pause_for_approval') return {}
  const reads = parents.filter(() => dice.chance(0.5))
  return kind === 'agent' ? { reads, agent: dice.pick(agentIds) } : { reads }
}

function randomApproval(dice: Dice): ApprovalSpec {
  const silences: Silence[] = ['hold', 'deny', 'rollback', 'continue', { escalateTo: 'coordinator' }]
  const spec: ApprovalSpec = { role: 'operator', reason: 'It matters', onSilence: dice.pick(silences) }
  return dice.chance(0.6) ? { ...spec, deadlineS: dice.whole(1, 90) } : spec
}

function randomBudget(dice: Dice): Budget {
  return {
    maxConcurrent: dice.chance(0.3) ? dice.whole(1, 3) : undefined,
    maxRunS: dice.chance(0.1) ? dice.whole(30, 600) : undefined,
  }
}
