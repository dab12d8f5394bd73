/*
 * What a workflow asks for before it runs, as a form. The author's `input` (JSON Schema) says it; without one it is
 * inferred from what the nodes read of `trigger`. The form and the API check an input the same way: against the schema.
 *
 * zod reads the schema: a fair subset of JSON Schema (no conditions, no remote references, no unevaluated members),
 * without generating code, so that it also works in a browser whose policy forbids eval.
 */
import { z } from 'zod'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import type { WorkflowGraph } from './graph'
import { issueWords, listedValues, withoutStop } from './issue-words'
import { sourceMembers } from './sources'

export type FieldType = 'text' | 'long_text' | 'number' | 'integer' | 'boolean' | 'choice' | 'json'

export interface FormField {
  /** Member names from the input's root: `['user', 'name']`. */
  path: string[]
  /** The path with dots; the field's name in the form, unique within it. */
  name: string
  label: string
  type: FieldType
  required: boolean
  /** One sentence, or empty. */
  help: string
  default?: Json
  /** Present when only these values are accepted. */
  enum?: Json[]
}

/** One place where an input does not fit. */
export interface InputFault {
  /** JSON pointer: `/user/name`. */
  path: string
  message: string
}

/** Fields deeper than this are one JSON field: a form with ten levels helps nobody. */
const maxFieldDepth = 5
const maxFields = 200

/** The fields to ask a person for, in the order of the schema or of the nodes. At most 200. */
export function formFields(graph: WorkflowGraph): FormField[] {
  const fields = graph.input ? schemaFields(graph.input, graph.input, [], true) : inferredFields(graph)
  return fields.slice(0, maxFields)
}

/**
 * The input that a filled form means. `values` holds what was entered, by field name; numbers and JSON may be text.
 * Empty optional fields are left out. Throws Problem `input_invalid` naming every place that does not fit.
 */
export function readInput(
  graph: WorkflowGraph,
  fields: readonly FormField[],
  values: Readonly<Record<string, Json | undefined>>,
): JsonObject {
  const input: JsonObject = {}
  const faults: InputFault[] = []
  for (const field of fields) {
    const entered = Object.hasOwn(values, field.name) ? values[field.name] : undefined
    const read = readField(field, entered)
    if (read.fault) faults.push({ path: pointer(field.path), message: read.fault })
    else if (read.value !== undefined) place(input, field.path, read.value)
  }
  const told = new Set(faults.map((fault) => fault.path))
  // An object that is missing because its fields are was told with them.
  const isTold = (path: string) => told.has(path) || [...told].some((other) => other.startsWith(`${path}/`))
  faults.push(...inputFaults(graph, input).filter((fault) => !isTold(fault.path)))
  if (faults.length > 0) throw inputInvalid(faults)
  return input
}

/** Refuses an input that does not fit the workflow's schema: Problem `input_invalid` naming every place. */
export function checkInput(graph: WorkflowGraph, input: Json): void {
  const faults = inputFaults(graph, input)
  if (faults.length > 0) throw inputInvalid(faults)
}

/** Every place where an input does not fit the workflow's schema; none when the workflow has no schema. */
export function inputFaults(graph: WorkflowGraph, input: Json): InputFault[] {
  const schema = graph.input
  if (!schema) return []
  try {
    const parsed = compiled(schema).safeParse(input)
    return parsed.success ? [] : parsed.error.issues.flatMap((issue) => faultsOf(issue, input, schema))
  } catch (error) {
    // A schema that is its own reference has no bottom; it was refused on import, and is refused here.
    if (error instanceof RangeError)
      return [{ path: '', message: 'cannot be checked: the schema refers to itself' }]
    throw error
  }
}

/** Why a JSON Schema cannot be used for an input, in words; undefined when it can. */
export function inputSchemaFault(schema: JsonObject): string | undefined {
  if (schema.type !== undefined && schema.type !== 'object')
    return 'the input is an object, so its "type" must be "object"'
  try {
    compiled(schema).safeParse({})
    return undefined
  } catch (error) {
    if (error instanceof RangeError) return 'it refers to itself without end'
    return withoutStop((error instanceof Error ? error.message : 'it cannot be read').slice(0, 200))
  }
}

const compiledSchemas = new WeakMap<JsonObject, z.ZodType>()

function compiled(schema: JsonObject): z.ZodType {
  const known = compiledSchemas.get(schema)
  if (known) return known
  const made = z.fromJSONSchema(withObjectTypes(schema) as Parameters<typeof z.fromJSONSchema>[0])
  compiledSchemas.set(schema, made)
  return made
}

/*
 * zod takes a schema without `type` as "anything", also when it has `properties`. Authors who write properties mean
 * an object, so that is said for them.
 */
function withObjectTypes(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withObjectTypes)
  if (!isJsonObject(schema)) return schema
  const typed: [string, Json][] = Object.entries(schema).map(([name, value]) => [
    name,
    schemaMaps.has(name) && isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withObjectTypes(inner)]))
      : schemaMembers.has(name)
        ? withObjectTypes(value)
        : value,
  ])
  const untyped =
    schema.type === undefined && (isJsonObject(schema.properties) || Array.isArray(schema.required))
  return Object.fromEntries(untyped ? [['type', 'object'], ...typed] : typed)
}

const schemaMaps = new Set(['properties', '$defs', 'definitions', 'patternProperties'])
const schemaMembers = new Set([
  'items',
  'prefixItems',
  'additionalProperties',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
])

function schemaFields(schema: JsonObject, root: JsonObject, path: string[], required: boolean): FormField[] {
  const { properties } = schema
  if (!isJsonObject(properties) || Object.keys(properties).length === 0 || path.length >= maxFieldDepth)
    return path.length === 0 ? [] : [schemaField(schema, path, required)]
  const needed = new Set(Array.isArray(schema.required) ? schema.required : [])
  return Object.entries(properties).flatMap(([name, given]) => {
    const inner = resolved(given, root)
    if (!isJsonObject(inner)) return []
    const isNeeded = required && needed.has(name)
    return isJsonObject(inner.properties)
      ? schemaFields(inner, root, [...path, name], isNeeded)
      : [schemaField(inner, [...path, name], isNeeded)]
  })
}

function resolved(schema: Json, root: JsonObject): Json {
  if (!isJsonObject(schema) || typeof schema.$ref !== 'string') return schema
  const parts = schema.$ref.replace(/^#\/?/, '').split('/').filter(Boolean)
  let at: Json | undefined = root
  for (const part of parts) at = isJsonObject(at) && Object.hasOwn(at, part) ? at[part] : undefined
  // One step only: a reference to a reference may be a ring. The field is then plain JSON.
  return isJsonObject(at) && at.$ref === undefined && at.properties === undefined ? at : {}
}

function schemaField(schema: JsonObject, path: string[], required: boolean): FormField {
  const choices = Array.isArray(schema.enum) ? schema.enum : undefined
  const field: FormField = {
    path,
    name: path.join('.'),
    label: typeof schema.title === 'string' ? schema.title : labelOf(path),
    type: choices ? 'choice' : fieldType(schema),
    required,
    help: typeof schema.description === 'string' ? schema.description : '',
  }
  if (schema.default !== undefined) field.default = schema.default
  if (choices) field.enum = choices
  return field
}

function fieldType(schema: JsonObject): FieldType {
  switch (schema.type) {
    case 'string':
      return schema.format === 'textarea' || Number(schema.maxLength ?? 0) > 200 ? 'long_text' : 'text'
    case 'number':
    case 'integer':
    case 'boolean':
      return schema.type
    default:
      return 'json'
  }
}

function inferredFields(graph: WorkflowGraph): FormField[] {
  const found = new Map<string, FormField>()
  for (const node of graph.nodes) {
    for (const path of triggerPaths(node.config)) {
      const index = path.findIndex((part) => /^\d+$/.test(part))
      const named = index === -1 ? path : path.slice(0, index)
      if (named.length === 0 || named.length > maxFieldDepth || named.includes('__proto__')) continue
      // What began the run is not asked for: it is told (trigger-input.ts).
      if (graph.format === 'agentd' && named[0] === 'kind') continue
      const name = named.join('.')
      if (found.has(name)) continue
      found.set(name, {
        path: named,
        name,
        label: labelOf(named),
        // What a step goes through one by one is a list, and a list is written as JSON.
        type: index === -1 && !isListRead(node.config, path) ? 'text' : 'json',
        required: true,
        help: `Read by the step ${node.label}.`,
      })
    }
  }
  const names = [...found.keys()]
  // `trigger.user` beside `trigger.user.name`: the inner field says enough.
  return [...found.values()].filter((field) => !names.some((name) => name.startsWith(`${field.name}.`)))
}

/** True when the step reads that path of the trigger as a list of items. */
function isListRead({ items_from: items }: JsonObject, path: readonly string[]): boolean {
  return items === ['trigger', ...path].join('.')
}

function triggerPaths(config: JsonObject): string[][] {
  const paths: string[][] = []
  const add = (path: string) => {
    const [head, ...rest] = path.replaceAll('[', '.').replaceAll(']', '').split('.')
    if (head === 'trigger' && rest.length > 0 && rest.every((part) => part !== '')) paths.push(rest)
  }
  for (const [, path] of sourceMembers(config)) add(path)
  const base = typeof config.input_from === 'string' ? config.input_from : undefined
  for (const [member, value] of Object.entries(config)) {
    if (typeof value !== 'string' || member.endsWith('_from')) continue
    for (const [, key] of value.matchAll(/\{\{\s*([^{}\s]{1,200})\s*\}\}/g)) {
      if (key?.startsWith('trigger.')) add(key)
      else if (base) add(`${base}.${key}`)
    }
  }
  return paths
}

function labelOf(path: string[]): string {
  const words = path.join(' ').replace(/[_-]+/g, ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

interface ReadField {
  value?: Json
  fault?: string
}

function readField(field: FormField, entered: Json | undefined): ReadField {
  if (entered === undefined || entered === '' || entered === null) {
    if (field.type === 'boolean' && field.required) return { value: false }
    return field.required ? { fault: 'is missing' } : {}
  }
  switch (field.type) {
    case 'number':
    case 'integer':
      return readNumber(entered)
    case 'boolean':
      if (entered === true || entered === 'true' || entered === 'on') return { value: true }
      return entered === false || entered === 'false' ? { value: false } : { fault: 'must be yes or no' }
    case 'choice': {
      const chosen = field.enum?.find((choice) => choice === entered || String(choice) === entered)
      return chosen === undefined
        ? { fault: `is not one of ${listedValues(field.enum ?? [])}` }
        : { value: chosen }
    }
    case 'json':
      return readJsonText(entered)
    case 'text':
    case 'long_text':
      return { value: entered }
    default:
      return field.type satisfies never
  }
}

function readNumber(entered: Json): ReadField {
  if (typeof entered === 'number') return { value: entered }
  const text = typeof entered === 'string' ? entered.trim() : ''
  return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text))
    ? { value: Number(text) }
    : { fault: 'must be a number' }
}

function readJsonText(entered: Json): ReadField {
  if (typeof entered !== 'string') return { value: entered }
  try {
    return { value: JSON.parse(entered) as Json }
  } catch {
    return { fault: 'must be JSON (text goes in quotation marks)' }
  }
}

/** Sets a value deep inside, as own members only: a member named `__proto__` stays a member. */
function place(into: JsonObject, path: string[], value: Json): void {
  let at = into
  for (const name of path.slice(0, -1)) {
    const inner = Object.hasOwn(at, name) ? at[name] : undefined
    const next: JsonObject = isJsonObject(inner) ? inner : {}
    if (next !== inner) own(at, name, next)
    at = next
  }
  own(at, path.at(-1) as string, value)
}

function own(object: JsonObject, name: string, value: Json): void {
  Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true })
}

function faultsOf(issue: z.core.$ZodIssue, input: Json, schema: JsonObject): InputFault[] {
  const at = issue.path.map(String)
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: pointer([...at, key]), message: 'is not asked for' }))
  return [{ path: pointer(at), message: issueWords(issue, input, askedAt(schema, at)) }]
}

/** What the schema's author says of a place: its description, else its title. */
function askedAt(root: JsonObject, path: readonly string[]): string | undefined {
  let here: Json | undefined = root
  for (const name of path) {
    if (!isJsonObject(here) || !isJsonObject(here.properties)) return undefined
    here = Object.hasOwn(here.properties, name) ? resolved(here.properties[name] ?? {}, root) : undefined
  }
  if (!isJsonObject(here)) return undefined
  return [here.description, here.title].find((words) => typeof words === 'string' && words.trim() !== '') as
    | string
    | undefined
}

function pointer(path: readonly string[]): string {
  return path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

function inputInvalid(faults: InputFault[]): Problem {
  const listed = faults
    .slice(0, 10)
    .map((fault) => `${fault.path === '' ? 'the input' : `"${fault.path.slice(1)}"`} ${fault.message}`)
  const more = faults.length > 10 ? `; and ${faults.length - 10} more` : ''
  return new Problem('input_invalid', `The input does not fit the workflow: ${listed.join('; ')}${more}.`, {
    faults: faults.slice(0, 100),
  })
}
