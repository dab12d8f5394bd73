import { z } from 'zod'
import { dottedPath, strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

/** Name of a model backend: the workflow's own, or the installation's. */
export const backendName = z
  .string()
  .min(1, 'The name of a model backend was expected; the text is empty.')
  .max(128, 'The name of a model backend has at most 128 characters.')

/** A schema file by its path, or any other text: the answer must be JSON. */
export const outputSchema = z
  .string()
  .max(4_096, 'The path of a schema has at most 4,096 characters.')
  .refine((text) => !text.includes('\0'), { error: 'A path holds no NUL character.' })

/** Rounds of repair cost a call each: more than ten is a loop. */
export const maxRepairs = 10

export const llmInferConfig = strictConfig({
  backend: backendName.optional(),
  prompt: z.string().max(262_144, 'A prompt has at most 262,144 characters.'),
  input_from: dottedPath.optional(),
  output_schema: outputSchema.optional(),
  output_repairs: z
    .int('A whole number of repair rounds was expected.')
    .min(0, 'A whole number of repair rounds was expected, not less than none.')
    .max(maxRepairs, `At most ${maxRepairs} repair rounds; each is another call of the model.`)
    .optional(),
})

export type LlmInferConfig = z.infer<typeof llmInferConfig>

/** The backend of nodes that name none. */
export const defaultBackend = 'default'

export const llmInfer: NodeKind<LlmInferConfig> = {
  kind: 'llm_infer',
  title: 'Ask a model',
  summary:
    'Asks a model one bounded question and gives back its answer; the answer picks no tool and no edge.',
  family: 'transform',
  config: llmInferConfig,
  fields: {
    backend: {
      label: 'Backend',
      help: 'The model to ask, by the name the workflow or the installation gave it.',
      example: 'default',
    },
    prompt: {
      label: 'Prompt',
      help: 'The question, with {{dotted.path}} markers for values.',
      example: 'Classify the sentiment of: {{text}}',
    },
    input_from: {
      label: 'Input from',
      help: 'The value the keys are looked up in; without it no key is found.',
      example: 'trigger',
    },
    output_schema: {
      label: 'Answer must fit',
      help: 'A JSON Schema file beside the workflow; any other text asks for valid JSON alone.',
      example: 'schemas/classification.json',
    },
    output_repairs: {
      label: 'Repair rounds',
      help: 'How often the model is shown what was wrong and asked again; each round costs tokens.',
      example: 2,
    },
  },
  labels: () => [],
  consequence: () => 'read_only',
  timeoutS: 120,
}
