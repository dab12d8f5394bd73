/*
 * What a workflow is given, before any single call is asked about. Three cases:
 *
 *   it states an allowlist          the list's patterns grant folders, and the hosts it names may be private
 *   agentd, no policy at all        everything within the installation's folders (agentd section 4, "Absent block")
 *   any other                       the folders and private targets it declares, and nothing else
 *
 * In all three, files stay within the installation's folders; the folder `/` is what an installation has that bounds
 * nobody (`holdpoint run`, where the user's own authority is the bound).
 */
import type { Policy, WorkflowGraph } from '@/lib/workflow/graph'
import { rootedAllowlist } from './allowlist'
import { namedHosts } from './url-pattern'

/** What the installation says about its workflows. */
export interface HouseBounds {
  /** Folders that steps may work in; relative paths start in the first. */
  installationRoots: readonly string[]
  /** True where a workflow without any policy may also reach private addresses: on the user's own command line. */
  unconfined: boolean
}

/** Every address that can be named; what is never reached (multicast, unspecified) stays so (targets.ts). */
const everyAddress = ['0.0.0.0/0', '::/0']

/** The policy a workflow's steps work under: as it states it, with what its case adds. */
export function grantedPolicy(
  { format, policy }: Pick<WorkflowGraph, 'format' | 'policy'>,
  house: HouseBounds,
): Policy {
  if (policy.allow) {
    return {
      ...policy,
      privateTargets: [...policy.privateTargets, ...namedHosts(policy.allow.http.urls)],
      allow: rootedAllowlist(policy.allow, house.installationRoots[0] ?? '/'),
    }
  }
  const isSilent = policy.roots.length === 0 && policy.privateTargets.length === 0 && !policy.rego
  if (format !== 'agentd' || !isSilent) return policy
  return {
    ...policy,
    roots: house.installationRoots.map((path) => ({ path, access: 'write' as const })),
    privateTargets: house.unconfined ? everyAddress : [],
  }
}
