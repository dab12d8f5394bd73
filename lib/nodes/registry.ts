/*
 * Every node kind there is. A workflow names kinds by the keys of this table; what is not in it is not a kind.
 * lib/runners has a table with the same keys, and the type holds the two together.
 */
import { agent } from './agent'
import { agentLoop } from './agent-loop'
import { agentThink } from './agent-think'
import { awaitEvent } from './await-event'
import { call } from './call'
import { callMcpTool } from './call-mcp-tool'
import { condition } from './condition'
import { createDir } from './create-dir'
import { diffCompute } from './diff-compute'
import { fail } from './fail'
import { httpRequest } from './http-request'
import { jsonSelect } from './json-select'
import { llmInfer } from './llm-infer'
import { map } from './map'
import { merge } from './merge'
import type { NodeKind } from './node-kind'
import { parallel } from './parallel'
import { parseJson } from './parse-json'
import { pauseForApproval } from './pause-for-approval'
import { promptState } from './prompt-state'
import { promptTurn } from './prompt-turn'
import { readEnv } from './read-env'
import { readFile } from './read-file'
import { readMcpResource } from './read-mcp-resource'
import { respond } from './respond'
import { shellRun } from './shell-run'
import { switchKind } from './switch'
import { task } from './task'
import { templateRender } from './template-render'
import { terminate } from './terminate'
import { toolCall } from './tool-call'
import { writeFile } from './write-file'

export const nodeKinds = {
  read_file: readFile,
  read_env: readEnv,
  read_mcp_resource: readMcpResource,
  write_file: writeFile,
  create_dir: createDir,
  http_request: httpRequest,
  shell_run: shellRun,
  call_mcp_tool: callMcpTool,
  llm_infer: llmInfer,
  agent_loop: agentLoop,
  template_render: templateRender,
  parse_json: parseJson,
  json_select: jsonSelect,
  diff_compute: diffCompute,
  condition,
  switch: switchKind,
  merge,
  terminate,
  fail,
  respond,
  call,
  parallel,
  map,
  pause_for_approval: pauseForApproval,
  task,
  agent,
  prompt_state: promptState,
  await_event: awaitEvent,
  agent_think: agentThink,
  prompt_turn: promptTurn,
  tool_call: toolCall,
} as const satisfies Record<string, NodeKind>

export type KindName = keyof typeof nodeKinds

/** Kinds the engine handles itself: they wait for a person, for an event, or for an agent that claims the task. */
export type EngineKind = 'pause_for_approval' | 'await_event' | 'task'
/** Kinds whose effect a runner performs. */
export type RunnableKind = Exclude<KindName, EngineKind>

/** True when a node kind of that name exists. */
export function isKindName(name: string): name is KindName {
  return Object.hasOwn(nodeKinds, name)
}

/** The node kind of that name, or undefined when there is none. */
export function nodeKind(name: string): NodeKind | undefined {
  return isKindName(name) ? nodeKinds[name] : undefined
}

/** All kind names, in the order of the palette. */
export const kindNames = Object.keys(nodeKinds) as KindName[]

// Who looks a kind up that does not exist is told which do.
nodeKind.names = kindNames.filter((name) => nodeKind(name)?.internal !== true) as readonly string[]
