/*
 * ATD's declarative workflow descriptor (ATD, "Optional Declarative Workflow Format"), JSON, read and written.
 *
 *   text ──strict JSON──▶ value ──read──▶ graph ──checks──▶ diagnostics      (all at once, each with its place)
 *   graph ──write──▶ value ──▶ text
 *
 * The room protects one thing: text → graph → text keeps every bit of meaning. Unknown members at every level, values
 * that equal their default but were spelled out, and the order of members come back as they were.
 *
 * The draft's members
 *   wf_id, description, nodes, edges; of a node id, label, reversible, hitl_required, resource_hints; of an edge from, to
 *   resource_hints        { priority, timeout_s, cpu, memory_mb, gpu, network_mbps }; all else in them is kept
 *   constraints (ACP-DAG-HITL): kept; `atd.resource_…` count where resource_hints are silent; `atd.circuit_threshold`
 *   and `atd.circuit_window_s` are the breaker's between the step and what it calls
 *
 * Holdpoint's extension members
 *   node     action        { "type": "<node kind>", …its config }
 *            agent         "spiffe://…": a remote agent does it; `agent_config` adds { operation, input_from, … },
 *                          `operation` is the label unless it says otherwise
 *            neither       a task that an outside agent claims
 *            hitl          { role, reason, deadline_s, unreachable_human }, with "hitl_required": true; unreachable_human
 *                          is hold (default), deny, rollback, continue or { "escalate_to": "<role>" }
 *            retry         { max_attempts, base_ms 1000, factor 2, max_ms 60000, jitter 0.2 }
 *            constraints   hp.circuit_min_calls, hp.when_open (wait | fail | degrade), hp.on_error (nothing | escalate |
 *                          rollback)
 *   top      input         JSON Schema of the run's input
 *            policy        { roots: [{ path, access: read | write }], private_targets: ["host:port"] }
 *            vocabulary    atd (default) | cascade
 *            budget        { max_run_s, max_concurrent, max_tokens, max_checkpoints }
 *            containment   { on_error: nothing | escalate | rollback, on_unprepared: ask | partial | abort }
 * In these, constraints apart, an unknown member is an error: a misspelled policy must not pass in silence.
 *
 * Refused: what is not strict JSON, doubled names, numbers a double cannot hold, more than 64 levels, 8 MiB, 5,000 nodes
 * or 20,000 edges, and whatever the checks of the graph refuse (lib/workflow/checks.ts), cycles above all.
 */
import type { Diagnostic } from '@/lib/base/diagnostic'
import { checkGraph, maxEdges, maxNodes } from '@/lib/workflow/checks'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import type { GraphPath, GraphProblem } from '@/lib/workflow/graph-problem'
import type { KindLookup } from '@/lib/workflow/kind-facts'
import { type ReadDescriptor, readDescriptor, type Tell } from './atd-read'
import { descriptorOf } from './atd-write'
import { keepDiagnostic } from './kept-diagnostics'
import { byPlace, escaped, readStrictJson } from './strict-json'

export const atdMediaType = 'application/atd-workflow+json'

export interface Parsed {
  /** Present when no diagnostic is an error. */
  graph?: WorkflowGraph
  diagnostics: Diagnostic[]
  /** Places a problem of the graph in this text; present with the graph. */
  place?: (problem: GraphProblem) => Diagnostic
}

/**
 * Reads a descriptor. With `kinds`, kinds and their configs are checked too. At most 100 diagnostics come back, in the
 * order of the text. Never throws for a text, however broken.
 */
export function parseAtd(text: string, kinds?: KindLookup): Parsed {
  const source = readStrictJson(text, 'atd', { nodes: maxNodes, edges: maxEdges })
  const diagnostics = source.diagnostics
  const placed = ({ path, code, message, mend, severity, what }: Parameters<Tell>[0]): Diagnostic => ({
    severity: severity ?? 'error',
    code: `atd_${code}`,
    message,
    mend,
    ...source.placeOf(path, what),
    path: path.map((part) => `/${escaped(String(part))}`).join(''),
  })
  const tell: Tell = (fault) => {
    keepDiagnostic(diagnostics, fault.severity ?? 'error', () => placed(fault))
  }
  const read = source.value === undefined ? undefined : readDescriptor(source.value, tell)
  if (read) checkRead(read, kinds, tell)
  diagnostics.sort(byPlace)
  const broken = diagnostics.some((diagnostic) => diagnostic.severity === 'error')
  if (!read || broken) return { diagnostics }
  const place = (problem: GraphProblem) => placed({ ...problem, path: documentPath(problem.path, read) })
  return { graph: read.graph, diagnostics, place }
}

/** The descriptor's text, two spaces deep, with a line break at its end. Throws Problem `workflow_invalid` for a graph that ATD has no words for. */
export function writeAtd(graph: WorkflowGraph): string {
  return `${JSON.stringify(descriptorOf(graph), null, 2)}\n`
}

function checkRead(read: ReadDescriptor, kinds: KindLookup | undefined, tell: Tell): void {
  for (const problem of checkGraph(read.graph, kinds)) {
    tell({ ...problem, path: documentPath(problem.path, read) })
  }
}

const nodeWords: Record<string, GraphPath> = {
  kind: ['action', 'type'],
  priority: ['resource_hints', 'priority'],
  timeoutS: ['resource_hints', 'timeout_s'],
  onError: ['constraints', 'hp.on_error'],
}
const memberWords: Record<string, string> = {
  maxAttempts: 'max_attempts',
  baseMs: 'base_ms',
  maxMs: 'max_ms',
  deadlineS: 'deadline_s',
  onSilence: 'unreachable_human',
  maxRunS: 'max_run_s',
  maxConcurrent: 'max_concurrent',
  maxTokens: 'max_tokens',
  maxCheckpoints: 'max_checkpoints',
  onError: 'on_error',
}

/** Where a place of the graph stands in the document. */
function documentPath(path: GraphPath, read: ReadDescriptor): GraphPath {
  const [list, at, part, ...rest] = path
  if (list === 'edges' && typeof at === 'number') return [list, read.edgeAt[at] ?? at, ...path.slice(2)]
  if (list === 'budget' || list === 'containment') return path.map((name) => memberWords[name] ?? name)
  if (list !== 'nodes' || typeof at !== 'number') return path
  const place: GraphPath = [list, read.nodeAt[at] ?? at]
  if (part === undefined) return place
  if (part === 'config') return [...place, ...configPath(rest, read, at)]
  if (part === 'approval') return [...place, 'hitl', ...rest.map((name) => memberWords[name] ?? name)]
  if (part === 'retry') return [...place, 'retry', ...rest.map((name) => memberWords[name] ?? name)]
  return [...place, ...(nodeWords[part] ?? [part])]
}

function configPath(rest: GraphPath, read: ReadDescriptor, at: number): GraphPath {
  const node = read.graph.nodes[at]
  if (node?.kind !== 'agent' || node.extra.action !== undefined) return ['action', ...rest]
  return rest[0] === 'agent' ? rest : ['agent_config', ...rest]
}
