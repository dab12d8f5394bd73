import { z } from 'zod'
import { stringForm } from '@/lib/nodes/string-form'
import { switchConfig } from '@/lib/nodes/switch'
import { pureAction } from './pure-action'
import { actionOf, configOf } from './resolved'
import type { Runner } from './runner'

/** A longer label than an edge can have. It stands in tokens, so a value that is a whole text is cut. */
const maxLabelChars = 256

const switchDo = z.strictObject({ expr: z.string(), value: z.json() })

export const switchRunner: Runner = {
  async resolve(step) {
    const { expr } = configOf(switchConfig, step.node)
    return { expr, value: (await step.values.at(expr)) ?? null }
  },

  async describe(action, step) {
    const { expr } = actionOf(switchDo, action, step.node.id)
    return { action: pureAction(step, action, { target: expr, sentence: `Choose by ${expr}` }) }
  },

  async perform(action) {
    const { value } = actionOf(switchDo, action.do, action.node)
    return { output: { value }, label: bounded(stringForm(value)) }
  },
}

function bounded(label: string): string {
  if (label.length <= maxLabelChars) return label
  return `${label.slice(0, maxLabelChars - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
