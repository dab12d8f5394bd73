/*
 * Asking an agent for its public keys, so that an administrator need not paste them. At first what comes back is only
 * looked at: nothing is registered before a person has compared the thumbprints. From then on an agent that publishes
 * its keys may change them: they are asked for again when a token names one that is not known, or by hand. The address is the administrator's own choice, so
 * a private one is fine, and only that one; redirects are not followed, and what answers in another form is not repeated.
 */
import { agentKeySet, keysOfAgent, mergedKeys } from '@/lib/auth/agents'
import type { Clock } from '@/lib/base/clock'
import { isProblem, Problem } from '@/lib/base/problem'
import type { Jwks } from '@/lib/ect/keys'
import { EffectFailed } from '@/lib/runners/runner'
import { type HttpAnswer, judgedTarget, send } from '@/lib/runners/send'
import type { AgentRecord, AgentStore } from '@/lib/store/agents'
import { parseJson } from './http/body'
import type { Log } from './log'

const keysPath = '/.well-known/jwks.json'
const answersWithinMs = 5_000

/**
 * The keys an agent publishes under its address. Throws Problem `bad_request` (the address, or a set that cannot be
 * used), `effect_failed`, `effect_timeout`.
 */
export function publishedKeys(baseUrl: string): Promise<Jwks> {
  return keysAt(`${baseUrl.replace(/\/+$/, '')}${keysPath}`)
}

/** The keys that are published at an address; refused as `publishedKeys` says. */
async function keysAt(url: string): Promise<Jwks> {
  const answer = await ask(url)
  if (answer.status !== 200) {
    throw new Problem(
      'effect_failed',
      `The agent answered ${new URL(url).pathname} with ${answer.status}, and 200 was expected; check its address, or paste its keys.`,
    )
  }
  return agentKeySet(keySetIn(answer.body))
}

/** How soon an agent is asked again because a token names a key that nobody knows: whoever sends tokens must not be able to flood it. */
const askedAgainMs = 60_000

/** Fetching keys anew for tokens that name unknown ones: at most once a minute an agent, never twice at a time. */
export function keyFetcher(
  agents: AgentStore,
  clock: Clock,
  log: Pick<Log, 'info' | 'warn'>,
): (agent: AgentRecord) => Promise<AgentRecord | undefined> {
  /** When each agent was asked last, and what comes of it. Bounded by the number of agents. */
  const asked = new Map<string, { at: number; answer: Promise<AgentRecord | undefined> }>()
  async function fetched(agent: AgentRecord): Promise<AgentRecord | undefined> {
    try {
      return await rotateKeys(agents, agent.id, clock.now())
    } catch (error) {
      if (!isProblem(error)) throw error
      log.warn({ agent: agent.id, code: error.code }, `The keys of ${agent.id} could not be fetched again`)
      return undefined
    }
  }
  return async (agent) => {
    if (agent.jwksUrl === undefined) return undefined
    const now = clock.now()
    const last = asked.get(agent.id)
    if (last && now - last.at < askedAgainMs) return last.answer
    if (now - (agent.keysAt ?? Number.NEGATIVE_INFINITY) < askedAgainMs) return undefined
    const answer = fetched(agent)
    asked.set(agent.id, { at: now, answer })
    return answer
  }
}

/** Attempts to write keys that somebody else is changing too. */
const writeAttempts = 5

/**
 * Fetches the keys that an agent publishes and keeps them with those it had. Throws Problem `not_found`, `bad_request`
 * for an agent that publishes none or a set that cannot be used, and as `publishedKeys`.
 */
export async function rotateKeys(agents: AgentStore, id: string, now: number): Promise<AgentRecord> {
  const first = await knownAgent(agents, id)
  if (first.jwksUrl === undefined) {
    throw new Problem(
      'bad_request',
      `${first.name} has no address that its keys are fetched from; give it one, or give it new keys by hand.`,
      { field: 'jwks_url' },
    )
  }
  const given = await keysAt(first.jwksUrl)
  return changeKeys(agents, id, (agent) => ({ ...mergedKeys(agent, given, now), keysAt: now }))
}

/** Refuses a key from now on. Revoking again changes nothing. Throws Problem `not_found`. */
export async function revokeKey(
  agents: AgentStore,
  id: string,
  kid: string,
  by: { at: number; by: string },
): Promise<AgentRecord> {
  return changeKeys(agents, id, (agent) => {
    if (!keysOfAgent(agent).has(kid)) {
      throw new Problem('not_found', `${agent.name} has no key ${JSON.stringify(kid.slice(0, 80))}.`)
    }
    const known = agent.revoked[kid]
    const end = known ? { ...by, at: known.at } : by
    return { jwks: agent.jwks, revoked: { ...agent.revoked, [kid]: end } }
  })
}

async function changeKeys(
  agents: AgentStore,
  id: string,
  change: (agent: AgentRecord) => Parameters<AgentStore['putKeys']>[1],
): Promise<AgentRecord> {
  for (let attempt = 1; attempt <= writeAttempts; attempt++) {
    const agent = await knownAgent(agents, id)
    if (await agents.putKeys(agent, change(agent))) return knownAgent(agents, id)
  }
  throw new Problem(
    'store_busy',
    'The agent’s keys are being changed by somebody else; ask again in a moment.',
  )
}

async function knownAgent(agents: AgentStore, id: string): Promise<AgentRecord> {
  const agent = await agents.get(id)
  if (agent && agent.removedAt === undefined) return agent
  throw new Problem('not_found', `No agent ${JSON.stringify(id.slice(0, 200))} is registered.`)
}

async function ask(url: string): Promise<HttpAnswer> {
  if (!URL.canParse(url)) {
    throw new Problem('bad_request', "The agent's address is no URL; write it as http://127.0.0.1:7007.", {
      field: 'base_url',
    })
  }
  const { hostname, port, protocol } = new URL(url)
  const privateTargets = [`${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`]
  try {
    return await send({
      method: 'GET',
      target: judgedTarget(url, privateTargets),
      headers: { accept: 'application/jwk-set+json, application/json', 'user-agent': 'Holdpoint' },
      privateTargets,
      signal: AbortSignal.timeout(answersWithinMs),
    })
  } catch (error) {
    if (!(error instanceof EffectFailed)) throw error
    const code = error.errorType === 'timeout' ? 'effect_timeout' : 'effect_failed'
    throw new Problem(code, `The agent's keys could not be read. ${error.message}`)
  }
}

function keySetIn(body: Uint8Array): unknown {
  try {
    return parseJson(body)
  } catch {
    throw new Problem(
      'effect_failed',
      `What the agent publishes as its keys is not JSON; a JWK set was expected. Paste its keys instead.`,
    )
  }
}
