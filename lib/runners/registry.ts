/*
 * A runner for every node kind, by the names of lib/nodes/registry.ts; the types hold the two tables together. Kinds
 * the engine handles itself (it waits for a person, or for an agent that claims the task) only resolve and describe.
 */
import { type EngineKind, isKindName, type KindName, type RunnableKind } from '@/lib/nodes/registry'
import { agentRunner } from './agent'
import { agentLoopRunner } from './agent-loop'
import { agentThinkRunner } from './agent-think'
import { awaitEventResolver } from './await-event'
import { callRunner } from './call'
import { callMcpToolRunner } from './call-mcp-tool'
import { conditionRunner } from './condition'
import { createDirRunner } from './create-dir'
import { diffComputeRunner } from './diff-compute'
import { failRunner } from './fail'
import { httpRequestRunner } from './http-request'
import { jsonSelectRunner } from './json-select'
import { withKeptOutput } from './kept-output'
import { llmInferRunner } from './llm-infer'
import { mapRunner } from './map'
import { mergeRunner } from './merge'
import { parallelRunner } from './parallel'
import { parseJsonRunner } from './parse-json'
import { pauseForApprovalResolver } from './pause-for-approval'
import { promptStateRunner } from './prompt-state'
import { promptTurnRunner } from './prompt-turn'
import { readEnvRunner } from './read-env'
import { readFileRunner } from './read-file'
import { readMcpResourceRunner } from './read-mcp-resource'
import { respondRunner } from './respond'
import type { Resolver, Runner } from './runner'
import { shellRunRunner } from './shell-run'
import { switchRunner } from './switch'
import { taskResolver } from './task'
import { templateRenderRunner } from './template-render'
import { terminateRunner } from './terminate'
import { toolCallRunner } from './tool-call'
import { writeFileRunner } from './write-file'

export const runners: Readonly<Record<RunnableKind, Runner>> = {
  read_file: readFileRunner,
  read_env: readEnvRunner,
  read_mcp_resource: readMcpResourceRunner,
  write_file: writeFileRunner,
  create_dir: createDirRunner,
  http_request: httpRequestRunner,
  shell_run: shellRunRunner,
  call_mcp_tool: callMcpToolRunner,
  llm_infer: llmInferRunner,
  agent_loop: agentLoopRunner,
  agent_think: agentThinkRunner,
  template_render: templateRenderRunner,
  parse_json: parseJsonRunner,
  json_select: jsonSelectRunner,
  diff_compute: diffComputeRunner,
  condition: conditionRunner,
  switch: switchRunner,
  merge: mergeRunner,
  terminate: terminateRunner,
  fail: failRunner,
  respond: respondRunner,
  call: callRunner,
  parallel: parallelRunner,
  map: mapRunner,
  agent: agentRunner,
  prompt_state: promptStateRunner,
  prompt_turn: promptTurnRunner,
  tool_call: toolCallRunner((kind) => (isKindName(kind) ? resolvers[kind] : undefined)),
}

export const resolvers: Readonly<Record<KindName, Resolver & Partial<Runner>>> = {
  ...runners,
  pause_for_approval: pauseForApprovalResolver,
  await_event: awaitEventResolver,
  // What an agent did under a claim is taken back as what it did when called: by asking it.
  task: { ...taskResolver, undo: agentRunner.undo },
} satisfies Record<RunnableKind, Runner> & Record<EngineKind, Resolver & Partial<Runner>>

const keeping: Readonly<Record<string, Runner>> = Object.fromEntries(
  Object.entries(runners).map(([kind, runner]) => [kind, withKeptOutput(runner)]),
)

/** The runner of a kind; undefined for kinds the engine handles itself, and for what is no kind. */
export function runnerOf(kind: string): Runner | undefined {
  return Object.hasOwn(keeping, kind) ? keeping[kind] : undefined
}

/** What resolves and describes a kind; undefined for what is no kind. */
export function resolverOf(kind: string): (Resolver & Partial<Runner>) | undefined {
  return Object.hasOwn(resolvers, kind) ? resolvers[kind as KindName] : undefined
}
