/*
 * What a workflow would be refused when it runs, as far as that can be told before: a constant target or path that its
 * policy does not open, a declared folder that is none of the installation's, an agent that nobody registered. Warnings
 * only: policy, folders and agents may still change, and what a step takes from the run is unknown until then.
 *
 * The same judges speak here as at the run (targets.ts, roots.ts), so a warning never says what would not happen. What
 * is not known stays open: a text by itself does not know where relative paths begin, and is then only compared with
 * folders written in the same way.
 */
import type { GraphNode, Root, WorkflowGraph } from '@/lib/workflow/graph'
import { type GraphPath, type GraphProblem, quoted } from '@/lib/workflow/graph-problem'
import type { Answer, Refused } from './answer'
import { bindingProblems } from './binding-reach'
import { absolutePath, type RootFolder, rootFolders, rootFor } from './roots'
import { answerByName, isRefused, targetOf } from './targets'

/** What is known of the installation; each may be absent, where a text is judged alone. */
export interface KnownHere {
  /** Absolute folders. */
  installationRoots?: readonly string[]
  /** SPIFFE ids of the registered agents. */
  agents?: ReadonlySet<string>
  /** True on a server, where programs are only run when the workflow names them (unlisted.ts). */
  wantsNames?: boolean
}

/** Warnings about what would be refused, with their places in the graph. */
export function reachProblems(graph: WorkflowGraph, known: KnownHere = {}): GraphProblem[] {
  // agentd's steps take their paths and addresses from the run: nothing in such a text can be told before.
  if (graph.format === 'agentd') return []
  const folders = foldersOf(graph.policy.roots, known.installationRoots)
  return [
    ...rootProblems(graph.policy.roots, known.installationRoots),
    ...graph.nodes.flatMap((node, at) => [
      ...targetProblems(node, at, graph.policy.privateTargets),
      ...pathProblems(node, at, graph.policy.roots, folders),
      ...agentProblems(node, at, known.agents),
    ]),
    ...bindingProblems(graph, known.wantsNames ?? false),
  ]
}

function rootProblems(roots: readonly Root[], installationRoots?: readonly string[]): GraphProblem[] {
  if (!installationRoots) return []
  return roots.flatMap((root, at) =>
    rootFolders([root], installationRoots).refused.map((refused) =>
      warning(refused, ['policy', 'roots', at, 'path']),
    ),
  )
}

/** A text in a compensation's URL that is filled in at the run; it never decides where the request goes. */
const marker = /\{\{[^{}]*\}\}/g

function targetProblems(node: GraphNode, at: number, privateTargets: readonly string[]): GraphProblem[] {
  if (node.kind !== 'http_request') return []
  const { url, compensate } = node.config
  const judged = (text: unknown, path: GraphPath) => {
    if (typeof text !== 'string' || text === '') return []
    const refused = refusalOf(text.replace(marker, 'x'), privateTargets)
    return refused ? [warning(refused, ['nodes', at, 'config', ...path], node)] : []
  }
  const undoing = compensate !== null && typeof compensate === 'object' && !Array.isArray(compensate)
  return [...judged(url, ['url']), ...(undoing ? judged(compensate.url, ['compensate', 'url']) : [])]
}

function refusalOf(url: string, privateTargets: readonly string[]): Refused | undefined {
  const target = targetOf(url)
  if (isRefused(target)) return target
  const answer = answerByName(target, privateTargets)
  return answer && !answer.allowed ? answer : undefined
}

const fileAccess: Readonly<Record<string, Root['access']>> = {
  read_file: 'read',
  write_file: 'write',
  create_dir: 'write',
}

/** Where the installation's folders are not known, relative paths begin here. */
const anywhere = '/installation'

interface Folders {
  known: boolean
  base: string
  folders: RootFolder[]
  refused: Refused[]
}

function foldersOf(roots: readonly Root[], installationRoots?: readonly string[]): Folders {
  const base = installationRoots?.[0] ?? anywhere
  if (installationRoots) return { known: true, base, ...rootFolders(roots, installationRoots) }
  const folders = roots.map(({ path, access }) => ({
    name: path,
    path: absolutePath(path, base),
    access,
    within: '/',
  }))
  return { known: false, base, folders, refused: [] }
}

function pathProblems(node: GraphNode, at: number, roots: readonly Root[], where: Folders): GraphProblem[] {
  const access = fileAccess[node.kind]
  if (!access) return []
  const { path, path_from: from } = node.config
  if (roots.length === 0) {
    const member = path === undefined && from !== undefined ? 'path_from' : 'path'
    return [
      {
        severity: 'warning',
        code: 'path_outside_roots',
        message: `Node ${quoted(node.id)} will be refused: it works with files, and the workflow declares no folder.`,
        mend: `Declare its folder under "policy.roots" with access "${access}".`,
        path: ['nodes', at, 'config', member],
      },
    ]
  }
  if (typeof path !== 'string' || path === '') return []
  const answer = pathAnswer(path, access, roots, where)
  return answer.allowed ? [] : [warning(answer, ['nodes', at, 'config', 'path'], node)]
}

function pathAnswer(path: string, access: Root['access'], roots: readonly Root[], where: Folders): Answer {
  const answer = rootFor(absolutePath(path, where.base), access, where.folders, path)
  if (answer.allowed) return answer
  const [refused] = where.refused
  if (where.known) return where.folders.length === 0 && refused ? refused : answer
  const comparable = roots.every((root) => root.path.startsWith('/') === path.startsWith('/'))
  return comparable ? answer : { allowed: true, rule: 'nothing is known of where it leads' }
}

function agentProblems(node: GraphNode, at: number, agents?: ReadonlySet<string>): GraphProblem[] {
  const { agent } = node.config
  if (node.kind !== 'agent' || typeof agent !== 'string' || !agents || agents.has(agent)) return []
  return [
    {
      severity: 'warning',
      code: 'agent_unknown',
      message: `Node ${quoted(node.id)} calls the agent ${quoted(agent)}, which is not registered in this installation, so the step will fail.`,
      mend: 'Have an administrator register it under Settings, Agents, or correct its id.',
      path: ['nodes', at, 'config', 'agent'],
    },
  ]
}

/** A refusal says what was found and, behind its last semicolon, how to mend it. */
function warning({ code, sentence }: Refused, path: GraphPath, node?: GraphNode): GraphProblem {
  const cut = sentence.lastIndexOf('; ')
  const found = cut < 0 ? sentence : `${sentence.slice(0, cut)}.`
  const mend = cut < 0 ? 'Correct it.' : sentence.slice(cut + 2)
  return {
    severity: 'warning',
    code,
    message: node ? `Node ${quoted(node.id)} will be refused: ${found}` : found,
    mend: mend.charAt(0).toUpperCase() + mend.slice(1),
    path,
  }
}
