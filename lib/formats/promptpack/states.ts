/*
 * States → nodes. A state that a model leads on is a `prompt_state`; one that somebody outside leads on, or whose
 * composition is not run here, is an `await_event`, where a person or the API says what happened. So is one whose
 * orchestration is no word of the format: read as the model's, a mistyped "external" would take away a person's say. A
 * last state runs its prompt, whatever it says of its orchestration.
 */
import type { Json, JsonObject } from '@/lib/base/json'
import { isNodeId } from '@/lib/workflow/checks'
import type { GraphNode } from '@/lib/workflow/graph'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import type { Tell } from '../tell'
import type { ReadEngine } from './engine'
import type { PackState, PackVariable } from './pack'
import { cutTo, didYouMean, promptLabel, type ReadPrompt } from './prompts'

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

/** The states of a workflow as nodes, each with what it was read from. Names that lead nowhere are told. */
export function readStates(
  states: Record<string, PackState>,
  engine: ReadEngine,
  prompt: (key: string) => ReadPrompt | undefined,
  shared: ReadonlyMap<string, PackVariable>,
  promptNames: readonly string[],
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
        mend: didYouMean(key, promptNames, 'Correct the name, or add the prompt.'),
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
function idsOf(names: readonly string[]): Map<string, string> {
  const taken = new Set(names.filter(isNodeId))
  const ids = new Map([...taken].map((name) => [name, name]))
  const counts = new Map<string, number>()
  for (const name of names) {
    if (ids.has(name)) continue
    const letters = name.replace(/[^\p{L}\p{N}_.:-]+/gu, '_').replace(/^[^\p{L}\p{N}_]+/u, '')
    const short = cutTo(100, letters)
    const stem = isNodeId(short) ? short : `state_${short}`
    let id = stem
    for (let count = counts.get(stem) ?? 2; taken.has(id); count++) {
      id = `${stem}_${count}`
      counts.set(stem, count + 1)
    }
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
  else if (orchestration !== undefined && !orchestrations.includes(orchestration))
    tellOrchestration(name, orchestration, tell)
  if (state.persistence !== undefined && !persistences.includes(state.persistence))
    tellPersistence(name, state.persistence, tell)
  const shared = stateMembersOf(name, state, engine)
  // A prompt that is not there was told; the rest of the state is checked all the same.
  const shown =
    prompt?.shown ?? (isOutside ? {} : { prompt: promptLabel(state.prompt_task ?? ''), template: '' })
  const contained = engine.containedOf(name)
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
    ...contained,
    ...(max_visits === undefined ? {} : { maxVisits: Math.min(max_visits, Number.MAX_SAFE_INTEGER) }),
    extra: { ...extraOf(id, name, state, isOutside, config), ...contained.extra },
  }
}

function isModelLed({ orchestration, terminal }: PackState): boolean {
  return (
    orchestration === undefined || orchestration === 'internal' || (orchestration === 'hybrid' && !terminal)
  )
}

/** Everything but what gives the model the lead: a word that is not known never does. */
function isOutsideWord(orchestration: string | undefined): boolean {
  return orchestration !== undefined && orchestration !== 'internal' && orchestration !== 'hybrid'
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

function tellOrchestration(name: string, written: string, tell: Tell): void {
  tell({
    path: ['workflow', 'states', name, 'orchestration'],
    code: 'unknown_word',
    severity: 'warning',
    message: `"orchestration" of state ${quoted(name)} is ${quoted(written)}, which means nothing here; the state waits for its event from outside, and no model leads on.`,
    mend: nearOrchestration(written),
  })
}

/** The word that was meant; a beginning of one, such as "extern", is near it too. */
function nearOrchestration(written: string): string {
  const lower = written.trim().toLowerCase()
  const begun = orchestrations.filter((word) => lower.length > 2 && word.startsWith(lower))
  if (begun.length === 1) return `Did you mean ${quoted(begun[0] ?? '')}?`
  return didYouMean(lower, orchestrations, `Write ${orchestrations.slice(0, 3).join(', ')}.`)
}

function tellPersistence(name: string, written: string, tell: Tell): void {
  tell({
    path: ['workflow', 'states', name, 'persistence'],
    code: 'unknown_word',
    severity: 'warning',
    message: `"persistence" of state ${quoted(name)} is ${quoted(written)}, which means nothing here; each entry begins a new conversation.`,
    mend: didYouMean(written, persistences, `Write ${persistences.join(', ')}.`),
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

export function takesEvents(node: GraphNode, state: PackState): boolean {
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
export function declaredVariables(prompts: readonly ReadPrompt[]): Map<string, PackVariable> {
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
