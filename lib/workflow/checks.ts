/*
 * What must hold of any graph, whatever language it came from. All problems at once: an author mends a text in one
 * go, not in twenty.
 *
 * A problem names its place in the graph (`['nodes', 2, 'config', 'url']`); a format turns that into a line and a
 * column of its text. Kinds arrive as a lookup, so that a graph can be checked without knowing what nodes can do.
 *
 *   too many?  ──▶ say so and stop: nothing below is worth computing for a graph that is refused for its size
 *   nodes      ──▶ ids, kinds, config, retry, timeout, approval
 *   edges      ──▶ dangling, self, double
 *   together   ──▶ cycles outside declared loops, `*_from` paths that look sideways or forward
 *   on error   ──▶ "rollback" where there is nothing to go back to (on-error.ts)
 *   stepwise   ──▶ nodes no start leads to, edges that can never be taken or never alone (steps.ts)
 *
 * It never runs anything, reads nothing, and takes time linear in the graph (the ancestors cost nodes × edges / 32).
 */
import { findCycles } from './cycles'
import type { GraphNode, WorkflowGraph } from './graph'
import { type GraphPath, type GraphProblem, quoted, type Report } from './graph-problem'
import { inputSchemaFault } from './input-form'
import { issueWords } from './issue-words'
import type { KindFacts, KindLookup } from './kind-facts'
import { didYouMean, nearestName } from './nearest-name'
import { checkOnError } from './on-error'
import { memberNames } from './schema-members'
import { checkSources } from './sources'
import { checkSteps } from './steps'

export const maxNodes = 5_000
export const maxEdges = 20_000
export const maxIdLength = 128
/** 30 days: an outside agent may take its time, a typo may not. */
export const maxTimeoutS = 30 * 86_400
export const maxDeadlineS = 366 * 86_400
export const maxRetryAttempts = 20
export const maxRetryDelayMs = 86_400_000

/**
 * Everything that is wrong with a graph. Without a lookup, kinds and configs are taken as they are.
 * The graph is acceptable when no problem has the severity `error`.
 */
export function checkGraph(graph: WorkflowGraph, kinds?: KindLookup): GraphProblem[] {
  const problems: GraphProblem[] = []
  const report: Report = (problem) => problems.push(problem)
  checkSize(graph, report)
  if (problems.length > 0) return problems
  checkWhole(graph, report)
  checkIds(graph, report)
  for (const [at, node] of graph.nodes.entries()) checkNode(node, at, kinds, report)
  checkEdges(graph, report)
  checkCycles(graph, report)
  checkSources(graph, report)
  if (kinds) checkOnError(graph, kinds, report)
  // What leads where can only be told of a graph whose ends are all there.
  if (graph.order === 'stepwise' && !problems.some(({ code }) => code.startsWith('dangling_')))
    checkSteps(graph, kinds, report)
  return problems
}

function checkSize(graph: WorkflowGraph, report: Report): void {
  const over = (what: 'nodes' | 'edges', found: number, bound: number) => {
    if (found <= bound) return
    report({
      severity: 'error',
      code: `too_many_${what}`,
      message: `The workflow has ${count(found)} ${what}; at most ${count(bound)} are accepted.`,
      mend: 'Split the workflow into smaller ones.',
      path: [what],
    })
  }
  over('nodes', graph.nodes.length, maxNodes)
  over('edges', graph.edges.length, maxEdges)
}

function checkWhole(graph: WorkflowGraph, report: Report): void {
  if (graph.nodes.length === 0) {
    report({
      severity: 'error',
      code: 'no_nodes',
      message: 'The workflow has no nodes; there would be nothing to run.',
      mend: 'Add at least one node.',
      path: ['nodes'],
    })
  }
  const fault = graph.input && inputSchemaFault(graph.input)
  if (fault) {
    report({
      severity: 'error',
      code: 'input_schema',
      message: `"input" is not a JSON Schema that can be used here: ${fault}.`,
      mend: 'Mend the schema; conditions (if/then/else) and remote references are not supported.',
      path: ['input'],
    })
  }
  for (const [name, value] of Object.entries(graph.budget)) {
    positiveWhole(value, Number.MAX_SAFE_INTEGER, ['budget', name], 'budget_bounds', report)
  }
  for (const [at, root] of graph.policy.roots.entries()) {
    if (root.path.trim() !== '' && !root.path.includes('\0')) continue
    report({
      severity: 'error',
      code: 'policy_root',
      message: `Root ${at + 1} of the policy names no folder.`,
      mend: 'Write the path of a folder.',
      path: ['policy', 'roots', at, 'path'],
    })
  }
}

const idShape = /^[\p{L}\p{N}_][\p{L}\p{N}_.:-]*$/u
/** `trigger` is the run's input in paths; `__proto__` would poison a lookup by id. */
const takenIds = new Set(['trigger', '__proto__'])

/** True for what can be the id of a node: 1 to 128 letters, digits, "_", ".", ":" or "-", and no reserved name. */
export function isNodeId(text: string): boolean {
  return text.length <= maxIdLength && idShape.test(text) && !takenIds.has(text)
}

function checkIds(graph: WorkflowGraph, report: Report): void {
  const first = new Map<string, number>()
  for (const [at, node] of graph.nodes.entries()) {
    const path: GraphPath = ['nodes', at, 'id']
    const earlier = first.get(node.id)
    if (earlier === undefined) first.set(node.id, at)
    else {
      report({
        severity: 'error',
        code: 'duplicate_id',
        message: `Node ${at + 1} has the id ${quoted(node.id)}, which node ${earlier + 1} has already.`,
        mend: 'Give each node an id of its own.',
        path,
      })
    }
    if (!isNodeId(node.id)) {
      report({
        severity: 'error',
        code: 'bad_id',
        message: takenIds.has(node.id)
          ? `${quoted(node.id)} is reserved and cannot be the id of a node.`
          : `The id ${quoted(node.id)} is not usable: 1 to ${maxIdLength} letters, digits, "_", ".", ":" or "-", the first a letter, a digit or "_".`,
        mend: 'Choose another id; words for people go into the label.',
        path,
      })
    }
  }
}

function checkNode(node: GraphNode, at: number, kinds: KindLookup | undefined, report: Report): void {
  if (kinds) checkKind(node, at, kinds, report)
  checkUndo(node, at, report)
  checkRetry(node, at, report)
  if (
    node.timeoutS !== undefined &&
    !(Number.isFinite(node.timeoutS) && node.timeoutS > 0 && node.timeoutS <= maxTimeoutS)
  ) {
    report({
      severity: 'error',
      code: 'timeout_bounds',
      message: `Node ${quoted(node.id)} has a timeout of ${node.timeoutS} s; it must be above 0 and at most ${count(maxTimeoutS)} s (30 days).`,
      mend: 'Write a number of seconds within the bounds, or leave it out.',
      path: ['nodes', at, 'timeoutS'],
    })
  }
  if (node.approval) checkApproval(node, at, report)
}

function checkKind(node: GraphNode, at: number, kinds: KindLookup, report: Report): void {
  const kind = kinds(node.kind)
  if (!kind) {
    const known = kinds.names ?? []
    const nearest = nearestName(node.kind, known)
    report({
      severity: 'error',
      code: 'unknown_kind',
      message: `Node ${quoted(node.id)}: ${quoted(node.kind)} is no node kind${nearest ? `; did you mean ${nearest}?` : '.'}`,
      mend:
        known.length > 0
          ? `Kinds: ${known.join(', ')}.`
          : 'Choose one of the node kinds of this installation.',
      path: ['nodes', at, 'kind'],
    })
    return
  }
  const parsed = kind.config.safeParse(node.config)
  if (parsed.success) return
  for (const issue of parsed.error.issues) {
    const inside = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))
    if (issue.code === 'unrecognized_keys') tellUnknown(node, at, kind, inside, issue.keys, report)
    else {
      const place = inside.length > 0 ? `${quoted(inside.join('.'))} of ${node.kind}` : node.kind
      report({
        severity: 'error',
        code: 'bad_config',
        message: `Node ${quoted(node.id)}: ${place} ${issueWords(issue, node.config)}.`,
        mend: 'Correct the value.',
        path: ['nodes', at, 'config', ...inside],
      })
    }
  }
}

function tellUnknown(
  node: GraphNode,
  at: number,
  kind: KindFacts,
  inside: GraphPath,
  keys: readonly string[],
  report: Report,
): void {
  const known = memberNames(kind.config, inside)
  const place = inside.length > 0 ? `${quoted(inside.join('.'))} of ${node.kind}` : node.kind
  for (const key of keys.slice(0, maxUnknownTold)) {
    const takes = known.length > 0 ? `it takes ${known.join(', ')}` : 'it takes nothing'
    report({
      severity: 'error',
      code: 'unknown_config',
      message: `Node ${quoted(node.id)}: ${place} has no ${quoted(key)}; ${takes}.`,
      mend: didYouMean(key, known, 'Remove it, or correct its spelling.'),
      path: ['nodes', at, 'config', ...inside, key],
    })
  }
}

const maxUnknownTold = 20

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

function checkUndo(node: GraphNode, at: number, report: Report): void {
  if (node.reversible !== true || node.kind !== 'http_request' || node.config.compensate !== undefined) return
  const method = typeof node.config.method === 'string' ? node.config.method.toUpperCase() : 'GET'
  if (safeMethods.has(method)) return
  report({
    severity: 'error',
    code: 'not_reversible',
    message: `Node ${quoted(node.id)} says it is reversible, but a ${method} request without "compensate" cannot be taken back.`,
    mend: 'Declare the request that takes it back in "compensate", or say "reversible": false.',
    path: ['nodes', at, 'reversible'],
  })
}

function checkRetry(node: GraphNode, at: number, report: Report): void {
  const retry = node.retry
  if (!retry) return
  const bad = (member: string, found: number, expected: string) =>
    report({
      severity: 'error',
      code: 'retry_bounds',
      message: `Node ${quoted(node.id)}: the retry's ${member} is ${found}; it must be ${expected}.`,
      mend: 'Write a number within the bounds.',
      path: ['nodes', at, 'retry', member],
    })
  if (!Number.isInteger(retry.maxAttempts) || retry.maxAttempts < 1 || retry.maxAttempts > maxRetryAttempts)
    bad('maxAttempts', retry.maxAttempts, `a whole number from 1 to ${maxRetryAttempts}`)
  if (!(retry.baseMs >= 0 && retry.baseMs <= maxRetryDelayMs))
    bad('baseMs', retry.baseMs, `from 0 to ${count(maxRetryDelayMs)} ms`)
  if (!(retry.maxMs >= retry.baseMs && retry.maxMs <= maxRetryDelayMs))
    bad('maxMs', retry.maxMs, `at least the base delay and at most ${count(maxRetryDelayMs)} ms`)
  if (!(retry.factor >= 1 && retry.factor <= 10)) bad('factor', retry.factor, 'from 1 to 10')
  if (!(retry.jitter >= 0 && retry.jitter <= 1)) bad('jitter', retry.jitter, 'from 0 to 1')
}

function checkApproval(node: GraphNode, at: number, report: Report): void {
  const approval = node.approval
  if (!approval) return
  const bad = (member: string, sentence: string, mend: string) =>
    report({
      severity: 'error',
      code: 'approval_spec',
      message: `Node ${quoted(node.id)}: ${sentence}`,
      mend,
      path: ['nodes', at, 'approval', member],
    })
  if (approval.role.trim() === '' || approval.role.length > maxIdLength)
    bad('role', `the role that decides must have 1 to ${maxIdLength} characters.`, 'Name a role.')
  if (approval.reason.length > 2_000)
    bad('reason', 'the reason is longer than 2,000 characters.', 'Shorten it.')
  if (approval.deadlineS !== undefined)
    positiveWhole(
      approval.deadlineS,
      maxDeadlineS,
      ['nodes', at, 'approval', 'deadlineS'],
      'approval_spec',
      report,
    )
  const silence = approval.onSilence
  if (typeof silence === 'object' && silence.escalateTo.trim() === '')
    bad('onSilence', 'silence escalates to a role without a name.', 'Name the role to escalate to.')
  if (silence !== 'hold' && approval.deadlineS === undefined)
    bad(
      'onSilence',
      'it says what silence means, but there is no deadline after which silence would count.',
      'Add a deadline, or leave out what silence means: the run then holds.',
    )
}

function checkEdges(graph: WorkflowGraph, report: Report): void {
  const ids = new Set(graph.nodes.map((node) => node.id))
  const seen = new Map<string, number>()
  for (const [at, edge] of graph.edges.entries()) {
    for (const end of ['from', 'to'] as const) {
      if (ids.has(edge[end])) continue
      report({
        severity: 'error',
        code: 'dangling_edge',
        message: `Edge ${at + 1} ${end === 'from' ? 'comes from' : 'goes to'} ${quoted(edge[end])}, and no node has that id.`,
        mend: 'Name an existing node, or remove the edge.',
        path: ['edges', at, end],
      })
    }
    if (edge.from === edge.to && edge.maxIterations === undefined) {
      report({
        severity: 'error',
        code: 'self_edge',
        message: `Edge ${at + 1} goes from ${quoted(edge.from)} to itself, so the ${graph.order === 'stepwise' ? 'run would never leave it' : 'node would wait for itself'}.`,
        mend: graph.order === 'stepwise' ? 'Bound it, or remove the edge.' : 'Remove the edge.',
        path: ['edges', at],
      })
    }
    if (edge.maxIterations !== undefined)
      positiveWhole(edge.maxIterations, 1_000_000, ['edges', at, 'maxIterations'], 'iteration_bounds', report)
    const key = JSON.stringify([edge.from, edge.to, edge.when ?? null])
    const earlier = seen.get(key)
    if (earlier === undefined) seen.set(key, at)
    else {
      report({
        severity: 'error',
        code: 'duplicate_edge',
        message: `Edge ${at + 1} repeats edge ${earlier + 1}, ${quoted(edge.from)} → ${quoted(edge.to)}.`,
        mend: 'Remove one of the two.',
        path: ['edges', at],
      })
    }
  }
  for (const [at, start] of graph.starts.entries()) {
    if (ids.has(start.node)) continue
    report({
      severity: 'error',
      code: 'dangling_start',
      message: `Start ${quoted(start.name)} names ${quoted(start.node)}, and no node has that id.`,
      mend: 'Name an existing node.',
      path: ['starts', at, 'node'],
    })
  }
}

function checkCycles(graph: WorkflowGraph, report: Report): void {
  for (const cycle of findCycles(graph)) {
    const shown = cycle.nodes.length > 12 ? [...cycle.nodes.slice(0, 11), '…'] : cycle.nodes
    report({
      severity: 'error',
      code: 'cycle',
      message: `The edges form a cycle: ${[...shown, cycle.nodes[0]].join(' → ')}.`,
      mend:
        graph.order === 'topological'
          ? 'Remove one of these edges; a workflow of this format runs each node after all its parents.'
          : 'Give one of these edges a bound on its iterations, or remove one.',
      path: ['edges', cycle.closingEdge],
    })
  }
}

function positiveWhole(value: unknown, most: number, path: GraphPath, code: string, report: Report): void {
  if (value === undefined) return
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) return
  report({
    severity: 'error',
    code,
    message: `${quoted(path.slice(-2).join('.'))} is ${String(value).slice(0, 40)}; it must be a whole number from 1 to ${count(most)}.`,
    mend: 'Write a whole number within the bounds.',
    path,
  })
}

function count(n: number): string {
  return n.toLocaleString('en-US')
}
