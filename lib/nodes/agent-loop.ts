/*
 * A bounded loop of a model and a few tools in one step (NOTES 19). The step is run as a child run of a graph made for
 * it (agent-loop-graph.ts), so that each thought and each tool call is a step of its own: with its policy, checkpoint,
 * approval and token. The model chooses which of the listed tools comes next and with what arguments; it can add
 * neither a tool nor an edge nor a right.
 */
import { z } from 'zod'
import { dottedPath, oneOf, strictConfig } from './config-schema'
import { backendName, outputSchema } from './llm-infer'
import type { NodeKind } from './node-kind'

/** Tools a loop may list: node kinds that act. */
export const loopTools = [
  'read_file',
  'write_file',
  'read_env',
  'http_request',
  'shell_run',
  'call_mcp_tool',
] as const

export type LoopTool = (typeof loopTools)[number]

export const maxLoopSteps = 64

/** What the loop and its thoughts are both configured by. */
export const loopMembers = {
  backend: backendName,
  tools: z
    .array(z.enum(loopTools, { error: `A tool was expected: ${loopTools.join(', ')}.` }))
    .max(loopTools.length, 'A tool is listed once.')
    .refine((tools) => new Set(tools).size === tools.length, { error: 'A tool is listed once.' }),
  max_steps: z
    .int('A whole number of steps was expected.')
    .min(1, 'At least 1 step; each is one answer of the model.')
    .max(maxLoopSteps, `At most ${maxLoopSteps} steps.`),
  max_tokens: z
    .int('A whole number of tokens was expected.')
    .min(1, 'At least 1 token.')
    .max(1e9, 'At most 1,000,000,000 tokens.')
    .optional(),
  output_schema: outputSchema.optional(),
}

export const agentLoopConfig = strictConfig({
  ...loopMembers,
  instructions: z.string().max(262_144, 'Instructions have at most 262,144 characters.').optional(),
  instructions_from: dottedPath.optional(),
  input_from: dottedPath.optional(),
}).superRefine((config, context) => {
  // Both are allowed, as in agentd: the written ones win.
  if (config.instructions === undefined) oneOf('instructions', 'instructions_from')(config, context)
})

export type AgentLoopConfig = z.infer<typeof agentLoopConfig>

const readingTools: readonly string[] = ['read_file', 'read_env']

export const agentLoop: NodeKind<AgentLoopConfig> = {
  kind: 'agent_loop',
  title: 'Let a model work with tools',
  summary:
    'Lets a model use the listed tools for a bounded number of steps; every call is a step with its own checks.',
  family: 'agent',
  config: agentLoopConfig,
  fields: {
    backend: { label: 'Backend', help: 'The model, by the name it was given.', example: 'default' },
    instructions: {
      label: 'Instructions',
      help: 'What is to be done.',
      example: 'Find out why the last deployment failed.',
    },
    instructions_from: {
      label: 'Instructions from',
      help: 'Where the instructions stand among the run’s values, instead of fixed ones.',
      example: 'trigger.task',
    },
    tools: {
      label: 'Tools',
      help: 'The only tools the model may use; policy still decides each call.',
      example: ['read_file', 'http_request'],
    },
    max_steps: {
      label: 'At most so many steps',
      help: 'Answers of the model; after that the edge "exhausted" is taken.',
      example: 8,
    },
    max_tokens: {
      label: 'At most so many tokens',
      help: 'Model tokens of all steps together; after that the edge "exhausted" is taken.',
      example: 40_000,
    },
    input_from: {
      label: 'Input from',
      help: 'A value of the run that the model is given along with the instructions.',
      example: 'trigger',
    },
    output_schema: {
      label: 'Result must fit',
      help: 'A JSON Schema file beside the workflow; a result that does not fit costs a step.',
      example: 'schemas/finding.json',
    },
  },
  labels: () => ['exhausted'],
  consequence: ({ tools }) =>
    tools.every((tool) => readingTools.includes(tool)) ? 'read_only' : 'reversible',
  timeoutS: 86_400,
  checkpoint: {
    holds: 'Which loop was run; every consequential step of it has a checkpoint of its own.',
    undo: 'Rolls the loop back, step by step.',
  },
}
