/*
 * From a node to the values its action is made of: its config checked by its kind's schema, each `*_from` looked up
 * in the run, each failure a sentence that names the node and the field, never a value.
 */
import type { z } from 'zod'
import type { Json, JsonObject } from '@/lib/base/json'
import type { GraphNode } from '@/lib/workflow/graph'
import { EffectFailed, type Step } from './runner'

/** A failure that trying again cannot mend: a value is missing, wrong or not allowed. */
export function refusal(code: string, sentence: string): EffectFailed {
  return new EffectFailed(code, sentence, { errorType: 'constraint_violation' })
}

/** The node's config as its kind understands it. Throws EffectFailed `config_invalid`. */
export function configOf<C>(schema: z.ZodType<C>, node: GraphNode): C {
  const parsed = schema.safeParse(node.config)
  if (parsed.success) return parsed.data
  throw refusal('config_invalid', `Node ${node.id} is not configured right: ${firstFault(parsed.error)}`)
}

/** The action as stored, or as a person edited it. Throws EffectFailed `action_invalid`. */
export function actionOf<C>(schema: z.ZodType<C>, action: JsonObject, node: string): C {
  const parsed = schema.safeParse(action)
  if (parsed.success) return parsed.data
  throw refusal('action_invalid', `The action of node ${node} is not valid: ${firstFault(parsed.error)}`)
}

/** The first thing a schema found, with its place. Schemas here never repeat values in their words. */
export function firstFault(error: z.ZodError): string {
  const issue = error.issues[0]
  if (!issue) return 'it has another shape than expected.'
  const place = issue.path.map(String).join('.')
  return (place === '' ? issue.message : `${place}: ${issue.message}`).slice(0, 400)
}

/** The literal, or what stands at the path. Throws EffectFailed `value_missing` when there is nothing. */
export async function given(
  step: Step,
  field: string,
  literal: Json | undefined,
  from: string | undefined,
): Promise<Json> {
  if (literal !== undefined) return literal
  const value = from === undefined ? undefined : await step.values.at(from)
  if (value !== undefined) return value
  throw refusal(
    'value_missing',
    `Node ${step.node.id} takes its ${field} from "${from ?? ''}", and nothing stands there; check the path or the step before.`,
  )
}

/** As `given`, for a value that must be a text. Throws EffectFailed `value_wrong` when it is something else. */
export async function givenText(
  step: Step,
  field: string,
  literal: string | undefined,
  from: string | undefined,
): Promise<string> {
  const value = await given(step, field, literal, from)
  if (typeof value === 'string') return value
  throw refusal(
    'value_wrong',
    `Node ${step.node.id} takes its ${field} from "${from ?? ''}", which holds ${kindOfValue(value)}; a text was expected.`,
  )
}

function kindOfValue(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Without undefined members, as stored actions must be. */
export function definedOnly(members: Record<string, Json | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  )
}
