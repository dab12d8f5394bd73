/* What travels between the server and screens about agents outside. Times are ms since the epoch. */
import type { AgentProtocol } from '@/lib/base/protocols'
import type { PoolLimits } from '@/lib/pool/terms'
import type { NodeFrame } from './frame'
import type { RunRow } from './run-wire'

/** A public key of an agent. The thumbprint (RFC 7638) is what two people compare. */
export interface AgentKey {
  kid: string
  alg: string
  thumbprint: string
  /** Since when it signs nothing new; what it signed before goes on verifying. */
  endedAt?: number
  /** A person who revoked it, or `publisher` where the agent has it no more. */
  endedBy?: string
}

/**
 * `GET /api/v1/agents`, by name; for whoever is signed in. Administrators: `POST … {id, name, base_url, jwks, domain?,
 * role?, protocols?, jwks_url?, limits?, replace?}` registers one or changes it, `DELETE …?id=` removes one,
 * `POST …/rotate {id}` fetches its keys again, `POST …/revoke {id, kid}` refuses a key; these two answer with the row.
 */
export interface AgentRow {
  /** SPIFFE id. */
  id: string
  name: string
  baseUrl: string
  /** Those that sign first, then those that ended, the latest first. */
  keys: AgentKey[]
  /** Its good keys, a JWK set as JSON text. */
  jwks: string
  domain: string
  role: string
  protocols: AgentProtocol[]
  /** Where its keys are fetched from again; absent: only by hand. */
  jwksUrl?: string
  keysAt?: number
  limits: Partial<PoolLimits>
  /** When a verified token or answer of it last came; to 10 s. */
  heardAt?: number
  addedAt: number
  addedBy: string
}

/** `POST /api/v1/agents/keys {base_url}`: what an agent publishes; registers nothing. */
export interface PublishedKeys {
  jwks: { keys: object[] }
  keys: AgentKey[]
}

/** `GET /api/v1/agents/activity?id=`: what the agent did last, in the runs that began last. */
export interface AgentActivity {
  /** Latest first. */
  steps: AgentStep[]
  /** Runs it has a part in, latest first. */
  runs: (RunRow & { part: 'began' | 'reports' | 'works' })[]
  /** There may be more than was looked at. */
  more: boolean
}

export interface AgentStep {
  run: string
  workflow: string
  node: string
  visit: number
  label: string
  shown: NodeFrame['shown']
  word: string
  /** When it began, or was offered. */
  at?: number
}

/** `GET /api/v1/runs/{run}/keys`: the public keys that verify its ledger, former ones too (`ended_at`). */
export interface RunKeys {
  keys: object[]
  /** Of agents whose own tokens are in it; those that nobody knows are left out. */
  agents: { id: string; keys: object[] }[]
}
