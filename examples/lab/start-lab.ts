/*
 * The lab: four small agents in one process, each with its own key, its own state on disk and its own port, so that a
 * run has something real to change and something real that breaks.
 *
 *   edge-router-07 ◀── telemetry ── traffic-monitor ◀── what it sees ── classifier
 *   edge-router-08 (its peer)
 *
 * `update-bgp-peer` moves the router's traffic and, by an oversight in its template, drops the monitor's collector
 * from the access list. The router then refuses its telemetry, the monitor's check fails, and the classifier takes
 * the missing records for an outage. Nothing of this is played: the monitor really asks, the router really refuses.
 */
import path from 'node:path'
import type { Jwks } from '@/lib/ect/keys'
import { openKeyRing } from '@/lib/ect/keys-file'
import { AgentFolder } from './agent-folder'
import { AgentServer } from './agent-server'
import { classifier } from './classifier'
import { type ConsoleJwks, ConsoleKeys } from './console-keys'
import { trafficMonitor } from './monitor'
import { router } from './router'

export interface LabOptions {
  /** Each agent gets a folder of its own in it. */
  dataDir: string
  /** Agents listen on this port and the three after it; 0 takes free ones. */
  basePort: number
  consoleJwks: ConsoleJwks
  log?: (sentence: string) => void
  /** Milliseconds since the epoch; the machine's clock unless told otherwise. */
  now?: () => number
}

export interface Lab {
  agents: { id: string; name: string; baseUrl: string; jwks: Jwks }[]
  stop(): Promise<void>
}

/** Brings the four agents up. Rejects when a port is taken or the folder cannot be written; nothing is left running. */
export async function startLab(options: LabOptions): Promise<Lab> {
  const now = options.now ?? Date.now
  const log = options.log ?? (() => undefined)
  const console = new ConsoleKeys(options.consoleJwks, now)
  const servers = new Map<string, AgentServer>()
  const baseUrlOf = (name: string) => servers.get(name)?.baseUrl ?? 'http://127.0.0.1:9'
  const stop = async () => {
    await Promise.all([...servers.values()].map((server) => server.stop()))
  }
  const agents = [
    router('edge-router-07', '203.0.113.7'),
    router('edge-router-08', '203.0.113.8'),
    trafficMonitor(),
    classifier(),
  ]
  try {
    for (const [at, agent] of agents.entries()) {
      const own = path.join(options.dataDir, agent.name)
      const keys = openKeyRing(path.join(own, 'keys'), now())
      const server = new AgentServer({
        agent,
        folder: new AgentFolder(own, keys),
        keys,
        console,
        baseUrlOf,
        log,
        now,
      })
      await server.listen(options.basePort === 0 ? 0 : options.basePort + at)
      servers.set(agent.name, server)
    }
  } catch (error) {
    await stop()
    throw error
  }
  return {
    agents: [...servers.values()].map(({ agent, baseUrl, jwks }) => ({
      id: agent.id,
      name: agent.name,
      baseUrl,
      jwks,
    })),
    stop,
  }
}
