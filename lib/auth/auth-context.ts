/*
 * Who may come in. This room knows people, their sessions and API tokens, and agents with their keys; it turns a request
 * into a principal (principal.ts) or a refusal.
 *
 *   password ──▶ sign-in.ts ──▶ session row + encrypted cookie (next-auth) ──▶ sessions.ts ──▶ person
 *                  │ attempts.ts: slower with every failure
 *                  │ passwords.ts: scrypt, the same time whether or not the account exists
 *   hp_…      ──▶ api-tokens.ts ─────────────────────────────────────────────────────────────▶ api_token
 *   signed token of an agent ──▶ agents.ts ──────────────────────────────────────────────────▶ agent
 *
 * What it promises: nothing at rest could be used to sign in; a session, token or agent that is ended is out with the
 * next request; what a refusal says does not tell a stranger whether an account exists. What it never does: decide what
 * somebody may do in a run. Roles are compared in lib/hitl, scopes at the edge (lib/server/http).
 */
import type { Clock } from '@/lib/base/clock'
import type { VerificationKeys } from '@/lib/ect/keys'
import type { AgentRecord, AgentStore } from '@/lib/store/agents'
import type { PeopleStore } from '@/lib/store/people'

/** What this room needs of an installation. */
export interface AuthContext {
  people: PeopleStore
  agents: AgentStore
  clock: Clock
  /** This installation's own SPIFFE id, which no agent may have. */
  ownId?: string
  /** What it signs with, which no agent may have either. */
  ownKeys?: VerificationKeys
  /** Asks an agent that publishes its keys for them again; undefined where nothing new came. Bounded by the one who does it. */
  fetchKeys?(agent: AgentRecord): Promise<AgentRecord | undefined>
  /** Encrypts session cookies; 32 octets as text, from the installation's key folder. */
  sessionSecret: string
  /** What browsers see: `https://holdpoint.example.com`. With https, cookies are sent over nothing else. */
  publicOrigin: string
  /** Name of the session cookie, where it is not the usual one. */
  sessionCookie?: string
}
