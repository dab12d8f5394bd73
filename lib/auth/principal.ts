/*
 * Who is asking. Every request that is let in has one principal; everything that is decided, logged or written into a
 * token names it.
 *
 * A person acts through a session. An API token acts for the person who made it, with that person's roles as they are
 * now and only what its scopes name. An agent proves itself with a signed Execution-Context token, request by request,
 * and holds no role: what it may do follows from the run it is part of.
 */
import { satisfies } from '@/lib/hitl/roles'

/** What an API token may be made for. */
export const scopes = [
  'runs:read',
  'runs:write',
  'approvals:decide',
  'rollbacks:execute',
  'workflows:write',
  'tasks:work',
  'tokens:report',
  'export:read',
] as const
export type Scope = (typeof scopes)[number]

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text)
}

export interface PersonPrincipal {
  kind: 'person'
  id: string
  /** The account name, which never changes and is never given to someone else. */
  name: string
  roles: string[]
  /** The session it acts through. */
  session: string
}

export interface ApiTokenPrincipal {
  kind: 'api_token'
  id: string
  /** The token's own name. */
  name: string
  /** Account of the person it acts for. */
  person: { id: string; name: string }
  roles: string[]
  scopes: Scope[]
}

export interface AgentPrincipal {
  kind: 'agent'
  /** SPIFFE id. */
  id: string
  name: string
  roles: never[]
}

export type Principal = PersonPrincipal | ApiTokenPrincipal | AgentPrincipal

/** How tokens of the ledger name it (`Actor` of lib/engine/facts.ts): `person:ada`, `person:ada+token:ci`, `agent:spiffe://…`. */
export function actorOf(principal: Principal): string {
  switch (principal.kind) {
    case 'person':
      return `person:${principal.name}`
    case 'api_token':
      return `person:${principal.person.name}+token:${principal.name}`
    case 'agent':
      return `agent:${principal.id}`
    default:
      return principal satisfies never
  }
}

/** True when the principal meets the role (lib/hitl/roles.ts). */
export function holds(principal: Principal, role: string): boolean {
  return satisfies(principal.roles, role)
}
