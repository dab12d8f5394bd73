import { z } from 'zod'
import { defaultResponse, respondConfig } from '@/lib/nodes/respond'
import { filledTemplate } from './filled-template'
import { pureAction } from './pure-action'
import { actionOf, configOf, given } from './resolved'
import type { Runner } from './runner'

const respondDo = z.strictObject({
  status: respondConfig.shape.status.unwrap(),
  content_type: respondConfig.shape.content_type.unwrap(),
  body_template: z.string(),
  input: z.json(),
})

/** The step itself only says what the reply is; whoever holds the caller writes it once the run has completed. */
export const respondRunner: Runner = {
  async resolve(step) {
    const config = configOf(respondConfig, step.node)
    return {
      status: config.status ?? defaultResponse.status,
      content_type: config.content_type ?? defaultResponse.contentType,
      body_template: config.body_template,
      input: await given(step, 'input', undefined, config.input_from ?? 'trigger'),
    }
  },

  async describe(action, step) {
    const { status } = actionOf(respondDo, action, step.node.id)
    return {
      action: pureAction(step, action, { target: 'the caller', sentence: `Answer the caller ${status}` }),
    }
  },

  async perform(action) {
    const { status, content_type, body_template, input } = actionOf(respondDo, action.do, action.node)
    return { output: { status, content_type, body: filledTemplate(action.node, body_template, input) } }
  },
}
