/*
 * Agents prove themselves request by request: the `Execution-Context` header carries a token signed with a key that an
 * administrator registered for that agent. Nothing is believed before the signature holds; a token serves one request.
 */
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { isProblem, Problem } from '@/lib/base/problem'
import { LIVE_MAX_AGE_S, SKEW_S } from '@/lib/ect/checks'
import type { Claims } from '@/lib/ect/claims'
import { TOKEN_MAX_CHARS, unverifiedPayload } from '@/lib/ect/jws'
import { type Jwks, jwksOf, parseKeySet, type VerificationKeys } from '@/lib/ect/keys'
import { verifyTokenSync } from '@/lib/ect/verify-node'
import type { AgentRecord } from '@/lib/store/agents'
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
  /** Its public keys, a JWK set. */
  jwks: unknown
}

/** Registers an agent, or gives a known one a new name, address and keys. Throws Problem `bad_request`. */
export async function registerAgent(context: AuthContext, asked: NewAgent, by: string): Promise<void> {
  if (!spiffeShape.test(asked.id)) {
    throw new Problem(
      'bad_request',
      "The agent's id is no SPIFFE id; write it as spiffe://example.com/agent/name.",
      { field: 'id' },
    )
  }
  const name = asked.name.trim()
  if (name === '' || name.length > 80) {
    throw new Problem('bad_request', "The agent's name must have 1 to 80 characters.", { field: 'name' })
  }
  await context.agents.put({
    id: asked.id,
    name,
    baseUrl: checkedBaseUrl(asked.baseUrl),
    jwks: JSON.stringify(agentKeySet(asked.jwks)),
    addedAt: context.clock.now(),
    addedBy: by,
  })
}

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

/** The public keys of a set that may be an agent's. Throws Problem `bad_request`, which never repeats what was given. */
export function agentKeySet(jwks: unknown): Jwks {
  return jwksOf(checkedKeys(jwks))
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
const parsed = new Map<string, { jwks: string; keys: VerificationKeys }>()
const maxParsed = 10_000

/** The keys of an agent, which verify what it signs now or signed before. */
export function keysOfAgent(agent: AgentRecord): VerificationKeys {
  const known = parsed.get(agent.id)
  if (known?.jwks === agent.jwks) return known.keys
  const keys = parseKeySet(JSON.parse(agent.jwks))
  if (parsed.size >= maxParsed) parsed.clear()
  parsed.set(agent.id, { jwks: agent.jwks, keys })
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
  const token = tokenIn(request)
  // Only to find whose keys to try; the signature then holds for these very claims.
  const agent = await agentNamed(context, unverifiedPayload(token))
  const verified = verifyTokenSync(token, keysOfAgent(agent), {
    mode: 'live',
    nowMs: context.clock.now(),
    audience,
  })
  const principal: AgentPrincipal = { kind: 'agent', id: agent.id, name: agent.name, roles: [] }
  return { principal, claims: verified.claims, token }
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
