/** The models and tools of an installation, as its administrator lists them beside the data. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Problem } from '@/lib/base/problem'
import { installationServers } from '@/lib/runners/mcp/server-config'
import { type McpPool, openMcpPool } from '@/lib/runners/mcp/servers'
import { installationBackends } from '@/lib/runners/models/installation-backends'
import type { ConfiguredBackend } from '@/lib/runners/models/models'
import { readScript, type Script, ScriptPositions } from '@/lib/runners/models/scripted-backend'
import type { Backend } from '@/lib/workflow/graph'
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
    backends: await withScripts(installationBackends(await textOf('models.json'), env, switches), dataDir),
    scripts: new ScriptPositions(),
    budgets: new Budgets(),
    mcp: openMcpPool({ servers: installationServers(await textOf('tools.json'), env, switches), env, cwd }),
  }
}

/** Scripts that the administrator names are read here, from the data folder on: a workflow's author cannot name them. */
function withScripts(backends: readonly Backend[], dataDir: string): Promise<ConfiguredBackend[]> {
  return Promise.all(
    backends.map(async (backend) => {
      if (backend.provider !== 'scripted' || !backend.path) return backend
      const text = await readFile(path.resolve(dataDir, backend.path), 'utf8').catch(() => undefined)
      return text === undefined ? backend : { ...backend, script: scriptIn(backend.name, text) }
    }),
  )
}

function scriptIn(name: string, text: string): Script {
  try {
    return readScript(name, text)
  } catch (error) {
    throw new Problem('bad_request', `models.json: ${(error as Error).message}`)
  }
}
