/*
 * Tools and what really runs them. A binding names one node kind and its config, so that a tool call is a step like any
 * other, under the same policy, checkpoints and approvals. Texts of the config may hold `{{args.name}}`, and members that
 * end in `_from` may name `args.name`; what a model will write there is checked when it has.
 */
import type { z } from 'zod'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import type { NodeKind } from '@/lib/nodes/node-kind'
import { kindNames, nodeKind } from '@/lib/nodes/registry'
import { parsePath } from '@/lib/nodes/values-path'
import type { ToolBinding, ToolDeclaration } from '@/lib/workflow/graph'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import { nearestName } from '@/lib/workflow/nearest-name'
import type { Tell } from '../tell'
import { checkArguments } from './arguments'
import { own, type Pack, type PackTool } from './pack'
import { didYouMean } from './prompts'
import { fits, placeWords } from './refusals'

export interface ReadTools {
  tools: ToolDeclaration[]
  /** Result bindings of tools that nothing runs: written back as they stood. */
  keptResults: JsonObject
}

const bindingsPath: GraphPath = ['workflow', 'engine', 'bindings']
const resultsPath: GraphPath = ['workflow', 'engine', 'result_bindings']
const noParameters: JsonObject = { type: 'object', properties: {} }

/** The pack's tools with their bindings. `slots` are the artifacts that states declare. */
export function readTools(pack: Pack, engine: JsonObject, slots: ReadonlySet<string>, tell: Tell): ReadTools {
  const names = Object.keys(pack.tools ?? {})
  const bindings = readBindings(engine.bindings, pack.tools ?? {}, slots, tell)
  const keptResults = addResults(engine.result_bindings, bindings, names, slots, tell)
  const tools = Object.entries(pack.tools ?? {}).map(
    ([key, { name, description, parameters }]): ToolDeclaration => {
      const binding = bindings.get(key)
      tellReserved(key, tell)
      return {
        name: key,
        description,
        parameters: parameters ?? noParameters,
        ...(binding ? { binding } : {}),
        extra: name === key ? {} : { name },
      }
    },
  )
  return { tools, keptResults }
}

/** Names that models are offered for the workflow itself begin so. */
const reservedPrefix = 'workflow__'

function tellReserved(key: string, tell: Tell): void {
  if (key.startsWith(reservedPrefix))
    tell({
      path: ['tools', key],
      what: 'name',
      code: 'bad_name',
      message: `The tool ${quoted(key)} has a name that begins with ${quoted(reservedPrefix)}, as the tools do by which a model ends its turn.`,
      mend: 'Choose another name.',
    })
  else if (!/^[a-zA-Z0-9_-]{1,64}$/.test(key))
    tell({
      path: ['tools', key],
      what: 'name',
      code: 'tool_name',
      severity: 'warning',
      message: `The tool ${quoted(key)} has a name that most models refuse: they take 1 to 64 letters, digits, "_" and "-".`,
      mend: 'Choose such a name.',
    })
}

function readBindings(
  source: Json | undefined,
  tools: Record<string, PackTool>,
  slots: ReadonlySet<string>,
  tell: Tell,
): Map<string, ToolBinding> {
  const bindings = new Map<string, ToolBinding>()
  const names = new Set(Object.keys(tools))
  if (source === undefined) return bindings
  if (!isJsonObject(source)) {
    tellShape(bindingsPath, 'Write the tools by their names, each with what runs it.', tell)
    return bindings
  }
  for (const [tool, entry] of Object.entries(source)) {
    const path = [...bindingsPath, tool]
    if (!names.has(tool) && !tell.isFull())
      tell({
        path,
        what: 'name',
        code: 'unknown_tool',
        message: `The engine binds the tool ${quoted(tool)}, and the pack declares none of that name.`,
        mend: didYouMean(tool, [...names], 'Declare it under "tools", or remove the binding.'),
      })
    if (!isJsonObject(entry)) tellShape(path, `Write what runs it: ${example}.`, tell)
    else {
      const binding = readBinding(tool, entry, path, slots, tell)
      if (!binding) continue
      bindings.set(tool, binding)
      const { parameters } = own(tools, tool) ?? {}
      checkArguments(tool, parameters, binding.config, [...path, binding.kind], tell)
    }
  }
  return bindings
}

const example = '{ shell_run: { command: /usr/bin/make, args: [test] } }'

function tellShape(path: GraphPath, mend: string, tell: Tell): void {
  tell({ path, code: 'bad_value', message: `${placeWords(path)} is no object.`, mend })
}

/** Kinds that can stand behind a tool: what does something and comes to an end by itself, and a person. */
function isBindable({ kind, family, internal }: NodeKind): boolean {
  if (internal) return false
  return family === 'control'
    ? ['call', 'map', 'await_event'].includes(kind)
    : !['task', 'prompt_state'].includes(kind)
}

const bindable = kindNames.filter((name) => {
  const kind = nodeKind(name)
  return kind !== undefined && isBindable(kind)
})

function readBinding(
  tool: string,
  entry: JsonObject,
  path: GraphPath,
  slots: ReadonlySet<string>,
  tell: Tell,
): ToolBinding | undefined {
  const { artifacts, ...rest } = entry
  const [[name, config] = [], ...more] = Object.entries(rest)
  const kind = name === undefined ? undefined : nodeKind(name)
  if (name === undefined || config === undefined || more.length > 0 || !kind || !isBindable(kind)) {
    tellKind(tool, Object.keys(rest), path, tell)
    return undefined
  }
  const inside = [...path, name]
  if (!isJsonObject(config)) {
    tellShape(inside, `Write what a ${name} takes.`, tell)
    return undefined
  }
  if (name === 'shell_run' && typeof config.command === 'string' && config.command.includes('{{'))
    tell({
      path: [...inside, 'command'],
      code: 'model_picks_program',
      severity: 'warning',
      message: `The model picks the program that the tool ${quoted(tool)} runs.`,
      mend: 'Name the program, and let the model give its arguments.',
    })
  const isKnown = (issue: z.core.$ZodIssue) => !isFilled(config, issue.path)
  if (!fits(kind.config, config, inside, tell, isKnown)) return undefined
  return { kind: name, config, artifacts: slotPaths(tool, artifacts, [...path, 'artifacts'], slots, tell) }
}

/** True for a refusal of a text that the call's arguments will fill: what it will be is not known yet. */
function isFilled(config: Json, path: readonly PropertyKey[]): boolean {
  let here: Json | undefined = config
  for (const part of path)
    here = Array.isArray(here) ? here[Number(part)] : isJsonObject(here) ? here[String(part)] : undefined
  return typeof here === 'string' && here.includes('{{args')
}

function tellKind(tool: string, found: string[], path: GraphPath, tell: Tell): void {
  const [first = ''] = found
  const nearest = found.length === 1 ? nearestName(first, bindable) : undefined
  const what =
    found.length === 0
      ? 'says nothing of what runs it'
      : found.length === 1
        ? `names ${quoted(first)}, which is nothing that can run a tool`
        : `names ${found.slice(0, 5).map(quoted).join(' and ')}; exactly one can run it`
  tell({
    path: found.length === 1 ? [...path, first] : path,
    what: 'name',
    code: 'bad_binding',
    message: `The binding of tool ${quoted(tool)} ${what}.`,
    mend: nearest ? `Did you mean ${quoted(nearest)}?` : `Name one of ${bindable.join(', ')}.`,
  })
}

/** Slots that a result fills, by their paths in it. */
function slotPaths(
  tool: string,
  source: Json | undefined,
  path: GraphPath,
  slots: ReadonlySet<string>,
  tell: Tell,
): Record<string, string> {
  if (source === undefined) return {}
  if (!isJsonObject(source)) {
    tellShape(
      path,
      'Write slots by their names, each with a path in the result; an empty text is all of it.',
      tell,
    )
    return {}
  }
  const paths: [string, string][] = []
  for (const [slot, value] of Object.entries(source)) {
    tellSlot(tool, slot, [...path, slot], slots, tell)
    if (typeof value === 'string' && (value === '' || parsePath(value) !== undefined))
      paths.push([slot, value])
    else
      tell({
        path: [...path, slot],
        code: 'bad_value',
        message: `The binding of tool ${quoted(tool)} fills ${quoted(slot)} from what is no path.`,
        mend: 'Write a path in the result such as body.id, or an empty text for all of it.',
      })
  }
  return Object.fromEntries(paths)
}

function tellSlot(tool: string, slot: string, path: GraphPath, slots: ReadonlySet<string>, tell: Tell): void {
  if (slots.has(slot) || tell.isFull()) return
  tell({
    path,
    what: 'name',
    code: 'unknown_artifact',
    message: `The tool ${quoted(tool)} fills the artifact ${quoted(slot)}, which no state declares.`,
    mend: didYouMean(slot, [...slots], 'Declare it under "artifacts" of a state.'),
  })
}

/** Adds the RFC's short form to the bindings; gives back the entries of tools that are bound to nothing. */
function addResults(
  source: Json | undefined,
  bindings: Map<string, ToolBinding>,
  names: readonly string[],
  slots: ReadonlySet<string>,
  tell: Tell,
): JsonObject {
  if (source === undefined) return {}
  if (!isJsonObject(source)) {
    tellShape(resultsPath, 'Write artifacts by the names of tools: { run_tests: test_report }.', tell)
    return {}
  }
  const kept: JsonObject = {}
  const known = new Set(names)
  for (const [written, target] of Object.entries(source)) {
    const { tool, path } = resultOf(written, known)
    const place = [...resultsPath, written]
    if (typeof target !== 'string') {
      tell({
        path: place,
        code: 'bad_value',
        message: `The result binding ${quoted(written)} names no artifact.`,
        mend: 'Write the name of an artifact.',
      })
      continue
    }
    if (!known.has(tool) && !tell.isFull())
      tell({
        path: place,
        what: 'name',
        code: 'unknown_tool',
        message: `The result binding ${quoted(written)} is of no tool that the pack declares.`,
        mend: didYouMean(tool, names, 'Begin it with the name of a tool.'),
      })
    const slot = target.replace(/^artifacts\./, '')
    tellSlot(tool, slot, place, slots, tell)
    const binding = bindings.get(tool)
    if (!binding) kept[written] = target
    else if (Object.hasOwn(binding.artifacts, slot) && binding.artifacts[slot] !== path)
      tell({
        path: place,
        code: 'artifact_bound_twice',
        message: `The tool ${quoted(tool)} fills the artifact ${quoted(slot)} from two places of its result.`,
        mend: 'Keep one of the two.',
      })
    else bindings.set(tool, { ...binding, artifacts: { ...binding.artifacts, [slot]: path } })
  }
  return kept
}

const maxDotsRead = 64

/** `run_tests`, `run_tests.output` and `run_tests.output.summary`, as the tool and a path in its result. */
function resultOf(written: string, names: ReadonlySet<string>): { tool: string; path: string } {
  if (names.has(written)) return { tool: written, path: '' }
  // A tool's own name may hold dots; the longest that is one counts.
  const dots = [...written.matchAll(/\./g)].slice(0, maxDotsRead)
  for (const { index } of dots.reverse()) {
    const tool = written.slice(0, index)
    if (names.has(tool)) return { tool, path: written.slice(index + 1).replace(/^output(\.|$)/, '') }
  }
  return { tool: written.split('.', 1)[0] ?? written, path: '' }
}
