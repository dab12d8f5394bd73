import type { Json } from '@/lib/base/json'
import { isProblem } from '@/lib/base/problem'
import type { PromptStateConfig } from '@/lib/nodes/prompt-state'
import { markerKeys, renderTemplate } from '@/lib/nodes/template'
import { refusal } from './resolved'
import type { Step } from './runner'

/**
 * A prompt's template, filled in one pass: variables from the run's input or their defaults, artifacts as they are now
 * and empty before they were written. What a value brings along is never expanded again. A name that is neither stays as
 * it is written, so that the miss is seen. Throws EffectFailed `value_missing` for a required variable, and `too_large`.
 */
export async function renderedPrompt(
  step: Step,
  template: string,
  variables: PromptStateConfig['variables'] = [],
): Promise<string> {
  const values = new Map<string, Json | undefined>()
  for (const key of markerKeys(template)) values.set(key, await filling(step, key, variables))
  try {
    return renderTemplate(template, (key) => values.get(key)).text
  } catch (error) {
    if (isProblem(error, 'too_large')) throw refusal('too_large', `Node ${step.node.id}: ${error.message}`)
    throw error
  }
}

async function filling(
  step: Step,
  key: string,
  variables: NonNullable<PromptStateConfig['variables']>,
): Promise<Json | undefined> {
  if (key.startsWith('artifacts.')) return (await step.values.at(key)) ?? ''
  const given = await step.values.at(`trigger.${key}`)
  if (given !== undefined) return given
  const variable = variables.find(({ name }) => name === key)
  if (!variable) return undefined
  if (variable.default !== undefined) return variable.default
  if (!variable.required) return ''
  throw refusal(
    'value_missing',
    `Node ${step.node.id} needs the variable "${key.slice(0, 100)}", and the run's input has none of that name; start the run with it.`,
  )
}
