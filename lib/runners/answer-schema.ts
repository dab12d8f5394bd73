/*
 * What a model's answer must be: JSON, and of the shape a schema file declares. The schema is the author's; the answer
 * is the model's, and is data that is looked at and never run. Sentences say where an answer fails and never repeat it.
 */
import type { ValidateFunction } from 'ajv'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { deeperThan, maxJsonDepth, parseBounded } from './parse-bounded'
import { refusal } from './resolved'
import { EffectFailed, type Effects } from './runner'

/** A contract on answers. `schema` is absent where the answer must be JSON and nothing more. */
export interface AnswerContract {
  schema?: JsonObject
  /** The answer's value, or why it is refused, in words a model can mend it by. */
  check(text: string): { value: Json } | { fault: string }
  checkValue(value: Json): string | undefined
}

const maxSchemaChars = 262_144
const faultsShown = 8

/**
 * The contract that an `output_schema` stands for; undefined for an empty one. Throws EffectFailed `schema_invalid`
 * when the named file can be read and is no schema.
 */
export async function answerContract(
  spec: string | undefined,
  effects: Pick<Effects, 'authored'>,
): Promise<AnswerContract | undefined> {
  if (!spec) return undefined
  const text = await effects.authored(spec)
  if (text === undefined) return contract(undefined, undefined)
  const schema = schemaOf(spec, text)
  return contract(schema, await compiled(spec, schema))
}

/** The contract that a schema in the workflow itself stands for; undefined when it is none that can be checked by. */
export async function schemaContract(schema: JsonObject): Promise<AnswerContract | undefined> {
  try {
    return contract(schema, await compiled(JSON.stringify(schema), schema))
  } catch {
    return undefined
  }
}

function contract(schema: JsonObject | undefined, validate: ValidateFunction | undefined): AnswerContract {
  const checkValue = (value: Json): string | undefined => {
    if (!validate || validate(value)) return undefined
    const faults = (validate.errors ?? []).slice(0, faultsShown)
    return `schema violation: ${faults.map(({ instancePath, message }) => `${instancePath || 'the value'} ${message}`).join('; ')}`
  }
  return {
    ...(schema ? { schema } : {}),
    checkValue,
    check(text) {
      const parsed = parsedAnswer(text)
      if ('fault' in parsed) return parsed
      const fault = checkValue(parsed.value)
      return fault === undefined ? parsed : { fault }
    },
  }
}

function parsedAnswer(text: string): { value: Json } | { fault: string } {
  try {
    return { value: parseBounded(text, 'what the model returned') }
  } catch (error) {
    if (!(error instanceof EffectFailed)) throw error
    const where = /\(line \d+, column \d+\)/.exec(error.message)?.[0]
    const why = error.code === 'too_deep' ? 'it is nested too deep' : `one JSON value was expected`
    return { fault: `model returned invalid JSON${where ? ` ${where}` : ''}: ${why}` }
  }
}

function schemaOf(spec: string, text: string): JsonObject {
  let value: Json = null
  if (text.length <= maxSchemaChars) {
    try {
      value = JSON.parse(text) as Json
    } catch {
      // Said below, as for any other value that is no schema.
    }
  }
  if (isJsonObject(value) && !deeperThan(value, maxJsonDepth)) return value
  throw notASchema(spec, 'a JSON object of at most 262,144 characters was expected')
}

const schemasKept = 256
const kept = new Map<string, ValidateFunction>()

async function compiled(spec: string, schema: JsonObject): Promise<ValidateFunction> {
  const key = JSON.stringify(schema)
  const known = kept.get(key)
  if (known) return known
  // A schema without its own name for its dialect is read as draft 7; `$id` is dropped, since two may share one.
  const { $schema, $id: _unused, ...rest } = schema
  const dialect = typeof $schema === 'string' ? $schema : ''
  const { default: Ajv } = /2020-12|2019-09/.test(dialect)
    ? await import('ajv/dist/2020.js')
    : await import('ajv')
  try {
    const ajv = new Ajv({ strict: false, validateFormats: false, logger: false, inlineRefs: false })
    const validate = ajv.compile(rest)
    kept.set(key, validate)
    if (kept.size > schemasKept) kept.delete(kept.keys().next().value ?? '')
    return validate
  } catch (error) {
    throw notASchema(spec, error instanceof Error ? error.message.slice(0, 200) : 'it does not compile')
  }
}

function notASchema(spec: string, why: string): EffectFailed {
  return refusal('schema_invalid', `output_schema "${spec.slice(0, 200)}" is not a valid schema: ${why}.`)
}
