/*
 * Who knocks. Whatever the protocol, an agent is let in by one of two proofs: a token that it signed for this very
 * request, or its client certificate, verified by a proxy that this installation trusts. Both name a registered agent;
 * a role or a session opens none of these doors for an agent, and no agent is believed about who it is.
 */
import { refuseReplay, type VerifiedAgent, verifyAgentRequest } from '@/lib/auth/agents'
import type { AgentPrincipal } from '@/lib/auth/principal'
import { sha256 } from '@/lib/base/hash'
import { Problem } from '@/lib/base/problem'
import { meaningOf, readClaim, spell } from '@/lib/ect/vocabulary'
import type { AgentRecord } from '@/lib/store/agents'
import { joinShown } from '../ingest'
import type { Installation } from '../installation'
import { certifiedAgent } from './client-certificate'

export interface Caller {
  agent: AgentRecord
  principal: AgentPrincipal
  /** What it signed for this request; absent when its certificate proved it. */
  signed?: VerifiedAgent
  /** The token is what the door acts on, not only a proof of who calls. */
  asks?: boolean
}

/**
 * The verified agent behind a request, within its rate. `acts`: meanings of which its token must have one, so that what
 * was signed for something else opens nothing; empty: any. `body`: the request's, which a token may bind by its hash.
 * Throws Problem `ect_…`, `proxy_untrusted`, `too_many_requests`.
 */
export async function callerOf(
  house: Installation,
  request: Request,
  acts: readonly string[],
  body?: Uint8Array,
): Promise<Caller> {
  const caller = request.headers.has('execution-context')
    ? await signedCaller(house, request, acts, body)
    : await certifiedCaller(house, request)
  await house.agentRates.spend(caller.agent.id, house.ports.timer.now())
  return caller
}

async function signedCaller(
  house: Installation,
  request: Request,
  acts: readonly string[],
  body: Uint8Array | undefined,
): Promise<Caller> {
  const { pathname } = new URL(request.url)
  const signed = await verifyAgentRequest(house.auth, request, [house.id, `${house.publicOrigin}${pathname}`])
  const { claims, principal } = signed
  const meaning = meaningOf(claims.exec_act)
  if (acts.length > 0 && (meaning === undefined || !acts.includes(meaning))) {
    throw new Problem(
      'ect_claim_invalid',
      `The token says "${claims.exec_act.slice(0, 60)}"; ${pathname.slice(0, 100)} takes one that says ${acts.flatMap(spellingsOf).join(' or ')}.`,
    )
  }
  const bound = readClaim(claims.ext, 'body_hash')
  if (bound !== undefined && bound !== sha256(body ?? new Uint8Array())) {
    throw new Problem('ect_claim_invalid', 'The token was signed for another body than the one it came with.')
  }
  return { agent: await registered(house, principal.id), principal, signed, asks: acts.length > 0 }
}

/** How a meaning is written: once, where both vocabularies write it alike. */
function spellingsOf(meaning: string): string[] {
  return [...new Set([spell(meaning, 'atd'), spell(meaning, 'cascade')])]
}

async function certifiedCaller(house: Installation, request: Request): Promise<Caller> {
  const id = certifiedAgent(request)
  if (id === undefined) {
    throw new Problem(
      'ect_malformed',
      'The request has no Execution-Context header; send one signed token in it, or come through the trusted proxy with a client certificate.',
    )
  }
  const agent = await registered(house, id)
  return { agent, principal: { kind: 'agent', id: agent.id, name: agent.name, roles: [] } }
}

async function registered(house: Installation, id: string): Promise<AgentRecord> {
  const agent = await house.agents.get(id)
  if (agent && agent.removedAt === undefined) return agent
  throw new Problem(
    'ect_key_unknown',
    `No agent ${JSON.stringify(id.slice(0, 120))} is registered; an administrator adds agents under Agents.`,
  )
}

/**
 * Refuses a token that was used before; from now on it was, and stands in the run that it is of. Called once it is known
 * that the caller may ask, before anything is done. A certificate serves any number of requests.
 */
export async function takeToken(house: Installation, { signed, asks = false }: Caller): Promise<void> {
  if (!signed) return
  await refuseReplay(house.store.ledger, signed)
  await joinShown(house, signed, asks)
}

/** Whom an administrator gave the role may take whole workflows back (NOTES 3.7). */
export function mayCoordinate({ agent }: Caller): boolean {
  return agent.role.split(/[\s,]+/).includes('coordinator')
}
