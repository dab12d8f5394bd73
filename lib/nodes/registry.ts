/*
 * Every node kind there is. A workflow names kinds by the keys of this table; what is not in it is not a kind.
 * lib/runners has a table with the same keys, and the type holds the two together.
 */
import { agent } from './agent'
import { createDir } from './create-dir'
import { httpRequest } from './http-request'
import { jsonSelect } from './json-select'
import type { NodeKind } from './node-kind'
import { parseJson } from './parse-json'
import { pauseForApproval } from './pause-for-approval'
import { readFile } from './read-file'
import { task } from './task'
import { templateRender } from './template-render'
import { writeFile } from './write-file'

export const nodeKinds = {
  read_file: readFile,
  write_file: writeFile,
  create_dir: createDir,
  http_request: httpRequest,
  template_render: templateRender,
  parse_json: parseJson,
  json_select: jsonSelect,
  pause_for_approval: pauseForApproval,
  task,
  agent,
} as const satisfies Record<string, NodeKind>

export type KindName = keyof typeof nodeKinds

/** Kinds the engine handles itself: one waits for a person, the other for an agent that claims it. */
export type EngineKind = 'pause_for_approval' | 'task'
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
nodeKind.names = kindNames as readonly string[]
