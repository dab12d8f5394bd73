/*
 * An agent loop as a step of its workflow: it begins a child run of the graph made for it, waits, and gives what the
 * loop came to. What happens inside is the child's: its steps, its checkpoints, its approvals.
 */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { agentLoopConfig } from '@/lib/nodes/agent-loop'
import { childrenDo, childUndo, ran, tally } from './child-work'
import { checkBackend } from './llm-infer'
import { actionOf, configOf, definedOnly, given } from './resolved'
import { type ChildOutcome, EffectFailed, type Performed, type Runner } from './runner'
import { oneLine, previewText } from './words'

export const agentLoopRunner: Runner = {
  ...childUndo,

  async resolve(step) {
    const config = configOf(agentLoopConfig, step.node)
    const instructions = await given(step, 'instructions', config.instructions, config.instructions_from)
    const input =
      config.input_from === undefined ? undefined : ((await step.values.at(config.input_from)) ?? null)
    return {
      children: [{ workflow: 'agent_loop', input: definedOnly({ instructions, input }) }],
      atOnce: 1,
    }
  },

  async describe(action, step, effects) {
    const { children, atOnce } = actionOf(childrenDo, action, step.node.id)
    const config = configOf(agentLoopConfig, step.node)
    checkBackend(config.backend, effects)
    const { version, consequence } = await effects.children.loop(config as JsonObject)
    const tools = config.tools.join(', ') || 'no tools'
    const says = `Let the model ${config.backend} work with ${tools} for at most ${config.max_steps} steps`
    return {
      action: {
        kind: 'agent_loop',
        node: step.node.id,
        visit: step.visit,
        do: { children: children.map((child) => ({ ...child, version })), atOnce },
        consequence,
        target: oneLine(config.backend, 200),
        sentence: oneLine(says),
        ...(consequence === 'read_only'
          ? {}
          : { undo: 'restore' as const, undoSentence: 'Roll back what its steps did' }),
      },
      preview: { show: 'text', title: oneLine(says), text: previewText(taskIn(children[0]?.input ?? null)) },
    }
  },

  async perform(action, effects) {
    if (effects.dryRun) return { output: { result: null, steps: 0, dry_run: true } }
    const outcomes = await ran(action, effects)
    return { ...loopOutcome(outcomes[0] as ChildOutcome), ...tally(outcomes) }
  },
}

/** What the loop's run came to, as the step's output. Throws EffectFailed `loop_failed` when the run did not complete. */
export function loopOutcome({ status, finalValue, reason, lastNode }: ChildOutcome): Performed {
  const outcome = isJsonObject(finalValue) ? finalValue.outcome : undefined
  if (status !== 'completed' || !isJsonObject(outcome)) {
    const why = reason === '' ? `its run ended as ${status}${lastNode ? ` at ${lastNode}` : ''}` : reason
    throw new EffectFailed('loop_failed', oneLine(`The agent loop came to no end of its own: ${why}`))
  }
  return outcome.reason === undefined ? { output: outcome } : { output: outcome, label: 'exhausted' }
}

function taskIn(input: Json): string {
  const task = isJsonObject(input) ? input.instructions : null
  return typeof task === 'string' ? task : JSON.stringify(task, null, 2)
}
