import { mapConfig } from '@/lib/nodes/map'
import { childrenOf, childUndo, pinned, ran } from './child-work'
import { joined } from './parallel'
import { configOf, given, refusal } from './resolved'
import type { Runner } from './runner'

/** agentd section 1.45: without `max_concurrent`. */
const defaultAtOnce = 4

export const mapRunner: Runner = {
  ...childUndo,

  async resolve(step) {
    const config = configOf(mapConfig, step.node)
    const items = await given(step, 'items', undefined, config.items_from)
    if (!Array.isArray(items)) {
      throw refusal(
        'value_wrong',
        `Node ${step.node.id} needs a list at "${config.items_from}", and something else stands there`,
      )
    }
    if (items.length > config.max_items) {
      throw refusal(
        'too_many_items',
        `Node ${step.node.id} was given ${items.length} items, and max_items is ${config.max_items}; a list is never cut`,
      )
    }
    const { workflow, start, max_concurrent: atOnce = defaultAtOnce } = config
    return {
      children: items.map((input) => ({ workflow, ...(start !== undefined && { start }), input })),
      atOnce,
    }
  },

  describe: (action, step, effects) =>
    pinned(action, step, effects, (name) => `Run the workflow ${name} for each item`),

  async perform(action, effects) {
    if (childrenOf(action).children.length === 0) return { output: { results: [], ok: true } }
    return joined(await ran(action, effects))
  },
}
