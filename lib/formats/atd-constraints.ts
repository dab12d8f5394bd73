/*
 * What a node asks of its pool and of the breaker before it, in the two places a descriptor says it (ATD sections 6.4
 * and 9): `resource_hints` under short names, `constraints` under long ones. Hints speak first. Constraints stay in
 * `extra` as they were written, and on the way out only what the graph says differently is changed in them.
 *
 * The draft writes amounts of processors as texts ("2"). A number in a text counts as that number, and comes back as the
 * text it was for as long as the graph says the same.
 */
import type { Json, JsonObject } from '@/lib/base/json'
import type { GraphNode, Resources } from '@/lib/workflow/graph'

/** What a value must be, and what it is then. */
export interface Reading<T extends string | number> {
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

/** Amounts, by the name each has in `resource_hints`; among the constraints it begins with `atd.resource_`. */
export const resourceWords = {
  cpu: { word: 'cpu', reading: amount(0, 10_000) },
  memory_mb: { word: 'memoryMb', reading: amount(0, 100_000_000) },
  gpu: { word: 'gpu', reading: amount(0, 1_000) },
  network_mbps: { word: 'networkMbps', reading: amount(0, 10_000_000) },
} as const satisfies Record<string, { word: keyof Resources; reading: Reading<number> }>

export const resourcePrefix = 'atd.resource_'

/** Constraints that stand nowhere else, and the graph's words for them. */
export const constraintWords = {
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
export const containmentWords = {
  on_error: choice('nothing', 'escalate', 'rollback'),
  on_unprepared: choice('ask', 'partial', 'abort'),
} as const

/** Reads one member; tells it and gives nothing when it is there and does not fit. */
export type Take = <T extends string | number>(name: string, reading: Reading<T>) => T | undefined

/** The graph's words for what hints and constraints say. */
export function readContained(
  hint: Take,
  constraint: Take,
): Pick<GraphNode, 'resources' | 'circuit' | 'whenOpen' | 'onError'> {
  const resources: Resources = {}
  for (const [name, { word, reading }] of Object.entries(resourceWords)) {
    const constrained = constraint(`${resourcePrefix}${name}`, reading)
    const found = hint(name, reading) ?? constrained
    if (found !== undefined) resources[word] = found
  }
  const said = <N extends keyof typeof constraintWords>(name: N) =>
    constraint(name, constraintWords[name].reading as Reading<string | number>)
  const circuit = present({
    threshold: said('atd.circuit_threshold') as number | undefined,
    windowS: said('atd.circuit_window_s') as number | undefined,
    minCalls: said('hp.circuit_min_calls') as number | undefined,
  })
  return present({
    resources: Object.keys(resources).length > 0 ? resources : undefined,
    circuit: Object.keys(circuit).length > 0 ? circuit : undefined,
    whenOpen: said('hp.when_open') as GraphNode['whenOpen'],
    onError: said('hp.on_error') as GraphNode['onError'],
  })
}

/** A value as it was spelled, for as long as it means the same. */
export function spelled<T extends string | number>(
  value: T | undefined,
  before: Json | undefined,
  { read }: Reading<T>,
): Json | undefined {
  return value !== undefined && read(before) === value ? before : value
}

/** A node's constraints: as they were kept, but for what the graph says differently now. */
export function constraintsOf(node: GraphNode, kept: JsonObject): JsonObject {
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
