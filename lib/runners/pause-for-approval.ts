import { pauseForApprovalConfig } from '@/lib/nodes/pause-for-approval'
import { configOf, definedOnly } from './resolved'
import type { Resolver } from './runner'
import { oneLine } from './words'

/** Only says what it is: the engine holds the run and lets it go on. */
export const pauseForApprovalResolver: Resolver = {
  async resolve(step) {
    const { reason } = configOf(pauseForApprovalConfig, step.node)
    return definedOnly({ reason })
  },

  async describe(action, step) {
    const reason = typeof action.reason === 'string' ? oneLine(action.reason) : ''
    return {
      action: {
        kind: 'pause_for_approval',
        node: step.node.id,
        visit: step.visit,
        do: action,
        consequence: 'read_only',
        target: oneLine(step.node.label || step.node.id, 200),
        sentence: reason || 'Let the run go on',
      },
    }
  },
}
