import { narrowed } from '@/lib/nodes/node-kind'
import { taskConfig } from '@/lib/nodes/task'
import { nodeLabel } from '@/lib/workflow/graph-index'
import { configOf, definedOnly, given } from './resolved'
import type { Resolver } from './runner'
import { oneLine } from './words'

/** Only says what it is: an outside agent claims the task and reports back. */
export const taskResolver: Resolver = {
  async resolve(step) {
    const config = configOf(taskConfig, step.node)
    const input =
      config.input_from === undefined
        ? await step.values.ofParents()
        : await given(step, 'input', undefined, config.input_from)
    return definedOnly({ instructions: config.instructions, role: config.role, input })
  },

  async describe(action, step) {
    const label = oneLine(nodeLabel(step.node), 200)
    const consequence = narrowed('reversible', step.node)
    return {
      action: {
        kind: 'task',
        node: step.node.id,
        visit: step.visit,
        do: action,
        consequence,
        target: label,
        sentence: oneLine(`Hand "${label}" to an agent`),
        ...(consequence === 'reversible'
          ? { undo: 'remote' as const, undoSentence: 'Ask the agent to put its state back' }
          : {}),
      },
    }
  },
}
