/*
 * One bounded question to a model. The prompt is filled from the input, the answer is data: nothing in it is looked up,
 * run or followed. Where a schema stands, an answer that does not fit is shown to the model with what is wrong, a
 * bounded number of times; after that the step fails, and trying the step again would not mend it.
 */
import { z } from 'zod'
import type { Json, JsonObject } from '@/lib/base/json'
import { backendName, defaultBackend, llmInferConfig, maxRepairs, outputSchema } from '@/lib/nodes/llm-infer'
import { answerContract } from './answer-schema'
import { filledTemplate } from './filled-template'
import { unknownBackend } from './models/unknown-backend'
import { pureAction } from './pure-action'
import { actionOf, configOf, definedOnly, refusal } from './resolved'
import type { Effects, ModelAnswer, ModelCall, Runner } from './runner'
import { requestTime } from './time-left'
import { oneLine, previewText } from './words'

/** agentd's bound of one answer. */
const maxTokens = 1_024

const inferDo = z.strictObject({
  backend: backendName,
  prompt: z.string().max(1_048_576),
  output_schema: outputSchema.optional(),
  output_repairs: z.int().min(0).max(maxRepairs).optional(),
})

export const llmInferRunner: Runner = {
  async resolve(step) {
    const config = configOf(llmInferConfig, step.node)
    const input = config.input_from === undefined ? null : ((await step.values.at(config.input_from)) ?? null)
    return definedOnly({
      backend: config.backend ?? defaultBackend,
      prompt: filledTemplate(step.node.id, config.prompt, input),
      output_schema: config.output_schema,
      output_repairs: config.output_repairs,
    })
  },

  async describe(action, step, effects) {
    const { backend, prompt } = actionOf(inferDo, action, step.node.id)
    checkBackend(backend, effects)
    return {
      action: pureAction(step, action, { target: backend, sentence: `Ask the model ${backend}` }),
      preview: { show: 'text', title: oneLine(`Prompt to ${backend}`), text: previewText(prompt) },
    }
  },

  async perform(action, effects) {
    const wanted = actionOf(inferDo, action.do, action.node)
    checkBackend(wanted.backend, effects)
    if (effects.dryRun) return { output: { content: '<dry-run>', dry_run: true } }
    const contract = await answerContract(wanted.output_schema, effects)
    const messages: ModelCall['messages'] = [{ role: 'user', text: wanted.prompt }]
    const rounds = 1 + (wanted.output_repairs ?? 0)
    let fault = ''
    let modelTokens = 0
    for (let round = 1; round <= rounds; round++) {
      const answer = await effects.models.ask(
        { backend: wanted.backend, messages: [...messages], maxTokens, schema: contract?.schema },
        requestTime(effects).signal,
      )
      modelTokens += answer.usage.promptTokens + answer.usage.completionTokens
      const checked = contract ? contract.check(answer.text) : { value: null }
      if ('value' in checked) return { output: outputOf(answer, checked.value), modelTokens }
      fault = checked.fault
      messages.push(
        { role: 'assistant', text: answer.text },
        {
          role: 'user',
          text: `Your last output was refused: ${fault}. Answer with the corrected output alone.`,
        },
      )
    }
    throw refusal(
      'answer_schema',
      oneLine(
        `The output of ${action.node} failed its schema validation after ${rounds === 1 ? '1 attempt' : `${rounds} attempts`}: ${fault}`,
      ),
    )
  },
}

/** Throws EffectFailed `backend_unknown` when no backend of that name is configured. */
export function checkBackend(backend: string, { models }: Pick<Effects, 'models'>): void {
  const known = models.names()
  if (!known.includes(backend)) throw unknownBackend(backend, known)
}

function outputOf({ text, usage }: ModelAnswer, parsed: Json): JsonObject {
  return {
    content: text,
    parsed,
    usage: { prompt_tokens: usage.promptTokens, completion_tokens: usage.completionTokens },
  }
}
