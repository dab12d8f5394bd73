import { z } from 'zod'
import { dottedPath, oneOf, strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'
import { serverName } from './read-mcp-resource'

/** The name of an MCP tool. */
export const toolName = z
  .string()
  .min(1, 'The name of a tool was expected; the text is empty.')
  .max(256, 'The name of a tool has at most 256 characters.')

/** Arguments of a tool by name. */
export const toolArgs = z.record(z.string().max(256), z.json(), {
  error: 'Arguments by name were expected, such as { page_id = 42 }.',
})

export const toolCompensation = strictConfig({
  tool: toolName,
  args: toolArgs.optional(),
  server: serverName.optional(),
})

/** The call that takes another one back; its arguments are templates over `{{request…}}` and `{{response…}}`. */
export type ToolCompensation = z.infer<typeof toolCompensation>

export const callMcpToolConfig = strictConfig({
  tool: toolName.optional(),
  tool_from: dottedPath.optional(),
  args: toolArgs.optional(),
  args_from: dottedPath.optional(),
  server: serverName.optional(),
  server_from: dottedPath.optional(),
  compensate: toolCompensation.optional(),
})
  .superRefine(oneOf('tool', 'tool_from'))
  .superRefine(oneOf('args', 'args_from', 'at_most_one'))
  .superRefine(oneOf('server', 'server_from', 'at_most_one'))

export type CallMcpToolConfig = z.infer<typeof callMcpToolConfig>

export const callMcpTool: NodeKind<CallMcpToolConfig> = {
  kind: 'call_mcp_tool',
  title: 'Call an MCP tool',
  summary:
    'Calls one tool of an MCP server; what the tool says of itself decides whether the call counts as a change.',
  family: 'action',
  config: callMcpToolConfig,
  fields: {
    tool: { label: 'Tool', help: 'Its name, as the server lists it.', example: 'comment_on_page' },
    tool_from: {
      label: 'Tool from',
      help: 'Where the tool’s name stands among the run’s values.',
      internal: true,
    },
    args: {
      label: 'Arguments',
      help: 'Fixed arguments by name.',
      example: { page_id: 42, comment: 'A nit' },
    },
    args_from: {
      label: 'Arguments from',
      help: 'Where the arguments stand among the run’s values, instead of fixed ones.',
      example: 'classify.comment_payload',
    },
    server: {
      label: 'Server',
      help: 'The MCP server to ask; without it, the first that has the tool.',
      example: 'docs',
    },
    server_from: {
      label: 'Server from',
      help: 'Where the server’s name stands among the run’s values.',
      internal: true,
    },
    compensate: {
      label: 'To take it back',
      help: 'The call that undoes this one; it may use the recorded answer as {{response.structured.id}}.',
      example: { tool: 'remove_comment', args: { comment_id: '{{response.structured.comment_id}}' } },
    },
  },
  labels: () => ['error'],
  // Which tool it is, and what it says of itself, is known when the step is reached.
  consequence: (config) => (config.compensate ? 'reversible' : 'irreversible'),
  timeoutS: 120,
  checkpoint: {
    holds: 'The call’s digest and the call that takes it back.',
    undo: 'Calls the declared compensating tool.',
  },
}
