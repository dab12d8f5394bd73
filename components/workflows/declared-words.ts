/*
 * What a workflow file declares besides its steps, in words: what limits a run, what its steps draw on, and what begins
 * and guards it. Secrets are told by name and by where they are looked up, never by value; a file may hold values in
 * its auth bindings, and those stay out of sight as well.
 */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { count, duration } from '@/lib/ui/format-time'
import type { Backend, WorkflowGraph } from '@/lib/workflow/graph'

export interface DeclaredLine {
  label: string
  /** One entry a line. */
  lines: { main: string; sub?: string }[]
}

export interface Declared {
  /** What holds for every run of it now. */
  now: DeclaredLine[]
  /** What is read, checked and kept, and not served by this version. */
  later: DeclaredLine[]
}

/** What the workflow declares, without what it does not. */
export function declared(graph: WorkflowGraph): Declared {
  const { extra } = graph
  return {
    now: [
      { label: 'Starts', lines: startLines(graph) },
      { label: 'Limits', lines: budgetLines(graph) },
      { label: 'Models', lines: (graph.backends ?? []).map(backendLine) },
      { label: 'Secrets', lines: secretLines(graph) },
      { label: 'MCP servers', lines: objects(extra.mcp_servers).map(serverLine) },
    ].filter(isSaid),
    later: [
      { label: 'Triggers', lines: objects(extra.triggers).map(triggerLine) },
      { label: 'Routes', lines: objects(extra.http_routes).map(routeLine) },
      { label: 'Callers', lines: authLines(extra.auth) },
      { label: 'TLS', lines: tlsLines(extra.server) },
      { label: 'Logging', lines: loggingLines(extra.logging) },
      { label: 'Signing', lines: signingLines(extra.signing) },
    ].filter(isSaid),
  }
}

function isSaid({ lines }: DeclaredLine): boolean {
  return lines.length > 0
}

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function texts(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

const begunBy = { manual: 'by a person or program', http: 'by a request', event: 'by an event' }

function startLines({ starts }: WorkflowGraph): DeclaredLine['lines'] {
  if (starts.length < 2) return []
  return starts.map(({ name, node, source }) => ({
    main: name,
    sub: `at ${node}${source ? `, ${begunBy[source]}` : ''}`,
  }))
}

function budgetLines({ budget }: WorkflowGraph): DeclaredLine['lines'] {
  const { maxRunS, maxModelTokens, maxWriteBytes, maxMemoryMb, maxCpuS } = budget
  const { maxActiveS, maxTotalVisits, maxToolCalls } = budget
  const said: (string | undefined)[] = [
    maxRunS === undefined ? undefined : `${duration(maxRunS * 1000)} a run`,
    maxTotalVisits === undefined ? undefined : `${count(maxTotalVisits, 'entry', 'entries')} of states a run`,
    maxToolCalls === undefined ? undefined : `${count(maxToolCalls, 'tool call')} of models a run`,
    maxActiveS === undefined
      ? undefined
      : `${duration(maxActiveS * 1000)} of work a run; waiting for people does not count`,
    maxModelTokens === undefined ? undefined : `${maxModelTokens.toLocaleString('en')} model tokens`,
    maxWriteBytes === undefined
      ? undefined
      : `${(maxWriteBytes / 1_048_576).toLocaleString('en')} MiB written`,
    maxMemoryMb === undefined ? undefined : `${maxMemoryMb.toLocaleString('en')} MB of memory for a command`,
    maxCpuS === undefined ? undefined : `${count(maxCpuS, 'second')} of processor time for a command`,
  ]
  return said.flatMap((main) => (main === undefined ? [] : [{ main }]))
}

function backendLine({ name, provider, model, apiKeyEnv, baseUrl, path }: Backend) {
  const where = baseUrl ?? path
  const parts = [model ? `${model} of ${provider}` : provider]
  if (where) parts.push(`at ${where}`)
  if (apiKeyEnv) parts.push(`key from the variable ${apiKeyEnv}`)
  return { main: name, sub: parts.join(', ') }
}

function secretLines({ secrets = [], extra }: WorkflowGraph): DeclaredLine['lines'] {
  const other = isJsonObject(extra.secrets) ? Object.entries(extra.secrets) : []
  const known = new Set(secrets.map(({ name }) => name))
  return [
    ...secrets.map(({ name, from }) => ({
      main: name,
      sub: 'env' in from ? `from the variable ${from.env}` : `from the file ${from.file}`,
    })),
    ...other
      .filter(([name, value]) => !known.has(name) && isJsonObject(value))
      .map(([name, value]) => ({
        main: name,
        sub: `by ${String((value as JsonObject).source ?? 'a source')}, which is not supported yet`,
      })),
  ]
}

function serverLine({ name, command, allow_tools: tools }: JsonObject) {
  const names = texts(tools)
  const program = texts(command).slice(0, 1).join(' ')
  return { main: String(name), sub: `${program}${names.length > 0 ? `, tools ${names.join(', ')}` : ''}` }
}

function triggerLine(trigger: JsonObject) {
  const start = `starts ${String(trigger.start_node)}`
  switch (trigger.type) {
    case 'cron':
      return { main: `At ${String(trigger.schedule)}`, sub: `cron, ${start}` }
    case 'interval':
      return { main: `Every ${String(trigger.every)}`, sub: start }
    case 'fs_watch':
      return {
        main: `When ${String(trigger.path)} changes`,
        sub: [texts(trigger.events).join(', '), start].filter(Boolean).join(', '),
      }
    case 'mcp.resource.updated':
    case 'mcp.resource.created':
      return {
        main: `When ${String(trigger.resource)} changes`,
        sub: `on ${String(trigger.server)}, ${start}`,
      }
    default:
      return { main: `On ${String(trigger.name ?? trigger.type)}`, sub: start }
  }
}

function routeLine({ method, path, auth, start_node: start, idempotency_key: key }: JsonObject) {
  const callers = auth === undefined || auth === 'none' ? 'open to anyone' : `for ${String(auth)}`
  const parts = [callers, `starts ${String(start)}`]
  if (key !== undefined) parts.push(`once for each ${String(key)}`)
  return { main: `${String(method)} ${String(path)}`, sub: parts.join(', ') }
}

/** Names of bindings, and the variables they read; what is written out in the file is only said to be. */
function authLines(auth: Json | undefined): DeclaredLine['lines'] {
  if (!isJsonObject(auth)) return []
  return Object.entries(auth).flatMap(([kind, bindings]) =>
    !isJsonObject(bindings)
      ? []
      : Object.entries(bindings).map(([name, binding]) => ({
          main: `${kind}:${name}`,
          sub: isJsonObject(binding) ? bindingWords(binding) : '',
        })),
  )
}

function bindingWords(binding: JsonObject): string {
  const { issuer } = binding
  if (typeof issuer === 'string') return `issued by ${issuer}`
  const variable = binding.tokens_env ?? binding.credentials_env ?? binding.secret_env
  return typeof variable === 'string' ? `from the variable ${variable}` : 'written in the file'
}

function tlsLines(server: Json | undefined): DeclaredLine['lines'] {
  const tls = isJsonObject(server) && isJsonObject(server.tls) ? server.tls : undefined
  if (!tls) return []
  const client = isJsonObject(tls.client_auth) ? `, client certificates ${String(tls.client_auth.mode)}` : ''
  return [{ main: 'With a certificate of its own', sub: `${String(tls.cert_file)}${client}` }]
}

function loggingLines(logging: Json | undefined): DeclaredLine['lines'] {
  if (!isJsonObject(logging)) return []
  const { audit, otel, target } = logging
  return [
    ...(typeof target === 'string' ? [{ main: 'Log', sub: `to ${target}` }] : []),
    ...(isJsonObject(audit) ? [{ main: 'Audit log', sub: `to ${String(audit.target ?? 'stderr')}` }] : []),
    ...(isJsonObject(otel) ? [{ main: 'OpenTelemetry', sub: `to ${String(otel.endpoint)}` }] : []),
  ]
}

function signingLines(signing: Json | undefined): DeclaredLine['lines'] {
  if (!isJsonObject(signing)) return []
  return [{ main: signing.required === true ? 'A signature is required' : 'A signature may be checked' }]
}
