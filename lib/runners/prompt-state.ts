/*
 * A state of a PromptPack workflow as a step: its prompt is rendered once, in a single pass, and its turn is run as a
 * child run of the graph made for it. The event the turn ends with is the step's label; the artifacts it wrote are
 * captured with it (RFC 0009, NOTES 15).
 *
 * In a dry run the model is asked, because nothing else leads on; what its tools would do is not done.
 */
import { z } from 'zod'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { runWorkedUp } from '@/lib/engine/outcome'
import { promptStateConfig } from '@/lib/nodes/prompt-state'
import { childrenDo, childUndo, ran, tally } from './child-work'
import { checkBackend } from './llm-infer'
import { turnMessage } from './prompt-talk'
import { renderedPrompt } from './rendered-prompt'
import { actionOf, configOf, definedOnly } from './resolved'
import { type ChildOutcome, EffectFailed, type Performed, type Runner } from './runner'
import { oneLine, previewText } from './words'

/** What a turn came to (prompt-turn.ts). */
const turnOutcome = z.object({
  event: z.string().nullable(),
  text: z.string(),
  artifacts: z.array(z.object({ name: z.string(), value: z.json() })),
  rounds: z.int(),
  tool_calls: z.int(),
  talk: z.array(turnMessage),
  exhausted: z.literal('max_tool_calls').optional(),
})

export const promptStateRunner: Runner = {
  ...childUndo,

  async resolve(step) {
    const config = configOf(promptStateConfig, step.node)
    const talk = config.persistence === 'persistent' ? await step.values.talk() : undefined
    const given = await step.values.givenEvent()
    const input = definedOnly({
      system: await renderedPrompt(step, config.template, config.variables),
      talk: talk ?? [],
      ...(given && { given_event: given }),
      tool_calls_left: (await step.values.toolCallsLeft()) ?? null,
    })
    return { children: [{ workflow: config.prompt, input }], atOnce: 1 }
  },

  async describe(action, step, effects) {
    const { children, atOnce } = actionOf(childrenDo, action, step.node.id)
    const { backend, prompt } = configOf(promptStateConfig, step.node)
    checkBackend(backend, effects)
    const { version, consequence } = await effects.children.turn(step.node.id)
    const sentence = oneLine(`Let ${prompt} take its turn`)
    const input = children[0]?.input
    const system = isJsonObject(input) && typeof input.system === 'string' ? input.system : ''
    return {
      action: {
        kind: 'prompt_state',
        node: step.node.id,
        visit: step.visit,
        do: { children: children.map((child) => ({ ...child, version })), atOnce },
        consequence,
        target: oneLine(prompt, 200),
        sentence,
        ...(consequence !== 'read_only' && {
          undo: 'restore' as const,
          undoSentence: 'Roll back what its tools did',
        }),
      },
      preview: { show: 'text', title: sentence, text: previewText(system) },
    }
  },

  async perform(action, effects) {
    const outcomes = await ran(action, effects)
    return { ...turnEnd(outcomes[0] as ChildOutcome), ...tally(outcomes) }
  },
}

/**
 * What the turn's run came to. Throws EffectFailed `turn_failed` when it named no event; `run_worked_up` when it used up
 * the time that the run above has left to work.
 */
function turnEnd({ status, finalValue, reason, lastNode, exhausted: limit }: ChildOutcome): Performed {
  const value: Json | undefined = isJsonObject(finalValue) ? finalValue.outcome : undefined
  const parsed = turnOutcome.safeParse(value)
  if (status !== 'completed' || !parsed.success) {
    if (limit === 'max_wall_time_sec')
      throw new EffectFailed(runWorkedUp, oneLine(`The turn was not over in time: ${reason}`, 900), {
        errorType: 'timeout',
      })
    const why = reason === '' ? `its run ended as ${status}${lastNode ? ` at ${lastNode}` : ''}` : reason
    throw new EffectFailed('turn_failed', oneLine(`The turn came to no end of its own: ${why}`, 900))
  }
  const { event, artifacts, exhausted, ...rest } = parsed.data
  return {
    output: definedOnly({ event: event ?? undefined, ...(rest as JsonObject) }),
    artifacts,
    ...(event !== null && { label: event }),
    ...(exhausted && { exhausted }),
  }
}
