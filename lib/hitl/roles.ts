/*
 * Roles, and which of them stand in for which.
 *
 *   held                satisfies what is required
 *   viewer              viewer
 *   author              author, viewer
 *   operator            operator, viewer
 *   operator:oncall     operator:oncall, operator, viewer
 *   coordinator         coordinator, operator, viewer
 *   coordinator:emea    coordinator:emea, coordinator, operator, viewer
 *   security            security, viewer                       (a free role)
 *   security:lead       security:lead, security, viewer
 *   administrator       everything
 *
 * A qualified requirement is exact: `operator:oncall` is met by whoever holds `operator:oncall` and by an administrator,
 * never by a plain operator or a coordinator, because the author named who is on call and meant it. An administrator
 * takes no qualifier: `administrator:backup` would read as less than it grants.
 */

/** The roles that Holdpoint itself gives a meaning to. */
export const builtInRoles = ['viewer', 'author', 'operator', 'coordinator', 'administrator'] as const
export type BuiltInRole = (typeof builtInRoles)[number]

/** What a role includes besides itself. A free role includes viewing. */
const includes: Record<BuiltInRole, readonly BuiltInRole[]> = {
  viewer: [],
  author: ['viewer'],
  operator: ['viewer'],
  coordinator: ['operator', 'viewer'],
  administrator: ['author', 'operator', 'coordinator', 'viewer'],
}

/** Characters a role may have; each of its two parts, `base:qualifier`, is at most 40 long. */
const roleShape = /^[a-z][a-z0-9_-]{0,39}(:[a-z0-9][a-z0-9_.-]{0,39})?$/

/** True for what may be given to a person or required by a workflow. */
export function isRole(role: string): boolean {
  return roleShape.test(role) && !role.startsWith('administrator:')
}

/** True when someone who holds `held` meets `required`. A malformed role meets nothing and is met by nobody. */
export function satisfies(held: readonly string[], required: string): boolean {
  return isRole(required) && held.some((role) => isRole(role) && meets(role, required))
}

/** True when one role held meets one role required; both are well-formed. */
function meets(held: string, required: string): boolean {
  if (held === 'administrator' || held === required || required === 'viewer') return true
  const base = held.split(':', 1)[0] as string
  return base === required || (isBuiltIn(base) && (includes[base] as readonly string[]).includes(required))
}

function isBuiltIn(role: string): role is BuiltInRole {
  return (builtInRoles as readonly string[]).includes(role)
}
