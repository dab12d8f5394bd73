/** [secrets] → where each secret is found; never what it is. */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import type { SecretSource } from '@/lib/workflow/graph'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import type { Tell } from '../tell'
import { readEntries } from './read-entries'
import { fits } from './refusals'
import * as shapes from './shapes'

/*
 * Three spellings: [[secrets]] entries, one [secrets] table of the same form, and [secrets] with a name for each.
 * What the graph cannot say of a secret (`trim`, and sources that run a command or ask for a token) is kept by name.
 */
export function readSecrets(
  source: Json | undefined,
  path: GraphPath,
  tell: Tell,
): { secrets: SecretSource[]; names: string[]; extra: JsonObject } {
  const secrets: SecretSource[] = []
  const extra: JsonObject = {}
  const names = new Set<string>()
  for (const [entry, place] of secretEntries(source, path, tell)) {
    const isWhole = fits(secretShape(entry), entry, place, tell)
    const { name } = entry
    if (typeof name !== 'string') continue
    if (names.has(name))
      tell({
        path: place,
        code: 'duplicate_secret',
        message: `The secret ${quoted(name)} is declared twice.`,
        mend: 'Keep one of the two.',
      })
    names.add(name)
    if (!isWhole) continue
    const env = entry.source === 'env' ? entry.var : entry.env
    const file = entry.source === 'file' ? entry.path : entry.file
    if (typeof env === 'string' && file === undefined) secrets.push({ name, from: { env } })
    else if (typeof file === 'string' && env === undefined) {
      secrets.push({ name, from: { file } })
      if (entry.trim !== undefined) extra[name] = { trim: entry.trim }
    } else if (entry.source === undefined) {
      tell({
        path: place,
        code: 'secret_source',
        message: `The secret ${quoted(name)} says ${env === undefined ? 'nowhere' : 'twice'} where it is found.`,
        mend: 'Write source = "env" with "var", or source = "file" with "path".',
      })
    } else {
      extra[name] = entry
      tell({
        path: place,
        code: 'secret_not_served',
        severity: 'warning',
        message: `The secret ${quoted(name)} comes from a source of the kind ${quoted(String(entry.source))}, which is kept but not served here; what needs it will fail.`,
        mend: 'Let something else put it into a file or an environment variable, and name that.',
      })
    }
  }
  return { secrets, names: [...names], extra }
}

function secretShape(entry: JsonObject) {
  const { source } = entry
  if (source === undefined)
    return entry.env === undefined && entry.file === undefined ? shapes.sourcelessSecret : shapes.shortSecret
  return typeof source === 'string' && Object.hasOwn(shapes.secretShapes, source)
    ? shapes.secretShapes[source as keyof typeof shapes.secretShapes]
    : shapes.anySecret
}

function secretEntries(source: Json | undefined, path: GraphPath, tell: Tell): [JsonObject, GraphPath][] {
  if (!isJsonObject(source))
    return readEntries(source, path, tell, (entry) => entry).map(([entry, at]) => [entry, [...path, at]])
  if (typeof source.name === 'string') return [[source, path]]
  const entries: [JsonObject, GraphPath][] = []
  for (const [name, value] of Object.entries(source)) {
    const place = [...path, name]
    if (typeof value === 'string') entries.push([{ name, ...shortSource(value) }, place])
    else if (isJsonObject(value)) entries.push([{ ...value, name }, place])
    else
      tell({
        path: place,
        code: 'bad_value',
        message: `The secret ${quoted(name)} is neither a text nor a table.`,
        mend: 'Write { source = "env", var = "NAME" }.',
      })
  }
  return entries
}

/** `env:NAME`, `file:/path`, or the name of an environment variable alone. */
function shortSource(text: string): JsonObject {
  if (text.startsWith('file:')) return { file: text.slice(5) }
  return { env: text.startsWith('env:') ? text.slice(4) : text }
}
