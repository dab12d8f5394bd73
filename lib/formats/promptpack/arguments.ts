/*
 * Arguments that a binding's config takes, against those that its tool has. A name that the tool's parameters do not
 * declare is filled with nothing when the tool is called, without a word; so it is told here.
 */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { markersOf } from '@/lib/nodes/template'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import type { Tell } from '../tell'
import { didYouMean } from './prompts'

/** Names that are told in a sentence; a tool with more arguments has its own description. */
const maxNamesTold = 20

/** Warns of each place in a binding's config that takes an argument which the tool's parameters do not declare. */
export function checkArguments(
  tool: string,
  parameters: JsonObject | undefined,
  config: JsonObject,
  path: GraphPath,
  tell: Tell,
): void {
  const names = parameters && declaredArguments(parameters)
  if (!names) return
  const known = new Set(names)
  for (const { name, at } of argumentsTaken(config)) {
    if (known.has(name) || tell.isFull()) continue
    const those = names.slice(0, maxNamesTold).map(quoted).join(', ')
    tell({
      path: [...path, ...at],
      code: 'unknown_argument',
      severity: 'warning',
      message: `The binding of tool ${quoted(tool)} takes the argument ${quoted(name)}, which the tool does not have; ${names.length === 0 ? 'it has none' : `it has ${those}${names.length > maxNamesTold ? ' and more' : ''}`}.`,
      mend: didYouMean(name, names, 'Take one of those, or declare it under "properties" of the parameters.'),
    })
  }
}

/** Undefined where the parameters allow arguments that they do not name. */
function declaredArguments(parameters: JsonObject): string[] | undefined {
  const { properties, additionalProperties } = parameters
  const isOpen = additionalProperties === true || isJsonObject(additionalProperties)
  const isComposed = ['patternProperties', '$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'].some(
    (word) => Object.hasOwn(parameters, word),
  )
  return isJsonObject(properties) && !isOpen && !isComposed ? Object.keys(properties) : undefined
}

interface Taken {
  name: string
  at: GraphPath
}

/** Each argument at each place once. How a step is taken back is filled from what was recorded, and never from these. */
function argumentsTaken(config: JsonObject): Taken[] {
  return Object.entries(config).flatMap(([member, value]): Taken[] => {
    if (member === 'compensate') return []
    if (!member.endsWith('_from') || typeof value !== 'string') return inTexts(value, [member])
    const name = argumentOf(value)
    return name === undefined ? [] : [{ name, at: [member] }]
  })
}

function inTexts(value: Json, at: GraphPath): Taken[] {
  if (typeof value === 'string') {
    const names = [...markersOf(value)].flatMap(({ key }) => argumentOf(key) ?? [])
    return [...new Set(names)].map((name) => ({ name, at }))
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => inTexts(item, [...at, index]))
  return isJsonObject(value)
    ? Object.entries(value).flatMap(([name, inner]) => inTexts(inner, [...at, name]))
    : []
}

/** `path` of `args.path.0` and of `args.path[0]`. */
function argumentOf(key: string): string | undefined {
  const [root, name] = key.split('.').filter((part) => part !== '')
  return root === 'args' ? name?.split('[', 1)[0] : undefined
}
