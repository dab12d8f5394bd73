/*
 * What changes people within a transaction, and what it never leaves behind: an installation without an administrator
 * who can sign in, and two people of one name.
 */
import { Problem } from '@/lib/base/problem'
import { isUniqueViolation } from './control'
import type { Prisma } from './generated/sqlite/client'
import type { NewPerson } from './person-records'

export type Transaction = Prisma.TransactionClient

export async function insertPerson(tx: Transaction, { roles, ...person }: NewPerson): Promise<void> {
  try {
    await tx.person.create({
      data: { ...person, roles: { create: [...new Set(roles)].map((role) => ({ role })) } },
    })
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new Problem('name_taken', `The name "${person.name}" is taken; choose another.`, {
      name: person.name,
    })
  }
}

export async function replaceRoles(tx: Transaction, id: string, roles: readonly string[]): Promise<void> {
  await tx.personRole.deleteMany({ where: { personId: id } })
  // A foreign key would refuse it as well, in words that are not ours.
  await mustExist(tx, id)
  await tx.personRole.createMany({ data: [...new Set(roles)].map((role) => ({ personId: id, role })) })
}

export async function setDisabled(
  tx: Transaction,
  id: string,
  disabled: boolean,
  now: number,
): Promise<void> {
  // Disabling again keeps the moment it happened.
  const where = { id, ...(disabled && { disabledAt: null }) }
  await tx.person.updateMany({ where, data: { disabledAt: disabled ? now : null } })
  if (!disabled) return
  await endSessions(tx, id, now)
  await tx.invitation.deleteMany({ where: { personId: id, usedAt: null } })
}

export async function endSessions(
  tx: Transaction,
  personId: string,
  now: number,
  keep?: string,
): Promise<number> {
  const where = { personId, endedAt: null, ...(keep !== undefined && { hash: { not: keep } }) }
  return (await tx.session.updateMany({ where, data: { endedAt: now } })).count
}

/** Those who can sign in: an invitation may never be used. */
export function activeAdministrators(tx: Transaction): Promise<number> {
  const roles = { some: { role: 'administrator' } }
  return tx.person.count({ where: { disabledAt: null, passwordHash: { not: '' }, roles } })
}

export async function mustKeepAdministrator(tx: Transaction): Promise<void> {
  if ((await activeAdministrators(tx)) > 0) return
  throw new Problem(
    'last_administrator',
    'This would leave no administrator, and nobody could let people in any more; make someone else administrator first.',
  )
}

export async function mustExist(tx: Transaction, id: string): Promise<void> {
  if ((await tx.person.count({ where: { id } })) === 0) throw noPerson(id)
}

export function noPerson(id: string): Problem {
  return new Problem('not_found', `There is no person ${JSON.stringify(id.slice(0, 60))}.`)
}
