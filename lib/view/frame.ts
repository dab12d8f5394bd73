/*
 * What screens draw of a run: the fold, said in the words of the screen. Everything here is derived and pure; the same
 * run gives the same frame, live or at any past token.
 *
 * The fold knows more states than the screen shows, and the screen one that the fold does not:
 *
 *   waiting for a person            waiting      amber means this and nothing else
 *   waiting for an agent, approved  pending      under its own word: "offered", "approved"
 *   waiting for a breaker           pending      "waits for classifier", with the time left
 *   waiting for a retry             running      "retrying", with the time left
 *   pending, cannot be reached      skipped      a step before it failed, or the run is over
 */

import { partyName } from '@/lib/base/party-name'
import { noEndReported } from '@/lib/engine/evolve-reported'
import { isFlagged } from '@/lib/engine/flagged'
import type { Run, SeenCircuit, Visit, VisitState } from '@/lib/engine/run'
import { type Consequence, narrowed } from '@/lib/nodes/node-kind'
import { nodeKind } from '@/lib/nodes/registry'
import type { GraphNode, WorkflowGraph } from '@/lib/workflow/graph'
import { nodeLabel } from '@/lib/workflow/graph-index'
import { type BreakerFrame, breakerFrame, guardsOf } from './circuit-frame'
import { type EdgeFrames, edgeFrames } from './edge-frame'
import { type Headline, headlineOf } from './headline'
import { ranOut } from './ran-out'
import type { ShownState } from './shown-state'

/** The time beside a node's word: how long it took, since when it has been so, or until when. Milliseconds. */
export type NodeTime = { took: number } | { since: number } | { until: number }

/** One node as the graph draws it. */
export interface NodeFrame {
  id: string
  label: string
  kind: string
  /** SPIFFE id of the agent that does it, when it is not this installation. */
  agent?: string
  shown: ShownState
  /** The word under the label; it may say more than the shape ("offered", "approved"). */
  word: string
  time?: NodeTime
  visit: number
  /** How often the walk entered it, of how often it may. Counted on the way as it is: what was taken back is not in it. */
  entries?: { now: number; most: number }
  consequence: Consequence
  /** Drawn with a struck return arrow. */
  irreversible: boolean
  /** It failed and the walk went on by its `error` edge, or it had nothing left to go on with: a cross, but no alarm. */
  handled?: true
  /** Its word says how often it was done, and this visit was none of them. */
  isEnd?: true
  /** The breaker before its calls, when that lets none pass, or one probe. */
  breaker?: BreakerFrame
  /** It was done without what it calls, which a breaker held off: the name of that. */
  without?: string
}

export interface RunFrame {
  nodes: ReadonlyMap<string, NodeFrame>
  /** How many nodes show each state. */
  counts: ReadonlyMap<ShownState, number>
  edges: EdgeFrames
  /** "14 steps: 4 done, 1 waiting, 5 pending". */
  sentence: string
  headline: Headline
}

/**
 * The frame of a run. `previous` is the frame before: what did not change is the same object again, so that a screen
 * of a thousand nodes draws anew only those that moved.
 */
export function frameOf(run: Run, previous?: RunFrame): RunFrame {
  const skipped = unreachable(run)
  const guards = guardsOf(run)
  const nodes = new Map<string, NodeFrame>()
  const counts = new Map<ShownState, number>()
  const earlier = previous && basesOf.get(previous)
  const bases = new Map<string, Basis>()
  const last = run.walk?.path.at(-1)?.visit
  for (const id of run.graph.order) {
    const node = run.graph.nodes.get(id)
    const visit = run.visits.get(id)
    if (!node || !visit) continue
    const before = previous?.nodes.get(id)
    const known = earlier?.get(id)
    const isSkipped = skipped.has(id)
    const guard = guards.get(id)
    const isStill =
      before !== undefined && visit !== last && known && isBasis(known, run, visit, isSkipped, guard)
    const frame = isStill ? before : reused(madeFrame(run, node, visit, isSkipped, guard), before)
    bases.set(id, isStill ? known : basisOf(run, visit, isSkipped, guard))
    nodes.set(id, frame)
    counts.set(frame.shown, (counts.get(frame.shown) ?? 0) + 1)
  }
  const sentence = countsSentence(nodes.size, counts, run.walk ? walkWords : {})
  const edges = edgeFrames(run, previous?.edges)
  const frame = { nodes, counts, edges, sentence, headline: headlineOf(run) }
  basesOf.set(frame, bases)
  return frame
}

/**
 * All that a node's frame follows from, but for that of a walk's last step, which also says how the walk ended. While it
 * is the same, so is the frame, and nothing is made to be thrown away: most nodes of a large run are as they were.
 */
interface Basis {
  state: VisitState
  visit: number
  consequence: Consequence | undefined
  isSkipped: boolean
  isOver: boolean
  guard: SeenCircuit | undefined
  /** The rest is of a walk. */
  isReached: boolean
  before: VisitState | undefined
  entered: number | undefined
}

const basesOf = new WeakMap<RunFrame, ReadonlyMap<string, Basis>>()

function basisOf(
  { walk, state }: Run,
  visit: Visit,
  isSkipped: boolean,
  guard: SeenCircuit | undefined,
): Basis {
  return {
    state: visit.state,
    visit: visit.visit,
    consequence: visit.consequence,
    isSkipped,
    isOver: state.status === 'ended',
    guard,
    isReached: visit.enteredFrom !== undefined,
    before: walk?.outputs.get(visit.node)?.state,
    entered: walk?.entered.get(visit.node),
  }
}

function isBasis(
  basis: Basis,
  { walk, state }: Run,
  visit: Visit,
  isSkipped: boolean,
  guard: SeenCircuit | undefined,
): boolean {
  return (
    basis.state === visit.state &&
    // States are replaced and never written into, but for a running one's.
    visit.state.status !== 'running' &&
    basis.visit === visit.visit &&
    basis.consequence === visit.consequence &&
    basis.isSkipped === isSkipped &&
    basis.isOver === (state.status === 'ended') &&
    basis.guard === guard &&
    basis.isReached === (visit.enteredFrom !== undefined) &&
    basis.before === walk?.outputs.get(visit.node)?.state &&
    basis.entered === walk?.entered.get(visit.node)
  )
}

function madeFrame(
  run: Run,
  node: GraphNode,
  visit: Visit,
  isSkipped: boolean,
  guard: SeenCircuit | undefined,
): NodeFrame {
  const made = run.walk ? walkedFrame(run, node, visit) : nodeFrame(node, visit, isSkipped)
  const without = doneWithout(run, visit)
  if (without !== undefined) return { ...made, word: `done without ${without}`, time: undefined, without }
  const breaker = isSkipped ? undefined : breakerFrame(run, guard, visit.state.status)
  if (breaker) made.breaker = breaker
  // No time lets it go: a person does.
  if (breaker?.held && visit.state.status === 'waiting') delete made.time
  // Agents tell the time to the second: nothing between two tokens of one says nothing.
  if (run.graph.graph.reported && made.time && 'took' in made.time && made.time.took === 0) delete made.time
  if (isFlagged(visit)) return { ...made, word: 'flagged' }
  if (visit.state.status === 'failed' && visit.state.error.code === noEndReported) {
    return { ...made, shown: 'unknown', word: 'no end reported', time: undefined }
  }
  const { maxVisits: most } = node
  if (run.walk && most !== undefined) made.entries = { now: run.walk.entered.get(node.id) ?? 0, most }
  return made
}

/** What a step was done without (`degrade`), by name: its breaker let no call pass. */
function doneWithout(run: Run, { node, state }: Visit): string | undefined {
  if (run.walk || state.status !== 'done' || state.label !== 'degraded') return undefined
  for (const { nodes, downstream } of run.circuits.values()) {
    if (nodes.includes(node)) return partyName(downstream)
  }
  return undefined
}

/** What steps are called that a walk never came to: it may not be meant to. */
const walkWords: Partial<Record<ShownState, string>> = { pending: 'not reached', skipped: 'not reached' }

/** A step of a walk: where the walk is, was, or never came. */
function walkedFrame(run: Run, node: GraphNode, visit: Visit): NodeFrame {
  const { state } = visit
  if (state.status === 'pending' && visit.enteredFrom === undefined) {
    const before = run.walk?.outputs.get(node.id)
    // A rollback went to before its latest visit; the one before still counts.
    if (before) return nodeFrame(node, before, false)
    const over = run.state.status === 'ended'
    return { ...nodeFrame(node, visit, over), word: 'not reached' }
  }
  const frame = nodeFrame(node, visit, run.state.status === 'ended' && state.status === 'pending')
  const failed = state.status === 'done' && state.label === 'error'
  // It did what it is there for, and that is to end the run as failed.
  if (node.kind === 'fail' && state.status === 'done')
    return { ...frame, shown: 'failed', word: 'failed the run' }
  const isLast = run.walk?.path.at(-1)?.visit === visit
  const out = isLast ? ranOut(run) : undefined
  if (out !== undefined) return { ...frame, word: out, handled: true, isEnd: true }
  // It did what it had to; a limit of the workflow let the run go no further.
  if (isLast && run.state.status === 'ended' && run.state.exhausted)
    return { ...frame, shown: 'exhausted', word: 'no way on' }
  if (!failed) return frame
  return { ...frame, word: isLast ? 'ended with error' : 'error, went on', handled: true }
}

/** The frame of a workflow that does not run: every node pending, under the words of what it does. */
export function restingFrame(graph: WorkflowGraph): ReadonlyMap<string, NodeFrame> {
  return new Map(
    graph.nodes.map((node) => {
      const visit: Visit = { node: node.id, visit: 1, attempt: 0, state: { status: 'pending' }, reads: [] }
      const word = restingWord(node)
      return [node.id, { ...nodeFrame(node, visit, false), word }]
    }),
  )
}

/** What a step does, in two or three words; of a state of a pack, the prompt that takes its turn, and how often. */
function restingWord({ kind, config, maxVisits }: GraphNode): string {
  const most = maxVisits === undefined ? '' : `, at most ${maxVisits}`
  if (kind === 'prompt_state' && typeof config.prompt === 'string') return `${config.prompt}${most}`
  return `${nodeKind(kind)?.title ?? kind}${most}`
}

function reused(frame: NodeFrame, before: NodeFrame | undefined): NodeFrame {
  if (!before) return frame
  const same =
    before.shown === frame.shown &&
    before.word === frame.word &&
    before.visit === frame.visit &&
    before.entries?.now === frame.entries?.now &&
    before.agent === frame.agent &&
    before.consequence === frame.consequence &&
    before.handled === frame.handled &&
    before.without === frame.without &&
    isSameBreaker(before.breaker, frame.breaker) &&
    isSameTime(before.time, frame.time)
  return same ? before : frame
}

function isSameBreaker(one: BreakerFrame | undefined, other: BreakerFrame | undefined): boolean {
  return (
    one?.circuit === other?.circuit &&
    one?.shown === other?.shown &&
    one?.until === other?.until &&
    one?.held === other?.held
  )
}

/** The two say one thing each, and the same. */
function isSameTime(one: NodeTime | undefined, other: NodeTime | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  if ('took' in one) return 'took' in other && one.took === other.took
  if ('since' in one) return 'since' in other && one.since === other.since
  return 'until' in other && one.until === other.until
}

function nodeFrame(node: GraphNode, visit: Visit, skipped: boolean): NodeFrame {
  const { shown, word, time } = skipped
    ? { shown: 'skipped' as const, word: 'skipped', time: undefined }
    : visitShown(visit)
  const consequence = visit.consequence ?? consequenceOf(node)
  return {
    id: node.id,
    label: nodeLabel(node),
    kind: node.kind,
    agent: agentOf(node, visit),
    shown,
    word,
    time,
    visit: visit.visit,
    consequence,
    irreversible: consequence === 'irreversible',
  }
}

/** How a visit is shown: what was taken over from another run was done there, and no time went by here. */
export function visitShown({ state, carriedFrom }: Pick<Visit, 'state' | 'carriedFrom'>): Shown {
  const isTaken = carriedFrom !== undefined && state.status === 'done'
  return isTaken ? { shown: 'done', word: 'taken over' } : shownOf(state)
}

interface Shown {
  shown: ShownState
  word: string
  time?: NodeTime
}

/** How a visit's state is shown. A state from a newer server shows as unknown, under its raw name. */
export function shownOf(state: VisitState): Shown {
  switch (state.status) {
    case 'pending':
      return { shown: 'pending', word: 'pending' }
    case 'approved':
      return { shown: 'pending', word: 'approved' }
    case 'waiting':
      return waitingShown(state)
    case 'running':
      return { shown: 'running', word: 'running', time: { since: state.since } }
    case 'done':
      return { shown: 'done', word: 'done', time: { took: state.tookMs } }
    case 'failed':
      // Refused before it began: no time went by, and "0 ms" would say that some did.
      return { shown: 'failed', word: 'failed', ...(state.tookMs > 0 && { time: { took: state.tookMs } }) }
    case 'rolled_back':
      return { shown: 'rolled_back', word: 'rolled back' }
    case 'escalated':
      return { shown: 'escalated', word: 'escalated', time: { since: state.since } }
    default:
      state satisfies never
      return { shown: 'unknown', word: String((state as { status: unknown }).status) }
  }
}

function waitingShown(state: Extract<VisitState, { status: 'waiting' }>): Shown {
  switch (state.for) {
    case 'person':
      return { shown: 'waiting', word: 'waiting', time: { since: state.since } }
    case 'agent':
      return { shown: 'pending', word: 'offered', time: { since: state.since } }
    case 'breaker':
      return {
        shown: 'pending',
        word: `waits for ${partyName(state.downstream)}`,
        time: { until: state.until },
      }
    case 'retry':
      return { shown: 'running', word: 'retrying', time: { until: state.until } }
    default:
      state satisfies never
      return { shown: 'unknown', word: 'waiting' }
  }
}

const consequences = new WeakMap<GraphNode, Consequence>()

/** What performing a node would do to the world, as far as its kind, config and author can tell beforehand. */
export function consequenceOf(node: GraphNode): Consequence {
  const known = consequences.get(node)
  if (known) return known
  const kind = nodeKind(node.kind)
  const config = kind?.config.safeParse(node.config)
  // What cannot be told is not called safe; a task is as its author says.
  const says = kind && config?.success ? kind.consequence(config.data) : 'reversible'
  const consequence = narrowed(says, node)
  consequences.set(node, consequence)
  return consequence
}

function agentOf(node: GraphNode, visit: Visit): string | undefined {
  if (visit.state.status === 'running' && visit.state.agent) return visit.state.agent
  const { agent } = node.config
  return node.kind === 'agent' && typeof agent === 'string' ? agent : undefined
}

/** Pending nodes that nothing will reach: a step before them failed, or the run is over. */
function unreachable(run: Run): ReadonlySet<string> {
  const found = new Set<string>()
  const ended = run.state.status === 'ended'
  for (const id of run.graph.order) {
    if (run.visits.get(id)?.state.status !== 'pending') continue
    // Where the walk goes is not known before it does.
    const cutOff =
      !run.walk &&
      (run.graph.parents.get(id) ?? []).some(
        (parent) => found.has(parent) || run.visits.get(parent)?.state.status === 'failed',
      )
    if (ended || cutOff) found.add(id)
  }
  return found
}

/** Reading order of the counts: what is settled, what needs someone, what is left. */
const countOrder: ShownState[] = [
  'done',
  'waiting',
  'running',
  'failed',
  'escalated',
  'rolled_back',
  'pending',
  'skipped',
  'cancelled',
  'exhausted',
  'unknown',
]

function countsSentence(
  total: number,
  counts: ReadonlyMap<ShownState, number>,
  words: Partial<Record<ShownState, string>>,
): string {
  const parts = countOrder.flatMap((shown) => {
    const n = counts.get(shown) ?? 0
    return n > 0 ? [`${n.toLocaleString('en')} ${words[shown] ?? shown.replace('_', ' ')}`] : []
  })
  return `${total.toLocaleString('en')} ${total === 1 ? 'step' : 'steps'}: ${parts.join(', ')}`
}
