/*
 * Circuits as other agents see them (AERR section 6, cascade section 4.3): how this installation finds each of those it
 * calls. They say where a network hurts, so they are shown to operators, and to agents only of those in their own
 * administrative domain. Backends, tool servers and hosts are the installation's own affair: operators see them.
 */
import { holds } from '@/lib/auth/principal'
import { Problem } from '@/lib/base/problem'
import type { CircuitStatus } from '@/lib/breaker/terms'
import type { AgentRecord } from '@/lib/store/agents'
import type { CircuitRow } from '@/lib/view/circuit-wire'
import { listCircuits } from '../circuits'
import type { Installation } from '../installation'
import { callerOf, takeToken } from './caller'
import { certifiedAgent } from './client-certificate'

/** A downstream as this installation finds it: of its circuits there, the worst. */
export interface CircuitSeen {
  downstream: string
  state: CircuitStatus
  errorRate: number
  windowS: number
  /** ms since the epoch. */
  lastFailureAt?: number
  cooldownRemainingS: number
  /** A person forced it. */
  forced: boolean
}

/** What the one who asks may see. Throws Problem `ect_…`, `proxy_untrusted`, `too_many_requests`, `not_signed_in`, `role_missing`. */
export async function circuitsFor(house: Installation, request: Request): Promise<CircuitSeen[]> {
  const maySee = await sightOf(house, request)
  const { items, at } = await listCircuits(house)
  const worst = new Map<string, CircuitSeen>()
  for (const row of items) {
    if (row.reported || !(await maySee(row))) continue
    const seen = seenOf(row, at)
    const known = worst.get(seen.downstream)
    if (!known || badness(seen) > badness(known)) worst.set(seen.downstream, seen)
  }
  return [...worst.values()].sort((a, b) => (a.downstream < b.downstream ? -1 : 1))
}

/** Which circuits: an agent's by its domain; an operator's all. */
async function sightOf(
  house: Installation,
  request: Request,
): Promise<(row: CircuitRow) => Promise<boolean>> {
  const { headers } = request
  if (headers.has('execution-context') || certifiedAgent(request) !== undefined) {
    const caller = await callerOf(house, request, [])
    await takeToken(house, caller)
    const domain = domainOf(caller.agent)
    return async ({ downstream }) => {
      const other = downstream.kind === 'agent' ? await house.agents.get(downstream.id) : undefined
      return other !== undefined && domainOf(other) === domain
    }
  }
  const principal = headers.has('authorization')
    ? await house.tokenOf(request)
    : await house.personOf(request)
  if (!principal) {
    throw new Problem(
      'not_signed_in',
      'Circuits are shown to agents, with a signed token in Execution-Context, and to signed-in operators.',
    )
  }
  if (principal.kind === 'api_token' && !principal.scopes.includes('runs:read')) {
    throw new Problem('scope_missing', `The API token "${principal.name}" has no scope runs:read.`)
  }
  if (!holds(principal, 'operator')) {
    throw new Problem('role_missing', `Circuits are shown to operators; ${principal.name} is none.`)
  }
  return async () => true
}

/** What an administrator gave; else the trust domain of the agent's id: nobody shares one by having none. */
function domainOf({ id, domain }: AgentRecord): string {
  return domain || `spiffe://${new URL(id).host}`
}

function seenOf(row: CircuitRow, at: number): CircuitSeen {
  const { shown, forced } = row
  const state = shown === 'forced_open' ? 'open' : shown === 'forced_closed' ? 'closed' : shown
  // Until a person's word lapses, or a probe may go.
  const until = shown === 'forced_open' ? forced?.until : shown === 'open' ? row.until : undefined
  return {
    downstream: row.downstream.id,
    state,
    errorRate: Math.round(row.errorRate * 1000) / 1000,
    windowS: row.windowS,
    lastFailureAt: row.lastFailureAt,
    cooldownRemainingS: until === undefined ? 0 : Math.max(0, Math.ceil((until - at) / 1000)),
    forced: forced !== undefined,
  }
}

const rank: Record<CircuitStatus, number> = { closed: 0, half_open: 1, open: 2 }

function badness({ state, cooldownRemainingS, errorRate }: CircuitSeen): number {
  return rank[state] * 1e9 + cooldownRemainingS * 1e3 + errorRate
}

/** RFC 3339 in whole seconds, as the drafts print it. */
export function printedTime(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')
}
