import { z } from 'zod'
import { defaultFailReason, failConfig } from '@/lib/nodes/fail'
import { pureAction } from './pure-action'
import { actionOf, configOf } from './resolved'
import type { Runner } from './runner'

const failDo = z.strictObject({ reason: z.string() })

/** The step itself completes with its reason; the engine ends the run as failed after it. */
export const failRunner: Runner = {
  async resolve(step) {
    return { reason: configOf(failConfig, step.node).reason ?? defaultFailReason }
  },

  async describe(action, step) {
    const { reason } = actionOf(failDo, action, step.node.id)
    return { action: pureAction(step, action, { target: 'the run', sentence: `Fail the run: ${reason}` }) }
  },

  async perform(action) {
    return { output: { reason: actionOf(failDo, action.do, action.node).reason } }
  },
}
