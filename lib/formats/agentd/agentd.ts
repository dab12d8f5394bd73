/*
 * agentd's workflow files (TOML), read and written.
 *
 *   text ──TOML──▶ document ──read──▶ graph ──checks──▶ diagnostics        (all at once, each with its place)
 *   graph ──write──▶ document ──▶ text
 *
 * The room protects two things. An existing file runs here as it is: what agentd accepts is accepted. And a misspelled
 * member never passes in silence: unknown fields are refused by name, in nodes by the fields of their type (fields.ts),
 * even where a Holdpoint kind would know what to do with them.
 *
 * A file is one workflow: its members stand at the top, or in the one entry of [[workflows]] with the agent's sections
 * beside it. What is declared and served elsewhere (triggers, routes, auth bindings, TLS, logging, signing) is checked,
 * with everything it refers to, and kept in the graph's `extra` under its own name.
 *
 * Refused: what is no TOML, dates and infinite numbers, more than 64 levels, 8 MiB, 5,000 nodes, 20,000 edges or 1,000
 * entries of another section, and whatever the checks of the document (cross-checks.ts) and of the graph (lib/workflow/checks.ts) refuse.
 *
 * Comments are not kept; the order of nodes, edges and sections' entries is.
 */
import { z } from 'zod'
import type { Diagnostic } from '@/lib/base/diagnostic'
import { checkGraph } from '@/lib/workflow/checks'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import type { GraphPath, GraphProblem } from '@/lib/workflow/graph-problem'
import type { KindLookup } from '@/lib/workflow/kind-facts'
import { byPlace } from '../strict-json'
import { pointerOf, type Tell } from '../tell'
import { crossCheck } from './cross-checks'
import { fieldsOf } from './fields'
import { type ReadDocument, readDocument } from './read'
import { readToml } from './toml-source'
import { tomlText } from './toml-write'
import { documentOf } from './write'

export const agentdMediaType = 'application/toml'

export interface Parsed {
  /** Present when no diagnostic is an error. */
  graph?: WorkflowGraph
  diagnostics: Diagnostic[]
  /** Places a problem of the graph in this text; present with the graph. */
  place?: (problem: GraphProblem) => Diagnostic
}

/**
 * Reads a workflow file. With `kinds`, kinds, their configs and the labels of edges are checked too; with the
 * file's name, whether the workflow calls itself by it. At most 100 diagnostics come
 * back, in the order of the text. Never throws for a text, however broken.
 */
export function parseAgentd(text: string, kinds?: KindLookup, filename?: string): Parsed {
  const { value, diagnostics, tell, placed } = readToml(text)
  const read = value ? readDocument(value, tell, filename) : undefined
  if (read) checkRead(read, kinds, tell, diagnostics)
  diagnostics.sort(byPlace)
  const broken = diagnostics.some((diagnostic) => diagnostic.severity === 'error')
  if (!read || broken) return { diagnostics }
  const place = (problem: GraphProblem) => placed({ ...problem, path: documentPath(problem.path, read) })
  return { graph: read.graph, diagnostics, place }
}

/** The workflow's text, with a line break at its end. Throws Problem `workflow_invalid` for a graph that agentd has no words for. */
export function writeAgentd(graph: WorkflowGraph): string {
  return tomlText(documentOf(graph))
}

function checkRead(
  read: ReadDocument,
  kinds: KindLookup | undefined,
  tell: Tell,
  diagnostics: Diagnostic[],
): void {
  crossCheck(read, tell)
  const told = new Set(diagnostics.map(({ path }) => path))
  const faulty = new Set(diagnostics.filter(({ code }) => code === 'agentd_missing').map(({ path }) => path))
  for (const problem of checkGraph(read.graph, kinds && knownTo(kinds))) {
    const path = documentPath(problem.path, read)
    const pointer = pointerOf(path)
    // A field that is missing was told by its name.
    if (problem.path[2] === 'config' && (told.has(pointer) || faulty.has(pointerOf(path.slice(0, -1)))))
      continue
    tell({ ...problem, path, message: inOwnWords(problem) })
  }
}

/** The kinds, with one that takes anything for types that agentd does not have: those were told already. */
function knownTo(kinds: KindLookup): KindLookup {
  const lookup: KindLookup = (type) => (fieldsOf(type) ? kinds(type) : { config: z.unknown() })
  lookup.names = kinds.names
  return lookup
}

const memberWords: Record<string, string> = {
  kind: 'type',
  maxAttempts: 'max_attempts',
  baseMs: 'backoff_ms',
  maxIterations: 'max_iterations',
  maxRunS: 'max_run_time_secs',
  maxModelTokens: 'max_llm_tokens',
  maxWriteBytes: 'max_fs_write_mb',
  maxMemoryMb: 'max_memory_mb',
  maxCpuS: 'max_cpu_secs',
  onError: 'on_error',
}

/** A sentence about a bound, with the member as it is written here. */
function inOwnWords({ code, message }: GraphProblem): string {
  if (!code.endsWith('_bounds')) return message
  return message.replace(/\b[a-z]+(?:[A-Z][a-z]*)+\b/, (name) => memberWords[name] ?? name)
}

/** Where a place of the graph stands in the document. */
function documentPath(path: GraphPath, read: ReadDocument): GraphPath {
  const [list, at, part, ...rest] = path
  const inWords = (parts: GraphPath) => parts.map((name) => memberWords[name] ?? name)
  if (list === 'starts' && typeof at === 'number')
    return [
      ...read.section('start_nodes'),
      read.startAt[at] ?? at,
      ...(part === 'node' ? ['entry_node'] : []),
    ]
  if (list === 'edges' && typeof at === 'number')
    return [...read.section('edges'), read.edgeAt[at] ?? at, ...inWords(path.slice(2))]
  if (list === 'nodes' && typeof at === 'number') {
    const place: GraphPath = [...read.section('nodes'), read.nodeAt[at] ?? at]
    if (part === undefined) return place
    if (part === 'config') return [...place, ...rest]
    if (part === 'approval') return [...place, ...rest]
    if (part === 'timeoutS') return [...place, 'resource_hints', 'timeout_s']
    if (part === 'onError') return [...place, 'constraints', 'hp.on_error']
    return [...place, ...inWords([part, ...rest])]
  }
  if (list === 'policy' && at === 'rego')
    return [...read.section('policy'), ...path.slice(1).map((name) => (name === 'text' ? 'inline' : name))]
  if (list === 'policy' && at === 'allow')
    return [
      ...read.section('policy'),
      ...path.slice(2).map((name) => (name === 'readKeys' ? 'read_keys' : name)),
    ]
  if (list === 'backends') return [...read.section('intelligence'), ...path]
  return [...read.section(String(list)), ...inWords(path.slice(1))]
}
