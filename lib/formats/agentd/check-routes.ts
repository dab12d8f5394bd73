/*
 * Routes and who may use them: each declared once, bound to a way to sign in that is declared, and no credential written
 * into the file.
 */
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import { didYouMean } from '@/lib/workflow/nearest-name'
import type { Tell } from '../tell'
import type { ReadDocument } from './read'

export function checkRoutes(read: ReadDocument, tell: Tell): void {
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

export function routeWords(route: JsonObject): string {
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

export function checkAuth({ auth, section }: ReadDocument, tell: Tell): void {
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
