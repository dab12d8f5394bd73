import { z } from 'zod'
import { dottedPath, strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'
import { roleName } from './pause-for-approval'

export const taskConfig = strictConfig({
  instructions: z.string().max(20_000, 'Instructions have at most 20,000 characters.').optional(),
  input_from: dottedPath.optional(),
  role: roleName.optional(),
})

export type TaskConfig = z.infer<typeof taskConfig>

export const task: NodeKind<TaskConfig> = {
  kind: 'task',
  title: 'Hand to an agent',
  summary: 'Offers the work to outside agents; one of them claims it and reports back.',
  family: 'agent',
  config: taskConfig,
  fields: {
    instructions: {
      label: 'Instructions',
      help: 'What is to be done, for the agent that claims it.',
      example: 'Drain edge-router-07 and report the routes you moved.',
    },
    input_from: {
      label: 'Input from',
      help: 'The value the agent is given; without it, the outputs of all steps before this one.',
      example: 'classify',
    },
    role: { label: 'Role', help: 'Which agents may claim it; without it, any.', example: 'agent:network' },
  },
  labels: () => [],
  consequence: () => 'reversible',
  timeoutS: 3_600,
  checkpoint: {
    holds: 'What the agent says of its state before it acts.',
    undo: 'Asks the agent to put its state back.',
  },
}
