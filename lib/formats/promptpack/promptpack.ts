/*
 * PromptPacks (the published schemas 1.4.0 and 1.5.0, and RFC 0009's agent loops), read and written.
 *
 *   text ──YAML or JSON──▶ document ──form──▶ ──read──▶ graph ──checks──▶ diagnostics   (all at once, each with its place)
 *   graph ──write──▶ document ──▶ text
 *
 * The room protects two things. A pack that either published schema accepts is accepted: what is not executed is kept
 * and named in a remark, never refused (NOTES 16). And a loop that cannot end is seen before it runs: the RFC's seven
 * validation rules are checked, with what follows from them (loops.ts, references.ts).
 *
 * What a pack means is more than its form. Refused as well are names that lead nowhere (states, prompts, fragments,
 * tools, artifacts of bindings), fragments that contain each other, one artifact declared in two ways, forced exits
 * that go in a circle, workflows of another version than 1 or 2, and faults in Holdpoint's own members of the engine.
 *
 * Of the text is refused: what is neither YAML 1.2 nor strict JSON, doubled names, tags, aliases that unfold beyond the
 * bounds, more than 64 levels, 8 MiB, 400,000 values, 5,000 states or 20,000 events.
 *
 * Comments, anchors and the order of members are not kept; the order of states, events and tools is, except that names
 * which are whole numbers come first, as objects have them.
 */
import { Document, isScalar, visit } from 'yaml'
import { canonicalJson } from '@/lib/base/canonical-json'
import type { Diagnostic } from '@/lib/base/diagnostic'
import type { JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { checkGraph } from '@/lib/workflow/checks'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import type { GraphPath, GraphProblem } from '@/lib/workflow/graph-problem'
import type { KindLookup } from '@/lib/workflow/kind-facts'
import { byPlace } from '../strict-json'
import { pointerOf, type Tell } from '../tell'
import { readPack } from './read'
import type { ReadPack } from './read-pack'
import { judgeForm } from './refusals'
import { type PackLanguage, readPackSource } from './source'
import { documentOf } from './write'

/** What packs are stored and served as; the language comes back with the text. */
export const packMediaTypes: Readonly<Record<PackLanguage, string>> = {
  yaml: 'application/promptpack+yaml',
  json: 'application/promptpack+json',
}

export interface ParsedPack {
  mediaType: string
  /** Present when no diagnostic is an error. */
  graph?: WorkflowGraph
  diagnostics: Diagnostic[]
  /** Places a problem of the graph in this text; present with the graph. */
  place?: (problem: GraphProblem) => Diagnostic
}

/**
 * Reads a pack. With `kinds`, kinds and their configs are checked too; the file's name tells YAML from JSON. At most 100
 * diagnostics come back, in the order of the text. Never throws for a text, however broken.
 */
export function parsePack(text: string, kinds?: KindLookup, filename?: string): ParsedPack {
  const { language, value, diagnostics, tell, placed } = readPackSource(text, filename)
  const mediaType = packMediaTypes[language]
  const read = value && judgeForm(value, tell) ? readPack(value, tell) : undefined
  if (read) checkRead(read, kinds, tell, diagnostics)
  diagnostics.sort(byPlace)
  const broken = diagnostics.some(({ severity }) => severity === 'error')
  if (!read || broken) return { mediaType, diagnostics }
  const place = (problem: GraphProblem) => placed({ ...problem, path: documentPath(problem.path, read) })
  return { mediaType, graph: read.graph, diagnostics, place }
}

/**
 * The workflow's text, with a line break at its end. Throws Problem `workflow_invalid` for a graph that a pack has no
 * words for: every text is read again, and must mean the same graph.
 */
export function writePack(graph: WorkflowGraph, language: PackLanguage = 'yaml'): string {
  if (graph.format !== 'promptpack')
    throw new Problem(
      'workflow_invalid',
      `"${graph.name}" came as ${graph.format}, which has no prompts; it cannot be written as a PromptPack.`,
    )
  const document = documentOf(graph)
  const text = language === 'json' ? `${JSON.stringify(document, null, 2)}\n` : yamlText(document)
  const again = parsePack(text, undefined, `pack.${language}`)
  if (again.graph && canonicalJson(again.graph) === canonicalJson(graph)) return text
  const fault = again.diagnostics.find(({ severity }) => severity === 'error')
  throw new Problem(
    'workflow_invalid',
    `"${graph.name}" cannot be written as a PromptPack: ${fault ? fault.message : `a pack has no words for its ${differing(graph, again.graph)}.`}`,
  )
}

/** The first members of a graph that a text gives back otherwise. */
function differing(graph: WorkflowGraph, again: WorkflowGraph | undefined): string {
  const members = Object.keys({ ...graph, ...again }) as (keyof WorkflowGraph)[]
  const differ = members.filter(
    (member) => canonicalJson(graph[member] ?? null) !== canonicalJson(again?.[member] ?? null),
  )
  return differ.slice(0, 5).join(', ') || 'members'
}

function yamlText(value: JsonObject): string {
  const document = new Document(value, { aliasDuplicateObjects: false })
  // Plain, it would merge what stands under it.
  visit(document, {
    Pair: (_, { key }) => {
      if (isScalar(key) && key.value === '<<') key.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 0, minContentWidth: 0 })
}

/** What the loops of a pack are worth is told in its own words (loops.ts); there, they are no errors. */
const toldOtherwise = new Set(['self_edge', 'cycle', 'unreachable_node'])

function checkRead(
  read: ReadPack,
  kinds: KindLookup | undefined,
  tell: Tell,
  diagnostics: Diagnostic[],
): void {
  const told = new Set(diagnostics.filter(({ severity }) => severity === 'error').map(({ path }) => path))
  for (const problem of checkGraph(read.graph, kinds)) {
    const path = documentPath(problem.path, read)
    if (toldOtherwise.has(problem.code) || (problem.path[2] === 'config' && told.has(pointerOf(path))))
      continue
    tell({ ...problem, path })
  }
}

/** Where each member of a state's config is written: of the prompt, or else of the state. */
const promptMembers: Readonly<Record<string, GraphPath>> = {
  template: ['system_template'],
  variables: ['variables'],
  tools: ['tools'],
  max_rounds: ['tool_policy', 'max_rounds'],
  max_tool_calls: ['tool_policy', 'max_tool_calls_per_turn'],
  tool_choice: ['tool_policy', 'tool_choice'],
  temperature: ['parameters', 'temperature'],
  top_p: ['parameters', 'top_p'],
  max_tokens: ['parameters', 'max_tokens'],
}
const stateMembers: Readonly<Record<string, string>> = {
  prompt: 'prompt_task',
  question: 'description',
  maxVisits: 'max_visits',
  onMaxVisits: 'on_max_visits',
}

/** Where a place of the graph stands in the document. */
function documentPath(path: GraphPath, read: ReadPack): GraphPath {
  const [list, at, part, member, ...rest] = path
  const inEngine = ['workflow', 'engine']
  if (list === 'nodes' && typeof at === 'number') {
    const state = read.states[at]
    const place = state && read.hasWorkflow ? ['workflow', 'states', state.name] : ['agents', 'entry']
    const name = String(part === 'config' ? member : (part ?? ''))
    if (part === 'config' && Object.hasOwn(promptMembers, name) && state?.prompt)
      return ['prompts', state.prompt.key, ...(promptMembers[name] ?? []), ...rest]
    if (name === 'backend') return [...inEngine, name]
    if (name === 'timeoutS') return [...inEngine, 'states', state?.name ?? '', 'resource_hints', 'timeout_s']
    if (name === 'onError') return [...inEngine, 'states', state?.name ?? '', 'constraints', 'hp.on_error']
    if (name === 'role') return [...inEngine, 'roles', state?.name ?? '']
    return part === undefined
      ? place
      : [...place, stateMembers[name] ?? name, ...(part === 'config' ? rest : [])]
  }
  if (list === 'edges' && typeof at === 'number') return read.edgePaths[at] ?? []
  if (list === 'starts') return ['workflow', 'entry']
  if (list === 'tools' && typeof at === 'number') {
    const { name = '', binding } = read.graph.tools?.[at] ?? {}
    const inConfig = part === 'binding' && member === 'config' && binding
    return inConfig ? [...inEngine, 'bindings', name, binding.kind, ...rest] : ['tools', name]
  }
  if (list === 'nodes' || list === 'edges') return ['workflow', 'states']
  if (list === 'input') return ['prompts']
  if (list === 'containment') return [...inEngine, list, 'on_error']
  if (list === 'policy') {
    const words: Record<string, string> = {
      privateTargets: 'private_targets',
      readKeys: 'read_keys',
      text: 'inline',
    }
    const inside = path.filter((name) => name !== 'allow').map((name) => words[name] ?? name)
    return [...inEngine, ...inside]
  }
  return [...inEngine, ...path]
}
