/*
 * What administrators do with people, and people with their own account. Each function is asked by a principal who was
 * admitted with the right role at the edge; what they check here is the input.
 */
import { mintUuid } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import { isRole } from '@/lib/hitl/roles'
import type { PersonRecord } from '@/lib/store/people'
import { accountName } from './account-name'
import { beginAttempt } from './attempts'
import type { AuthContext } from './auth-context'
import { checkPassword, hashPassword, verifyPassword } from './passwords'
import type { PersonPrincipal } from './principal'

const maxRolesPerPerson = 40

/** Adds a person. Throws Problem `name_taken`, `password_weak`, `bad_request`. */
export async function createPerson(
  context: AuthContext,
  asked: { name: string; password: string; roles: string[] },
): Promise<PersonRecord> {
  const name = accountName(asked.name)
  const roles = checkedRoles(asked.roles)
  checkPassword(asked.password, name)
  const passwordHash = await hashPassword(asked.password)
  const person = { id: mintUuid(), name, roles, createdAt: context.clock.now() }
  await context.people.addPerson({ ...person, passwordHash })
  return person
}

/** Replaces a person's roles; open sessions have the new ones at once. Throws Problem `not_found`, `last_administrator`, `bad_request`. */
export async function setRoles(context: AuthContext, personId: string, roles: string[]): Promise<void> {
  await context.people.setRoles(personId, checkedRoles(roles))
}

/** Shuts a person out, sessions and API tokens included, or lets them in again. Throws Problem `not_found`, `last_administrator`. */
export async function setDisabled(context: AuthContext, personId: string, disabled: boolean): Promise<void> {
  await context.people.setDisabled(personId, disabled, context.clock.now())
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
 * Changes one's own password and ends one's other sessions. Throws Problem `sign_in_failed` when the present one is
 * wrong, `too_many_attempts`, `password_weak`.
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
    throw new Problem('sign_in_failed', 'The present password is not right; nothing was changed.')
  }
  await attempt.succeeded()
  const hash = await hashPassword(asked.newPassword)
  await context.people.setPassword(person.id, hash, context.clock.now(), person.session)
}

/** An administrator gives someone a new password; all their sessions end. Throws Problem `not_found`, `password_weak`. */
export async function resetPassword(context: AuthContext, personId: string, password: string): Promise<void> {
  const person = await context.people.person(personId)
  if (!person) throw new Problem('not_found', 'There is no such person.')
  checkPassword(password, person.name)
  await context.people.setPassword(personId, await hashPassword(password), context.clock.now())
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
