/*
 * An MCP server that answers from a list, in order: for fixtures (agentd section 14). A tool answers by its name, a
 * resource by the first pattern that fits its address; what nobody wrote an answer for is a failure, never a guess.
 */
import { z } from 'zod'
import { EffectFailed, type McpServers } from '@/lib/runners/runner'
import type { McpPool } from './servers'

const toolAnswer = z.strictObject({
  content: z.array(z.json()).optional(),
  is_error: z.boolean().optional(),
  structured_content: z.json().optional(),
})

const resourceAnswer = z.strictObject({ contents: z.array(z.json()) })

/** What a fixture says under `[mocks.mcp_tools]` and `[mocks.mcp_resources]`. */
export const mcpScript = z.strictObject({
  tools: z.record(z.string(), z.array(toolAnswer)),
  resources: z.record(z.string(), z.array(resourceAnswer)),
})

export type McpScript = z.infer<typeof mcpScript>

const serverName = 'scripted'

/** Servers that answer as the script says; each answer is given once, to all workflows together. */
export function scriptedMcp({ tools, resources }: McpScript): McpPool {
  const taken = new Map<string, number>()
  const next = <T>(kind: 'tool' | 'resource', name: string, answers: readonly T[] | undefined): T => {
    const key = `${kind} ${name}`
    const at = taken.get(key) ?? 0
    taken.set(key, at + 1)
    const answer = answers?.[at]
    if (answer !== undefined) return answer
    throw new EffectFailed(
      'answer_missing',
      `The script has ${answers?.length ?? 0} answers for the MCP ${kind} ${name.slice(0, 200)}, and this was call ${at + 1}; add one.`,
    )
  }
  const patternFor = (uri: string) => Object.keys(resources).find((pattern) => fits(pattern, uri))
  const servers: McpServers = {
    names: () => [serverName],
    async tool(name) {
      if (!Object.hasOwn(tools, name)) return undefined
      return { server: serverName, name, description: '', inputSchema: {} }
    },
    async call(name) {
      const answers = Object.hasOwn(tools, name) ? tools[name] : undefined
      const { content = [], is_error = false, structured_content = null } = next('tool', name, answers)
      return { content, isError: is_error, structured: structured_content }
    },
    async read(uri) {
      const pattern = patternFor(uri)
      return next('resource', pattern ?? uri, pattern === undefined ? undefined : resources[pattern])
    },
  }
  return { serversOf: () => servers, close: async () => undefined }
}

/** The exact address, or a beginning and `*`. */
function fits(pattern: string, uri: string): boolean {
  return pattern.endsWith('*') ? uri.startsWith(pattern.slice(0, -1)) : pattern === uri
}
