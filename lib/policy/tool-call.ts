/** One exact thing a step wants to do to the world, as policies are asked about it (agentd section 4). */
export type ToolCall =
  /** `path` is absolute, normal and without symlinks. */
  | { tool: 'fs.read' | 'fs.write' | 'fs.delete' | 'fs.list'; path: string }
  | { tool: 'env.read'; key: string }
  | { tool: 'http.request'; method: string; url: string }
  /** `command` is absolute, normal and without symlinks. */
  | { tool: 'shell.run'; command: string; args: readonly string[] }
  | { tool: 'mcp.tool'; name: string; server?: string }
  | { tool: 'mcp.resource'; uri: string; server?: string }

/** What the call acts on, for sentences: a path, a URL, a name. */
export function targetOfCall(call: ToolCall): string {
  switch (call.tool) {
    case 'fs.read':
    case 'fs.write':
    case 'fs.delete':
    case 'fs.list':
      return call.path
    case 'env.read':
      return call.key
    case 'http.request':
      return `${call.method} ${call.url}`
    case 'shell.run':
      return call.command
    case 'mcp.tool':
      return call.name
    case 'mcp.resource':
      return call.uri
    default:
      return call satisfies never
  }
}
