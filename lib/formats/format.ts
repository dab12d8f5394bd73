/*
 * The door for workflow texts: which language is this, and what does it say. Each language is a front end to the one
 * graph; what comes after the door does not know which one it was.
 */
import type { Diagnostic } from '@/lib/base/diagnostic'
import type { Format, WorkflowGraph } from '@/lib/workflow/graph'
import type { GraphProblem } from '@/lib/workflow/graph-problem'
import type { KindLookup } from '@/lib/workflow/kind-facts'
import { agentdMediaType, parseAgentd, writeAgentd } from './agentd/agentd'

import { atdMediaType, parseAtd, writeAtd } from './atd'
import { maxDiagnostics } from './kept-diagnostics'
import { packMediaTypes, parsePack, writePack } from './promptpack/promptpack'
import { byPlace } from './strict-json'

export interface ReadWorkflow {
  format: Format | 'unknown'
  /** What the text is stored and served as. */
  mediaType: string
  graph?: WorkflowGraph
  diagnostics: Diagnostic[]
  /** Places a problem of the graph in this text; present with the graph. */
  place?: (problem: GraphProblem) => Diagnostic
}

/** Reads a workflow's text in whatever language it is. The file's name helps to tell; `kinds` lets configs be checked. */
export function readWorkflow(text: string, filename?: string, kinds?: KindLookup): ReadWorkflow {
  const format = detectFormat(text, filename)
  switch (format) {
    case 'atd':
      return { format, mediaType: atdMediaType, ...parseAtd(text, kinds) }
    case 'promptpack':
      return { format, ...parsePack(text, kinds, filename) }
    case 'agentd':
      return { format, mediaType: agentdMediaType, ...parseAgentd(text, kinds, filename) }
    case 'unknown':
      return { format, mediaType: 'text/plain', diagnostics: [unrecognized] }
    default:
      return format satisfies never
  }
}

/** The diagnostics of a text together with problems that were found in its graph: at most 100, in the order of the text. */
export function withProblems({ diagnostics, place }: ReadWorkflow, problems: GraphProblem[]): Diagnostic[] {
  if (!place) return diagnostics
  const more = problems.slice(0, Math.max(0, maxDiagnostics - diagnostics.length)).map(place)
  return [...diagnostics, ...more].sort(byPlace)
}

/**
 * The workflow's text in its own format; `mediaType`, where it is known, says in which language the text came. Throws
 * Problem `workflow_invalid` when the format cannot say it.
 */
export function exportWorkflow(
  graph: WorkflowGraph,
  mediaType?: string,
): { text: string; mediaType: string; filename: string } {
  if (graph.format === 'agentd')
    return { text: writeAgentd(graph), mediaType: agentdMediaType, filename: `${fileStem(graph.name)}.toml` }
  if (graph.format === 'promptpack') {
    const language = mediaType === packMediaTypes.json ? 'json' : 'yaml'
    return {
      text: writePack(graph, language),
      mediaType: packMediaTypes[language],
      filename: `${fileStem(graph.name)}.pack.${language}`,
    }
  }
  return { text: writeAtd(graph), mediaType: atdMediaType, filename: `${fileStem(graph.name)}.atd.json` }
}

/**
 * A file name under which a stored text is told for what it was imported as, where the text alone may not tell.
 * Undefined for media types whose texts always do.
 */
export function nameHint(mediaType: string): string | undefined {
  if (mediaType === packMediaTypes.yaml) return 'stored.pack.yaml'
  return mediaType === packMediaTypes.json ? 'stored.pack.json' : undefined
}

/**
 * Tells the language from the file's name or else from the first thing in the text: an object is JSON (a PromptPack
 * says so by its members), a table or assignment is TOML, a YAML key is a PromptPack.
 */
export function detectFormat(text: string, filename = ''): Format | 'unknown' {
  const name = filename.toLowerCase()
  if (name.endsWith('.toml')) return 'agentd'
  if (/\.(ya?ml|pack\.json)$/.test(name)) return 'promptpack'
  if (name.endsWith('.atd.json')) return 'atd'
  const head = text
    .slice(0, 65_536)
    .replace(/^\uFEFF/, '')
    .trimStart()
  // A comment first is no JSON, but the sentence about comments helps more than "unknown".
  if (/^(\{|\[|\/[/*])/.test(head) && !/^\[\[?[A-Za-z_][\w.-]*\]\]?\s*(\n|\r|#)/.test(head))
    return looksLikePack(head) ? 'promptpack' : 'atd'
  const first = head.replace(/^(?:#[^\n]*(?:\n|$)\s*)+/, '')
  if (/^(---|%YAML|["']?[A-Za-z_$][\w$-]*["']?[ \t]*:(\s|$))/.test(first)) return 'promptpack'
  if (/^\[\[?[A-Za-z_][\w.-]*\]\]?/.test(head) || /^[A-Za-z_][\w.-]*\s*=/m.test(head)) return 'agentd'
  return head === '' || name.endsWith('.json') ? 'atd' : 'unknown'
}

/** Of an object: its names stand in quotation marks or, in YAML, not. Descriptors have no template engine. */
function looksLikePack(head: string): boolean {
  const has = (names: string) => new RegExp(String.raw`["{,\s](${names})["']?\s*:`).test(head)
  return has('template_engine') || (has('prompts') && !has('wf_id|nodes'))
}

const unrecognized: Diagnostic = {
  severity: 'error',
  code: 'format_unknown',
  message: 'This text is in no workflow language that Holdpoint knows.',
  mend: 'Import an ATD descriptor (JSON with wf_id, nodes and edges), an agentd workflow (TOML) or a PromptPack (YAML or JSON).',
  line: 1,
  column: 1,
  path: '',
}

function fileStem(name: string): string {
  return (
    name
      .replace(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[.-]+/, '')
      .slice(0, 100) || 'workflow'
  )
}
