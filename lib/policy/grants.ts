/*
 * What a workflow is given, before any single call is asked about. Three cases:
 *
 *   it states an allowlist          the list's patterns grant folders, and the hosts it names may be private
 *   agentd, no policy at all        everything within the installation's folders (agentd section 4, "Absent block")
 *   any other                       the folders and private targets it declares, and nothing else
 *
 * In all three, files stay within the installation's folders. On the user's own command line an agentd workflow is bounded
 * by what the user may do, as it is under agentd: there the whole disk is such a folder, and what the allowlist does not
 * name is still denied.
 */
import type { Policy, WorkflowGraph } from '@/lib/workflow/graph'
import { rootedAllowlist } from './allowlist'
import { namedHosts } from './url-pattern'

/** What the installation says about its workflows. */
export interface HouseBounds {
  /** Folders that steps may work in; relative paths start in the first. */
  installationRoots: readonly string[]
  /** True on the user's own command line. */
  unconfined?: boolean
}

/** What one workflow's steps work under. */
export interface Granted {
  policy: Policy
  installationRoots: readonly string[]
}

/** Every address that can be named; what is never reached (multicast, unspecified) stays so (targets.ts). */
const everyAddress = ['0.0.0.0/0', '::/0']

/** The policy as the workflow states it, with what its case adds, and the folders it is held to. */
export function grantedTo(graph: Pick<WorkflowGraph, 'format' | 'policy'>, house: HouseBounds): Granted {
  const unconfined = (house.unconfined ?? false) && graph.format === 'agentd'
  const installationRoots = unconfined ? [...house.installationRoots, '/'] : house.installationRoots
  return { policy: grantedPolicy(graph, installationRoots, unconfined), installationRoots }
}

function grantedPolicy(
  { format, policy }: Pick<WorkflowGraph, 'format' | 'policy'>,
  installationRoots: readonly string[],
  unconfined: boolean,
): Policy {
  if (policy.allow) {
    return {
      ...policy,
      privateTargets: [...policy.privateTargets, ...namedHosts(policy.allow.http.urls)],
      allow: rootedAllowlist(policy.allow, installationRoots[0] ?? '/'),
    }
  }
  const isSilent = policy.roots.length === 0 && policy.privateTargets.length === 0 && !policy.rego
  if (format !== 'agentd' || !isSilent) return policy
  return {
    ...policy,
    roots: installationRoots.map((path) => ({ path, access: 'write' as const })),
    privateTargets: unconfined ? everyAddress : [],
  }
}
