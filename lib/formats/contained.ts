/*
 * What a step asks of its pool and of the breaker before it (ATD sections 6.4 and 9), and what follows from an error in
 * it; the same two members in every format:
 *
 *   resource_hints   priority, timeout_s, cpu, memory_mb, gpu, network_mbps
 *   constraints      atd.circuit_threshold, atd.circuit_window_s, hp.circuit_min_calls, hp.when_open, hp.on_error;
 *                    atd.resource_… say what hints do, where the hints are silent
 *
 * They stand in a node of a descriptor, in a node of an agentd file, and of a pack under `engine.states.<state>`. Of the
 * whole workflow, `containment` says `on_error` and `on_unprepared`. What is not named here is kept.
 *
 * The draft writes amounts of processors as texts ("2"). A number in a text counts as that number, and comes back as the
 * text it was for as long as the graph says the same. Descriptors keep their constraints as they were written; the other
 * formats keep only what the graph has no word for, so that a graph and its text are always the same graph.
 */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import type { Containment, GraphNode, Priority, Resources } from '@/lib/workflow/graph'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import { didYouMean } from '@/lib/workflow/nearest-name'
import { arrange, innerExtra, type Member, unknownMembers } from './atd-members'
import { type Fault, wrongType } from './fault'

type Tell = (fault: Fault) => void

/** The members' names, of a node. */
export const containedMembers = ['resource_hints', 'constraints'] as const

/** What the graph has words for of them. */
type Contained = Pick<GraphNode, 'priority' | 'timeoutS' | 'resources' | 'circuit' | 'whenOpen' | 'onError'>

/** What a value must be, and what it is then. */
interface Reading<T extends string | number> {
  /** In a person's words. */
  expected: string
  read(value: Json | undefined): T | undefined
}

function amount(least: number, most: number, whole = false): Reading<number> {
  const kind = whole ? 'a whole number' : 'a number'
  return {
    expected: `${kind} from ${least.toLocaleString('en-US')} to ${most.toLocaleString('en-US')}`,
    read(value) {
      const isNumeral = typeof value === 'string' && /^\d{1,12}(\.\d{1,6})?$/.test(value)
      const number = isNumeral ? Number(value) : value
      if (typeof number !== 'number' || number < least || number > most) return undefined
      return whole && !Number.isInteger(number) ? undefined : number
    },
  }
}

function choice<const T extends string>(...choices: readonly T[]): Reading<T> {
  return {
    expected: `one of ${choices.map((one) => `"${one}"`).join(', ')}`,
    read: (value) => choices.find((one) => one === value),
  }
}

const priority = choice<Priority>('critical', 'high', 'normal', 'low')
/** Its bounds are those of the graph (lib/workflow/checks.ts). */
const seconds: Reading<number> = {
  expected: 'a number',
  read: (value) => (typeof value === 'number' ? value : undefined),
}

/** Amounts, by the name each has in `resource_hints`; among the constraints it begins with `atd.resource_`. */
const resourceWords = {
  cpu: { word: 'cpu', reading: amount(0, 10_000) },
  memory_mb: { word: 'memoryMb', reading: amount(0, 100_000_000) },
  gpu: { word: 'gpu', reading: amount(0, 1_000) },
  network_mbps: { word: 'networkMbps', reading: amount(0, 10_000_000) },
} as const satisfies Record<string, { word: keyof Resources; reading: Reading<number> }>

const resourcePrefix = 'atd.resource_'

/** Constraints that stand nowhere else, and the graph's words for them. */
const constraintWords = {
  'atd.circuit_threshold': {
    reading: amount(0, 1),
    of: (node: GraphNode) => node.circuit?.threshold,
  },
  'atd.circuit_window_s': {
    reading: amount(1, 3_600),
    of: (node: GraphNode) => node.circuit?.windowS,
  },
  'hp.circuit_min_calls': {
    reading: amount(1, 10_000, true),
    of: (node: GraphNode) => node.circuit?.minCalls,
  },
  'hp.when_open': {
    reading: choice('wait', 'fail', 'degrade'),
    of: (node: GraphNode) => node.whenOpen,
  },
  'hp.on_error': {
    reading: choice('nothing', 'escalate', 'rollback'),
    of: (node: GraphNode) => node.onError,
  },
} as const satisfies Record<
  string,
  { reading: Reading<string | number>; of: (node: GraphNode) => string | number | undefined }
>

/** What becomes of errors and of rollbacks that an agent cannot join, of the whole workflow. */
const containmentWords = {
  on_error: choice('nothing', 'escalate', 'rollback'),
  on_unprepared: choice('ask', 'partial', 'abort'),
} as const

/** Reads the two members of a node; what does not fit is told, and read as if it were not there. */
export function readContained(source: JsonObject, path: GraphPath, tell: Tell): Contained {
  const hint = taking(source, 'resource_hints', path, tell)
  const constraint = taking(source, 'constraints', path, tell)
  const resources: Resources = {}
  for (const [name, { word, reading }] of Object.entries(resourceWords)) {
    const constrained = constraint(`${resourcePrefix}${name}`, reading)
    const found = hint(name, reading) ?? constrained
    if (found !== undefined) resources[word] = found
  }
  const constrained = {
    priority: constraint(`${resourcePrefix}priority`, priority),
    timeoutS: constraint(`${resourcePrefix}timeout_s`, seconds),
  }
  const said = <N extends keyof typeof constraintWords>(name: N) =>
    constraint(name, constraintWords[name].reading as Reading<string | number>)
  const circuit = present({
    threshold: said('atd.circuit_threshold') as number | undefined,
    windowS: said('atd.circuit_window_s') as number | undefined,
    minCalls: said('hp.circuit_min_calls') as number | undefined,
  })
  tellMisspelled(source.constraints, [...path, 'constraints'], tell)
  return {
    priority: hint('priority', priority) ?? constrained.priority ?? 'normal',
    ...present({
      timeoutS: hint('timeout_s', seconds) ?? constrained.timeoutS,
      resources: Object.keys(resources).length > 0 ? resources : undefined,
      circuit: Object.keys(circuit).length > 0 ? circuit : undefined,
      whenOpen: said('hp.when_open') as GraphNode['whenOpen'],
      onError: said('hp.on_error') as GraphNode['onError'],
    }),
  }
}

type Take = <T extends string | number>(name: string, reading: Reading<T>) => T | undefined

/** Reads members of one of a node's members. */
function taking(source: JsonObject, member: string, path: GraphPath, tell: Tell): Take {
  const inside = Object.hasOwn(source, member) ? source[member] : undefined
  if (inside !== undefined && !isJsonObject(inside)) tell(wrongType([...path, member], inside, 'an object'))
  const members = isJsonObject(inside) ? inside : {}
  return (name, { expected, read }) => {
    if (!Object.hasOwn(members, name)) return undefined
    const value = read(members[name])
    if (value === undefined) tell(wrongType([...path, member, name], members[name], expected))
    return value
  }
}

/** Other constraints are others' to read. One of our own that is spelled wrong would pass in silence. */
function tellMisspelled(constraints: Json | undefined, path: GraphPath, tell: Tell): void {
  if (!isJsonObject(constraints)) return
  const known = Object.keys(constraintWords)
  for (const name of Object.keys(constraints)) {
    if (!name.startsWith('hp.') || known.includes(name)) continue
    tell({
      path: [...path, name],
      what: 'name',
      code: 'unknown_constraint',
      severity: 'warning',
      message: `There is no constraint ${quoted(name)}, so it is kept and nothing follows from it.`,
      mend: didYouMean(name, known, `Write ${known.filter((one) => one.startsWith('hp.')).join(', ')}.`),
    })
  }
}

/** Reads what the whole workflow says of errors and of rollbacks that an agent cannot join. */
export function readContainment(
  source: Json | undefined,
  path: GraphPath,
  tell: Tell,
): Containment | undefined {
  if (source === undefined) return undefined
  if (!isJsonObject(source)) {
    tell(wrongType(path, source, 'an object'))
    return undefined
  }
  const known = Object.keys(containmentWords)
  for (const name of Object.keys(source).filter((one) => !known.includes(one)))
    tell({
      path: [...path, name],
      what: 'name',
      code: 'unknown_member',
      message: `"containment" has no member ${quoted(name)}; it knows ${known.join(', ')}.`,
      mend: 'Remove it, or correct its spelling.',
    })
  const take = taking({ containment: source }, 'containment', path.slice(0, -1), tell)
  const read = present({
    onError: take('on_error', containmentWords.on_error),
    onUnprepared: take('on_unprepared', containmentWords.on_unprepared),
  })
  return Object.keys(read).length > 0 ? read : undefined
}

/** The section as it is written, with the extra it has in descriptors. */
export function containmentObject(containment: Containment | undefined, extra: JsonObject = {}): JsonObject {
  return arrange(
    [optional('on_error', containment?.onError), optional('on_unprepared', containment?.onUnprepared)],
    extra,
    [],
  )
}

/** What of the two members the graph has no word for, to be kept in a node's extra. */
export function keptContained(source: JsonObject): JsonObject {
  const { resource_hints: hints, constraints } = source
  const ofHints = isJsonObject(hints) ? keptHints(hints) : {}
  const isKept = (name: string, value: Json) => {
    if (!isConstraint(name)) return !isResource(name)
    return typeof value === 'string' && typeof constraintWords[name].reading.read(value) === 'number'
  }
  const ofConstraints = isJsonObject(constraints)
    ? Object.fromEntries(Object.entries(constraints).filter(([name, value]) => isKept(name, value)))
    : {}
  return {
    ...(Object.keys(ofHints).length > 0 ? { resource_hints: ofHints } : {}),
    ...(Object.keys(ofConstraints).length > 0 ? { constraints: ofConstraints } : {}),
  }
}

/** Unknown hints, and amounts that were written as texts, to be written as texts again. */
export function keptHints(hints: JsonObject): JsonObject {
  const unknown = unknownMembers(hints, ['priority', 'timeout_s', ...Object.keys(resourceWords)])
  const texts = Object.entries(hints).filter(
    ([name, value]) => Object.hasOwn(resourceWords, name) && typeof value === 'string',
  )
  return { ...unknown, ...Object.fromEntries(texts) }
}

function isConstraint(name: string): name is keyof typeof constraintWords {
  return Object.hasOwn(constraintWords, name)
}

function isResource(name: string): boolean {
  const word = name.startsWith(resourcePrefix) ? name.slice(resourcePrefix.length) : ''
  return word === 'priority' || word === 'timeout_s' || Object.hasOwn(resourceWords, word)
}

/** The two members as they are written, without those that say nothing. */
export function containedObject(node: GraphNode): JsonObject {
  const hints = hintsObject(node, innerExtra(node.extra, 'resource_hints'), node.extra)
  const { value } = constraintsMember(node, node.extra)
  return {
    ...(Object.keys(hints).length > 0 ? { resource_hints: hints } : {}),
    ...(value === undefined ? {} : { constraints: value }),
  }
}

/** `resource_hints` speak first, then the constraints' own spelling, which in descriptors stays in `extra` as it was. */
export function hintsObject(node: GraphNode, extra: JsonObject, nodeExtra: JsonObject): JsonObject {
  const constraints = innerExtra(nodeExtra, 'constraints')
  const constrained = (name: string) => constraints[resourcePrefix + name]
  return arrange(
    [
      {
        name: 'priority',
        value: node.priority,
        implied: node.priority === (constrained('priority') ?? 'normal'),
      },
      {
        name: 'timeout_s',
        value: node.timeoutS,
        implied: node.timeoutS === seconds.read(constrained('timeout_s')),
      },
      ...Object.entries(resourceWords).map(([name, { word, reading }]) => {
        const value = node.resources?.[word]
        const isImplied = value === reading.read(constrained(name))
        return { name, value: spelled(value, extra[name], reading), implied: isImplied }
      }),
    ],
    extra,
    Object.keys(resourceWords),
  )
}

/** Written where it stood, though it be empty. */
export function constraintsMember(node: GraphNode, extra: JsonObject): Member {
  const value = constraintsOf(node, innerExtra(extra, 'constraints'))
  const isWritten = Object.hasOwn(extra, 'constraints') || Object.keys(value).length > 0
  return { name: 'constraints', value: isWritten ? value : undefined, implied: !isWritten }
}

/** A value as it was spelled, for as long as it means the same. */
function spelled<T extends string | number>(
  value: T | undefined,
  before: Json | undefined,
  { read }: Reading<T>,
): Json | undefined {
  return value !== undefined && read(before) === value ? before : value
}

/** A node's constraints: as they were kept, but for what the graph says differently now. */
function constraintsOf(node: GraphNode, kept: JsonObject): JsonObject {
  const found: JsonObject = { ...kept }
  const set = (name: string, value: Json | undefined) => {
    if (value === undefined) delete found[name]
    else found[name] = value
  }
  for (const [name, { reading, of }] of Object.entries(constraintWords)) {
    set(name, spelled(of(node), kept[name], reading as Reading<string | number>))
  }
  // What hints say goes before; only what the graph has no more must not come back from here.
  for (const [name, { word }] of Object.entries(resourceWords)) {
    if (node.resources?.[word] === undefined) set(`${resourcePrefix}${name}`, undefined)
  }
  if (node.timeoutS === undefined) set(`${resourcePrefix}timeout_s`, undefined)
  return found
}

function present<T extends object>(members: T): { [N in keyof T]?: Exclude<T[N], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [N in keyof T]?: Exclude<T[N], undefined>
  }
}

function optional(name: string, value: Json | undefined): Member {
  return { name, value, implied: value === undefined }
}
