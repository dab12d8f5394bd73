import { z } from 'zod'
import { templateRenderConfig } from '@/lib/nodes/template-render'
import { filledTemplate } from './filled-template'
import { actionOf, configOf, given } from './resolved'
import type { Runner } from './runner'

const renderDo = z.strictObject({ template: z.string(), input: z.json() })

export const templateRenderRunner: Runner = {
  async resolve(step) {
    const config = configOf(templateRenderConfig, step.node)
    const hasInput = config.input_from !== undefined
    return {
      template: config.template,
      input: hasInput ? await given(step, 'input', undefined, config.input_from) : null,
    }
  },

  async describe(action, step) {
    return {
      action: {
        kind: 'template_render',
        node: step.node.id,
        visit: step.visit,
        do: action,
        consequence: 'read_only',
        target: 'a template',
        sentence: 'Fill a template',
      },
    }
  },

  async perform(action) {
    const { template, input } = actionOf(renderDo, action.do, action.node)
    return { output: { rendered: filledTemplate(action.node, template, input) } }
  },
}
