/*
 * The registry of agents: who they are, where they are called, and which keys they sign with. An agent that is removed is
 * refused from then on; its keys stay, because what it signed before must go on verifying.
 */
import { Problem } from '@/lib/base/problem'
import { type Control, controlOf } from './control'
import type { Prisma } from './generated/sqlite/client'
import type { Store } from './store'

export interface AgentRecord {
  /** SPIFFE id. */
  id: string
  name: string
  baseUrl: string
  /** A JWK set (RFC 7517), as JSON text. */
  jwks: string
  /** Milliseconds since the epoch. */
  addedAt: number
  addedBy: string
  removedAt?: number
}

/** More agents than one installation has; a list of them is read whole. */
const maxAgents = 10_000

/** The agents of a store made by `openStore`. */
export function openAgents(store: Store): AgentStore {
  return new AgentStore(controlOf(store))
}

export class AgentStore {
  readonly #control: Control

  /** Use `openAgents`. */
  constructor(control: Control) {
    this.#control = control
  }

  /** Adds an agent, or gives a known one a new name, address and keys; a removed one is back. */
  async put(agent: Omit<AgentRecord, 'removedAt'>): Promise<void> {
    const { id, ...rest } = agent
    await this.#control.write((prisma) =>
      prisma.agent.upsert({ where: { id }, create: agent, update: { ...rest, removedAt: null } }),
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

function agentOf(row: Prisma.AgentGetPayload<object>): AgentRecord {
  return {
    id: row.id,
    name: row.name,
    baseUrl: row.baseUrl,
    jwks: row.jwks,
    addedAt: Number(row.addedAt),
    addedBy: row.addedBy,
    ...(row.removedAt !== null && { removedAt: Number(row.removedAt) }),
  }
}
