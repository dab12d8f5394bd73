/* People, sessions and API tokens as the rest of the program knows them, and how the tables keep them. */
import type { Prisma } from './generated/sqlite/client'

export interface PersonRecord {
  id: string
  name: string
  /** Sorted. */
  roles: string[]
  createdAt: number
  disabledAt?: number
}

/** A person as administrators see them. */
export interface RosterRecord extends PersonRecord {
  /** False while only an invitation leads in. */
  hasPassword: boolean
  /** Sessions that are good now. */
  sessions: number
  /** The newest session that is still remembered. */
  signedInAt?: number
  /** When the invitation that was not used yet runs out; it may have. */
  invitedUntil?: number
}

export interface NewPerson {
  id: string
  name: string
  /** Empty when an invitation will set one. */
  passwordHash: string
  roles: readonly string[]
  createdAt: number
}

export interface SessionRecord {
  hash: string
  personId: string
  createdAt: number
  expiresAt: number
  endedAt?: number
  address: string
  agent: string
}

export interface ApiTokenRecord {
  id: string
  personId: string
  name: string
  scopes: string[]
  createdAt: number
  expiresAt: number
  lastUsedAt?: number
  revokedAt?: number
}

export interface AttemptRecord {
  failures: number
  /** Milliseconds since the epoch, as all times here. */
  blockedUntil: number
  updatedAt: number
}

/** What changes about a person; what is left out stays. */
export interface PersonChange {
  roles?: readonly string[] | undefined
  disabled?: boolean | undefined
}

export type LinkState = 'open' | 'used' | 'expired' | 'unknown'

export const withRoles = { roles: { orderBy: { role: 'asc' } } } as const

type PersonRow = Prisma.PersonGetPayload<{ include: typeof withRoles }>

export function personOf(row: PersonRow): PersonRecord {
  return {
    id: row.id,
    name: row.name,
    roles: row.roles.map(({ role }) => role),
    createdAt: Number(row.createdAt),
    ...(row.disabledAt !== null && { disabledAt: Number(row.disabledAt) }),
  }
}

export function sessionOf(row: Prisma.SessionGetPayload<object>): SessionRecord {
  return {
    hash: row.hash,
    personId: row.personId,
    createdAt: Number(row.createdAt),
    expiresAt: Number(row.expiresAt),
    ...(row.endedAt !== null && { endedAt: Number(row.endedAt) }),
    address: row.address,
    agent: row.agent,
  }
}

export function tokenOf(row: Prisma.ApiTokenGetPayload<object>): ApiTokenRecord {
  return {
    id: row.id,
    personId: row.personId,
    name: row.name,
    scopes: row.scopes.split(' ').filter(Boolean),
    createdAt: Number(row.createdAt),
    expiresAt: Number(row.expiresAt),
    ...(row.lastUsedAt !== null && { lastUsedAt: Number(row.lastUsedAt) }),
    ...(row.revokedAt !== null && { revokedAt: Number(row.revokedAt) }),
  }
}
