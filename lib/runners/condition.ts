import { z } from 'zod'
import { conditionConfig } from '@/lib/nodes/condition'
import { isTruthy } from '@/lib/nodes/truthiness'
import { pureAction } from './pure-action'
import { actionOf, configOf } from './resolved'
import type { Runner } from './runner'

const conditionDo = z.strictObject({ expr: z.string(), value: z.json() })

export const conditionRunner: Runner = {
  async resolve(step) {
    const { expr } = configOf(conditionConfig, step.node)
    // A value that is not there is null, and so false: that is what the step decides on, not a fault.
    return { expr, value: (await step.values.at(expr)) ?? null }
  },

  async describe(action, step) {
    const { expr } = actionOf(conditionDo, action, step.node.id)
    return { action: pureAction(step, action, { target: expr, sentence: `Decide on ${expr}` }) }
  },

  async perform(action) {
    const { value } = actionOf(conditionDo, action.do, action.node)
    return { output: { value }, label: isTruthy(value) ? 'true' : 'false' }
  },
}
