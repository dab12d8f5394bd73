/*
 * API tokens: `hp_` and 32 random octets. Shown once and stored as a hash, which needs no salt and no slowness, because
 * nobody guesses 256 bits. A token does what its person may do, within its scopes.
 */
import { randomBytes } from 'node:crypto'
import { sha256 } from '@/lib/base/hash'
import { mintUuid } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import type { ApiTokenRecord } from '@/lib/store/person-records'
import type { AuthContext } from './auth-context'
import { type ApiTokenPrincipal, isScope, type PersonPrincipal, type Scope, scopes } from './principal'

const prefix = 'hp_'
const shape = /^hp_[A-Za-z0-9_-]{43}$/
const nameShape = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,59}$/
const maxTokensPerPerson = 50
export const maxTokenDays = 366
/** How fresh "last used" is: a write a minute at most for a token in steady use. */
const lastUsedStepMs = 60_000

export interface NewApiToken {
  name: string
  scopes: string[]
  /** 1 to 366. */
  days: number
}

/** Makes a token for the person; `secret` is the only time it can be seen. Throws Problem `bad_request`. */
export async function createApiToken(
  context: AuthContext,
  person: PersonPrincipal,
  asked: NewApiToken,
): Promise<{ secret: string; token: ApiTokenRecord }> {
  const now = context.clock.now()
  const wanted = checkedScopes(asked.scopes)
  if (!nameShape.test(asked.name)) {
    throw new Problem(
      'bad_request',
      "The token's name must be 1 to 60 letters, digits, spaces, or . _ -, beginning with a letter or digit.",
    )
  }
  if (!Number.isInteger(asked.days) || asked.days < 1 || asked.days > maxTokenDays) {
    throw new Problem('bad_request', `A token lives a whole number of days from 1 to ${maxTokenDays}.`)
  }
  const usable = (await context.people.tokensOf(person.id)).filter(
    (t) => t.revokedAt === undefined && t.expiresAt > now,
  )
  if (usable.length >= maxTokensPerPerson) {
    throw new Problem(
      'bad_request',
      `${person.name} has ${usable.length} API tokens, the most there may be; revoke one first.`,
    )
  }
  const secret = prefix + randomBytes(32).toString('base64url')
  const token = {
    id: mintUuid(),
    personId: person.id,
    name: asked.name,
    scopes: wanted,
    createdAt: now,
    expiresAt: now + asked.days * 86_400_000,
  }
  await context.people.addToken({ ...token, hash: sha256(secret) })
  return { secret, token }
}

function checkedScopes(asked: string[]): Scope[] {
  const unknown = asked.find((scope) => !isScope(scope))
  if (unknown !== undefined || asked.length === 0) {
    const found =
      unknown === undefined ? 'No scope was given' : `${JSON.stringify(unknown.slice(0, 40))} is no scope`
    throw new Problem('bad_request', `${found}; choose from ${scopes.join(', ')}.`, { scopes })
  }
  return scopes.filter((scope) => asked.includes(scope))
}

/**
 * The principal of `Authorization: Bearer hp_…`; nothing without the header. Throws Problem `token_invalid`, whose words
 * never repeat the token.
 */
export async function tokenOf(
  context: AuthContext,
  request: Request,
): Promise<ApiTokenPrincipal | undefined> {
  const header = request.headers.get('authorization')
  if (header === null) return undefined
  const [scheme, secret] = header.split(' ', 2)
  if (scheme?.toLowerCase() !== 'bearer' || secret === undefined || !shape.test(secret)) {
    throw invalid('is not "Bearer" and a token that begins with hp_')
  }
  const found = await context.people.token(sha256(secret))
  if (!found) throw invalid('holds a token that is not known here')
  const { token, person } = found
  const now = context.clock.now()
  if (token.revokedAt !== undefined) throw invalid(`holds the token "${token.name}", which was revoked`)
  if (token.expiresAt <= now) throw invalid(`holds the token "${token.name}", which has run out`)
  if (person.disabledAt !== undefined) throw invalid('holds a token of an account that was disabled')
  if ((token.lastUsedAt ?? 0) < now - lastUsedStepMs)
    await context.people.noteTokenUse(token.id, now, now - lastUsedStepMs)
  return {
    kind: 'api_token',
    id: token.id,
    name: token.name,
    person: { id: person.id, name: person.name },
    roles: person.roles,
    scopes: token.scopes.filter(isScope),
  }
}

function invalid(how: string): Problem {
  return new Problem('token_invalid', `The Authorization header ${how}; make a new API token in Settings.`)
}
