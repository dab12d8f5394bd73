/*
 * Pack → graph. A state is a node: a `prompt_state`, or an `await_event` where somebody outside says what happened. An
 * event is the label of an edge. What the graph has no word for stays in `extra`:
 *
 *   graph.extra   the pack's members as written (name, prompts, fragments, agents, …) without id, description, tools
 *                 workflow: { version, engine }, the engine without its bindings and budget; mcp_servers
 *   node.extra    the state's members that its node does not say: description, artifacts, skills, composition, an
 *                 orchestration or persistence of another runtime, on_event of a last state; `name` where it is no id;
 *                 resource_hints and constraints that the graph has no word for
 *
 * A pack without a workflow is run as one state: its entry agent's prompt, or the only prompt there is.
 */
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import type { ArtifactDeclaration, GraphEdge, Start, WorkflowGraph } from '@/lib/workflow/graph'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import type { Tell } from '../tell'
import { checkContained, checkRoles, type ReadEngine, readEngine } from './engine'
import { inputSchema } from './input'
import { checkLoops } from './loops'
import { tellKept } from './notes'
import { own, type Pack, type PackVariable } from './pack'
import { didYouMean, promptReader } from './prompts'
import type { ReadPack } from './read-pack'
import { checkNames, checkTools } from './references'
import { declaredVariables, type ReadState, readStates, takesEvents } from './states'
import { readTools } from './tools'

/** Reads a pack whose form is accepted, telling every fault. Undefined when it has nothing to run. */
export function readPack(document: JsonObject, tell: Tell): ReadPack | undefined {
  const pack = document as unknown as Pack
  const prompt = promptReader(pack, tell)
  const shared = declaredVariables(Object.keys(pack.prompts).flatMap((key) => prompt(key) ?? []))
  tellSyntax(pack, tell)
  tellKept(pack, tell)
  const workflow = pack.workflow
  const engineText = isJsonObject(workflow?.engine) ? workflow.engine : {}
  const engine = readEngine(engineText, tell)
  const main = workflow ? { entry: workflow.entry, states: workflow.states } : soleState(pack, tell)
  if (!main || !checkVersion(pack, tell)) return undefined
  const states = readStates(main.states, engine, prompt, shared, Object.keys(pack.prompts), tell)
  const ids = new Map(states.map(({ name, node }) => [name, node.id]))
  const artifacts = readArtifacts(states, tell)
  const { tools, keptResults } = readTools(pack, engineText, new Set(artifacts.map(({ name }) => name)), tell)
  const { edges, edgePaths } = readEdges(states, ids)
  linkExits(states, ids, tell)
  const starts = readStarts(pack, main.entry, ids, tell)
  const input = markReachable(states, starts)
  checkRoles(engine, new Map(states.map(({ name, node, state }) => [name, takesEvents(node, state)])), tell)
  checkContained(engine, new Set(states.map(({ name }) => name)), tell)
  const graph: WorkflowGraph = {
    name: pack.id,
    description: pack.description ?? pack.name,
    format: 'promptpack',
    order: 'stepwise',
    vocabulary: 'atd',
    nodes: states.map(({ node }) => node),
    edges,
    starts,
    ...withInput(inputSchema(input, tell)),
    artifacts,
    ...(tools.length > 0 ? { tools } : {}),
    budget: engine.budget,
    policy: engine.policy,
    rules: [],
    ...(engine.containment ? { containment: engine.containment } : {}),
    ...(engine.backends.length > 0 ? { backends: engine.backends } : {}),
    ...(engine.secrets.length > 0 ? { secrets: engine.secrets } : {}),
    extra: keptMembers(document, engine, keptResults),
  }
  const read: ReadPack = { graph, states, edgePaths, hasWorkflow: workflow !== undefined }
  checkLoops(read, tell)
  checkNames(read, tell)
  checkTools(read, pack, tell)
  return read
}

function withInput(input: JsonObject | undefined): Pick<WorkflowGraph, 'input'> {
  return input ? { input } : {}
}

function checkVersion({ workflow }: Pack, tell: Tell): boolean {
  if (!workflow || workflow.version === 1 || workflow.version === 2) return true
  tell({
    path: ['workflow', 'version'],
    code: 'unsupported_version',
    message: `The workflow is of version ${String(workflow.version).slice(0, 20)}, which is not supported; versions 1 and 2 are.`,
    mend: 'Write the workflow as version 1 or 2 has it.',
  })
  return false
}

/** Markers are looked for in one way; another one would leave every prompt as it stands. */
function tellSyntax({ template_engine: { syntax } }: Pack, tell: Tell): void {
  if (/^\{\{\s*\.?\w+\s*\}\}$/.test(syntax)) return
  tell({
    path: ['template_engine', 'syntax'],
    code: 'template_syntax',
    severity: 'warning',
    message: `The pack writes variables as ${quoted(syntax)}; here they are filled where they stand as {{variable}}.`,
    mend: 'Write them as {{variable}}.',
  })
}

/** The one state of a pack without a workflow. */
function soleState(
  pack: Pack,
  tell: Tell,
): Pick<NonNullable<Pack['workflow']>, 'entry' | 'states'> | undefined {
  const [only, ...others] = Object.keys(pack.prompts)
  const entry = pack.agents?.entry ?? (others.length === 0 ? only : undefined)
  if (entry !== undefined && Object.hasOwn(pack.prompts, entry))
    return { entry, states: Object.fromEntries([[entry, { prompt_task: entry, terminal: true }]]) }
  tell({
    path: entry === undefined ? [] : ['agents', 'entry'],
    code: 'nothing_to_run',
    message:
      entry === undefined
        ? `The pack has ${others.length + 1} prompts and neither a workflow nor agents, so there is nothing to run.`
        : `The agents begin with ${quoted(entry)}, and no prompt has that name, so there is nothing to run.`,
    mend:
      entry === undefined
        ? 'Add a workflow whose states use the prompts.'
        : didYouMean(entry, Object.keys(pack.prompts), 'Name a prompt of the pack.'),
  })
  return undefined
}

/** One namespace: states that declare the same slot mean the same one, so they must say the same of it. */
function readArtifacts(states: readonly ReadState[], tell: Tell): ArtifactDeclaration[] {
  const found = new Map<string, ArtifactDeclaration & { state: string }>()
  for (const { name, state } of states)
    for (const [slot, { type, mode = 'replace', description }] of Object.entries(state.artifacts ?? {})) {
      const earlier = found.get(slot)
      if (!earlier) {
        const extra: JsonObject = description === undefined ? {} : { description }
        found.set(slot, { name: slot, mediaType: type, mode, extra, state: name })
        continue
      }
      if (earlier.mediaType === type && earlier.mode === mode) continue
      tell({
        path: ['workflow', 'states', name, 'artifacts', slot],
        what: 'name',
        code: 'artifact_differs',
        message: `The artifact ${quoted(slot)} is ${mode} and ${quoted(type)} in state ${quoted(name)}, and ${earlier.mode} and ${quoted(earlier.mediaType)} in ${quoted(earlier.state)}; all states share it.`,
        mend: 'Declare it alike, or give one of them another name.',
      })
    }
  return [...found.values()].map(({ state: _, ...declaration }) => declaration)
}

function readEdges(
  states: readonly ReadState[],
  ids: ReadonlyMap<string, string>,
): { edges: GraphEdge[]; edgePaths: GraphPath[] } {
  const edges: GraphEdge[] = []
  const edgePaths: GraphPath[] = []
  for (const { name, node, events } of states)
    for (const [event, target] of events) {
      edges.push({ from: node.id, to: ids.get(target) ?? target, when: event, extra: {} })
      edgePaths.push(['workflow', 'states', name, 'on_event', event])
    }
  return { edges, edgePaths }
}

/** Where each state leads once it was entered as often as it may be. */
function linkExits(states: readonly ReadState[], ids: ReadonlyMap<string, string>, tell: Tell): void {
  for (const { name, node, state } of states) {
    const target = state.on_max_visits
    if (target === undefined) continue
    const id = ids.get(target)
    const path = ['workflow', 'states', name, 'on_max_visits']
    if (id === undefined && tell.isFull()) continue
    if (id === undefined)
      tell({
        path,
        code: 'unknown_state',
        message: `State ${quoted(name)} leads to ${quoted(target)} after its last visit, and the workflow has no such state.`,
        mend: didYouMean(target, [...ids.keys()], 'Name a state of the workflow.'),
      })
    else if (state.max_visits === undefined)
      tell({
        path,
        what: 'name',
        code: 'exit_unused',
        severity: 'warning',
        message: `State ${quoted(name)} says where to go after its last visit, but not how many visits it has.`,
        mend: 'Add "max_visits", or remove "on_max_visits".',
      })
    else node.onMaxVisits = id
  }
}

/** The entry, and each agent that begins at a state of its own. */
function readStarts(pack: Pack, entry: string, ids: ReadonlyMap<string, string>, tell: Tell): Start[] {
  const starts: Start[] = []
  const node = ids.get(entry)
  if (node !== undefined) starts.push({ name: 'main', node })
  else
    tell({
      path: ['workflow', 'entry'],
      code: 'unknown_state',
      message: `The workflow begins at ${quoted(entry)}, and it has no such state.`,
      mend: didYouMean(entry, [...ids.keys()], 'Name a state of the workflow.'),
    })
  const { agents } = pack
  if (!agents) return starts
  if (!Object.hasOwn(agents.members, agents.entry))
    tell({
      path: ['agents', 'entry'],
      code: 'unknown_agent',
      message: `The agents begin with ${quoted(agents.entry)}, which is none of their members.`,
      mend: didYouMean(agents.entry, Object.keys(agents.members), 'Name a member.'),
    })
  for (const [name, { state }] of Object.entries(agents.members)) {
    const at = state === undefined ? undefined : ids.get(state)
    if (state === undefined && own(pack.prompts, name) === undefined)
      tell({
        path: ['agents', 'members', name],
        what: 'name',
        code: 'unknown_prompt',
        message: `The agent ${quoted(name)} has no state, and no prompt has its name.`,
        mend: didYouMean(name, Object.keys(pack.prompts), 'Name it as a prompt, or give it a state.'),
      })
    if (state !== undefined && (at === undefined || !pack.workflow))
      tell({
        path: ['agents', 'members', name, 'state'],
        code: 'unknown_state',
        message: `The agent ${quoted(name)} begins at ${quoted(state)}, and ${pack.workflow ? 'the workflow has no such state' : 'the pack has no workflow'}.`,
        mend: pack.workflow
          ? didYouMean(state, [...ids.keys()], 'Name a state.')
          : 'Add the workflow, or remove "state".',
      })
    else if (at !== undefined && name !== 'main') starts.push({ name, node: at })
  }
  return starts
}

/** Marks the states that a start leads to; gives back the variables of all states' prompts, of reachable ones first. */
function markReachable(states: ReadState[], starts: readonly Start[]): [PackVariable, ReadState][] {
  const byId = new Map(states.map((state) => [state.node.id, state]))
  const byName = new Map(states.map((state) => [state.name, state]))
  const queue = starts.flatMap(({ node }) => byId.get(node) ?? [])
  for (const state of queue) state.isReachable = true
  for (const { node, events } of queue) {
    const exits = [node.onMaxVisits === undefined ? undefined : byId.get(node.onMaxVisits)]
    for (const next of [...events.map(([, target]) => byName.get(target)), ...exits]) {
      if (!next || next.isReachable) continue
      next.isReachable = true
      queue.push(next)
    }
  }
  const inOrder = [...states].sort((a, b) => Number(b.isReachable) - Number(a.isReachable))
  return inOrder.flatMap((state) =>
    (state.prompt?.variables ?? []).map((variable): [PackVariable, ReadState] => [variable, state]),
  )
}

/** The members of the pack that the graph does not say otherwise. */
function keptMembers(document: JsonObject, engine: ReadEngine, keptResults: JsonObject): JsonObject {
  const { id: _, description: __, tools: ___, workflow, ...members } = document
  const results: JsonObject = Object.keys(keptResults).length > 0 ? { result_bindings: keptResults } : {}
  const kept: JsonObject = { ...members }
  if (isJsonObject(workflow)) {
    const { version = 1, engine: text } = workflow
    kept.workflow = text === undefined ? { version } : { version, engine: { ...engine.kept, ...results } }
  }
  if (engine.mcpServers.length > 0) kept.mcp_servers = engine.mcpServers
  return kept
}
