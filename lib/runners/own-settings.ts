// Variables that say where Holdpoint's keys and data lie, or open its sessions.
const ownPrefixes = ['HOLDPOINT_', 'NEXTAUTH_']

/** True for environment variables that are Holdpoint's own: no workflow's policy can hand those out. */
export function isOwnSetting(name: string): boolean {
  const upper = name.toUpperCase()
  return ownPrefixes.some((prefix) => upper.startsWith(prefix))
}
