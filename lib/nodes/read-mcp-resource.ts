import { z } from 'zod'
import { dottedPath, oneOf, strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

/** The address of an MCP resource. */
export const resourceUri = z
  .string()
  .min(1, 'The address of a resource was expected; the text is empty.')
  .max(4_096, 'The address of a resource has at most 4,096 characters.')

/** The name an MCP server is configured by. */
export const serverName = z
  .string()
  .min(1, 'The name of an MCP server was expected; the text is empty.')
  .max(128, 'The name of an MCP server has at most 128 characters.')

export const readMcpResourceConfig = strictConfig({
  resource: resourceUri.optional(),
  resource_from: dottedPath.optional(),
  server: serverName.optional(),
}).superRefine(oneOf('resource', 'resource_from'))

export type ReadMcpResourceConfig = z.infer<typeof readMcpResourceConfig>

export const readMcpResource: NodeKind<ReadMcpResourceConfig> = {
  kind: 'read_mcp_resource',
  title: 'Read an MCP resource',
  summary: 'Reads one resource of an MCP server by its address.',
  family: 'input',
  config: readMcpResourceConfig,
  fields: {
    resource: { label: 'Resource', help: 'Its address.', example: 'docs://pages/42' },
    resource_from: {
      label: 'Resource from',
      help: 'Where the address stands among the run’s values, instead of a fixed one.',
      example: 'trigger.resource_uri',
    },
    server: {
      label: 'Server',
      help: 'The MCP server to ask; without it, the first that has the resource.',
      example: 'docs',
    },
  },
  labels: () => [],
  consequence: () => 'read_only',
  timeoutS: 120,
}
