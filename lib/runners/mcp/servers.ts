/*
 * The MCP servers of an installation: started when a step first needs one, shared by all runs, started again when they
 * died, stopped at shutdown. A server is somebody else's program. What it says of its tools is used to spare people
 * questions, what it answers is data, and whatever it does wrong ends in one sentence within the step's time.
 *
 * Workflows may bring servers of their own; one that is configured the same way twice is one process.
 */
import { hashJson } from '@/lib/base/hash'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { type Calls, EffectFailed, type McpServers } from '@/lib/runners/runner'
import { Connection, type ConnectionLimits } from './connection'
import type { McpServerConfig } from './server-config'

export interface McpPoolOptions {
  servers: readonly McpServerConfig[]
  env(name: string): string | undefined
  /** Folder that servers are started in. */
  cwd: string
  limits?: Partial<ConnectionLimits>
}

export interface McpPool {
  /** The servers a workflow may use: its own first, then the installation's. `calls`: the breakers before them; absent: none. */
  serversOf(own?: readonly McpServerConfig[], calls?: Calls): McpServers
  /** Stops every server. Resolves when nothing is left running; later calls fail. */
  close(): Promise<void>
}

const defaultLimits: ConnectionLimits = { startMs: 20_000, requestMs: 600_000 }

/** Opens the servers of an installation. Nothing is started. */
export function openMcpPool({ servers, env, cwd, limits }: McpPoolOptions): McpPool {
  const connections = new Map<string, Connection>()
  const surroundings = { env, cwd, limits: { ...defaultLimits, ...limits } }
  let isClosed = false
  const connectionOf = (config: McpServerConfig): Connection => {
    const key = hashJson(config)
    const known = connections.get(key)
    if (known) return known
    if (isClosed)
      throw new EffectFailed('mcp_stopped', 'MCP servers are stopped; Holdpoint is shutting down.')
    const fresh = new Connection(config, surroundings)
    connections.set(key, fresh)
    return fresh
  }
  return {
    serversOf: (own = [], calls) => chosenFrom([...own, ...servers], connectionOf, calls),
    async close() {
      isClosed = true
      await Promise.all([...connections.values()].map((connection) => connection.close()))
    },
  }
}

function chosenFrom(
  configured: readonly McpServerConfig[],
  connectionOf: (config: McpServerConfig) => Connection,
  calls: Calls | undefined,
): McpServers {
  const through = <T>({ config }: Connection, call: () => Promise<T>, undoes = false): Promise<T> => {
    if (!calls) return call()
    const downstream = `mcp:${config.name}` as const
    return undoes ? calls.counted(downstream, call) : calls.through(downstream, call)
  }

  const byName = new Map<string, McpServerConfig>()
  for (const config of configured) if (!byName.has(config.name)) byName.set(config.name, config)
  const names = [...byName.keys()]

  const connections = (server: string | undefined): Connection[] => {
    if (names.length === 0) {
      throw unknown(
        'mcp_not_configured',
        'There are no MCP servers; name one in tools.json or AGENTD_MCP_STDIO.',
      )
    }
    if (server === undefined) return [...byName.values()].map(connectionOf)
    const config = byName.get(server)
    if (config) return [connectionOf(config)]
    throw unknown(
      'mcp_server_unknown',
      `There is no MCP server "${server.slice(0, 80)}"; configured are ${names.join(', ')}.`,
    )
  }

  /** The server's own list, beside the workflow's policy. Throws EffectFailed `policy_denied`. */
  const allow = (config: McpServerConfig, what: 'tool' | 'resource', name: string): void => {
    const list = what === 'tool' ? config.allowTools : config.allowResources
    if (list === undefined || list.some((entry) => matches(entry, name))) return
    throw unknown(
      'policy_denied',
      `mcp.${what} denied on ${name.slice(0, 200)}: the MCP server "${config.name}" does not list it under allow_${what}s`,
    )
  }

  const find = async (name: string, signal: AbortSignal, server: string | undefined, undoes = false) => {
    for (const connection of connections(server)) {
      const tools = await through(connection, () => connection.tools(signal), undoes)
      const tool = tools.find((one) => one.name === name)
      if (!tool) continue
      allow(connection.config, 'tool', name)
      return { connection, tool }
    }
    return undefined
  }

  return {
    names: () => names,
    tool: async (name, signal, server) => (await find(name, signal, server))?.tool,
    async call(name, args, signal, server, undoes) {
      const found = await find(name, signal, server, undoes)
      // A single server is asked also for what it does not list: some list nothing.
      const [only, ...others] = found ? [found.connection] : connections(server)
      if (!only || others.length > 0) {
        throw unknown(
          'mcp_tool_unknown',
          `No MCP server has a tool "${name.slice(0, 80)}"; asked were ${names.join(', ')}.`,
        )
      }
      if (!found) allow(only.config, 'tool', name)
      const changes = found?.tool.readOnly !== true
      const call = () => only.request('tools/call', { name, arguments: args }, signal, changes)
      return calledAs(await through(only, call, undoes))
    },
    async read(uri, signal, server) {
      const asked = connections(server)
      for (const [at, connection] of asked.entries()) {
        try {
          allow(connection.config, 'resource', uri)
          const read = () => connection.request('resources/read', { uri }, signal)
          const { contents } = await through(connection, read)
          if (Array.isArray(contents)) return { contents }
          throw unknown(
            'mcp_answer_invalid',
            `The MCP server "${connection.config.name}" gave no contents for the resource.`,
          )
        } catch (error) {
          // Of several servers, one that does not know the resource is not the last word.
          const isRefusal =
            error instanceof EffectFailed && ['mcp_refused', 'policy_denied'].includes(error.code)
          if (!isRefusal || at === asked.length - 1) throw error
        }
      }
      throw unknown('mcp_refused', 'No MCP server has the resource.')
    },
  }
}

function matches(entry: string, name: string): boolean {
  return entry.endsWith('*') ? name.startsWith(entry.slice(0, -1)) : entry === name
}

function calledAs(answer: JsonObject): { content: Json[]; isError: boolean; structured: Json } {
  const { content, isError, structuredContent } = answer
  return {
    content: Array.isArray(content) ? content : [],
    isError: isError === true,
    structured: isJsonObject(structuredContent) ? structuredContent : null,
  }
}

function unknown(code: string, sentence: string): EffectFailed {
  return new EffectFailed(code, sentence, { errorType: 'constraint_violation' })
}
