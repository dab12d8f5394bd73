import type { JsonObject } from '@/lib/base/json'
import { quoted } from '@/lib/workflow/graph-problem'
import { inputSchemaFault } from '@/lib/workflow/input-form'
import type { Tell } from '../tell'
import type { PackVariable } from './pack'
import type { ReadState } from './states'

const types = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array'])

/**
 * JSON Schema of what a run is started with: the variables of the prompts that states use, required where one is
 * required by a state that can be reached. Undefined when there are none. A name that prompts declare differently is
 * what the first of them says.
 */
export function inputSchema(
  variables: readonly [PackVariable, ReadState][],
  tell: Tell,
): JsonObject | undefined {
  const properties = new Map<string, { schema: JsonObject; type: string; prompt: string }>()
  const required = new Set<string>()
  for (const [variable, { prompt, isReachable }] of variables) {
    const { name, type } = variable
    if (name === '__proto__') continue
    const earlier = properties.get(name)
    if (!earlier) properties.set(name, { schema: schemaOf(variable), type, prompt: prompt?.key ?? '' })
    else if (earlier.type !== type && prompt)
      tellDiffers(variable, prompt.key, prompt.variables, earlier, tell)
    if (variable.required && isReachable && !variable.binding?.auto_populate) required.add(name)
  }
  if (properties.size === 0) return undefined
  return {
    type: 'object',
    properties: Object.fromEntries([...properties].map(([name, { schema }]) => [name, schema])),
    ...(required.size > 0 ? { required: [...required] } : {}),
  }
}

function tellDiffers(
  variable: PackVariable,
  prompt: string,
  all: readonly PackVariable[],
  earlier: { type: string; prompt: string },
  tell: Tell,
): void {
  tell({
    path: ['prompts', prompt, 'variables', all.indexOf(variable), 'type'],
    code: 'variable_differs',
    severity: 'warning',
    message: `The variable ${quoted(variable.name)} is ${quoted(variable.type)} in prompt ${quoted(prompt)} and ${quoted(earlier.type)} in ${quoted(earlier.prompt)}; a run has one input, so it is asked for as ${quoted(earlier.type)}.`,
    mend: 'Declare it alike, or give one of them another name.',
  })
}

function schemaOf({ type, description, default: value, example, validation = {} }: PackVariable): JsonObject {
  const { pattern, min_length, max_length, minimum, maximum, enum: values } = validation
  const isText = type === 'string'
  const isNumber = type === 'number' || type === 'integer'
  const plain: JsonObject = {
    ...(types.has(type) ? { type } : {}),
    ...(description === undefined ? {} : { description }),
    ...(value === undefined ? {} : { default: value }),
    ...(example === undefined ? {} : { examples: [example] }),
  }
  const checked: JsonObject = {
    ...plain,
    ...(isText && pattern !== undefined ? { pattern } : {}),
    ...(isText && min_length !== undefined ? { minLength: min_length } : {}),
    ...(isText && max_length !== undefined ? { maxLength: max_length } : {}),
    ...(isNumber && minimum !== undefined ? { minimum } : {}),
    ...(isNumber && maximum !== undefined ? { maximum } : {}),
    ...(values !== undefined && values.length > 0 ? { enum: values } : {}),
  }
  // A pattern that is none, say, must not keep the pack from running.
  const asked: JsonObject = { type: 'object', properties: { value: checked } }
  return inputSchemaFault(asked) === undefined ? checked : plain
}
