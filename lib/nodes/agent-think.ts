import type { z } from 'zod'
import { loopMembers } from './agent-loop'
import { strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

export const agentThinkConfig = strictConfig(loopMembers)

export type AgentThinkConfig = z.infer<typeof agentThinkConfig>

/** Labels of a thought besides the nodes of tools. */
export const thoughtLabels = ['again', 'final', 'exhausted'] as const

/** The node that an HTTP request without a body goes to: `body_from` would find nothing to send. */
export const bareRequestNode = 'http_request_without_body'

/** The nodes of the loop's tools. */
export function toolNodes(tools: readonly string[]): string[] {
  return tools.flatMap((tool) => (tool === 'http_request' ? [tool, bareRequestNode] : [tool]))
}

/** One step of a model in an agent loop. Part of the graphs made for such loops; nobody writes it into a workflow. */
export const agentThink: NodeKind<AgentThinkConfig> = {
  kind: 'agent_think',
  internal: true,
  title: 'Ask the model for the next step',
  summary: 'Asks the model of an agent loop which tool comes next, or for the result.',
  family: 'agent',
  config: agentThinkConfig,
  fields: {
    backend: { label: 'Backend', help: 'The model, by the name it was given.' },
    tools: { label: 'Tools', help: 'The only tools the model may use.' },
    max_steps: { label: 'At most so many steps', help: 'Answers of the model.' },
    max_tokens: { label: 'At most so many tokens', help: 'Model tokens of all steps together.' },
    output_schema: { label: 'Result must fit', help: 'A JSON Schema file beside the workflow.' },
  },
  labels: ({ tools }) => [...toolNodes(tools), ...thoughtLabels],
  consequence: () => 'read_only',
  timeoutS: 120,
}
