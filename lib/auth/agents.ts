/*
 * Agents prove themselves request by request: the `Execution-Context` header carries a token signed with a key that an
 * administrator registered for that agent. Nothing is believed before the signature holds; a token serves one request.
 */
import { canonicalJson } from '@/lib/base/canonical-json'
import { hashJson } from '@/lib/base/hash'
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { isProblem, Problem } from '@/lib/base/problem'
import { type AgentProtocol, agentProtocols } from '@/lib/base/protocols'
import { LIVE_MAX_AGE_S, SKEW_S } from '@/lib/ect/checks'
import type { Claims } from '@/lib/ect/claims'
import { TOKEN_MAX_CHARS, unverifiedPayload } from '@/lib/ect/jws'
import { type Jwks, jwksOf, parseKeySet, type VerificationKey, type VerificationKeys } from '@/lib/ect/keys'
import { verifyTokenSync } from '@/lib/ect/verify-node'
import type { AgentRecord, KeyEnd } from '@/lib/store/agents'
import type { AuthContext } from './auth-context'
import type { AgentPrincipal } from './principal'

const spiffeShape = /^spiffe:\/\/[a-z0-9.-]{1,255}(\/[A-Za-z0-9._-]{1,255}){1,16}$/
const maxKeysPerAgent = 20

export interface NewAgent {
  /** SPIFFE id. */
  id: string
  name: string
  /** Where it is called: `http://127.0.0.1:7007`. */
  baseUrl: string
  /** Its public keys, a JWK set. Keys it had and that are not among them sign nothing any more. */
  jwks: unknown
  /** What is left out stays as it is; of a new agent, none. */
  domain?: string
  role?: string
  protocols?: AgentProtocol[]
  /** Where its keys are fetched from again; empty: only by hand. */
  jwksUrl?: string
  limits?: AgentRecord['limits']
}

/**
 * Registers an agent, or gives a known one a new name, address and keys. Throws Problem `bad_request`, also for a key that
 * is somebody else's: whoever has its private half could sign as either.
 */
export async function registerAgent(context: AuthContext, asked: NewAgent, by: string): Promise<void> {
  const { id, domain, role, jwksUrl, protocols, limits } = asked
  if (!spiffeShape.test(id)) {
    throw new Problem(
      'bad_request',
      "The agent's id is no SPIFFE id; write it as spiffe://example.com/agent/name.",
      { field: 'id' },
    )
  }
  if (id === context.ownId) {
    throw new Problem('bad_request', 'That id is this installation’s own; no agent can have it.', {
      field: 'id',
    })
  }
  const now = context.clock.now()
  const known = await context.agents.get(id)
  const given = agentKeySet(asked.jwks)
  await refuseKeysOfOthers(context, id, given)
  await context.agents.put({
    id,
    name: checkedText(asked.name, 'name', 1, 80),
    baseUrl: checkedBaseUrl(asked.baseUrl),
    ...mergedKeys(known, given, now),
    addedAt: known?.addedAt ?? now,
    addedBy: known?.addedBy ?? by,
    ...(domain !== undefined && { domain: checkedText(domain, 'domain', 0, 120) }),
    ...(role !== undefined && { role: checkedText(role, 'role', 0, 80) }),
    ...(protocols && { protocols: agentProtocols.filter((protocol) => protocols.includes(protocol)) }),
    ...(jwksUrl !== undefined && { jwksUrl: jwksUrl === '' ? '' : checkedKeysUrl(jwksUrl) }),
    ...(limits && { limits }),
  })
}

async function refuseKeysOfOthers(
  { agents, ownKeys = new Map() }: AuthContext,
  id: string,
  given: Jwks,
): Promise<void> {
  const prints = new Map([...parseKeySet(given)].map(([kid, { jwk }]) => [hashJson(jwk), kid]))
  const others = (await agents.list()).filter((agent) => agent.id !== id)
  const holders: [string, VerificationKeys][] = others.map((agent) => [`"${agent.name}"`, keysOfAgent(agent)])
  for (const [holder, keys] of [['this installation itself', ownKeys] as const, ...holders]) {
    const taken = [...keys.values()]
      .map(({ jwk }) => prints.get(hashJson(jwk)))
      .find((kid) => kid !== undefined)
    if (taken === undefined) continue
    throw new Problem(
      'bad_request',
      `The key ${JSON.stringify(taken.slice(0, 80))} belongs to ${holder}; give the keys that the agent alone signs with.`,
      { field: 'jwks' },
    )
  }
}

function checkedText(text: string, field: string, least: number, most: number): string {
  const trimmed = text.trim()
  if (trimmed.length >= least && trimmed.length <= most) return trimmed
  throw new Problem('bad_request', `The agent's ${field} must have ${least} to ${most} characters.`, {
    field,
  })
}

/** A URL that keys may be fetched from. Throws Problem `bad_request`. */
function checkedKeysUrl(text: string): string {
  const url = text.length <= 500 && URL.canParse(text) ? new URL(text) : undefined
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.hash) return url.href
  throw new Problem(
    'bad_request',
    "The address of the agent's keys must be an http or https URL without user or fragment.",
    { field: 'jwks_url' },
  )
}

/** Most keys an agent may have had: those that ended are kept for what they signed. */
const maxKeysKept = 200

/**
 * All keys of an agent, once it has these: those it had and has no more are kept and have ended. A key that a person
 * revoked stays revoked. Throws Problem `bad_request` for another key under a known `kid`.
 */
export function mergedKeys(
  known: Pick<AgentRecord, 'jwks' | 'revoked'> | undefined,
  given: Jwks,
  now: number,
): Pick<AgentRecord, 'jwks' | 'revoked'> {
  const had: Jwks['keys'] = known ? jwksOf(parseKeySet(JSON.parse(known.jwks))).keys : []
  const fresh = new Map(given.keys.map((key) => [key.kid, key]))
  const revoked: Record<string, KeyEnd> = { ...known?.revoked }
  for (const key of had) {
    const same = fresh.get(key.kid)
    if (
      same &&
      canonicalJson(same as unknown as JsonObject) !== canonicalJson(key as unknown as JsonObject)
    ) {
      throw new Problem(
        'bad_request',
        `The key set has another key under the kid ${JSON.stringify(key.kid.slice(0, 80))} than before; a new key needs a new kid.`,
        { field: 'jwks' },
      )
    }
    if (!same) revoked[key.kid] ??= { at: now, by: noMoreGiven }
    else if (revoked[key.kid]?.by === noMoreGiven) delete revoked[key.kid]
  }
  const keys = [...given.keys, ...had.filter(({ kid }) => !fresh.has(kid))]
  if (keys.length > maxKeysKept) {
    throw new Problem(
      'bad_request',
      `The agent would have had ${keys.length} keys, and ${maxKeysKept} are kept; register it under a new id.`,
      { field: 'jwks' },
    )
  }
  return { jwks: JSON.stringify({ keys }), revoked }
}

/** Who ended a key that was left out of a newer set. */
export const noMoreGiven = 'publisher'

function checkedBaseUrl(text: string): string {
  const url = text.length <= 500 && URL.canParse(text) ? new URL(text) : undefined
  const plain =
    url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash
  if (!url || !plain) {
    throw new Problem(
      'bad_request',
      "The agent's address must be an http or https URL without user, query or fragment.",
      { field: 'base_url' },
    )
  }
  return url.href.replace(/\/$/, '')
}

/** The public keys of a set that may be an agent's, as they come: when a key ended is ours to say. Throws Problem `bad_request`, which never repeats what was given. */
export function agentKeySet(jwks: unknown): Jwks {
  return { keys: jwksOf(checkedKeys(jwks)).keys.map(({ ended_at: _, ...key }) => key) }
}

function checkedKeys(jwks: unknown): VerificationKeys {
  const list: unknown[] = isJsonObject(jwks) && Array.isArray(jwks.keys) ? jwks.keys : []
  if (list.some((key) => isJsonObject(key) && 'd' in key)) {
    throw new Problem(
      'bad_request',
      'The key set holds a private key; register the public half, and replace that key, since it has travelled.',
      { field: 'jwks' },
    )
  }
  const keys = parsedKeys(jwks)
  if (keys.size === 0 || keys.size > maxKeysPerAgent) {
    throw new Problem(
      'bad_request',
      `The key set has ${keys.size} keys that can be used (ES256 or EdDSA, with a kid); give 1 to ${maxKeysPerAgent}.`,
      { field: 'jwks' },
    )
  }
  return keys
}

function parsedKeys(jwks: unknown): VerificationKeys {
  try {
    return parseKeySet(jwks)
  } catch (error) {
    // An installation that cannot read its own keys is broken; one that is given unreadable ones is not.
    if (!isProblem(error, 'key_unusable')) throw error
    throw new Problem('bad_request', error.message, { field: 'jwks' })
  }
}

/** Key sets as parsed, by agent record: imported keys are cached per key object. Bounded by the number of agents. */
const parsed = new Map<string, { of: string; keys: VerificationKeys }>()
const maxParsed = 10_000

/**
 * The keys of an agent, which verify what it signs now or signed before; those that ended say when, all of them where
 * the agent was removed.
 */
export function keysOfAgent(
  agent: Pick<AgentRecord, 'id' | 'jwks' | 'revoked' | 'removedAt'>,
): VerificationKeys {
  const { id, jwks, revoked, removedAt = Number.POSITIVE_INFINITY } = agent
  const of = JSON.stringify([jwks, revoked, removedAt])
  const known = parsed.get(id)
  if (known?.of === of) return known.keys
  const keys = new Map<string, VerificationKey>()
  for (const [kid, key] of parseKeySet(JSON.parse(jwks))) {
    const never = Number.POSITIVE_INFINITY
    const endedAt = Math.min(revoked[kid]?.at ?? never, key.endedAt ?? never, removedAt)
    keys.set(kid, Number.isFinite(endedAt) ? { ...key, endedAt } : key)
  }
  if (parsed.size >= maxParsed) parsed.clear()
  parsed.set(id, { of, keys })
  return keys
}

export interface VerifiedAgent {
  principal: AgentPrincipal
  claims: Claims
  /** The compact token, to put into a ledger. */
  token: string
}

/**
 * The agent behind a live request, by its `Execution-Context` token for one of our names. Does not look for replay
 * (`refuseReplay`). Throws Problem `ect_…`, also when there is no token at all (`ect_malformed`).
 */
export async function verifyAgentRequest(
  context: AuthContext,
  request: Request,
  audience: string | readonly string[],
): Promise<VerifiedAgent> {
  return verifyAgentToken(context, tokenIn(request), audience)
}

/**
 * The agent that signed a token for one of our names, by the rules for live requests. Where the token names a key that
 * is not known and the agent publishes its keys, they are asked for again. Throws Problem `ect_…`.
 */
export async function verifyAgentToken(
  context: AuthContext,
  token: string,
  audience: string | readonly string[],
): Promise<VerifiedAgent> {
  // Only to find whose keys to try; the signature then holds for these very claims.
  const agent = await agentNamed(context, unverifiedPayload(token))
  const nowMs = context.clock.now()
  const verify = (keys: VerificationKeys) => verifyTokenSync(token, keys, { mode: 'live', nowMs, audience })
  let claims: Claims
  try {
    claims = verify(keysOfAgent(agent)).claims
  } catch (error) {
    if (!isProblem(error, 'ect_key_unknown')) throw error
    const fresh = await context.fetchKeys?.(agent)
    if (!fresh) throw error
    claims = verify(keysOfAgent(fresh)).claims
  }
  // A note for people: what the agent asks does not hang on it.
  await context.agents.heard(agent.id, nowMs).catch(() => undefined)
  return { principal: { kind: 'agent', id: agent.id, name: agent.name, roles: [] }, claims, token }
}

function tokenIn(request: Request): string {
  const header = request.headers.get('execution-context')?.trim() ?? ''
  if (header === '')
    throw new Problem(
      'ect_malformed',
      'The request has no Execution-Context header; send one signed token in it.',
    )
  // Two headers arrive joined by a comma, which no compact token has.
  if (header.length > TOKEN_MAX_CHARS || header.includes(',')) {
    throw new Problem(
      'ect_malformed',
      'The Execution-Context header does not hold exactly one compact token.',
    )
  }
  return header
}

async function agentNamed(context: AuthContext, payload: JsonObject): Promise<AgentRecord> {
  const id = typeof payload.iss === 'string' ? payload.iss : ''
  const agent = await context.agents.get(id)
  if (agent && agent.removedAt === undefined) return agent
  throw new Problem(
    'ect_key_unknown',
    `No keys are registered for the issuer ${JSON.stringify(id.slice(0, 120))}; an administrator adds agents and their keys under Agents.`,
  )
}

/** Part of the ledger's store: remembers token ids from outside. */
export interface ReplayMemory {
  rememberJti(jti: string, expiresAt: number): Promise<boolean>
}

/** Throws Problem `ect_replayed` when the token was used before; from now on it was. Idempotent endpoints look up their answer first. */
export async function refuseReplay(
  memory: ReplayMemory,
  { claims, principal }: VerifiedAgent,
): Promise<void> {
  const goodUntilS = Math.max(claims.exp, claims.iat + LIVE_MAX_AGE_S) + SKEW_S
  // Whose token it was is part of its name: one agent cannot use up the ids of another.
  if (await memory.rememberJti(`${principal.id} ${claims.jti}`, goodUntilS * 1_000)) return
  throw new Problem(
    'ect_replayed',
    `The token ${claims.jti} was used before; sign a fresh one for each request.`,
    { jti: claims.jti },
  )
}
