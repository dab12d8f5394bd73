import { z } from 'zod'
import { jsonSelectConfig } from '@/lib/nodes/json-select'
import { valueInside } from '@/lib/nodes/values-path'
import { actionOf, configOf, given } from './resolved'
import type { Runner } from './runner'
import { oneLine } from './words'

const selectDo = z.strictObject({ input: z.json(), path: z.string() })

export const jsonSelectRunner: Runner = {
  async resolve(step) {
    const config = configOf(jsonSelectConfig, step.node)
    return { input: await given(step, 'input', undefined, config.input_from), path: config.path }
  },

  async describe(action, step) {
    const { path } = actionOf(selectDo, action, step.node.id)
    return {
      action: {
        kind: 'json_select',
        node: step.node.id,
        visit: step.visit,
        do: action,
        consequence: 'read_only',
        target: oneLine(path, 200) || 'a value',
        sentence: oneLine(`Select ${path || 'all of a value'}`),
      },
    }
  },

  async perform(action) {
    const { input, path } = actionOf(selectDo, action.do, action.node)
    const value = valueInside(input, path)
    return { output: value === undefined ? { value: null, found: false } : { value, found: true } }
  },
}
