/** One [[nodes]] entry → a node of the graph, with its retries, its constraints and what a person decides at it. */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { maxRetryDelayMs } from '@/lib/workflow/checks'
import type { GraphNode, Retry } from '@/lib/workflow/graph'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import { nearestName } from '@/lib/workflow/nearest-name'
import { keptContained, readContained } from '../contained'
import type { Fault } from '../fault'
import type { Tell } from '../tell'
import { commonFields, fieldsOf, nodeTypes } from './fields'
import { filled } from './read-entries'
import { fits, maxNamesTold, nearestField, placeWords, tellMissing } from './refusals'
import * as shapes from './shapes'

export const defaultBackoffMs = 100
export const maxJitter = 0.5
/** What a person is asked when the author gave no reason. */
export const defaultReason = 'The workflow asks for a person here.'

export function readNode(entry: JsonObject, path: GraphPath, tell: Tell): GraphNode | undefined {
  const { id, type, retry, reversible } = entry
  const hasId = textMember('id', id, path, tell)
  const hasType = textMember('type', type, path, tell)
  if (reversible !== undefined && typeof reversible !== 'boolean')
    tell({
      path: [...path, 'reversible'],
      code: 'bad_value',
      message: `${placeWords([...path, 'reversible'])} is not true or false.`,
      mend: 'Write true or false.',
    })
  const known = hasType ? fieldsOf(String(type)) : undefined
  if (hasType && !known && !tell.isFull()) {
    const nearest = nearestName(String(type), nodeTypes)
    tell({
      path: [...path, 'type'],
      code: 'unknown_type',
      message: `${nodeWords(entry, path)} has the type ${quoted(String(type))}, which agentd does not have${nearest ? `; did you mean ${nearest}?` : '.'}`,
      mend: `Types: ${nodeTypes.join(', ')}.`,
    })
  }
  const config = known ? ownConfig(entry, known, path, tell) : {}
  // A node without a type stays, so that what leads to it is not told as well.
  if (!hasId) return undefined
  const read = retry === undefined ? undefined : readRetry(retry, [...path, 'retry'], tell)
  const contained = withWholeNames(entry, path, tell)
  return {
    id: String(id),
    label: String(id),
    kind: hasType ? String(type) : '',
    config,
    ...(typeof reversible === 'boolean' ? { reversible } : {}),
    ...approvalOf(hasType ? String(type) : '', config),
    ...readContained(contained, path, spelledIn(entry, path, tell)),
    ...(read ? { retry: read.retry } : {}),
    extra: { ...(read ? filled('retry', read.extra) : {}), ...keptContained(contained) },
  }
}

/** Names of constraints begin so; in TOML, where they stand without quotation marks, the dot makes a table of that. */
const constraintSpaces = ['atd', 'hp']

/** The node with its constraints under their whole names, in whichever of the two ways they were written. */
function withWholeNames(entry: JsonObject, path: GraphPath, tell: Tell): JsonObject {
  const { constraints } = entry
  if (!isJsonObject(constraints)) return entry
  const whole = Object.entries(constraints).flatMap(([name, value]): [string, Json][] =>
    constraintSpaces.includes(name) && isJsonObject(value)
      ? Object.entries(value).map(([inside, one]) => [`${name}.${inside}`, one])
      : [[name, value]],
  )
  const names = whole.map(([name]) => name)
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice !== undefined)
    tell({
      path: [...path, 'constraints', twice],
      what: 'name',
      code: 'constraint_twice',
      message: `The constraint ${quoted(twice)} stands here with quotation marks and without; only one can count.`,
      mend: 'Keep one of the two.',
    })
  return { ...entry, constraints: Object.fromEntries(whole) }
}

/** Tells a fault of a constraint where it was written: under its whole name, or in the table its dot made. */
function spelledIn({ constraints }: JsonObject, path: GraphPath, tell: Tell): (fault: Fault) => void {
  return (fault) => {
    const name = String(fault.path.at(-1))
    const [space = '', ...inside] = name.split('.')
    const isTable = fault.path.at(-2) === 'constraints' && isJsonObject(constraints)
    const isDotted = isTable && !Object.hasOwn(constraints, name) && Object.hasOwn(constraints, space)
    tell(isDotted ? { ...fault, path: [...path, 'constraints', space, inside.join('.')] } : fault)
  }
}

/** What a person decides at a node that waits for one, as its config says. */
export function approvalOf(type: string, config: JsonObject): Pick<GraphNode, 'approval'> {
  if (type !== 'pause_for_approval') return {}
  const reason = typeof config.reason === 'string' ? config.reason : defaultReason
  return { approval: { role: 'operator', reason, onSilence: 'hold' } }
}

/** The fields of the type, as written; unknown and missing ones are told. */
function ownConfig(
  entry: JsonObject,
  known: { required: readonly string[]; optional: readonly string[] },
  path: GraphPath,
  tell: Tell,
): JsonObject {
  const common: readonly string[] = commonFields
  const takes = [...known.required, ...known.optional]
  const own = Object.entries(entry).filter(([name]) => !common.includes(name))
  const config = Object.fromEntries(own.filter(([name]) => takes.includes(name)))
  const unknown = own.filter(([name]) => !takes.includes(name))
  for (const [name] of unknown.slice(0, maxNamesTold))
    tellUnknownField(name, entry, [...takes, ...common], path, tell)
  for (const name of known.required)
    if (entry[name] === undefined)
      tell({
        path,
        code: 'missing',
        message: `${nodeWords(entry, path)} is of the type ${String(entry.type)} and has no ${quoted(name)}.`,
        mend: `Add ${quoted(name)}.`,
      })
  return config
}

function tellUnknownField(
  name: string,
  entry: JsonObject,
  known: readonly string[],
  path: GraphPath,
  tell: Tell,
): void {
  if (tell.isFull()) return
  const nearest = nearestField(name, known)
  tell({
    path: [...path, name],
    what: 'name',
    code: 'unknown_field',
    message: `${nodeWords(entry, path)} is of the type ${String(entry.type)}, which has no field ${quoted(name)}; it takes ${known.join(', ')}.`,
    mend: nearest ? `Did you mean ${quoted(nearest)}?` : 'Remove it, or correct its spelling.',
  })
}

function nodeWords(entry: JsonObject, path: GraphPath): string {
  return typeof entry.id === 'string' ? `Node ${quoted(entry.id)}` : placeWords(path)
}

function textMember(name: string, value: Json | undefined, path: GraphPath, tell: Tell): boolean {
  if (value === undefined) tellMissing(name, path, tell)
  else if (typeof value !== 'string' || value === '')
    tell({
      path: [...path, name],
      code: 'bad_value',
      message: `${placeWords([...path, name])} is not a text with something in it.`,
      mend: 'Write a name in quotation marks.',
    })
  return typeof value === 'string' && value !== ''
}

/*
 * Attempt n waits n × backoff_ms. What is retried at all is the same for "any" and "transient" in effect: refusals by
 * policy, schema, timeout and structure never are. So `on` is only kept. A jitter above one half counts as one half.
 */
function readRetry(
  source: Json,
  path: GraphPath,
  tell: Tell,
): { retry: Retry; extra: JsonObject } | undefined {
  if (!fits(shapes.retry, source, path, tell)) return undefined
  const { max_attempts, backoff_ms, on, jitter } = source as {
    max_attempts: number
    backoff_ms?: number
    on?: string
    jitter?: number
  }
  const retry: Retry = {
    maxAttempts: max_attempts,
    baseMs: backoff_ms ?? defaultBackoffMs,
    factor: 1,
    maxMs: maxRetryDelayMs,
    jitter: Math.min(jitter ?? 0, maxJitter),
    linear: true,
  }
  return {
    retry,
    extra: {
      ...(on === undefined ? {} : { on }),
      ...(jitter !== undefined && jitter > maxJitter ? { jitter } : {}),
    },
  }
}
