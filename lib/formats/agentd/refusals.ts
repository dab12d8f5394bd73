/*
 * How a schema's refusals become faults of a text: one sentence each, at the place of the member, with the nearest
 * known name for one that is unknown.
 */
import type { z } from 'zod'
import type { Json } from '@/lib/base/json'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import { issueWords } from '@/lib/workflow/issue-words'
import { nearestName } from '@/lib/workflow/nearest-name'
import { memberNames } from '@/lib/workflow/schema-members'
import type { Tell } from '../tell'

/** Names told one by one; a text with more unknown names is another kind of text. */
export const maxNamesTold = 20

/** Tells everything a schema refuses of a value. True when it refuses nothing. */
export function fits(schema: z.ZodType, value: Json, path: GraphPath, tell: Tell): boolean {
  const result = schema.safeParse(value)
  if (result.success) return true
  for (const issue of result.error.issues) {
    const inside = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))
    const place = [...path, ...inside]
    if (issue.code === 'unrecognized_keys') {
      const known = memberNames(schema, inside)
      for (const key of issue.keys.slice(0, maxNamesTold)) tellUnknown(key, place, known, tell)
    } else if (wordsOf(issue, value).startsWith('is missing') && inside.length > 0) {
      tellMissing(String(inside.at(-1)), place.slice(0, -1), tell)
    } else
      tell({
        path: place,
        code: 'bad_value',
        message: `${placeWords(place)} ${wordsOf(issue, value)}.`,
        mend: 'Correct the value.',
      })
  }
  return false
}

function wordsOf(issue: z.core.$ZodIssue, value: Json): string {
  return issueWords(issue, value)
}

/** An unknown member, at its name. */
export function tellUnknown(name: string, path: GraphPath, known: readonly string[], tell: Tell): void {
  if (tell.isFull()) return
  const nearest = nearestField(name, known)
  const takes = known.length > 0 ? `it takes ${known.join(', ')}` : 'it takes nothing'
  tell({
    path: [...path, name],
    what: 'name',
    code: 'unknown_field',
    message: `${placeWords(path)} has no field ${quoted(name)}; ${takes}.`,
    mend: nearest ? `Did you mean ${quoted(nearest)}?` : 'Remove it, or correct its spelling.',
  })
}

/** The field that was most likely meant: one spelled nearly so, or one that begins so (`path_from` for `path`). */
export function nearestField(name: string, known: readonly string[]): string | undefined {
  return nearestName(name, known) ?? known.find((field) => field.startsWith(`${name}_`))
}

/** A member that must be there and is not. */
export function tellMissing(name: string, path: GraphPath, tell: Tell): void {
  tell({
    path,
    code: 'missing',
    message: `${placeWords(path)} has no ${quoted(name)}.`,
    mend: `Add ${quoted(name)}.`,
  })
}

const entryWords: Record<string, string> = {
  start_nodes: 'Start',
  triggers: 'Trigger',
  http_routes: 'Route',
  nodes: 'Node',
  edges: 'Edge',
  secrets: 'Secret',
  mcp_servers: 'MCP server',
  backends: 'Backend',
  workflows: 'Workflow',
}

/** Where a place is, in words: `"schedule" of trigger 2`, `"read" of [policy.fs]`. */
export function placeWords(path: GraphPath): string {
  const words = placeText(path)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function placeText(path: GraphPath): string {
  const full = path[0] === 'workflows' && typeof path[1] === 'number' ? path.slice(2) : path
  if (full.length === 0) return 'the workflow'
  const at = full.findLastIndex((part, index) => typeof part === 'number' && isList(full[index - 1]))
  const [list, index] = [full[at - 1], full[at]]
  if (at > 0 && typeof index === 'number') {
    const entry = `${(entryWords[String(list)] ?? 'Entry').replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase())} ${index + 1}`
    return at === full.length - 1 ? entry : `${quoted(joined(full.slice(at + 1)))} of ${entry}`
  }
  const depth =
    [2, 1].find((length) => full.length >= length && tables.has(full.slice(0, length).join('.'))) ?? 0
  const table = depth > 0 ? `[${full.slice(0, depth).join('.')}]` : 'the workflow'
  return full.length === depth ? table : `${quoted(joined(full.slice(depth)))} of ${table}`
}

function isList(name: string | number | undefined): boolean {
  return typeof name === 'string' && Object.hasOwn(entryWords, name)
}

const tables = new Set(
  'policy auth logging server signing budget intelligence secrets policy.fs policy.env policy.http policy.shell policy.mcp policy.rego server.tls logging.audit logging.otel auth.bearer auth.basic auth.hmac auth.oidc'.split(
    ' ',
  ),
)

function joined(parts: GraphPath): string {
  return parts.join('.').slice(0, 100)
}
