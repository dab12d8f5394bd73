import { isRole } from '@/lib/hitl/roles'
import { faultAt, notARole } from './words'

/** Roles as they are being chosen: those that stand, and one that is being written. */
export interface RoleChoice {
  roles: string[]
  draft: string
}

/** With the written role among the others when it is one; else as it is. */
export function withDraft(choice: RoleChoice): RoleChoice {
  const role = choice.draft.trim()
  if (!isRole(role)) return choice
  return { roles: choice.roles.includes(role) ? choice.roles : [...choice.roles, role], draft: '' }
}

/** What was chosen. Throws an ApiProblem at `roles` when what is being written is no role. */
export function rolesOf(choice: RoleChoice): string[] {
  const { roles, draft } = withDraft(choice)
  if (draft.trim() !== '') throw faultAt('roles', notARole(draft.trim()))
  return roles
}

/** Puts a role in or takes it out. */
export function toggled(choice: RoleChoice, role: string): RoleChoice {
  const roles = choice.roles.includes(role)
    ? choice.roles.filter((held) => held !== role)
    : [...choice.roles, role]
  return { ...choice, roles }
}
