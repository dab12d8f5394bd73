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

/** Reads `models.json` and `tools.json`; starts nothing. Throws Problem `bad_request` for a file that is not right. */
export async function openReachable(dataDir: string): Promise<Reachable> {
  const env = (name: string) => process.env[name]
  const textOf = (name: string) => readFile(path.join(dataDir, name), 'utf8').catch(() => undefined)
  return {
    backends: installationBackends(await textOf('models.json'), env),
    scripts: new ScriptPositions(),
    budgets: new Budgets(),
    mcp: openMcpPool({ servers: installationServers(await textOf('tools.json'), env), env, cwd: dataDir }),
  }
}
