/*
 * The static allowlist (agentd section 4): what is not named is denied, and there are three ways to name something.
 *
 *   *                          anything
 *   prefix/**  or  prefix/*    the prefix itself and anything under it
 *   text                       exactly this
 *
 * There is nothing more, on purpose: whoever reads the list knows what can be reached. A `*` anywhere else is a
 * character like others. Names of environment variables are the one exception the format makes, because they have no
 * folders: `AGENTD_*` names every variable that begins so.
 *
 * What is asked about is already where it really leads: paths and commands are absolute, normal and free of symlinks
 * (lib/runners/place.ts sees to it), and a path that is not is denied. URLs are brought into one form here.
 */
import type { Allowlist } from '@/lib/workflow/graph'
import type { Allowed, Answer } from './answer'
import { denial } from './denial'
import { absolutePath } from './roots'
import type { ToolCall } from './tool-call'
import { canonicalUrl, hidesDots, urlMatches } from './url-pattern'

/** Whether the allowlist names the call, and which of its rules does. */
export function allowlistAnswer(allow: Allowlist, call: ToolCall): Answer {
  switch (call.tool) {
    case 'fs.read':
      return pathAnswer('policy.fs.read', allow.fs.read, call, call.path)
    case 'fs.write':
      return pathAnswer('policy.fs.write', allow.fs.write, call, call.path)
    case 'fs.delete':
      return pathAnswer('policy.fs.delete', allow.fs.delete, call, call.path)
    case 'fs.list':
      return allow.fs.list.length > 0
        ? pathAnswer('policy.fs.list', allow.fs.list, call, call.path)
        : pathAnswer('policy.fs.read', allow.fs.read, call, call.path)
    case 'env.read':
      return firstMatch('policy.env.read_keys', allow.env.readKeys, call, (rule) =>
        nameMatches(rule, call.key),
      )
    case 'http.request':
      return httpAnswer(allow, call)
    case 'shell.run':
      return pathAnswer('policy.shell.commands', allow.shell.commands, call, call.command)
    case 'mcp.tool':
      return firstMatch('policy.mcp.tools', allow.mcp.tools, call, (rule) => pathMatches(rule, call.name))
    case 'mcp.resource':
      return firstMatch('policy.mcp.resources', allow.mcp.resources, call, (rule) =>
        resourceMatches(rule, call.uri),
      )
    default:
      return call satisfies never
  }
}

/** The three forms, on texts that have one spelling: paths, commands, names of tools. */
export function pathMatches(pattern: string, text: string): boolean {
  if (pattern === '*') return true
  const prefix = prefixOf(pattern)
  return prefix === undefined ? pattern === text : text === prefix || text.startsWith(`${prefix}/`)
}

/** Names of environment variables: `*`, a beginning with `*` behind it, or the name. */
export function nameMatches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name
}

/**
 * The allowlist with its relative folders made absolute: like the paths of steps, they start in the installation's
 * first folder. A pattern with `..` in it stays as it is and names nothing.
 */
export function rootedAllowlist(allow: Allowlist, firstFolder: string): Allowlist {
  const rooted = (patterns: readonly string[]) =>
    patterns.map((pattern) => rootedPattern(pattern, firstFolder))
  const { read, write, delete: remove, list } = allow.fs
  return {
    ...allow,
    fs: { read: rooted(read), write: rooted(write), delete: rooted(remove), list: rooted(list) },
  }
}

function rootedPattern(pattern: string, firstFolder: string): string {
  if (pattern === '*' || pattern === '' || pattern.startsWith('/')) return pattern
  const prefix = prefixOf(pattern)
  const path = prefix ?? pattern
  if (path.split('/').includes('..')) return pattern
  return `${absolutePath(path, firstFolder)}${prefix === undefined ? '' : pattern.slice(prefix.length)}`
}

function prefixOf(pattern: string): string | undefined {
  return /^(.*)\/\*\*?$/s.exec(pattern)?.[1]
}

function resourceMatches(pattern: string, uri: string): boolean {
  if (pattern === '*' || pattern === uri) return true
  // What a server makes of dots in its own URIs is not known; under a prefix they would lead out of it.
  return prefixOf(pattern) !== undefined && pathMatches(pattern, uri) && !hidesDots(uri)
}

function pathAnswer(list: string, patterns: readonly string[], call: ToolCall, path: string): Answer {
  if (!path.startsWith('/') || absolutePath(path, '/') !== path || path.includes('\0')) {
    return denial(call, list, 'the path is not absolute and normal')
  }
  return firstMatch(list, patterns, call, (pattern) => pathMatches(pattern, path))
}

function httpAnswer(allow: Allowlist, call: Extract<ToolCall, { tool: 'http.request' }>): Answer {
  const { urls, methods } = allow.http
  const method = call.method.toUpperCase()
  const url = canonicalUrl(call.url)
  if (!url) return denial(call, 'policy.http.urls', 'it is no http or https URL without credentials')
  const answer = firstMatch('policy.http.urls', urls, call, (pattern) => urlMatches(pattern, url))
  if (!answer.allowed || methods.length === 0) return answer
  if (methods.some((allowed) => allowed.toUpperCase() === method)) {
    return { ...answer, rule: `${answer.rule} (${method})` }
  }
  return denial(call, 'policy.http.methods', `policy.http.methods allows ${inShort(methods)} only`)
}

function firstMatch(
  list: string,
  patterns: readonly string[],
  call: ToolCall,
  names: (pattern: string) => boolean,
): Answer {
  const pattern = patterns.find(names)
  if (pattern !== undefined)
    return { allowed: true, rule: `${list}: ${inShort([pattern])}` } satisfies Allowed
  return patterns.length === 0
    ? denial(call, list, `${list} names nothing`)
    : denial(call, list, `no rule of ${list} names it`)
}

function inShort(texts: readonly string[]): string {
  const text = texts.join(', ')
  return text.length > 200 ? `${text.slice(0, 199)}…` : text
}
