/** Workflows that steps of other workflows name (agentd section 1.45): found, read, checked and pinned. */
import path from 'node:path'
import type { JsonObject } from '@/lib/base/json'
import { isProblem } from '@/lib/base/problem'
import type { RunHeader } from '@/lib/engine/ports'
import { agentLoopConfig } from '@/lib/nodes/agent-loop'
import { agentLoopGraph } from '@/lib/nodes/agent-loop-graph'
import { type Consequence, narrowed } from '@/lib/nodes/node-kind'
import { promptTurnGraph } from '@/lib/nodes/prompt-turn-graph'
import { nodeKind } from '@/lib/nodes/registry'
import { EffectFailed } from '@/lib/runners/runner'
import type { ChildWorkflows } from '@/lib/worker/child-runs'
import type { Allowlist, Policy, WorkflowGraph } from '@/lib/workflow/graph'
import { unboundTools, unboundWords } from '@/lib/workflow/unbound-tools'
import { readAuthored } from './authored-files'
import type { Installation } from './installation'
import { libraryVersion } from './library-version'
import { refuseMarked } from './plan-mark'
import { importWorkflow, keepDerived } from './workflows'

/** Where steps of this installation find the workflows they run. */
export function childWorkflows(house: Installation): ChildWorkflows {
  return {
    load: (workflow, parent) => loadChild(house, workflow, parent),
    loop: (config, parent, node) => loadLoop(house, config, parent, node),
    turn: (node, parent) => loadTurn(house, node, parent),
  }
}

/**
 * The workflow at a path the author declared: a file beside the workflow, where this installation reads authored files
 * (the command line does), else one of the library with that name. Throws EffectFailed `workflow_unknown`,
 * `workflow_invalid`, or `child_pauses`: nobody could resume a child by itself.
 */
async function loadChild(
  house: Installation,
  workflow: string,
  parent: RunHeader,
): Promise<{ version: string; consequence: Consequence }> {
  const version = (await fromFile(house, workflow, parent)) ?? (await libraryVersion(house, workflow))
  if (version === undefined) {
    throw refused(
      'workflow_unknown',
      `There is no workflow "${workflow.slice(0, 200)}"; import it under that name, or check the path`,
    )
  }
  const { graph } = await house.graphOf(version)
  const pausing = graph.nodes.find((node) => node.kind === 'pause_for_approval')
  if (pausing) {
    throw refused(
      'child_pauses',
      `"${graph.name}" pauses for approval at ${pausing.id}, and only a run of its own may; pause in the workflow that calls it`,
    )
  }
  const unbound = unboundWords(unboundTools(graph))
  if (unbound !== undefined) throw refused('tool_unbound', `"${graph.name}" cannot be run: ${unbound}`)
  const above = await house.graphOf(parent.version)
  const held = underCaller(graph, above.graph, house.ports.unconfined)
  const pinned = held === graph ? version : await keepDerived(house, held, parent.startedBy)
  return { version: pinned, consequence: consequenceOfGraph(graph) }
}

/** The graph of an agent loop that stands in the parent's workflow, kept. */
async function loadLoop(
  house: Installation,
  config: JsonObject,
  parent: RunHeader,
  node: string,
): Promise<{ version: string; consequence: Consequence }> {
  const above = await house.graphOf(parent.version)
  const graph = agentLoopGraph(agentLoopConfig.parse(config), above.graph, above.nodes.get(node))
  return {
    version: await keepDerived(house, graph, parent.startedBy),
    consequence: consequenceOfGraph(graph),
  }
}

/** The graph of one turn of that prompt state of the parent's workflow, kept. */
async function loadTurn(
  house: Installation,
  node: string,
  parent: RunHeader,
): Promise<{ version: string; consequence: Consequence }> {
  const above = await house.graphOf(parent.version)
  const state = above.nodes.get(node)
  if (!state) throw refused('workflow_invalid', `The workflow has no state "${node.slice(0, 100)}"`)
  const graph = promptTurnGraph(state, above.graph)
  return {
    version: await keepDerived(house, graph, parent.startedBy),
    consequence: consequenceOfGraph(graph),
  }
}

/**
 * A child runs under the policy of whoever calls it, with the same backends, secrets and servers (agentd section 1.45):
 * calling a workflow never allows what calling it was not allowed.
 */
export function underCaller(
  child: WorkflowGraph,
  caller: WorkflowGraph,
  unconfined: boolean | undefined,
): WorkflowGraph {
  const { backends = [], secrets = [], extra } = caller
  const policy = heldPolicy(child, caller, unconfined ?? false)
  const servers = extra.mcp_servers
  if (policy === child.policy && backends.length + secrets.length === 0 && servers === undefined) return child
  return {
    ...child,
    policy,
    ...withNamed('backends', [...backends, ...(child.backends ?? [])]),
    ...withNamed('secrets', [...secrets, ...(child.secrets ?? [])]),
    extra: servers === undefined ? child.extra : { ...child.extra, mcp_servers: servers },
  }
}

/**
 * What the child may do. A caller that states a policy, or that is no agentd workflow and so is given what it declares
 * and nothing else, hands its own down. An agentd caller that states none may do anything within the installation except
 * run programs and read variables, which on a server must be named (unlisted.ts); its child names none for it.
 */
function heldPolicy(
  { policy: own }: WorkflowGraph,
  { policy, format }: WorkflowGraph,
  unconfined: boolean,
): Policy {
  if (policy.allow !== undefined || policy.rego !== undefined) return policy
  if (format !== 'agentd') return { ...policy, allow: allowlistOf(policy, unconfined) }
  if (unconfined || own.allow === undefined) return own
  return { ...own, allow: { ...own.allow, shell: { commands: [] }, env: { readKeys: [] } } }
}

/** Declared folders as an allowlist: an agentd child without any declared folder would be given all there are. */
function allowlistOf({ roots }: Policy, unconfined: boolean): Allowlist | undefined {
  if (roots.length > 0) return undefined
  const any = unconfined ? ['*'] : []
  return {
    fs: { read: [], write: [], delete: [], list: [] },
    env: { readKeys: any },
    http: { urls: ['*'], methods: [] },
    shell: { commands: any },
    mcp: { servers: ['*'], tools: ['*'], resources: ['*'] },
  }
}

/** The member with one entry for each name, the first one; nothing when there are none. */
function withNamed<K extends string, T extends { name: string }>(key: K, entries: T[]): { [P in K]?: T[] } {
  const byName = new Map(entries.toReversed().map((entry) => [entry.name, entry]))
  return entries.length === 0 ? {} : ({ [key]: [...byName.values()].toReversed() } as { [P in K]?: T[] })
}

async function fromFile(house: Installation, workflow: string, { startedBy }: RunHeader) {
  const text = await readAuthored(house, workflow)
  return text === undefined ? undefined : imported(house, text, path.basename(workflow), startedBy)
}

async function imported(house: Installation, text: string, filename: string, by: string): Promise<string> {
  try {
    refuseMarked(text, `"${filename}"`, 'run it by itself with --approve-plan HASH')
    return (await importWorkflow(house, text, { filename, by })).record.version
  } catch (error) {
    if (!isProblem(error, 'workflow_invalid') && !isProblem(error, 'plan_not_approved')) throw error
    throw refused('workflow_invalid', `"${filename}" cannot be run: ${error.message}`)
  }
}

/** A child that only reads is read-only; any other can be taken back as a run, and says there what cannot be. */
function consequenceOfGraph(graph: WorkflowGraph): Consequence {
  const only = graph.nodes.every((node) => {
    const kind = nodeKind(node.kind)
    const config = kind?.config.safeParse(node.config)
    return (
      config?.success === true &&
      kind !== undefined &&
      narrowed(kind.consequence(config.data), node) === 'read_only'
    )
  })
  return only ? 'read_only' : 'reversible'
}

function refused(code: string, sentence: string): EffectFailed {
  return new EffectFailed(code, sentence, { errorType: 'constraint_violation' })
}
