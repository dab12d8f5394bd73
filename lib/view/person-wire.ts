/* What the screens are told of people: who they are, their sessions and their API tokens. */

/** `GET /api/v1/me`: the signed-in person. */
export interface Person {
  id: string
  name: string
  roles: string[]
}

/** `GET /api/v1/people`, by name; `PATCH /api/v1/people/{id} {roles?, disabled?}` answers with one. For administrators. */
export interface PersonRow extends Person {
  createdAt: number
  disabledAt?: number
  /** False while only an invitation leads in. */
  hasPassword: boolean
  /** Sessions that are good now. */
  sessions: number
  /** The newest session that is still remembered. */
  signedInAt?: number
  /** When the invitation that was not used yet runs out, or ran out. */
  invitedUntil?: number
}

/** `POST /api/v1/people/{id}/invitation`: a one-time link to choose a password. Given once. */
export interface InvitationLink {
  link: string
  expiresAt: number
}

/** `POST /api/v1/people {name, roles, password?}`: a link when no password was given. */
export interface NewPerson extends PersonRow {
  invitation?: InvitationLink
}

/** `GET /api/v1/me/sessions`, newest first; `DELETE …/{id}` ends one, `POST …/end` all but the one that asks. */
export interface SessionRow {
  id: string
  createdAt: number
  expiresAt: number
  /** Empty when nobody knows. */
  address: string
  /** What the browser said of itself. */
  agent: string
  current: boolean
}

/** `GET /api/v1/tokens`: one's own, newest first, those that are over too; `DELETE …/{id}` revokes one. */
export interface ApiTokenRow {
  id: string
  name: string
  scopes: string[]
  createdAt: number
  expiresAt: number
  lastUsedAt?: number
  revokedAt?: number
}

/** `POST /api/v1/tokens {name, scopes, days?}`: `secret` is given once. */
export interface NewApiToken {
  secret: string
  token: ApiTokenRow
}
