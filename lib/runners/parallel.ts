import { parallelConfig } from '@/lib/nodes/parallel'
import { childDoOf } from './call'
import { answerOf, childUndo, pinned, ran, tally } from './child-work'
import { configOf } from './resolved'
import type { ChildOutcome, Performed, Runner } from './runner'

export const parallelRunner: Runner = {
  ...childUndo,

  async resolve(step) {
    const { branches } = configOf(parallelConfig, step.node)
    const children = []
    for (const branch of branches) children.push(await childDoOf(step, branch))
    return { children, atOnce: children.length }
  },

  describe: (action, step, effects) =>
    pinned(action, step, effects, (names) => `Run the workflows ${names} side by side`),

  perform: async (action, effects) => joined(await ran(action, effects)),
}

/** The outcomes in the order they were declared; any that failed takes the `error` branch. */
export function joined(outcomes: readonly ChildOutcome[]): Performed {
  const results = outcomes.map(answerOf)
  const ok = outcomes.every(({ status }) => status === 'completed')
  return { output: { results, ok }, ...(!ok && { label: 'error' }), ...tally(outcomes) }
}
