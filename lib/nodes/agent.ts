import { z } from 'zod'
import { dottedPath, oneOf, strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

/** A SPIFFE id: `spiffe://trust-domain/path`, at most 2,048 characters. */
export const spiffeId = z
  .string()
  .max(2_048, 'A SPIFFE id has at most 2,048 characters.')
  .regex(
    /^spiffe:\/\/[a-z0-9._-]{1,255}(\/[A-Za-z0-9._-]+)+$/,
    'A SPIFFE id was expected, such as spiffe://example.com/agent/router.',
  )

export const agentConfig = strictConfig({
  agent: spiffeId,
  operation: z.string().min(1).max(200, 'An operation has at most 200 characters.').optional(),
  input: z.json().optional(),
  input_from: dottedPath.optional(),
}).superRefine(oneOf('input', 'input_from', 'at_most_one'))

export type AgentConfig = z.infer<typeof agentConfig>

export const agent: NodeKind<AgentConfig> = {
  kind: 'agent',
  title: 'Call an agent',
  summary: 'Asks a registered agent to do something; it keeps its own checkpoint and takes back what it did.',
  family: 'agent',
  config: agentConfig,
  fields: {
    agent: {
      label: 'Agent',
      help: 'The SPIFFE id of a registered agent.',
      example: 'spiffe://example.com/agent/edge-router-07',
    },
    operation: {
      label: 'Operation',
      help: 'What it is asked to do, in its own words.',
      example: 'set_qos_policy',
    },
    input: { label: 'Input', help: 'A fixed value the agent is given.', example: { queue: 'voice' } },
    input_from: {
      label: 'Input from',
      help: 'Where the input stands among the run’s values; without either, the outputs of all steps before this one.',
      example: 'classify',
    },
  },
  labels: () => [],
  // What an agent does is unknown until it is asked; its own answer to `describe` is exact.
  consequence: () => 'reversible',
  timeoutS: 60,
  checkpoint: {
    holds: 'The agent’s own checkpoint: its id, the hash of its state, and where to ask for it back.',
    undo: 'Asks the agent to put its state back.',
  },
}
