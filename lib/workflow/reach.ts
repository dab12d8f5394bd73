/*
 * What is well-formed and cannot work all the same, as far as the text alone can tell: a request to a private address
 * that the policy does not name, a path that climbs out of every folder. Warnings only; lib/policy decides when it runs.
 */
import type { WorkflowGraph } from './graph'
import { quoted, type Report } from './graph-problem'

const privateHost =
  /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|10\.\d+\.\d+\.\d+|192\.168\.\d+\.\d+|172\.(1[6-9]|2\d|3[01])\.\d+\.\d+|\[::1\])$/

/** Warns of literal targets and paths that the policy will refuse. */
export function checkReach(graph: WorkflowGraph, report: Report): void {
  for (const [at, node] of graph.nodes.entries()) {
    const { url, path } = node.config
    // Which of several targets is meant is lib/policy's to tell; none at all opens nothing.
    if (typeof url === 'string' && !mayBeNamed(graph) && URL.canParse(url)) {
      const { host, hostname } = new URL(url)
      const isNamed = graph.policy.allow?.http.urls.some((pattern) => pattern.toLowerCase().includes(host))
      if (privateHost.test(hostname) && !isNamed)
        report({
          severity: 'warning',
          code: 'target_private',
          message: `Node ${quoted(node.id)} sends to ${quoted(host)}, a private or loopback address that the policy does not name, so the request will be refused.`,
          mend: graph.policy.allow
            ? 'Name the host in a URL of [policy.http].'
            : 'Name it under "private_targets" of the policy.',
          path: ['nodes', at, 'config', 'url'],
        })
    }
    if (typeof path === 'string' && !path.startsWith('/') && climbsOut(path))
      report({
        severity: 'warning',
        code: 'path_outside_roots',
        message: `Node ${quoted(node.id)}: the path ${quoted(path)} leads out of the folder it starts in and will probably be refused.`,
        mend: 'Write a path inside a folder of the policy.',
        path: ['nodes', at, 'config', 'path'],
      })
  }
}

/** An agentd workflow without any policy is bounded by where it runs. */
function mayBeNamed({ format, policy }: WorkflowGraph): boolean {
  return policy.privateTargets.length > 0 || (format === 'agentd' && policy.allow === undefined)
}

function climbsOut(path: string): boolean {
  let depth = 0
  for (const part of path.split('/')) {
    if (part === '..') depth--
    else if (part !== '' && part !== '.') depth++
    if (depth < 0) return true
  }
  return false
}
