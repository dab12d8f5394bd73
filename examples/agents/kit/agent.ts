/*
 * The published protocols in front of what an author writes. A request to an endpoint brings a token; every answer to a
 * verified one is signed: the header `Execution-Context`, with the hash of the body's octets. Requests stand in one line,
 * so that a checkpoint is never of something half way to something else.
 */
import { Hono, type HonoRequest } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { type Answer, must, ok, Refusal, refused, type Values } from './answers'
import { Breaker } from './breaker'
import { endpoints } from './endpoints'
import type { Agent, Options, Parts, Route } from './terms'
import { openKeys, sha256, signedBy, verified } from './tokens'

/** Gives the app that answers for the agent. Rejects when its store cannot be written. */
export async function openAgent(agent: Agent, options: Options) {
  const parts = await openParts(agent, options)
  const [app, jwks] = [new Hono(), { keys: [parts.keys.jwk] }]
  app.onError((error) => shown(refused(error, parts)))
  const refuse = (status: number, code: string, detail: string) => shown(new Refusal(status, code, detail).answer)
  app.notFound(({ req }) => refuse(404, 'not_found', `${agent.name} has no ${req.method} ${req.path.slice(0, 100)}.`))
  const tooLong = () => refuse(413, 'body_too_large', 'The body is larger than 1 MiB.')
  app.use(bodyLimit({ maxSize: 1_048_576, onError: tooLong }))
  app.get('/.well-known/jwks.json', () => shown(ok(jwks)))
  for (const [at, route] of Object.entries({ ...endpoints, ...agent.routes })) {
    const [method = '', path = ''] = at.split(' ')
    app.on(method, path, ({ req }) => answered(parts, route, req))
  }
  return { app, jwks, sign: parts.sign, idle: () => parts.line }
}

async function openParts(agent: Agent, options: Options): Promise<Parts> {
  const { store, log = () => {}, now = Date.now, calls = new Breaker(now) } = options
  const keys = await openKeys(store)
  const sign = (claims: Values) => signedBy(agent.id, keys, now(), claims)
  const answering: Parts['answering'] = ({ iss: aud, wid, jti }, exec_act, out_hash, more) =>
    sign({ aud, wid, par: [jti], exec_act, out_hash, ...more })
  return { ...options, agent, keys, log, now, calls, sign, answering, line: Promise.resolve() }
}

async function answered(parts: Parts, route: Route, req: HonoRequest): Promise<Response> {
  const { agent, callers, baseUrl, now, answering } = parts
  const octets = new Uint8Array(await req.arrayBuffer())
  const claims = await verified(req.header('execution-context'), callers, [agent.id, baseUrl], now())
  const [hash, isBare, bound = hash] = [sha256(octets), octets.length === 0, claims.ext?.['hp.body_hash']]
  const act = async () => {
    must(bound === hash, 403, 'ect_claim_invalid', 'The token was made for another body.')
    const json = isBare ? req.param() : Object(await req.json().catch(() => undefined))
    must(isBare || Object.keys(json).length > 0, 400, 'body_not_json', 'The body is no JSON object.')
    return route(parts, { claims, json, hash })
  }
  const inLine = parts.line.then(act).catch((error) => refused(error, parts))
  parts.line = inLine
  const response = shown(await inLine)
  const out_hash = sha256(await response.clone().text())
  response.headers.set('execution-context', await answering(claims, 'hp:agent_answer', out_hash))
  return response
}

function shown({ status, body }: Answer): Response {
  const type = `application/${status < 400 ? '' : 'problem+'}json`
  const headers = new Headers({ 'content-type': type, 'cache-control': 'no-store' })
  if (status === 503) headers.set('retry-after', `${(body as Values).retry_after_s ?? 1}`)
  return new Response(JSON.stringify(body), { status, headers })
}
