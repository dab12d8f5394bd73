/*
 * What administrators do with people, and people with their own account. Each function is asked by a principal who was
 * admitted with the right role at the edge; what they check here is the input.
 */
import { mintUuid } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import { isRole } from '@/lib/hitl/roles'
import type { PersonRecord } from '@/lib/store/person-records'
import { accountName } from './account-name'
import { beginAttempt } from './attempts'
import type { AuthContext } from './auth-context'
import { checkPassword, hashPassword, verifyPassword } from './passwords'
import type { PersonPrincipal } from './principal'

const maxRolesPerPerson = 40

/**
 * Adds a person; without a password nobody can sign in as them before an invitation was used (invitations.ts). Throws
 * Problem `name_taken`, `password_weak`, `bad_request`.
 */
export async function createPerson(
  context: AuthContext,
  asked: { name: string; password?: string | undefined; roles: string[] },
): Promise<PersonRecord> {
  const name = accountName(asked.name)
  const roles = checkedRoles(asked.roles)
  if (asked.password !== undefined) checkPassword(asked.password, name)
  const passwordHash = asked.password === undefined ? '' : await hashPassword(asked.password)
  const person = { id: mintUuid(), name, roles, createdAt: context.clock.now() }
  await context.people.addPerson({ ...person, passwordHash })
  return person
}

/**
 * Replaces a person's roles, which open sessions have at once; shuts them out, sessions and API tokens included, or lets
 * them in again. Throws Problem `not_found`, `last_administrator`, `bad_request`; nothing is changed then.
 */
export async function changePerson(
  context: AuthContext,
  personId: string,
  change: { roles?: string[] | undefined; disabled?: boolean | undefined },
): Promise<void> {
  const roles = change.roles && checkedRoles(change.roles)
  await context.people.changePerson(personId, { roles, disabled: change.disabled }, context.clock.now())
}

/** Ends all sessions of a person, but for one that is kept; returns how many. */
export async function endSessions(
  context: AuthContext,
  personId: string,
  keepSession?: string,
): Promise<number> {
  return context.people.endSessionsOf(personId, context.clock.now(), keepSession)
}

/**
 * Changes one's own password and ends one's other sessions. Throws Problem `password_wrong` when the present one is
 * not right, `too_many_attempts`, `password_weak`.
 */
export async function changeOwnPassword(
  context: AuthContext,
  person: PersonPrincipal,
  asked: { password: string; newPassword: string },
): Promise<void> {
  checkPassword(asked.newPassword, person.name)
  // A stolen session may guess the password no faster than a stranger.
  const attempt = await beginAttempt(context.people, person.name, undefined, context.clock.now())
  const found = await context.people.credentials(person.name)
  if (!(await verifyPassword(asked.password, found?.passwordHash))) {
    throw new Problem('password_wrong', 'The present password is not right; nothing was changed.')
  }
  await attempt.succeeded()
  const hash = await hashPassword(asked.newPassword)
  await context.people.setPassword(person.id, hash, context.clock.now(), person.session)
}

function checkedRoles(roles: string[]): string[] {
  if (roles.length > maxRolesPerPerson) {
    throw new Problem(
      'bad_request',
      `${roles.length} roles were given; a person holds at most ${maxRolesPerPerson}.`,
    )
  }
  const wrong = roles.find((role) => !isRole(role))
  if (wrong === undefined) return [...new Set(roles)].sort()
  throw new Problem(
    'bad_request',
    `${JSON.stringify(wrong.slice(0, 60))} is no role; write viewer, author, operator, coordinator, administrator, or one of your own such as operator:oncall.`,
    { field: 'roles' },
  )
}
