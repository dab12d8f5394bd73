/*
 * The registry of agents: who they are, where they are called, and which keys they sign with. An agent that is removed is
 * refused from then on, and so is a key that was revoked or is published no more; the keys themselves stay, because what
 * was signed before must go on verifying.
 */
import { Problem } from '@/lib/base/problem'
import { type AgentProtocol, agentProtocols, isAgentProtocol } from '@/lib/base/protocols'
import type { PoolLimits } from '@/lib/pool/terms'
import { type Control, controlOf } from './control'
import type { Prisma } from './generated/sqlite/client'
import type { Store } from './store'

export interface AgentRecord {
  /** SPIFFE id. */
  id: string
  name: string
  baseUrl: string
  /** Every key it has or had, a JWK set (RFC 7517), as JSON text. */
  jwks: string
  /** Milliseconds since the epoch. */
  addedAt: number
  addedBy: string
  removedAt?: number
  /** Administrative domain and role, as the administrator gave them; empty: none. */
  domain: string
  role: string
  protocols: AgentProtocol[]
  /** Where its keys are fetched from again; absent: only by hand. */
  jwksUrl?: string
  /** When they were fetched last. */
  keysAt?: number
  /** Keys that sign nothing new any more, by `kid`. */
  revoked: Readonly<Record<string, KeyEnd>>
  /** Bounds of the pool it is, where they differ from the usual. */
  limits: Partial<PoolLimits>
  /** When a verified token or answer of it last came; as exact as `heardEveryMs`. */
  heardAt?: number
}

/** The end of a key. */
export interface KeyEnd {
  /** Milliseconds since the epoch. */
  at: number
  /** A person who revoked it; `publisher` where the agent publishes it no more. */
  by: string
}

/** What an administrator says of an agent; the rest is found out. */
export type AgentEntry = Pick<AgentRecord, 'id' | 'name' | 'baseUrl' | 'jwks' | 'addedAt' | 'addedBy'> &
  Partial<Pick<AgentRecord, 'domain' | 'role' | 'protocols' | 'jwksUrl' | 'keysAt' | 'revoked' | 'limits'>>

/** More agents than one installation has; a list of them is read whole. */
const maxAgents = 10_000
/** An agent that talks all the time is written down this seldom. */
export const heardEveryMs = 10_000

/** The agents of a store made by `openStore`. */
export function openAgents(store: Store): AgentStore {
  return new AgentStore(controlOf(store))
}

export class AgentStore {
  readonly #control: Control
  /** When each agent was last written down as heard, by this process. Bounded by the number of agents. */
  readonly #heard = new Map<string, number>()

  /** Use `openAgents`. */
  constructor(control: Control) {
    this.#control = control
  }

  /** Adds an agent, or gives a known one all that is said here; what is not said stays. A removed one is back. */
  async put(agent: AgentEntry): Promise<void> {
    const { id, ...rest } = rowOf(agent)
    await this.#control.write((prisma) =>
      prisma.agent.upsert({ where: { id }, create: { id, ...rest }, update: { ...rest, removedAt: null } }),
    )
  }

  /**
   * New keys, and keys that ended, of an agent whose keys were `before` when they were judged. False when somebody else
   * changed them since: nothing was done.
   */
  async putKeys(
    before: Pick<AgentRecord, 'id' | 'jwks' | 'revoked'>,
    keys: Pick<AgentRecord, 'jwks' | 'revoked'> & { keysAt?: number },
  ): Promise<boolean> {
    const { jwks, revoked, keysAt } = keys
    const { count } = await this.#control.write((prisma) =>
      prisma.agent.updateMany({
        where: { id: before.id, jwks: before.jwks, revoked: JSON.stringify(before.revoked) },
        data: {
          jwks,
          revoked: JSON.stringify(revoked),
          ...(keysAt !== undefined && { keysAt }),
        },
      }),
    )
    return count > 0
  }

  /** A verified token or answer of the agent came. Written down every `heardEveryMs` at most, and never waited for long. */
  async heard(id: string, now: number): Promise<void> {
    if (now - (this.#heard.get(id) ?? Number.NEGATIVE_INFINITY) < heardEveryMs) return
    this.#heard.set(id, now)
    await this.#control.write((prisma) =>
      prisma.agent.updateMany({
        where: { id, OR: [{ heardAt: null }, { heardAt: { lt: now } }] },
        data: { heardAt: now },
      }),
    )
  }

  /** Throws Problem `not_found`. Removing again changes nothing. */
  async remove(id: string, now: number): Promise<void> {
    const { count } = await this.#control.write((prisma) =>
      prisma.agent.updateMany({ where: { id, removedAt: null }, data: { removedAt: now } }),
    )
    if (count > 0 || (await this.get(id))) return
    throw new Problem('not_found', `No agent ${JSON.stringify(id.slice(0, 200))} is registered.`)
  }

  /** A removed one too. */
  async get(id: string): Promise<AgentRecord | undefined> {
    const row = await this.#control.read((prisma) => prisma.agent.findUnique({ where: { id } }))
    return row ? agentOf(row) : undefined
  }

  /** Agents that are not removed, by name. */
  async list(): Promise<AgentRecord[]> {
    const rows = await this.#control.read((prisma) =>
      prisma.agent.findMany({
        where: { removedAt: null },
        orderBy: [{ name: 'asc' }, { id: 'asc' }],
        take: maxAgents,
      }),
    )
    return rows.map(agentOf)
  }

  /** Every agent there ever was: whose keys a ledger may name. */
  async all(): Promise<AgentRecord[]> {
    const rows = await this.#control.read((prisma) =>
      prisma.agent.findMany({ orderBy: { id: 'asc' }, take: maxAgents }),
    )
    return rows.map(agentOf)
  }
}

function rowOf({ protocols, revoked, limits, ...agent }: AgentEntry) {
  return {
    ...agent,
    ...(protocols && { protocols: protocols.join(' ') }),
    ...(revoked && { revoked: JSON.stringify(revoked) }),
    ...(limits && { limits: JSON.stringify(limits) }),
  }
}

function agentOf(row: Prisma.AgentGetPayload<object>): AgentRecord {
  const spoken = row.protocols.split(' ').filter(isAgentProtocol)
  return {
    id: row.id,
    name: row.name,
    baseUrl: row.baseUrl,
    jwks: row.jwks,
    addedAt: Number(row.addedAt),
    addedBy: row.addedBy,
    ...(row.removedAt !== null && { removedAt: Number(row.removedAt) }),
    domain: row.domain,
    role: row.role,
    protocols: agentProtocols.filter((protocol) => spoken.includes(protocol)),
    ...(row.jwksUrl !== '' && { jwksUrl: row.jwksUrl }),
    ...(row.keysAt !== null && { keysAt: Number(row.keysAt) }),
    revoked: JSON.parse(row.revoked) as Record<string, KeyEnd>,
    limits: JSON.parse(row.limits) as Partial<PoolLimits>,
    ...(row.heardAt !== null && { heardAt: Number(row.heardAt) }),
  }
}
