import { terminateConfig } from '@/lib/nodes/terminate'
import { pureAction } from './pure-action'
import { configOf } from './resolved'
import type { Runner } from './runner'

/** The step itself only completes; the engine ends the run after it. */
export const terminateRunner: Runner = {
  async resolve(step) {
    configOf(terminateConfig, step.node)
    return {}
  },

  async describe(action, step) {
    return { action: pureAction(step, action, { target: 'the run', sentence: 'End the run' }) }
  },

  async perform() {
    return { output: null }
  },
}
