import { z } from 'zod'
import { strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

export const toolCallConfig = strictConfig({
  /** The node kind that the tool is bound to, and its config with `{{args.name}}` in it. */
  kind: z.string(),
  config: z.record(z.string(), z.json()),
  /** Where the call's arguments stand among the run's values. */
  args_from: z.string(),
})

export type ToolCallConfig = z.infer<typeof toolCallConfig>

/** A tool call of a model: the step of another kind, filled with the call's arguments. */
export const toolCall: NodeKind<ToolCallConfig> = {
  kind: 'tool_call',
  internal: true,
  title: 'Do what the model asked for',
  summary: 'Does the step that a tool is bound to, with the arguments of the model’s call.',
  family: 'action',
  config: toolCallConfig,
  fields: {
    kind: { label: 'Kind', help: 'What the tool is bound to.' },
    config: { label: 'Config', help: 'The step’s own config; {{args.name}} is an argument.' },
    args_from: { label: 'Arguments', help: 'Where the call’s arguments stand.' },
  },
  labels: () => 'any',
  consequence: () => 'reversible',
  timeoutS: 86_460,
}
