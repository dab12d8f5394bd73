/*
 * What steps of this installation reach: the workflow's policy, secrets, models, MCP servers and child runs. Put
 * together here, because each of them is another room's. Everything is made when it is first asked for: most steps
 * reach for nothing.
 */
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { grantedTo } from '@/lib/policy/grants'
import type { ToolCall } from '@/lib/policy/tool-call'
import { unlistedAnswer } from '@/lib/policy/unlisted'
import type { McpServerConfig } from '@/lib/runners/mcp/server-config'
import { openModels } from '@/lib/runners/models/models'
import type { Reach } from '@/lib/runners/no-reach'
import { refusal } from '@/lib/runners/resolved'
import type { Calls, McpServers, Models } from '@/lib/runners/runner'
import { childRunsOf } from '@/lib/worker/child-runs'
import type { ReachingStep, ReachOf } from '@/lib/worker/ports'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { readAuthored } from './authored-files'
import { callsOf } from './calls'
import { childWorkflows } from './child-workflows'
import type { Installation } from './installation'
import { environmentOf, secretOf } from './secrets'

/** The reach of each step. `house` is asked for when a step begins: the installation is made with this in it. */
export function reachOf(house: () => Installation): ReachOf {
  return (step) => new StepReach(house(), step)
}

class StepReach implements Reach {
  readonly #house: Installation
  readonly #step: ReachingStep
  #models: Models | undefined
  #mcp: McpServers | undefined
  #calls: Calls | undefined

  constructor(house: Installation, step: ReachingStep) {
    this.#house = house
    this.#step = step
  }

  get #graph(): WorkflowGraph {
    return this.#step.run.graph.graph
  }

  readonly allow = async (call: ToolCall): Promise<void> => {
    const { ports, policies } = this.#house
    const unlisted = unlistedAnswer(this.#graph.policy, call, ports.unconfined)
    if (unlisted && !unlisted.allowed) throw refusal(unlisted.code, unlisted.sentence)
    await policies.gateOf(grantedTo(this.#graph, ports).policy)(call)
  }

  readonly secret = (name: string): Promise<string | undefined> => secretOf(this.#house, this.#graph, name)
  readonly authored = (path: string): Promise<string | undefined> => readAuthored(this.#house, path)

  readonly spendBytes = (bytes: number): Promise<void> => {
    const { budgets } = this.#house.reachable
    return budgets.purseOf(this.#house, this.#step, 'writtenBytes')(bytes)
  }

  get calls(): Calls {
    this.#calls ??= callsOf(this.#house, this.#step)
    return this.#calls
  }

  get models(): Models {
    const { backends, budgets, scripts } = this.#house.reachable
    const { header } = this.#step
    this.#models ??= openModels({
      backends: this.#graph.backends ?? [],
      installationBackends: backends,
      env: environmentOf(this.#house),
      secret: this.secret,
      read: this.authored,
      spend: budgets.purseOf(this.#house, this.#step, 'modelTokens'),
      run: header.parent?.runId ?? header.runId,
      positions: scripts,
      calls: this.calls,
    })
    return this.#models
  }

  get mcp(): McpServers {
    const { mcp } = this.#house.reachable
    this.#mcp ??= mcp.serversOf(ownServers(this.#house, this.#graph), this.calls)
    return this.#mcp
  }

  get children(): Reach['children'] {
    const [house, step] = [this.#house, this.#step]
    const runs = childRunsOf(house.ports, childWorkflows(house), step)
    return {
      ...runs,
      async run(child, signal) {
        await house.reachable.budgets.countChild(house, step)
        return runs.run(child, signal)
      },
    }
  }
}

/** MCP servers a workflow brings: programs, so only where its author is the one who runs it. */
function ownServers({ ports }: Installation, graph: WorkflowGraph): McpServerConfig[] {
  const listed = Array.isArray(graph.extra.mcp_servers) ? graph.extra.mcp_servers.filter(isJsonObject) : []
  if (!ports.unconfined) return []
  return listed.flatMap((server) => serverOf(server, graph))
}

function serverOf(
  { name, command, env, allow_tools, allow_resources }: JsonObject,
  graph: WorkflowGraph,
): McpServerConfig[] {
  const words = Array.isArray(command) ? command.filter((word) => typeof word === 'string') : []
  const [program, ...args] = words
  if (typeof name !== 'string' || program === undefined) return []
  const given = isJsonObject(env) ? Object.entries(env) : []
  const set = given.flatMap(([variable, from]) =>
    typeof from === 'string' ? [[variable, process.env[variableOf(from, graph)] ?? ''] as const] : [],
  )
  return [
    {
      name,
      command: program,
      args,
      env: Object.fromEntries(set),
      passEnv: [],
      ...(Array.isArray(allow_tools) && { allowTools: allow_tools.map(String) }),
      ...(Array.isArray(allow_resources) && { allowResources: allow_resources.map(String) }),
    },
  ]
}

/** A server's variables name secrets of the workflow, or else variables. */
function variableOf(name: string, { secrets = [] }: WorkflowGraph): string {
  const source = secrets.find((secret) => secret.name === name)?.from
  return source && 'env' in source ? source.env : name
}
