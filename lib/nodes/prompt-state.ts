/*
 * A state of a PromptPack workflow (RFC 0005, RFC 0009): a prompt, the tools it may use, and the artifacts it may
 * write. A turn of it is run as a child run of a graph made for it (prompt-turn-graph.ts), so that each answer of the
 * model and each tool call is a step of its own. The turn ends with an event, and the event is the label that leads on:
 * which events there are is said by the edges that leave the node.
 */
import { z } from 'zod'
import { strictConfig } from './config-schema'
import { backendName } from './llm-infer'
import type { NodeKind } from './node-kind'

export const maxTemplateChars = 262_144

/** What a prompt's template may be filled with from the run's input. */
export const promptVariable = z.strictObject({
  name: z.string().min(1).max(200),
  required: z.boolean().optional(),
  default: z.json().optional(),
})

/** What one state's prompt is, with its fragments already in place. */
export const promptMembers = {
  /** The prompt's key in the pack. */
  prompt: z.string().min(1).max(200),
  template: z.string().max(maxTemplateChars, `A template has at most ${maxTemplateChars} characters.`),
  variables: z.array(promptVariable).max(200).optional(),
}

export const promptStateConfig = strictConfig({
  ...promptMembers,
  backend: backendName,
  /** Names of the workflow's tools. */
  tools: z.array(z.string()).max(128).optional(),
  /** Answers of the model with tool calls, in one turn. */
  max_rounds: z.int().min(1).max(64).optional(),
  max_tool_calls: z.int().min(0).max(1_000).optional(),
  tool_choice: z.enum(['auto', 'required', 'none']).optional(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  max_tokens: z.int().min(1).max(1e6).optional(),
  /** `persistent`: the talk so far is kept on entry; `transient`: it begins anew. */
  persistence: z.enum(['transient', 'persistent']).optional(),
  orchestration: z.enum(['internal', 'hybrid']).optional(),
  /** Role of who may give its event, of a hybrid state. */
  role: z.string().min(1).max(100).optional(),
  /** Slots it declares: what it may write. */
  artifacts: z.array(z.string()).max(256).optional(),
  terminal: z.boolean().optional(),
})

export type PromptStateConfig = z.infer<typeof promptStateConfig>

/** Rounds a turn has when its prompt does not say (`tool_policy.max_rounds`). */
export const defaultMaxRounds = 10

export const promptState: NodeKind<PromptStateConfig> = {
  kind: 'prompt_state',
  title: 'Let a prompt take its turn',
  summary:
    'Asks a model with the prompt’s tools until it ends its turn with an event; the event picks the way on.',
  family: 'agent',
  config: promptStateConfig,
  fields: {
    prompt: { label: 'Prompt', help: 'The prompt’s name in the pack.', example: 'coder' },
    template: {
      label: 'Template',
      help: 'What the model is told; {{name}} is a variable, {{artifacts.name}} an artifact.',
      example: 'Fix the failing tests.\n\nLast report: {{artifacts.test_report}}',
    },
    variables: { label: 'Variables', help: 'What of the run’s input the template may use.' },
    backend: { label: 'Backend', help: 'The model, by the name it was given.', example: 'default' },
    tools: { label: 'Tools', help: 'The only tools the model may use here.', example: ['run_tests'] },
    max_rounds: {
      label: 'At most so many rounds',
      help: `Answers of the model in one turn; without it, ${defaultMaxRounds}.`,
    },
    max_tool_calls: { label: 'At most so many tool calls', help: 'In one turn.' },
    tool_choice: { label: 'Tool use', help: 'Whether the model must, may or must not use a tool.' },
    temperature: { label: 'Temperature', help: 'From 0 to 2.' },
    top_p: { label: 'Top p', help: 'From 0 to 1.' },
    max_tokens: { label: 'At most so many tokens', help: 'Of one answer.' },
    persistence: { label: 'Conversation', help: 'Kept on entry (persistent), or begun anew (transient).' },
    orchestration: { label: 'Who gives the event', help: 'The model, or the model and people (hybrid).' },
    role: { label: 'Role', help: 'Who may give the event of a hybrid state.' },
    artifacts: { label: 'Artifacts', help: 'The slots it may write.' },
    terminal: { label: 'Last state', help: 'The run is complete after it.' },
  },
  labels: () => 'any',
  consequence: ({ tools = [] }) => (tools.length === 0 ? 'read_only' : 'reversible'),
  timeoutS: 86_400,
  checkpoint: {
    holds: 'Which turn was run; every consequential tool call in it has a checkpoint of its own.',
    undo: 'Rolls the turn back, call by call.',
  },
}
