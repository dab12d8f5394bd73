import { mergeConfig } from '@/lib/nodes/merge'
import { pureAction } from './pure-action'
import { configOf } from './resolved'
import type { Runner } from './runner'

export const mergeRunner: Runner = {
  async resolve(step) {
    configOf(mergeConfig, step.node)
    return {}
  },

  async describe(action, step) {
    return { action: pureAction(step, action, { target: 'branches', sentence: 'Join branches' }) }
  },

  async perform() {
    return { output: null }
  },
}
