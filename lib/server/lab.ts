/*
 * Bringing the lab along: registers its agents, imports the example workflows and starts the runs that make the first
 * minute show the product. What is there already is left alone, so every start may do it.
 */
import path from 'node:path'
import {
  readStoryAgentdWorkflows,
  readStoryPacks,
  readStoryWorkflows,
  storyAgents,
  storyRuns,
} from '@/examples/lab/story'
import { registerAgent } from '@/lib/auth/agents'
import { agentProtocols } from '@/lib/base/protocols'
import type { Installation } from './installation'
import { startRun } from './runs'
import { importWorkflow } from './workflows'

const by = 'engine:lab'
/** First of the lab's ports; its agents follow one another. */
const defaultPort = 4701
const askAgainMs = 250
const answersWithinMs = 60_000

/** Where the lab's first agent listens; the others follow, and after them where faults are asked for. */
export function firstLabPort(): number {
  return Number(process.env.HOLDPOINT_LAB_PORT ?? defaultPort)
}

/** Does all of it, or says in the log what could not be done. Never throws: the console works without the lab. */
export async function bringLab(house: Installation): Promise<void> {
  try {
    const base = firstLabPort()
    await Promise.all(
      storyAgents.map((agent, index) => register(house, agent, `http://127.0.0.1:${base + index}`)),
    )
    const examples = path.join(process.cwd(), 'examples')
    const texts = [
      ...(await readStoryWorkflows(path.join(examples, 'workflows'))),
      ...(await readStoryAgentdWorkflows(path.join(examples, 'agentd'))),
      ...(await readStoryPacks(path.join(examples, 'promptpack'), base)),
    ]
    const versions = new Map<string, string>()
    for (const { filename, text } of texts) {
      const { record } = await importWorkflow(house, text, { filename, by })
      versions.set(record.name, record.version)
    }
    for (const run of storyRuns) {
      const version = versions.get(run.workflow)
      const before = await house.store.runs.list({ workflow: run.workflow }, { limit: 1 })
      if (version === undefined || before.items.length > 0) continue
      await startRun(house, { version, input: run.input, by, dryRun: false })
    }
  } catch (error) {
    house.log.error({ err: error }, 'The lab could not be brought along; the console goes on without it')
  }
}

async function register(
  house: Installation,
  agent: { id: string; name: string },
  baseUrl: string,
): Promise<void> {
  const jwks = await publishedKeys(house, `${baseUrl}/.well-known/jwks.json`)
  const jwksUrl = `${baseUrl}/.well-known/jwks.json`
  const protocols = [...agentProtocols]
  const entry = { id: agent.id, name: agent.name, baseUrl, jwks, jwksUrl, domain: 'lab', protocols }
  await registerAgent(house.auth, entry, by)
}

/** The agent's keys, once it answers: the lab starts beside this server. */
async function publishedKeys(house: Installation, url: string): Promise<unknown> {
  const { timer } = house.ports
  const until = timer.now() + answersWithinMs
  const never = new AbortController().signal
  for (;;) {
    try {
      const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(5000) })
      if (response.ok) return await response.json()
    } catch (error) {
      if (timer.now() >= until) throw error
    }
    if (timer.now() >= until) throw new Error(`${url} did not answer with keys`)
    await timer.waitUntil(timer.now() + askAgainMs, never)
  }
}
