/*
 * Binds one tool of a pack in its text: `workflow.engine.bindings.<tool>`, and nothing else. What the tool's results fill
 * is then said by the binding alone: its entries under `workflow.engine.result_bindings` are part of it already.
 *
 * In YAML only the lines of the binding are touched, so that every other line is as its author wrote it. Where that
 * cannot be (the engine stands on one line, in braces), the library writes the text anew: comments and order stay, and
 * spacing may differ. JSON has no comments; it is written anew in its own indentation.
 *
 * The new text is read back: it must say what the old one said, but for the binding. A text that cannot be changed so
 * (an anchor that other places share) is refused rather than changed in more than was asked.
 */
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  type Pair,
  parseDocument,
  stringify,
  type YAMLMap,
} from 'yaml'
import { canonicalJson } from '@/lib/base/canonical-json'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import type { ToolBinding } from '@/lib/workflow/graph'
import { readPackSource } from './source'

/**
 * The pack's text with that tool bound; without `binding`, bound to nothing. Throws Problem `bad_request` for a text that
 * is no pack with a workflow and that tool, and for one that cannot be changed in this alone.
 */
export function setBinding(text: string, tool: string, binding: ToolBinding | undefined): string {
  const { language, value: before } = readPackSource(text)
  if (!before || !isJsonObject(before.workflow)) {
    throw refusal('The pack has no workflow, so nothing in it says what runs a tool')
  }
  if (!isJsonObject(before.tools) || !Object.hasOwn(before.tools, tool)) {
    const known = isJsonObject(before.tools) ? Object.keys(before.tools).slice(0, 20).join(', ') : 'none'
    throw refusal(`The pack declares no tool "${tool.slice(0, 80)}"; there are: ${known}`)
  }
  const wanted = bound(before, tool, binding)
  const ways = language === 'json' ? [asJson] : [splicedYaml, rewrittenYaml]
  for (const way of ways) {
    const after = way(text, wanted, tool)
    if (after !== undefined && says(after, wanted)) return after
  }
  throw refusal(
    `The binding of "${tool.slice(0, 80)}" cannot be changed here without changing other parts of the text; write it under workflow.engine.bindings by hand`,
  )
}

function says(text: string, wanted: JsonObject): boolean {
  const { value } = readPackSource(text)
  return value !== undefined && canonicalJson(value) === canonicalJson(wanted)
}

function refusal(sentence: string): Problem {
  return new Problem('bad_request', `${sentence}.`)
}

/** The pack's value as it is to be. */
function bound(pack: JsonObject, tool: string, binding: ToolBinding | undefined): JsonObject {
  const workflow = pack.workflow as JsonObject
  const engine = isJsonObject(workflow.engine) ? workflow.engine : {}
  const { [tool]: _, ...others } = isJsonObject(engine.bindings) ? engine.bindings : {}
  const bindings = inPlace(engine.bindings, others, tool, binding && entryOf(binding))
  const results = withoutResults(engine.result_bindings, tool, pack)
  return {
    ...pack,
    workflow: {
      ...workflow,
      engine: withMember(withMember(engine, 'bindings', bindings), 'result_bindings', results),
    },
  }
}

function inPlace(
  old: Json | undefined,
  others: JsonObject,
  tool: string,
  entry: JsonObject | undefined,
): JsonObject {
  if (entry === undefined) return others
  return isJsonObject(old) && Object.hasOwn(old, tool)
    ? { ...old, [tool]: entry }
    : { ...others, [tool]: entry }
}

/** The object with that member, or without it where nothing is left of it. */
function withMember(object: JsonObject, name: string, value: JsonObject): JsonObject {
  const { [name]: _, ...rest } = object
  if (Object.keys(value).length === 0) return rest
  return Object.hasOwn(object, name) ? { ...object, [name]: value } : { ...rest, [name]: value }
}

/** A binding as a pack writes it: `{ shell_run: { … }, artifacts: { test_report: "" } }`. */
function entryOf({ kind, config, artifacts }: ToolBinding): JsonObject {
  return { [kind]: config, ...(Object.keys(artifacts).length > 0 ? { artifacts } : {}) }
}

/** Result bindings but for those of this tool: `run_tests`, `run_tests.output`. */
function withoutResults(results: Json | undefined, tool: string, pack: JsonObject): JsonObject {
  if (!isJsonObject(results)) return {}
  const longer = Object.keys(pack.tools as JsonObject).filter((name) => name.startsWith(`${tool}.`))
  const isOwn = (written: string) =>
    written === tool ||
    (written.startsWith(`${tool}.`) &&
      !longer.some((name) => written === name || written.startsWith(`${name}.`)))
  return Object.fromEntries(Object.entries(results).filter(([written]) => !isOwn(written)))
}

function asJson(text: string, value: JsonObject): string {
  const indent = /^\s*\{[^\S\n]*\r?\n([ \t]+)"/.exec(text.replace(/^\uFEFF/, ''))?.[1]
  return `${JSON.stringify(value, null, indent ?? 2)}\n`
}

interface Edit {
  from: number
  to: number
  text: string
}

/** Only the lines of the binding; undefined where its place does not stand on lines of its own. */
function splicedYaml(text: string, wanted: JsonObject, tool: string): string | undefined {
  const document = parseDocument(text, { logLevel: 'silent', uniqueKeys: false })
  const workflow = blockIn(document.contents, 'workflow')
  if (!workflow) return undefined
  const engine = ((wanted.workflow as JsonObject).engine ?? {}) as JsonObject
  const entry = isJsonObject(engine.bindings) ? engine.bindings[tool] : undefined
  const edits = bindingEdits(text, workflow, tool, entry)
  if (!edits) return undefined
  const inside = blockIn(workflow, 'engine')
  const stale = staleResults(inside, engine)
  const results = blockIn(inside, 'result_bindings')
  if (stale.length > 0) {
    if (!results) return undefined
    const gone =
      stale.length === results.items.length
        ? [pairOf(inside as YAMLMap, 'result_bindings')]
        : stale.map((name) => pairOf(results, name))
    edits.push(...gone.map((pair) => removal(text, pair as Pair)))
  }
  if (edits.length === 0) return text
  return edits
    .toSorted((a, b) => b.from - a.from)
    .reduce((now, { from, to, text: put }) => now.slice(0, from) + put + now.slice(to), text)
}

function bindingEdits(
  text: string,
  workflow: YAMLMap,
  tool: string,
  entry: Json | undefined,
): Edit[] | undefined {
  const engine = blockIn(workflow, 'engine')
  if (!engine) {
    if (pairOf(workflow, 'engine') || entry === undefined) return undefined
    return [addition(text, workflow, { engine: { bindings: { [tool]: entry } } })]
  }
  const bindings = blockIn(engine, 'bindings')
  if (!bindings) {
    if (pairOf(engine, 'bindings') || entry === undefined) return undefined
    return [addition(text, engine, { bindings: { [tool]: entry } })]
  }
  const old = pairOf(bindings, tool)
  if (entry === undefined) {
    if (!old) return []
    return [removal(text, bindings.items.length === 1 ? (pairOf(engine, 'bindings') as Pair) : old)]
  }
  if (!old) return [addition(text, bindings, { [tool]: entry })]
  const from = startOf(old)
  return [{ from, to: endOf(old), text: written({ [tool]: entry }, columnOf(text, from)).trimStart() }]
}

/** Results that are no longer said; all of them gone, the member is a pair to be taken out as well. */
function staleResults(engine: YAMLMap | undefined, wanted: JsonObject): string[] {
  const pair = engine && pairOf(engine, 'result_bindings')
  const results = pair && isMap(pair.value) ? namesIn(pair.value) : []
  const kept = isJsonObject(wanted.result_bindings) ? wanted.result_bindings : {}
  return results.filter((name) => !Object.hasOwn(kept, name))
}

/** The member as a map that stands on lines of its own; undefined where there is none. */
function blockIn(parent: unknown, name: string): YAMLMap | undefined {
  if (!isMap(parent) || parent.flow || parent.items.length === 0) return undefined
  const value = pairOf(parent, name)?.value
  return isMap(value) && !value.flow && value.items.length > 0 ? value : undefined
}

function startOf({ key }: Pair): number {
  return isNode(key) ? (key.range?.[0] ?? 0) : 0
}

/** Behind the last letter of a member, comments not counted. */
function endOf({ key, value }: Pair): number {
  if (isCollection(value) && !value.flow && value.items.length > 0) {
    const last = value.items.at(-1)
    return isNode(last) ? (last.range?.[1] ?? 0) : endOf(last as Pair)
  }
  const node = isNode(value) && value.range ? value : key
  return isNode(node) ? (node.range?.[1] ?? 0) : 0
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1)
}

/** The end of the line that a place stands on; the place itself where a line begins there. */
function lineEnd(text: string, offset: number): number {
  if (text[offset - 1] === '\n') return offset
  const end = text.indexOf('\n', offset)
  return end === -1 ? text.length : end + 1
}

/** A text that begins or ends with blanks does not come back from a block of lines as it was; it is quoted. */
function blocksFor(value: Json): { blockQuote?: false } {
  return hasBlankEnds(value) ? { blockQuote: false } : {}
}

function hasBlankEnds(value: Json): boolean {
  if (typeof value === 'string') return value !== value.trim()
  if (Array.isArray(value)) return value.some(hasBlankEnds)
  return isJsonObject(value) && Object.values(value).some(hasBlankEnds)
}

function written(value: JsonObject, column: number): string {
  const margin = ' '.repeat(column)
  return stringify(value, { lineWidth: 0, ...blocksFor(value) })
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '' : margin + line))
    .join('\n')
}

/** New members behind the last one of a map. */
function addition(text: string, map: YAMLMap, value: JsonObject): Edit {
  const last = map.items.at(-1) as Pair
  const at = lineEnd(text, endOf(last))
  const before = at > 0 && text[at - 1] !== '\n' ? '\n' : ''
  return {
    from: at,
    to: at,
    text: `${before}${written(value, columnOf(text, startOf(map.items[0] as Pair)))}\n`,
  }
}

function removal(text: string, pair: Pair): Edit {
  const from = startOf(pair) - columnOf(text, startOf(pair))
  return { from, to: lineEnd(text, endOf(pair)), text: '' }
}

/** The library's own writing of the text. */
function rewrittenYaml(text: string, wanted: JsonObject, tool: string): string {
  const document = parseDocument(text, { logLevel: 'silent', uniqueKeys: false })
  const engine = ((wanted.workflow as JsonObject).engine ?? {}) as JsonObject
  const workflow = mapIn(document, document.contents as YAMLMap, 'workflow')
  const inside = mapIn(document, workflow, 'engine')
  const entry = isJsonObject(engine.bindings) ? engine.bindings[tool] : undefined
  if (entry === undefined) drop(document, inside, 'bindings', tool)
  else put(document, mapIn(document, inside, 'bindings'), tool, entry)
  for (const name of staleResults(inside, engine)) drop(document, inside, 'result_bindings', name)
  return document.toString({
    lineWidth: 0,
    ...blocksFor(entry ?? null),
    indentSeq: !/^([ ]*)[^\s#-][^\n]*:[ ]*\r?\n\1- /m.test(text),
    ...(/^ {4}\S/m.test(text) && !/^ {2}\S/m.test(text) ? { indent: 4 } : {}),
  })
}

/** The member as a map of its own: made where there is none, copied where it is another place's. */
function mapIn(document: Document.Parsed, parent: YAMLMap, name: string): YAMLMap {
  const found = pairOf(parent, name)
  const value = isAlias(found?.value) ? found.value.resolve(document) : found?.value
  if (isMap(value)) {
    if (value === found?.value) return value
    const copy = value.clone() as YAMLMap
    delete copy.anchor
    ;(found as Pair).value = copy
    return copy
  }
  const made = document.createNode({}) as unknown as YAMLMap
  made.flow = false
  if (found) found.value = made
  else parent.add(document.createPair(name, made))
  return made
}

function pairOf(map: YAMLMap, name: string): Pair | undefined {
  return map.items.find(({ key }) => (isScalar(key) ? String(key.value) : key) === name)
}

function namesIn(map: YAMLMap): string[] {
  return map.items.map(({ key }) => String(isScalar(key) ? key.value : key))
}

/** Sets a member; a comment behind the name of an old one stays. */
function put(document: Document.Parsed, map: YAMLMap, name: string, entry: Json): void {
  // What is added to `{}` would stand on one line.
  if (map.items.length === 0) map.flow = false
  const node = document.createNode(entry)
  const found = pairOf(map, name)
  if (found) found.value = node
  else map.add(document.createPair(name, node))
}

function drop(document: Document.Parsed, engine: YAMLMap, member: string, name: string): void {
  if (!pairOf(engine, member)) return
  const map = mapIn(document, engine, member)
  map.items = map.items.filter((pair) => pair !== pairOf(map, name))
  if (map.items.length === 0) engine.items = engine.items.filter((pair) => pair !== pairOf(engine, member))
}
