/** [intelligence] → the models that may be asked. */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import type { Backend } from '@/lib/workflow/graph'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import type { Tell } from '../tell'
import { readEntries, tellUnknowns } from './read-entries'
import { fits, placeWords } from './refusals'
import * as shapes from './shapes'

const keyed: readonly string[] = ['anthropic', 'openai', 'gemini']
/** Backends that agentd does not have: its own transports by name, and answers from a file. */
const ownProviders: readonly string[] = ['unix', 'http', 'scripted']

export function readBackends(
  source: Json | undefined,
  path: GraphPath,
  tell: Tell,
): { backends: Backend[]; extra: JsonObject } {
  const backends: Backend[] = []
  const extra: JsonObject = {}
  if (source === undefined) return { backends, extra }
  if (!isJsonObject(source)) {
    tell({
      path,
      code: 'bad_value',
      message: `${placeWords(path)} is not a table.`,
      mend: 'Write backends under [[intelligence.backends]].',
    })
    return { backends, extra }
  }
  tellUnknowns(source, ['backends'], path, tell)
  const names = new Set<string>()
  const list = [...path, 'backends']
  for (const [entry, at] of readEntries(source.backends, list, tell, readBackend)) {
    const backend = entry as unknown as BackendTable
    const { name, provider, model, api_key_env, base_url, path: file, max_tokens } = backend
    checkBackend(backend, names, [...list, at], tell)
    names.add(name)
    backends.push({
      name,
      provider,
      ...(model === undefined ? {} : { model }),
      ...(api_key_env === undefined ? {} : { apiKeyEnv: api_key_env }),
      ...(base_url === undefined ? {} : { baseUrl: base_url }),
      ...(file === undefined ? {} : { path: file }),
    })
    if (max_tokens !== undefined) extra[name] = { max_tokens }
  }
  return { backends, extra }
}

/** One with a fault of its own is declared all the same, so that nodes that name it are not told of. */
function readBackend(entry: JsonObject, path: GraphPath, tell: Tell): JsonObject | undefined {
  return fits(shapes.backend, entry, path, tell) || typeof entry.name === 'string' ? entry : undefined
}

interface BackendTable {
  name: string
  provider: Backend['provider']
  model?: string
  api_key_env?: string
  base_url?: string
  path?: string
  max_tokens?: number
}

function checkBackend(
  backend: BackendTable,
  earlier: ReadonlySet<string>,
  path: GraphPath,
  tell: Tell,
): void {
  const { name, provider } = backend
  const isOwn = ownProviders.includes(provider)
  if (earlier.has(name))
    tell({
      path: [...path, 'name'],
      code: 'duplicate_backend',
      message: `The backend ${quoted(name)} is declared twice.`,
      mend: 'Give each backend a name of its own.',
    })
  // Of what no provider was named for, nobody can say what it needs.
  if (!shapes.backend.shape.provider.safeParse(provider).success) return
  const lacks = (member: keyof BackendTable, why: string) => {
    if (backend[member] === undefined)
      tell({
        path,
        code: 'missing',
        message: `The backend ${quoted(name)} has no ${quoted(member)}, which ${why}.`,
        mend: `Add ${quoted(member)}.`,
      })
  }
  if (!isOwn) lacks('model', `every ${provider} backend needs`)
  if (keyed.includes(provider)) lacks('api_key_env', 'names the environment variable that holds its key')
  if (provider === 'openai-compatible' || provider === 'http') lacks('base_url', 'says where it is')
  if (provider === 'unix' || provider === 'scripted') lacks('path', 'says where it is')
}
