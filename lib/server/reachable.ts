/** The models and tools of an installation, as its administrator lists them beside the data. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { installationServers } from '@/lib/runners/mcp/server-config'
import { type McpPool, openMcpPool } from '@/lib/runners/mcp/servers'
import { installationBackends } from '@/lib/runners/models/installation-backends'
import type { ConfiguredBackend } from '@/lib/runners/models/models'
import { ScriptPositions } from '@/lib/runners/models/scripted-backend'
import { Budgets } from './budgets'

export interface Reachable {
  backends: readonly ConfiguredBackend[]
  /** How far each run has come in each scripted backend. */
  scripts: ScriptPositions
  budgets: Budgets
  mcp: McpPool
}

/** What agentd's own command line names; each makes a backend or server called `default`. */
export interface ReachSwitches {
  /** A Unix socket that speaks agentd's protocol. */
  intelUnix?: string
  /** A URL that speaks it. */
  intelHttp?: string
  /** A program and its arguments, parted by spaces. */
  mcpStdio?: string
}

/** Reads `models.json` and `tools.json`; starts nothing. MCP servers will be started in `cwd`. Throws Problem `bad_request` for a file that is not right. */
export async function openReachable(
  dataDir: string,
  switches: ReachSwitches = {},
  cwd = dataDir,
): Promise<Reachable> {
  const env = (name: string) => process.env[name]
  const textOf = (name: string) => readFile(path.join(dataDir, name), 'utf8').catch(() => undefined)
  return {
    backends: installationBackends(await textOf('models.json'), env, switches),
    scripts: new ScriptPositions(),
    budgets: new Budgets(),
    mcp: openMcpPool({ servers: installationServers(await textOf('tools.json'), env, switches), env, cwd }),
  }
}
