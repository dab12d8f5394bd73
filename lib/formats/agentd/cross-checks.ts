/*
 * What one section of a file says of another, and what no schema can tell: starts, bindings, servers and secrets that
 * are named and not declared, routes declared twice, headers that cannot be sent, bounds of loops and maps, patterns
 * that look like more than they are. Beyond agentd: credentials written into the file are pointed out, never repeated.
 */
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import { didYouMean } from '@/lib/workflow/nearest-name'
import type { Tell } from '../tell'
import { checkNode } from './check-nodes'
import { checkPatterns } from './check-patterns'
import { checkAuth, checkRoutes, routeWords } from './check-routes'
import { checkServer } from './check-server'
import type { ReadDocument } from './read'

/** Tells every fault between the sections of a document. */
export function crossCheck(read: ReadDocument, tell: Tell): void {
  checkStartRefs(read, tell)
  checkRoutes(read, tell)
  checkAuth(read, tell)
  checkServers(read, tell)
  checkPatterns(read, tell)
  checkPolicy(read, tell)
  for (const [at, node] of read.graph.nodes.entries())
    checkNode(node, [...read.section('nodes'), read.nodeAt[at] ?? at], read, tell)
}

function checkStartRefs(read: ReadDocument, tell: Tell): void {
  const { graph, triggers, routes, section } = read
  const { starts } = read.written
  const check = (entry: JsonObject, path: GraphPath, words: string) => {
    const start = entry.start_node
    if (typeof start !== 'string' || start === '' || starts.includes(start)) return
    tell({
      path: [...path, 'start_node'],
      code: 'unknown_start',
      message: `${words} begins at ${quoted(start)}, and no [[start_nodes]] entry has that name.`,
      mend: didYouMean(start, starts, 'Name a declared start, or declare this one.'),
    })
  }
  for (const [index, trigger] of triggers.entries()) {
    const at = read.written.triggerAt[index] ?? index
    check(trigger, [...section('triggers'), at], `Trigger ${at + 1}`)
  }
  for (const [at, route] of routes.entries())
    check(
      route,
      [...section('http_routes'), read.written.routeAt[at] ?? at],
      `The route ${routeWords(route)}`,
    )
  if (graph.starts.length === 0 && starts.length === 0 && graph.nodes.length > 0)
    tell({
      path: [...section('nodes')],
      what: 'name',
      code: 'no_start',
      severity: 'warning',
      message:
        'The workflow declares no [[start_nodes]], so there is no name under which it could be started.',
      mend: 'Add [[start_nodes]] with a name, a source and an entry_node.',
    })
}

function checkServers({ mcpServers, triggers, section, ...read }: ReadDocument, tell: Tell): void {
  const names = mcpServers.map((server) => String(server.name))
  for (const [at, name] of names.entries())
    if (names.indexOf(name) < at)
      tell({
        path: [...section('mcp_servers'), read.written.serverAt[at] ?? at, 'name'],
        code: 'duplicate_mcp_server',
        message: `The MCP server ${quoted(name)} is declared twice.`,
        mend: 'Give each server a name of its own.',
      })
  for (const [index, trigger] of triggers.entries()) {
    const at = read.written.triggerAt[index] ?? index
    if (typeof trigger.server === 'string')
      checkServer(trigger.server, `Trigger ${at + 1}`, [...section('triggers'), at], names, tell)
  }
}

function checkPolicy({ written, section, graph }: ReadDocument, tell: Tell): void {
  const { policy } = written
  const named = Object.keys(policy ?? {}).filter((name) => name !== 'rego')
  if (graph.policy.rego && named.length === 0)
    tell({
      path: [...section('policy'), 'rego'],
      code: 'rego_alone',
      severity: 'warning',
      message:
        '[policy.rego] stands alone: the allowlist beside it is empty and denies everything before it is asked.',
      mend: 'Add what may be reached at all, such as [policy.fs] with read.',
    })
  if (isJsonObject(graph.extra.signing) && graph.extra.signing.required === true)
    tell({
      path: [...section('signing'), 'required'],
      code: 'signing_not_checked',
      severity: 'warning',
      message: 'The file asks for its own signature to be checked, which is kept but not done here.',
      mend: 'Check the signature before the file is imported.',
    })
}
