import { z } from 'zod'
import { isProblem } from '@/lib/base/problem'
import { diffComputeConfig } from '@/lib/nodes/diff-compute'
import { jsonDiff } from '@/lib/nodes/json-diff'
import { pureAction } from './pure-action'
import { actionOf, configOf, given, refusal } from './resolved'
import type { Runner } from './runner'

const diffDo = z.strictObject({ left: z.json(), right: z.json() })

export const diffComputeRunner: Runner = {
  async resolve(step) {
    const config = configOf(diffComputeConfig, step.node)
    return {
      left: await given(step, 'earlier value', undefined, config.left_from),
      right: await given(step, 'later value', undefined, config.right_from),
    }
  },

  async describe(action, step) {
    return { action: pureAction(step, action, { target: 'two values', sentence: 'Compare two values' }) }
  },

  async perform(action) {
    const { left, right } = actionOf(diffDo, action.do, action.node)
    try {
      return { output: { ...jsonDiff(left, right) } }
    } catch (error) {
      if (isProblem(error, 'too_large')) throw refusal('too_large', `Node ${action.node}: ${error.message}`)
      throw error
    }
  },
}
