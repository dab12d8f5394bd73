/*
 * How the form of a pack is judged and told: which published versions accept it, and one sentence for each thing that
 * keeps all of them from it.
 */
import type { z } from 'zod'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import { issueWords } from '@/lib/workflow/issue-words'
import { didYouMean, nearestName } from '@/lib/workflow/nearest-name'
import { memberNames } from '@/lib/workflow/schema-members'
import type { Fault } from '../fault'
import type { Tell } from '../tell'
import { type PackVersion, packSchemas, packVersions } from './schema'

/** Names told one by one; a text with more unknown names is another kind of text. */
const maxNamesTold = 20

/** Issues put into words; a text with more of them is another kind of text. */
const maxIssuesRead = 1_000

type Issue = z.core.$ZodIssue

/**
 * Tells what the form of a pack is worth: which versions accept it as a remark, or what refuses it as errors. True when
 * at least one version accepts it. Tool names with spaces are a warning alone: the RFC's own examples have them.
 */
export function judgeForm(pack: JsonObject, tell: Tell): boolean {
  const spaced = new Set<string>()
  const refusals = new Map<PackVersion, Issue[]>()
  for (const version of packVersions) {
    const issues = issuesOf(packSchemas[version], pack)
    const counted = issues.filter((issue) => !isSpacedName(issue, pack))
    for (const issue of issues) if (isSpacedName(issue, pack)) spaced.add(String(issue.path[1]))
    if (counted.length > 0) refusals.set(version, counted)
  }
  const accepting = packVersions.filter((version) => !refusals.has(version))
  if (accepting.length > 0) tellAccepted(accepting, refusals, pack, tell)
  else tellRefused(refusals, pack, tell)
  for (const name of spaced) tellSpaced(name, pack, tell)
  return accepting.length > 0
}

function issuesOf(schema: z.ZodType, value: Json): Issue[] {
  const result = schema.safeParse(value)
  return result.success ? [] : result.error.issues
}

function isSpacedName(issue: Issue, pack: JsonObject): boolean {
  const [list, name, member, ...rest] = issue.path
  if (list !== 'tools' || member !== 'name' || rest.length > 0 || issue.code !== 'invalid_format')
    return false
  const tool = isJsonObject(pack.tools) ? pack.tools[String(name)] : undefined
  return isJsonObject(tool) && typeof tool.name === 'string' && /^[a-zA-Z_][a-zA-Z0-9_ ]*$/.test(tool.name)
}

function tellSpaced(name: string, pack: JsonObject, tell: Tell): void {
  const tool = isJsonObject(pack.tools) ? pack.tools[name] : undefined
  const shown = isJsonObject(tool) ? String(tool.name) : name
  tell({
    path: ['tools', name, 'name'],
    code: 'tool_name_spaces',
    severity: 'warning',
    message: `The tool ${quoted(name)} calls itself ${quoted(shown)}; the published schemas want a name without spaces.`,
    mend: `Write "name": ${quoted(name)}; models are told of it under ${quoted(name)} in any case.`,
  })
}

function tellAccepted(
  accepting: readonly PackVersion[],
  refusals: ReadonlyMap<PackVersion, Issue[]>,
  pack: JsonObject,
  tell: Tell,
): void {
  const [other] = refusals.keys()
  const issues = other ? (refusals.get(other) ?? []) : []
  const [why] = issues.slice(0, 1).flatMap((issue) => faultsOf(issue, pack, other))
  const more = issues.length > 1 ? ` and ${issues.length - 1} more` : ''
  tell({
    path: [],
    code: 'accepted_by',
    severity: 'info',
    message: other
      ? `PromptPack ${accepting.join(' and ')} accepts this pack; ${other} does not: ${withoutStop(why?.message ?? 'it has another form')}${more}.`
      : `PromptPack ${accepting.join(' and ')} accept this pack.`,
    // Of the form alone: what the pack means may still be wrong.
    mend: other ? 'One is enough for its form.' : 'Its form needs no change.',
  })
}

/** What all versions refuse; where each refuses something else, what the most lenient of them does. */
function tellRefused(refusals: ReadonlyMap<PackVersion, Issue[]>, pack: JsonObject, tell: Tell): void {
  const faults = [...refusals].map(([version, issues]): [PackVersion, Fault[]] => [
    version,
    issues.slice(0, maxIssuesRead).flatMap((issue) => faultsOf(issue, pack, version)),
  ])
  // What an unknown member may be instead differs between versions; that it is unknown does not.
  const key = ({ path, code, message }: Fault) =>
    JSON.stringify([path, code === 'unknown_member' ? code : message])
  const [first, second] = faults
  if (!first) return
  const others = new Set(second?.[1].map(key))
  const common = first[1].filter((fault) => others.has(key(fault)))
  if (common.length > 0) return common.forEach(tell)
  const [version, fewest] = faults.reduce((least, next) => (next[1].length < least[1].length ? next : least))
  for (const fault of fewest)
    tell({ ...fault, message: `PromptPack ${version}, which comes nearest, refuses this: ${fault.message}` })
}

/** Tells everything a schema refuses of a value, as far as it counts. True when that is nothing. */
export function fits(
  schema: z.ZodType,
  value: Json,
  path: GraphPath,
  tell: Tell,
  counts: (issue: Issue) => boolean = () => true,
): boolean {
  const issues = issuesOf(schema, value).filter(counts)
  for (const issue of issues.slice(0, maxIssuesRead))
    for (const fault of faultsOfIssue(issue, value, schema, path)) tell(fault)
  return issues.length === 0
}

function faultsOf(issue: Issue, pack: JsonObject, version: PackVersion | undefined): Fault[] {
  return faultsOfIssue(issue, pack, packSchemas[version ?? '1.5.0'], [])
}

function faultsOfIssue(issue: Issue, value: Json, schema: z.ZodType, path: GraphPath): Fault[] {
  const inside = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))
  const place = [...path, ...inside]
  if (issue.code === 'unrecognized_keys') {
    const known = memberNames(schema, inside)
    return issue.keys.slice(0, maxNamesTold).map((name) => unknownFault(name, place, known))
  }
  const missing = issue.code === 'custom' ? issue.params?.missing : undefined
  if (typeof missing === 'string') return [missingFault(missing, place, strangersAt(value, inside, schema))]
  const words = issueWords(issue, value)
  if (words.startsWith('is missing') && inside.length > 0)
    return [
      missingFault(
        String(inside.at(-1)),
        place.slice(0, -1),
        strangersAt(value, inside.slice(0, -1), schema),
      ),
    ]
  return [
    {
      path: place,
      code: 'bad_value',
      message: `${placeWords(place)} ${words}.`,
      mend: 'Correct the value.',
    },
  ]
}

/** An unknown member, at its name. */
function unknownFault(name: string, path: GraphPath, known: readonly string[]): Fault {
  const takes = known.length > 0 ? `it takes ${known.join(', ')}` : 'it takes nothing'
  return {
    path: [...path, name],
    what: 'name',
    code: 'unknown_member',
    message: `${placeWords(path)} has no member ${quoted(name)}; ${takes}.`,
    mend: didYouMean(name, known, 'Remove it, or correct its spelling.'),
  }
}

/** Members of an object in the value that the schema does not know there. */
function strangersAt(value: Json, inside: GraphPath, schema: z.ZodType): string[] {
  let here: Json | undefined = value
  for (const part of inside)
    here = Array.isArray(here) ? here[Number(part)] : isJsonObject(here) ? here[String(part)] : undefined
  const known = new Set(memberNames(schema, inside))
  if (!isJsonObject(here) || known.size === 0) return []
  return Object.keys(here)
    .filter((name) => !known.has(name))
    .slice(0, maxNamesTold)
}

function missingFault(name: string, path: GraphPath, strangers: readonly string[]): Fault {
  const slip = strangers.find((stranger) => nearestName(stranger, [name]) !== undefined)
  return {
    path,
    what: 'name',
    code: 'missing',
    message: `${placeWords(path)} has no ${quoted(name)}.`,
    mend:
      slip === undefined
        ? `Add ${quoted(name)}.`
        : `Did you mean ${quoted(name)} where ${quoted(slip)} is written?`,
  }
}

/** Objects whose members have names of their own, longest path first, and what one of them is called. */
const namedThings: [path: string[], word: string][] = [
  [['workflow', 'engine', 'bindings'], 'the binding of tool'],
  [['workflow', 'states'], 'state'],
  [['agents', 'members'], 'agent'],
  [['prompts'], 'prompt'],
  [['tools'], 'tool'],
  [['fragments'], 'fragment'],
  [['compositions'], 'composition'],
]

/** Where a place is, in words: `"max_visits" of state "test"`, `Prompt "coder"`. */
export function placeWords(path: GraphPath): string {
  const words = placeText(path)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function placeText(path: GraphPath): string {
  const [thing, rest] = thingOf(path)
  return rest.length === 0 ? thing : `${quoted(rest.join('.').slice(0, 100))} of ${thing}`
}

function thingOf(path: GraphPath): [words: string, rest: GraphPath] {
  for (const [where, word] of namedThings) {
    const name = path[where.length]
    if (name !== undefined && where.every((part, at) => path[at] === part))
      return [`${word} ${quoted(String(name))}`, path.slice(where.length + 1)]
  }
  if (path[0] === 'workflow' && path[1] === 'engine') return ['the engine', path.slice(2)]
  if (path[0] === 'workflow' || path[0] === 'agents')
    return [path[0] === 'agents' ? 'the agents' : 'the workflow', path.slice(1)]
  return ['the pack', path]
}

function withoutStop(text: string): string {
  return text.replace(/\.+$/, '')
}
