/*
 * The lab: six small agents in one process, each with its own key, its own state on disk and its own port, so that a
 * run has something real to change and something real that breaks. They are built on the kit (examples/agents/kit).
 *
 *   edge-router-07 ◀── telemetry ── traffic-monitor ◀── what it sees ── classifier
 *   edge-router-08 (its peer)       dns-steering (which transit new connections take)       mailer (sends, for good)
 *
 * `update-bgp-peer` moves the router's traffic and, by an oversight in its template, drops the monitor's collector
 * from the access list. The router then refuses its telemetry, the monitor's check fails, and the classifier takes
 * the missing records for an outage. Nothing of this is played: the monitor really asks, the router really refuses.
 *
 * Each can also be made to fail (faults.ts): whoever knows the lab's secret asks on the port after the last agent's.
 */
import path from 'node:path'
import { createLocalJWKSet, createRemoteJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { Breaker } from '../agents/kit/breaker'
import { serve } from '../agents/serve'
import { classifier } from './classifier'
import { type Fault, FaultyAgent, type Sign } from './faults'
import type { LabAgent } from './lab-agent'
import { listenForFaults } from './lab-control'
import { mailer } from './mailer'
import { trafficMonitor } from './monitor'
import { router } from './router'
import { steering } from './steering'
import { storyAgents } from './story'

export interface LabOptions {
  /** Each agent gets a folder of its own in it. */
  dataDir: string
  /** Agents listen on this port and those after it; 0 takes free ones. */
  basePort: number
  /** The console's public keys: a URL, or a function that gives the JWK set. */
  consoleJwks: string | (() => JSONWebKeySet | Promise<JSONWebKeySet>)
  /** Who knows it may make agents fail. Absent: nobody. */
  secret?: string
  log?: (sentence: string) => void
  /** Milliseconds since the epoch; the machine's clock unless told otherwise. */
  now?: () => number
}

export interface Lab {
  agents: { id: string; name: string; baseUrl: string; jwks: { keys: Record<string, unknown>[] } }[]
  /** Where faults are asked for; absent without a secret. */
  controlUrl?: string
  /** Makes an agent fail, or sets it right with `none`. */
  fail(name: string, fault: Fault): void
  stop(): Promise<void>
}

const makers: Record<(typeof storyAgents)[number]['name'], LabAgent> = {
  'edge-router-07': router('edge-router-07', '203.0.113.7'),
  'edge-router-08': router('edge-router-08', '203.0.113.8'),
  'traffic-monitor': trafficMonitor,
  classifier,
  'dns-steering': steering,
  mailer,
}

/** Brings the agents up. Rejects when a port is taken or the folder cannot be written; nothing is left running. */
export async function startLab(options: LabOptions): Promise<Lab> {
  const { basePort, consoleJwks, log = () => undefined, now = Date.now } = options
  const faulty = new Map<string, FaultyAgent>()
  const baseUrlOf = (name: string) => faulty.get(name)?.baseUrl ?? 'http://127.0.0.1:9'
  /** The agent after this one in the row, whose token it presents when made to. */
  const otherThan = (name: string): Sign | undefined =>
    [...faulty].find(([other]) => other !== name)?.[1].sign
  const callers = keysAt(consoleJwks)
  let closeControl: (() => Promise<void>) | undefined
  const stop = async () => {
    await closeControl?.()
    await Promise.all([...faulty.values()].map((agent) => agent.stop()))
  }
  try {
    for (const [at, { name }] of storyAgents.entries()) {
      const folder = path.join(options.dataDir, name)
      const start = (port: number, own: Pick<FaultyAgent, 'now' | 'sending'>) => {
        const calls = new Breaker(own.now)
        const make = makers[name]({ folder, baseUrlOf, calls })
        return make.then((agent) => serve(agent, { folder, port, calls, log, callers, ...own }))
      }
      const agent = new FaultyAgent(name, start, { now, othersSign: () => otherThan(name), log })
      await agent.start(basePort === 0 ? 0 : basePort + at)
      faulty.set(name, agent)
    }
    if (options.secret !== undefined) {
      const port = basePort === 0 ? 0 : basePort + storyAgents.length
      const control = await listenForFaults(port, options.secret, faulty)
      closeControl = control.close
      return { ...running(), controlUrl: control.url }
    }
    return running()
  } catch (error) {
    await stop()
    throw error
  }

  function running(): Lab {
    const agents = storyAgents.flatMap(({ id, name }) => {
      const agent = faulty.get(name)
      return agent ? [{ id, name, baseUrl: agent.baseUrl, jwks: agent.jwks }] : []
    })
    return { agents, fail: (name, fault) => faulty.get(name)?.fail(fault), stop }
  }
}

/** A function is asked again for each token, so that a console's new key is known at once. */
function keysAt(consoleJwks: LabOptions['consoleJwks']): JWTVerifyGetKey {
  if (typeof consoleJwks === 'string') return createRemoteJWKSet(new URL(consoleJwks))
  return async (header, token) => createLocalJWKSet(await consoleJwks())(header, token)
}
