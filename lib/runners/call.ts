import { type CallConfig, callConfig } from '@/lib/nodes/call'
import { answerOf, childUndo, pinned, ran, tally } from './child-work'
import { configOf, given } from './resolved'
import type { ChildOutcome, Runner, Step } from './runner'

export const callRunner: Runner = {
  ...childUndo,

  async resolve(step) {
    return { children: [await childDoOf(step, configOf(callConfig, step.node))], atOnce: 1 }
  },

  describe: (action, step, effects) => pinned(action, step, effects, (name) => `Run the workflow ${name}`),

  async perform(action, effects) {
    const outcomes = await ran(action, effects)
    const answer = answerOf(outcomes[0] as ChildOutcome)
    return { output: answer, ...('error' in answer && { label: 'error' }), ...tally(outcomes) }
  },
}

/** One child, with its input read from the run's values. */
export async function childDoOf(step: Step, { workflow, start, input_from: from = 'trigger' }: CallConfig) {
  const input = await given(step, 'input', undefined, from)
  return { workflow, ...(start !== undefined && { start }), input }
}
