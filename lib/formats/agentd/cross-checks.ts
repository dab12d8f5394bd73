/*
 * What one section of a file says of another, and what no schema can tell: starts, bindings, servers and secrets that
 * are named and not declared, routes declared twice, headers that cannot be sent, bounds of loops and maps, patterns
 * that look like more than they are. Beyond agentd: credentials written into the file are pointed out, never repeated.
 */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { loopTools, maxLoopSteps } from '@/lib/nodes/agent-loop'
import { markerFaults } from '@/lib/nodes/template'
import type { GraphNode } from '@/lib/workflow/graph'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import { nearestName } from '@/lib/workflow/nearest-name'
import type { Tell } from '../tell'
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

function checkRoutes(read: ReadDocument, tell: Tell): void {
  const seen = new Map<string, number>()
  for (const [index, route] of read.routes.entries()) {
    const at = read.written.routeAt[index] ?? index
    const path = [...read.section('http_routes'), at]
    checkBinding(route, path, read, tell)
    if (typeof route.method !== 'string' || typeof route.path !== 'string') continue
    const key = `${route.method.toUpperCase()} ${route.path}`
    const earlier = seen.get(key)
    if (earlier === undefined) seen.set(key, at)
    else
      tell({
        path,
        code: 'duplicate_route',
        message: `Route ${at + 1} answers ${key}, which route ${earlier + 1} does already.`,
        mend: 'Remove one of the two, or give it another path.',
      })
  }
}

function routeWords(route: JsonObject): string {
  return quoted([route.method, route.path].filter((part) => typeof part === 'string').join(' '))
}

function checkBinding(route: JsonObject, path: GraphPath, { auth, server }: ReadDocument, tell: Tell): void {
  if (typeof route.auth !== 'string' || route.auth === 'none') return
  const [kind = '', name = 'default'] = route.auth.split(/:(.*)/s)
  if (kind === 'mtls') {
    const client = isJsonObject(server.tls) ? server.tls.client_auth : undefined
    if (isJsonObject(client) && client.mode === 'required') return
    tell({
      path: [...path, 'auth'],
      code: 'mtls_without_tls',
      message: `The route ${routeWords(route)} asks for client certificates, and no [server.tls.client_auth] requires them.`,
      mend: 'Add [server.tls.client_auth] with mode = "required" and a ca_file.',
    })
    return
  }
  // What is no kind at all was told as such.
  if (!Object.hasOwn(sources, kind)) return
  const bindings = isJsonObject(auth[kind]) ? Object.keys(auth[kind]) : []
  if (bindings.includes(name)) return
  tell({
    path: [...path, 'auth'],
    code: 'unknown_binding',
    message: `The route ${routeWords(route)} asks for ${quoted(`${kind}:${name}`)}, and there is no [auth.${kind}.${name.slice(0, 60)}].`,
    mend: didYouMean(
      name,
      bindings,
      `Declare [auth.${kind}.${name.slice(0, 60)}], or name a declared binding.`,
    ),
  })
}

const literals: Record<string, readonly string[]> = {
  bearer: ['tokens'],
  basic: ['credentials'],
  hmac: ['secret'],
}
const sources: Record<string, readonly string[]> = {
  bearer: ['tokens_env', 'tokens'],
  basic: ['credentials_env', 'credentials'],
  hmac: ['secret_env', 'secret'],
  oidc: ['jwks_json', 'jwks_file'],
}

function checkAuth({ auth, section }: ReadDocument, tell: Tell): void {
  for (const [kind, bindings] of Object.entries(auth)) {
    for (const [name, binding] of Object.entries(isJsonObject(bindings) ? bindings : {})) {
      if (!isJsonObject(binding)) continue
      const path = [...section('auth'), kind, name]
      const given = (sources[kind] ?? []).filter((member) => binding[member] !== undefined)
      if (given.length === 0 || (kind === 'oidc' && given.length > 1))
        tell({
          path,
          code: 'binding_source',
          message: `[auth.${kind}.${name.slice(0, 60)}] ${given.length === 0 ? `has neither "${sources[kind]?.join('" nor "')}", so it lets nobody in` : 'has both "jwks_json" and "jwks_file"; only one can count'}.`,
          mend: given.length === 0 ? `Add "${sources[kind]?.[0] ?? ''}".` : 'Keep one of the two.',
        })
      for (const member of literals[kind] ?? [])
        if (binding[member] !== undefined)
          tell({
            path: [...path, member],
            what: 'name',
            code: 'literal_credential',
            severity: 'warning',
            message: `[auth.${kind}.${name.slice(0, 60)}] holds ${quoted(member)} in the file itself, where everybody who can read the workflow reads it too.`,
            mend: `Put it into an environment variable and name that in "${member}_env".`,
          })
    }
  }
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

/** A server may also be one of the installation's: only a file that declares servers itself can have misspelled one. */
function checkServer(
  server: string,
  words: string,
  path: GraphPath,
  names: readonly string[],
  tell: Tell,
): void {
  if (names.includes(server)) return
  const isAlone = names.length === 0
  tell({
    path: [...path, 'server'],
    code: 'unknown_mcp_server',
    severity: isAlone ? 'warning' : 'error',
    message: isAlone
      ? `${words} names the MCP server ${quoted(server)}, and this file declares none; unless the installation has it, it cannot be reached.`
      : `${words} names the MCP server ${quoted(server)}, and no [[mcp_servers]] entry has that name.`,
    mend: didYouMean(server, names, 'Declare it under [[mcp_servers]].'),
  })
}

function checkNode(node: GraphNode, path: GraphPath, read: ReadDocument, tell: Tell): void {
  switch (node.kind) {
    case 'call_mcp_tool':
    case 'read_mcp_resource':
      checkServerOf(node, path, read, tell)
      break
    case 'http_request':
      checkHeaders(node, path, read, tell)
      break
    case 'shell_run':
      wholeFrom(node, 'timeout_secs', 0, maxCommandSecs, path, tell)
      break
    case 'template_render':
      checkTemplate(node, 'template', path, tell)
      break
    case 'call':
      checkCall(node.config.workflow, node, [...path, 'workflow'], read, tell)
      break
    case 'parallel':
      for (const [at, branch] of listOf(node.config.branches).entries())
        if (isJsonObject(branch))
          checkCall(branch.workflow, node, [...path, 'branches', at, 'workflow'], read, tell)
      break
    case 'llm_infer':
      checkTemplate(node, 'prompt', path, tell)
      checkBackendOf(node, path, read, tell)
      checkSchemaOf(node, path, tell)
      break
    case 'agent_loop':
      checkTemplate(node, 'instructions', path, tell)
      checkBackendOf(node, path, read, tell)
      checkSchemaOf(node, path, tell)
      checkLoop(node, path, tell)
      break
    case 'map':
      checkCall(node.config.workflow, node, [...path, 'workflow'], read, tell)
      wholeFrom(node, 'max_items', 1, Number.MAX_SAFE_INTEGER, path, tell)
      wholeFrom(node, 'max_concurrent', 1, Number.MAX_SAFE_INTEGER, path, tell)
      break
    case 'respond':
      checkTemplate(node, 'body_template', path, tell)
      wholeFrom(node, 'status', 100, 599, path, tell)
      checkContentType(node, path, tell)
      break
    default:
      break
  }
}

/** A command runs at most a day (lib/nodes/shell-run.ts). */
const maxCommandSecs = 86_400

function listOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : []
}

/** Markers that are no paths run as they do in agentd, so that nobody is stopped by one. */
function checkTemplate(node: GraphNode, member: string, path: GraphPath, tell: Tell): void {
  const template = node.config[member]
  if (typeof template !== 'string') return
  for (const { line, words, mend } of markerFaults(template))
    tell({
      path: [...path, member],
      code: 'template_marker',
      severity: 'warning',
      message: `Node ${quoted(node.id)}: ${line > 1 ? `line ${line} of ` : ''}${quoted(member)} ${words}.`,
      mend,
    })
}

/** A workflow that names itself, by its name or by its file's, calls itself until the engine refuses to go deeper. */
function checkCall(
  workflow: Json | undefined,
  node: GraphNode,
  path: GraphPath,
  { graph, filename }: ReadDocument,
  tell: Tell,
): void {
  if (typeof workflow !== 'string') return
  const file = workflow.replace(/^\.\//, '')
  const [base, own] = [file, filename].map((name) => name?.split(/[/\\]/).at(-1))
  const stem = plainName(base?.replace(/\.toml$/i, '') ?? '')
  // A file of another name is another workflow, whatever that is called.
  const isNamed = stem === plainName(graph.name) && (own === undefined || base === own || stem === base)
  if (file !== own && !isNamed) return
  tell({
    path,
    code: 'calls_itself',
    severity: 'warning',
    message: `Node ${quoted(node.id)} calls ${quoted(workflow)}, which is this workflow itself; calls go at most ${maxCallDepth} deep.`,
    mend: 'Name another workflow, or make sure that a condition before it ends the calls.',
  })
}

/** Names as the library compares them. */
function plainName(name: string): string {
  return name.toLowerCase().replaceAll('-', '_')
}

/** As deep as the worker lets calls go (agentd section 1.45). */
const maxCallDepth = 8

function checkServerOf(node: GraphNode, path: GraphPath, read: ReadDocument, tell: Tell): void {
  const names = read.mcpServers.map((server) => String(server.name))
  const { server } = node.config
  if (typeof server === 'string') checkServer(server, `Node ${quoted(node.id)}`, path, names, tell)
  if (server === undefined && names.length > 1)
    tell({
      path,
      code: 'ambiguous_mcp_server',
      message: `Node ${quoted(node.id)} names no MCP server, and ${names.length} are declared.`,
      mend: `Add "server": ${names.slice(0, 5).map(quoted).join(' or ')}.`,
    })
}

function checkBackendOf(node: GraphNode, path: GraphPath, { graph }: ReadDocument, tell: Tell): void {
  const { backend } = node.config
  const names = (graph.backends ?? []).map(({ name }) => name)
  if (typeof backend !== 'string' || backend === 'default' || names.includes(backend)) return
  tell({
    path: [...path, 'backend'],
    code: 'unknown_backend',
    severity: 'warning',
    message: `Node ${quoted(node.id)} asks the backend ${quoted(backend)}, which this file does not declare; unless the installation has it, the step will fail.`,
    mend: didYouMean(backend, ['default', ...names], 'Declare it under [[intelligence.backends]].'),
  })
}

function checkSchemaOf(node: GraphNode, path: GraphPath, tell: Tell): void {
  const { output_schema: schema } = node.config
  if (schema !== '') return
  tell({
    path: [...path, 'output_schema'],
    code: 'bad_value',
    message: `Node ${quoted(node.id)} has an empty "output_schema", which is neither a schema file nor a word such as "inline".`,
    mend: 'Name a JSON Schema file, write "inline" to ask for any JSON, or leave it out.',
  })
}

function checkLoop(node: GraphNode, path: GraphPath, tell: Tell): void {
  const { instructions, instructions_from, tools } = node.config
  wholeFrom(node, 'max_steps', 1, maxLoopSteps, path, tell)
  wholeFrom(node, 'max_tokens', 1, Number.MAX_SAFE_INTEGER, path, tell)
  if (instructions === undefined && instructions_from === undefined)
    tell({
      path,
      code: 'missing',
      message: `Node ${quoted(node.id)} has neither "instructions" nor "instructions_from", so the model would not know what to do.`,
      mend: 'Add one of them.',
    })
  if (!Array.isArray(tools)) return
  const known: readonly string[] = loopTools
  if (tools.length === 0)
    tell({
      path: [...path, 'tools'],
      code: 'loop_tools',
      message: `Node ${quoted(node.id)} lists no tools; at least one is needed.`,
      mend: `Tools: ${loopTools.join(', ')}.`,
    })
  for (const [at, tool] of tools.entries())
    if (typeof tool === 'string' && !known.includes(tool))
      tell({
        path: [...path, 'tools', at],
        code: 'loop_tools',
        message: `Node ${quoted(node.id)} lists ${quoted(tool)}, which is no tool of a loop.`,
        mend: didYouMean(tool, known, `Tools: ${loopTools.join(', ')}.`),
      })
}

function wholeFrom(
  node: GraphNode,
  member: string,
  least: number,
  most: number,
  path: GraphPath,
  tell: Tell,
): void {
  const value = node.config[member]
  if (value === undefined || typeof value !== 'number') return
  if (Number.isInteger(value) && value >= least && value <= most) return
  const upTo = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`
  tell({
    path: [...path, member],
    code: 'bounds',
    message: `Node ${quoted(node.id)}: ${quoted(member)} is ${value}; a whole number ${upTo} was expected.`,
    mend: 'Write a number within the bounds.',
  })
}

function checkContentType(node: GraphNode, path: GraphPath, tell: Tell): void {
  const { content_type: type } = node.config
  if (typeof type !== 'string' || /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+\/[\x21-\x7e][\x20-\x7e]*$/.test(type)) return
  tell({
    path: [...path, 'content_type'],
    code: 'bad_content_type',
    message: `Node ${quoted(node.id)}: "content_type" is no media type, or holds a line break.`,
    mend: 'Write one such as application/json or text/xml; charset=utf-8.',
  })
}

const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/
const secretPlaceholder = /\{\{secret:([A-Za-z_][A-Za-z0-9_.-]{0,199})\}\}/g

function checkHeaders(node: GraphNode, path: GraphPath, { written }: ReadDocument, tell: Tell): void {
  const { headers } = node.config
  if (!isJsonObject(headers)) return
  for (const [name, value] of Object.entries(headers)) {
    const place = [...path, 'headers', name]
    if (!headerName.test(name))
      tell({
        path: place,
        what: 'name',
        code: 'bad_header_name',
        message: `Node ${quoted(node.id)}: ${quoted(name)} is not the name of a header.`,
        mend: 'Use letters, digits and hyphens.',
      })
    if (typeof value === 'string') checkHeaderValue(node, name, value, place, written.secrets, tell)
  }
}

function checkHeaderValue(
  node: GraphNode,
  name: string,
  value: string,
  path: GraphPath,
  secrets: readonly string[],
  tell: Tell,
): void {
  const words = `Node ${quoted(node.id)}: the header ${quoted(name)}`
  if (/[\r\n]/.test(value))
    tell({
      path,
      code: 'header_line_break',
      message: `${words} holds a line break, with which more headers could be smuggled in.`,
      mend: 'Write the value on one line.',
    })
  for (const [, secret = ''] of value.matchAll(secretPlaceholder))
    if (!secrets.includes(secret))
      tell({
        path,
        code: 'unknown_secret',
        message: `${words} asks for the secret ${quoted(secret)}, which is not declared.`,
        mend: didYouMean(
          secret,
          secrets,
          `Add [[secrets]] with name = ${quoted(secret)} and where it is found.`,
        ),
      })
  const rest = value.replace(secretPlaceholder, '')
  if (/\{\{\s*secret/i.test(rest))
    tell({
      path,
      code: 'bad_placeholder',
      message: `${words} holds a placeholder for a secret that is not written as {{secret:NAME}}.`,
      mend: 'Write {{secret:NAME}}, without spaces.',
    })
  else if (rest.includes('{{'))
    tell({
      path,
      code: 'header_not_filled',
      severity: 'warning',
      message: `${words} holds "{{"; values of the run never go into headers, so it is sent as it stands.`,
      mend: 'Write a fixed value, or {{secret:NAME}}.',
    })
}

/** Lists of patterns in a policy, by section and member. */
const patternLists = [
  ['fs', 'read'],
  ['fs', 'write'],
  ['fs', 'delete'],
  ['fs', 'list'],
  ['env', 'read_keys'],
  ['http', 'urls'],
  ['shell', 'commands'],
  ['mcp', 'tools'],
  ['mcp', 'resources'],
] as const

function checkPatterns(read: ReadDocument, tell: Tell): void {
  const { policy } = read.written
  for (const [section, member] of patternLists) {
    const table = policy?.[section]
    const list = isJsonObject(table) ? table[member] : undefined
    if (!Array.isArray(list)) continue
    const path = [...read.section('policy'), section, member]
    for (const [at, pattern] of list.entries())
      if (typeof pattern === 'string' && looksLikeMore(pattern, section === 'env'))
        tellPattern(pattern, [...path, at], tell)
  }
  for (const [at, server] of read.mcpServers.entries())
    for (const member of ['allow_tools', 'allow_resources'])
      for (const [index, pattern] of (Array.isArray(server[member]) ? server[member] : []).entries())
        if (typeof pattern === 'string' && looksLikeMore(pattern, true))
          tellPattern(
            pattern,
            [...read.section('mcp_servers'), read.written.serverAt[at] ?? at, member, index],
            tell,
          )
}

function tellPattern(pattern: string, path: GraphPath, tell: Tell): void {
  tell({
    path,
    code: 'pattern_literal',
    severity: 'warning',
    message: `The pattern ${quoted(pattern)} is taken literally: only "*", "prefix/*" and "prefix/**" stand for more than themselves.`,
    mend: 'Write one of the three forms, or name each target.',
  })
}

const regexLike = /^\^|\$$|\.[*+]|\\[dwsb.]|\(\?|\[[^\]]*-[^\]]*\]|\[\^|\([^)]*\|[^)]*\)|\{\d+,?\d*\}/

/** Longer ones are no regular expressions of people, and reading them as such would take long. */
const maxPatternRead = 500

/** True for what people write when they mean a regular expression or a richer glob. */
function looksLikeMore(pattern: string, mayEndInStar: boolean): boolean {
  const rest = mayEndInStar ? pattern.replace(/\*$/, '') : pattern.replace(/(^|\/)\*\*?$/, '')
  return rest.includes('*') || (rest.length <= maxPatternRead && regexLike.test(rest))
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

function didYouMean(written: string, names: readonly string[], otherwise: string): string {
  const nearest = nearestName(written, names)
  return nearest ? `Did you mean ${quoted(nearest)}?` : otherwise
}
