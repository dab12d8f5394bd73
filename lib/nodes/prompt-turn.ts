import { z } from 'zod'
import { strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'
import { defaultMaxRounds, promptStateConfig } from './prompt-state'

const { backend, max_rounds, max_tool_calls, tool_choice, temperature, top_p, max_tokens } =
  promptStateConfig.shape

/** A tool as a turn knows it: what the model is told, the node that does it, and the slots its results fill. */
export const turnTool = z.strictObject({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.json()),
  node: z.string(),
  artifacts: z.record(z.string(), z.string()),
})

export const turnSlot = z.strictObject({
  name: z.string(),
  mediaType: z.string(),
  mode: z.enum(['replace', 'append']),
  description: z.string(),
})

/** What a turn is bounded by and may use; the same in every thought of it. */
export const turnMembers = {
  backend,
  max_rounds: max_rounds.unwrap().default(defaultMaxRounds),
  max_tool_calls,
  tool_choice,
  temperature,
  top_p,
  max_tokens,
  /** Events that end it. None: the turn ends with the model's answer. */
  events: z.array(z.string()),
  tools: z.array(turnTool),
  slots: z.array(turnSlot),
  /** An event may also come from outside. */
  hybrid: z.boolean().optional(),
}

export const promptTurnConfig = strictConfig(turnMembers)

export type PromptTurnConfig = z.infer<typeof promptTurnConfig>
export type TurnTool = z.infer<typeof turnTool>
export type TurnSlot = z.infer<typeof turnSlot>

/** Where a turn goes that waits for an event from outside. */
export const turnEventNode = 'event'

/** Labels of a thought besides the nodes of tools. */
export const turnLabels = ['again', 'ended', turnEventNode] as const

/** One answer of the model in a turn. Part of the graphs made for such turns; nobody writes it into a workflow. */
export const promptTurn: NodeKind<PromptTurnConfig> = {
  kind: 'prompt_turn',
  internal: true,
  title: 'Ask the model',
  summary: 'Asks the model of a prompt state for its next tool calls, or for the event that ends its turn.',
  family: 'agent',
  config: promptTurnConfig,
  fields: {
    backend: { label: 'Backend', help: 'The model, by the name it was given.' },
    max_rounds: { label: 'At most so many rounds', help: 'Answers of the model.' },
    max_tool_calls: { label: 'At most so many tool calls', help: 'In this turn.' },
    tool_choice: { label: 'Tool use', help: 'Whether the model must, may or must not use a tool.' },
    temperature: { label: 'Temperature', help: 'From 0 to 2.' },
    top_p: { label: 'Top p', help: 'From 0 to 1.' },
    max_tokens: { label: 'At most so many tokens', help: 'Of one answer.' },
    events: { label: 'Events', help: 'One of them ends the turn.' },
    tools: { label: 'Tools', help: 'The only tools the model may use.' },
    slots: { label: 'Artifacts', help: 'The slots it may write.' },
    hybrid: { label: 'Also from outside', help: 'A person or another system may give the event.' },
  },
  labels: ({ tools }) => [...tools.map(({ node }) => node), ...turnLabels],
  consequence: () => 'read_only',
  timeoutS: 300,
}
