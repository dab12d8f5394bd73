/** [policy] → what a run may touch, and the policy that is asked. */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import type { Allowlist, Policy } from '@/lib/workflow/graph'
import type { GraphPath } from '@/lib/workflow/graph-problem'
import type { Tell } from '../tell'
import { fits } from './refusals'
import * as shapes from './shapes'

export const defaultQuery = 'data.agent.allow'

/** Once a [policy] stands, every list that is not written is empty, and what is not named is denied. */
export function readPolicy(source: Json | undefined, path: GraphPath, tell: Tell): Policy {
  const none: Policy = { roots: [], privateTargets: [] }
  if (source === undefined) return none
  const fitting = fits(shapes.policy, source, path, tell)
  if (isJsonObject(source) && isJsonObject(source.rego)) checkRegoSource(source.rego, path, tell)
  if (!fitting) return none
  const { fs = {}, env = {}, http = {}, shell = {}, mcp = {}, rego } = source as PolicyTable
  const read = fs.read ?? []
  const list = fs.list ?? []
  const allow: Allowlist = {
    fs: { read, write: fs.write ?? [], delete: fs.delete ?? [], list: list.length > 0 ? list : read },
    env: { readKeys: env.read_keys ?? [] },
    http: { urls: http.urls ?? [], methods: http.methods ?? [] },
    shell: { commands: shell.commands ?? [] },
    mcp: { servers: mcp.servers ?? [], tools: mcp.tools ?? [], resources: mcp.resources ?? [] },
  }
  if (!rego) return { ...none, allow }
  return {
    ...none,
    allow,
    rego: {
      ...(rego.inline === undefined ? {} : { text: rego.inline }),
      ...(rego.file === undefined ? {} : { file: rego.file }),
      data: rego.data ?? {},
      query: rego.query ?? defaultQuery,
    },
  }
}

function checkRegoSource(rego: JsonObject, path: GraphPath, tell: Tell): void {
  if ((rego.inline === undefined) !== (rego.file === undefined)) return
  const both = rego.inline !== undefined
  tell({
    path: [...path, 'rego'],
    code: 'rego_source',
    message: `[policy.rego] ${both ? 'has both "inline" and "file"; only one can count' : 'has neither "inline" nor "file", so there is no policy to ask'}.`,
    mend: both ? 'Keep one of the two.' : 'Add "file", or the policy itself as "inline".',
  })
}

interface PolicyTable {
  fs?: { read?: string[]; write?: string[]; delete?: string[]; list?: string[] }
  env?: { read_keys?: string[] }
  http?: { urls?: string[]; methods?: string[] }
  shell?: { commands?: string[] }
  mcp?: { servers?: string[]; tools?: string[]; resources?: string[] }
  rego?: { inline?: string; file?: string; data?: JsonObject; query?: string }
}
