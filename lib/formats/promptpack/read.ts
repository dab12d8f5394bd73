/*
 * Pack → graph. A state is a node: a `prompt_state`, or an `await_event` where somebody outside says what happened. An
 * event is the label of an edge. What the graph has no word for stays in `extra`:
 *
 *   graph.extra   the pack's members as written (name, prompts, fragments, agents, …) without id, description, tools
 *                 workflow: { version, engine }, the engine without its bindings and budget; mcp_servers
 *   node.extra    the state's members that its node does not say: description, artifacts, skills, composition, an
 *                 orchestration or persistence of another runtime, on_event of a last state; `name` where it is no id
 *
 * A pack without a workflow is run as one state: its entry agent's prompt, or the only prompt there is.
 */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { isNodeId } from '@/lib/workflow/checks'
import type { ArtifactDeclaration, GraphEdge, GraphNode, Start, WorkflowGraph } from '@/lib/workflow/graph'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import type { Tell } from '../agentd/toml-source'
import { checkRoles, type ReadEngine, readEngine } from './engine'
import { inputSchema } from './input'
import { checkLoops } from './loops'
import { tellKept } from './notes'
import { own, type Pack, type PackState, type PackVariable } from './pack'
import { cutTo, didYouMean, promptLabel, promptReader, type ReadPrompt } from './prompts'
import { checkNames, checkTools } from './references'
import { readTools } from './tools'

export interface ReadState {
  name: string
  node: GraphNode
  state: PackState
  /** Absent for a state that runs none, or names one that is not there. */
  prompt?: ReadPrompt
  /** Where the state leads, by event; nothing of a last state. */
  events: [event: string, target: string][]
  isReachable: boolean
}

export interface ReadPack {
  graph: WorkflowGraph
  states: ReadState[]
  /** Place of an edge's event in the text. */
  edgePaths: GraphPath[]
  hasWorkflow: boolean
}

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
  const states = readStates(main.states, engine, prompt, shared, tell)
  const ids = new Map(states.map(({ name, node }) => [name, node.id]))
  const artifacts = readArtifacts(states, tell)
  const { tools, keptResults } = readTools(pack, engineText, new Set(artifacts.map(({ name }) => name)), tell)
  const { edges, edgePaths } = readEdges(states, ids)
  linkExits(states, ids, tell)
  const starts = readStarts(pack, main.entry, ids, tell)
  const input = markReachable(states, starts)
  checkRoles(engine, new Map(states.map(({ name, node, state }) => [name, takesEvents(node, state)])), tell)
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

function readStates(
  states: Record<string, PackState>,
  engine: ReadEngine,
  prompt: (key: string) => ReadPrompt | undefined,
  shared: ReadonlyMap<string, PackVariable>,
  tell: Tell,
): ReadState[] {
  const ids = idsOf(Object.keys(states))
  const forms = new Map<ReadPrompt, PromptInState>()
  const inState = (read: ReadPrompt): PromptInState => {
    const form = forms.get(read) ?? promptInState(read, shared)
    forms.set(read, form)
    return form
  }
  return Object.entries(states).map(([name, state]): ReadState => {
    const key = state.prompt_task
    const read = key === undefined ? undefined : prompt(key)
    if (key !== undefined && !read && state.orchestration !== 'composition')
      tell({
        path: ['workflow', 'states', name, 'prompt_task'],
        code: 'unknown_prompt',
        message: `State ${quoted(name)} uses the prompt ${quoted(key)}, and the pack has none of that name.`,
        mend: 'Correct the name, or add the prompt.',
      })
    const id = ids.get(name) ?? name
    const events = eventsOf(name, state, states, tell)
    const node = nodeOf(id, name, state, read && inState(read), engine, tell)
    return { name, node, state, ...(read ? { prompt: read } : {}), events, isReachable: false }
  })
}

/**
 * Ids of nodes for names of states. A name that can be an id is one; any other is given one made of its letters, and the
 * node carries the name as its label.
 */
export function idsOf(names: readonly string[]): Map<string, string> {
  const taken = new Set(names.filter(isNodeId))
  const ids = new Map([...taken].map((name) => [name, name]))
  for (const name of names) {
    if (ids.has(name)) continue
    const letters = name.replace(/[^\p{L}\p{N}_.:-]+/gu, '_').replace(/^[^\p{L}\p{N}_]+/u, '')
    const stem = [...letters].slice(0, 100).join('')
    let id = isNodeId(stem) ? stem : `state_${stem}`
    for (let count = 2; taken.has(id); count++) id = `${stem || 'state'}_${count}`
    taken.add(id)
    ids.set(name, id)
  }
  return ids
}

/** The events that lead on; a last state has none, and those that lead nowhere are told. */
function eventsOf(
  name: string,
  { on_event = {}, terminal }: PackState,
  states: Record<string, PackState>,
  tell: Tell,
): [string, string][] {
  const path: GraphPath = ['workflow', 'states', name, 'on_event']
  if (terminal) {
    if (Object.keys(on_event).length > 0)
      tell({
        path,
        what: 'name',
        code: 'terminal_events',
        severity: 'warning',
        message: `State ${quoted(name)} is the last one and has events, which never lead anywhere.`,
        mend: 'Remove "on_event", or "terminal".',
      })
    return []
  }
  const events: [string, string][] = []
  for (const [event, target] of Object.entries(on_event)) {
    tellEvent(name, event, [...path, event], tell)
    if (Object.hasOwn(states, target)) events.push([event, target])
    else if (!tell.isFull())
      tell({
        path: [...path, event],
        code: 'unknown_state',
        message: `Event ${quoted(event)} of state ${quoted(name)} leads to ${quoted(target)}, and the workflow has no such state.`,
        mend: didYouMean(target, Object.keys(states), 'Name a state of the workflow.'),
      })
  }
  return events
}

function tellEvent(name: string, event: string, path: GraphPath, tell: Tell): void {
  if (event.trim() === '' || event.length > 100)
    return tell({
      path,
      what: 'name',
      code: 'bad_event',
      message: `State ${quoted(name)} has an event without a name, or with one longer than 100 characters.`,
      mend: 'Give it a short name, such as TestsPassed.',
    })
  if (/^[A-Z][A-Za-z0-9]*$/.test(event)) return
  const pascal = event.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase())
  tell({
    path,
    what: 'name',
    code: 'event_case',
    severity: 'warning',
    message: `The event ${quoted(event)} of state ${quoted(name)} is not written in PascalCase${event === 'error' ? ', and it is also taken when the step itself fails' : ''}.`,
    mend: /^[A-Z]/.test(pascal)
      ? `Write ${quoted(pascal.replace(/[^A-Za-z0-9]/g, ''))}.`
      : 'Write it such as TestsPassed.',
  })
}

const orchestrations = ['internal', 'hybrid', 'external', 'composition']
const persistences = ['transient', 'persistent']

function nodeOf(
  id: string,
  name: string,
  state: PackState,
  prompt: PromptInState | undefined,
  engine: ReadEngine,
  tell: Tell,
): GraphNode {
  const { max_visits, terminal, orchestration } = state
  const isOutside = !terminal && isOutsideWord(orchestration)
  if (terminal && isOutsideWord(orchestration)) tellLast(name, orchestration, tell)
  for (const [member, known] of [
    ['orchestration', orchestrations],
    ['persistence', persistences],
  ] as const)
    if (state[member] !== undefined && !known.includes(state[member] ?? ''))
      tellWord(name, member, state, tell)
  const shared = stateMembersOf(name, state, engine)
  // A prompt that is not there was told; the rest of the state is checked all the same.
  const shown =
    prompt?.shown ?? (isOutside ? {} : { prompt: promptLabel(state.prompt_task ?? ''), template: '' })
  const leadsOn = Object.keys(state.on_event ?? {}).length > 0
  const config: JsonObject = isOutside
    ? {
        question: questionOf(name, state),
        ...shown,
        ...shared,
        ...(leadsOn ? {} : { events: ['Done'] }),
      }
    : {
        ...shown,
        ...prompt?.settings,
        ...shared,
        backend: engine.backend,
        ...(isModelLed(state) && orchestration !== undefined ? { orchestration } : {}),
        ...(terminal === undefined ? {} : { terminal }),
      }
  return {
    id,
    label: name === '' ? id : cutTo(500, name),
    kind: isOutside ? 'await_event' : 'prompt_state',
    config,
    priority: 'normal',
    ...(max_visits === undefined ? {} : { maxVisits: Math.min(max_visits, Number.MAX_SAFE_INTEGER) }),
    extra: extraOf(id, name, state, isOutside, config),
  }
}

function isModelLed({ orchestration, terminal }: PackState): boolean {
  return (
    orchestration === undefined || orchestration === 'internal' || (orchestration === 'hybrid' && !terminal)
  )
}

function isOutsideWord(orchestration: string | undefined): boolean {
  return orchestration === 'external' || orchestration === 'composition'
}

function tellLast(name: string, orchestration: string | undefined, tell: Tell): void {
  tell({
    path: ['workflow', 'states', name, 'orchestration'],
    code: 'terminal_orchestration',
    severity: 'warning',
    message: `State ${quoted(name)} is the last one, so it runs its prompt; ${quoted(orchestration ?? '')} says nothing there.`,
    mend: 'Remove "orchestration", or "terminal".',
  })
}

function tellWord(name: string, member: 'orchestration' | 'persistence', state: PackState, tell: Tell): void {
  tell({
    path: ['workflow', 'states', name, member],
    code: 'unknown_word',
    severity: 'warning',
    message: `${quoted(member)} of state ${quoted(name)} is ${quoted(state[member] ?? '')}, which means nothing here; ${member === 'orchestration' ? 'the model leads on' : 'each entry begins a new conversation'}.`,
    mend: `Write ${(member === 'orchestration' ? orchestrations.slice(0, 3) : persistences).join(', ')}.`,
  })
}

function stateMembersOf(name: string, state: PackState, engine: ReadEngine): JsonObject {
  const { persistence, artifacts, orchestration, terminal } = state
  const takes = !terminal && (isOutsideWord(orchestration) || orchestration === 'hybrid')
  const role = takes ? engine.roleOf(name) : undefined
  return {
    ...(persistence !== undefined && persistences.includes(persistence) ? { persistence } : {}),
    ...(artifacts && Object.keys(artifacts).length > 0 ? { artifacts: Object.keys(artifacts) } : {}),
    ...(role === undefined ? {} : { role }),
  }
}

function takesEvents(node: GraphNode, state: PackState): boolean {
  return node.kind === 'await_event' || (state.orchestration === 'hybrid' && !state.terminal)
}

interface PromptInState {
  /** What is rendered, of a state that a person leads on as well. */
  shown: JsonObject
  /** How the model is asked. */
  settings: JsonObject
}

/**
 * A prompt as states hold it. Its variables are its own and, of the names in its template, those that another prompt
 * declares: the run has one input.
 */
function promptInState(read: ReadPrompt, shared: ReadonlyMap<string, PackVariable>): PromptInState {
  const mine = new Map(read.variables.map((variable) => [variable.name, variable]))
  for (const name of read.names.variables) {
    const other = shared.get(name)
    if (other && !mine.has(name)) mine.set(name, { ...other, required: false })
  }
  const variables = [...mine.values()].map(
    ({ name, required, default: value }): JsonObject => ({
      name,
      ...(required ? { required } : {}),
      ...(value === undefined ? {} : { default: value }),
    }),
  )
  const { prompt, template, ...settings } = read.config
  return {
    shown: { prompt: prompt ?? '', template: template ?? '', ...(variables.length > 0 ? { variables } : {}) },
    settings: { ...settings, ...(read.tools.length > 0 ? { tools: read.tools } : {}) },
  }
}

/** Every variable that some prompt declares, by its name; the first declaration counts. */
function declaredVariables(prompts: readonly ReadPrompt[]): Map<string, PackVariable> {
  const found = new Map<string, PackVariable>()
  for (const { variables } of prompts)
    for (const variable of variables) if (!found.has(variable.name)) found.set(variable.name, variable)
  return found
}

/** What is waited for, in one sentence of at most 2,000 characters. */
function questionOf(name: string, { description, composition, orchestration }: PackState): string {
  const said = description === undefined ? undefined : cutTo(1_500, description.trim())
  if (orchestration === 'composition')
    return `${said ? `${said} ` : ''}The composition ${quoted(composition ?? '')} is not run here: what came of it?`
  return said || `What happened at ${quoted(name)}?`
}

/** The state's members that its node does not say. */
function extraOf(
  id: string,
  name: string,
  state: PackState,
  isOutside: boolean,
  config: JsonObject,
): JsonObject {
  const { prompt_task, description, on_event, persistence, orchestration, composition, skills } = state
  const { artifacts, max_visits, on_max_visits, terminal } = state
  const unless = <T>(said: boolean, value: T) => (said ? undefined : value)
  return defined({
    name: unless(id === name, name),
    prompt_task: unless(config.prompt === prompt_task, prompt_task),
    description,
    on_event: unless(!terminal && Object.keys(on_event ?? {}).length > 0, on_event),
    persistence: unless(config.persistence === persistence, persistence),
    orchestration: unless(isOutside ? orchestration === 'external' : isModelLed(state), orchestration),
    terminal: unless(!isOutside, terminal),
    composition,
    skills,
    max_visits: unless(Number.isSafeInteger(max_visits ?? 0), max_visits),
    on_max_visits: unless(max_visits !== undefined, on_max_visits),
    artifacts: artifacts as JsonObject | undefined,
  })
}

function defined(members: Record<string, Json | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  )
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
