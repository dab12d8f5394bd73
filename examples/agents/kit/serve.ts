/*
 * An agent behind HTTP. What changes it stands in one line, so that a snapshot is never of something half way to something
 * else. Every answer to a verified request is signed: `Execution-Context` with the hash of the body's octets.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Breaker } from './breaker'
import { Checkpoints } from './checkpoints'
import { Shelf } from './disk'
import { inAerr, prepare, rollback } from './rollbacks'
import { task } from './tasks'
import { type Agent, type Answer, must, ok, Refusal, type Values } from './terms'
import { type Claims, type Jwks, openKeys, sha256, signerOf, uuidIn, verifierOf } from './tokens'

/** `folder`: the agent's own. `port`: on loopback; 0 takes a free one. `callers`: whose tokens are believed. */
export type Options = { folder: string; port: number; callers: Jwks } & {
  /** The breakers of what it calls itself. */
  calls?: Breaker
  log?: (sentence: string) => void
  /** Milliseconds since the epoch. */
  now?: () => number
  /** Looks at, changes or holds back an answer before it is sent. */
  sending?: (request: IncomingMessage, response: ServerResponse, answer: () => Promise<Sent>) => Promise<Sent>
}

/** What goes over the wire. */
export type Sent = { status: number; headers: Record<string, string>; body: string }
/** A request with a verified token. `hash`: of the body's octets. */
export type Call = { claims: Claims; json: Values; hash: string }
export type Parts = Awaited<ReturnType<typeof openParts>>
type Route = (parts: Parts, call: Call) => Promise<Answer>

const [keptMs, maxBodyBytes] = [7 * 86_400_000, 1_048_576]

async function openParts(agent: Agent, options: Options) {
  const { folder, callers, log = () => {}, now = Date.now, calls = new Breaker(now) } = options
  const shelf = new Shelf(folder)
  for (const kind of ['seen', 'answers', 'locks', 'runs', 'checkpoints']) await shelf.purge(kind, now())
  const keys = await openKeys(shelf)
  const [sign, verify] = [signerOf(agent.id, keys, now), verifierOf(callers, now)]
  const answering = ({ iss: aud, wid, jti }: Claims, exec_act: string, out_hash: string, more: Values = {}) =>
    sign({ aud, wid, par: [jti], exec_act, out_hash, ...more })
  const own = { agent, shelf, keys, log, now, calls, sign, verify, answering }
  return { ...own, checkpoints: new Checkpoints(own), baseUrl: '', line: Promise.resolve() as Promise<unknown> }
}

/** The same question gets the same answer, also after a restart; a failure that may pass is not remembered. */
export async function firstAnswer(parts: Parts, names: string[], asked: string, act: () => Promise<Answer>) {
  for (const name of names) {
    const earlier = await parts.shelf.get<{ answer: Answer; asked: string }>('answers', sha256(name))
    const isSame = !earlier || earlier.asked === sha256(asked)
    must(isSame, 409, 'idempotency_key_reused', 'This idempotency key was used for another request.')
    if (earlier) return earlier.answer
  }
  const answer = await act()
  const isSettled = answer.status < 400 || (answer.body as Values).retriable === false
  const kept = { asked: sha256(asked), answer, until: parts.now() + keptMs }
  for (const name of isSettled ? names : []) await parts.shelf.put('answers', sha256(name), kept)
  parts.log(`${parts.agent.name} answered ${answer.status} to ${names.at(-1)}`)
  return answer
}

/** What is answered when this was thrown. */
export function refused({ agent: { name }, log }: Parts, error: Error): Answer {
  if (error instanceof Refusal) return error.answer
  log(`${name} could not answer: ${error.message}`)
  return new Refusal(500, 'internal', `${name} could not do this.`, { retriable: true }).answer
}

/** Starts the agent on loopback. Rejects when the port is taken or the folder cannot be written. */
export async function serve(agent: Agent, options: Options) {
  const parts = await openParts(agent, options)
  const server = createServer(async (request, response) => {
    const answer = () => sent(parts, request)
    const { status, headers, body } = await (options.sending?.(request, response, answer) ?? answer())
    response.writeHead(status, headers).end(body)
  })
  await once(server.listen(options.port, '127.0.0.1'), 'listening')
  parts.baseUrl = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  parts.log(`${agent.name} listens on ${parts.baseUrl}`)
  /** Finishes what is under way, then stops listening. */
  const stop = async () => {
    await parts.line.catch(() => {})
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { baseUrl: parts.baseUrl, jwks: parts.keys.jwks, sign: parts.sign, stop }
}

async function sent(parts: Parts, request: IncomingMessage): Promise<Sent> {
  const call = {} as Call
  const { status, body: said } = await answered(parts, request, call).catch((error) => refused(parts, error))
  const body = typeof said === 'string' ? said : JSON.stringify(said)
  const type = typeof said === 'string' ? 'text/plain' : `application/${status < 400 ? '' : 'problem+'}json`
  const headers: Sent['headers'] = { 'content-type': type, 'cache-control': 'no-store' }
  if (status === 503) headers['retry-after'] = `${(said as Values).retry_after_s ?? 1}`
  const signed = call.claims && (await parts.answering(call.claims, 'hp:agent_answer', sha256(body)))
  return { status, headers: signed ? { ...headers, 'execution-context': signed } : headers, body }
}

const circuits: Route = async ({ calls }) => ok({ circuits: calls.circuits() })
const routes = new Map<string, Route>([
  ['POST /.well-known/holdpoint/task', task],
  ['POST /.well-known/atd/rollback', rollback],
  ['POST /.well-known/cascade/rollback/prepare', prepare],
  ['POST /.well-known/cascade/rollback', rollback],
  ['GET /.well-known/cascade/checkpoints/', checkpointShown],
  ['GET /.well-known/cascade/circuits', circuits],
  ['POST /aerr/rollback', (parts, call) => rollback(parts, call).then(inAerr)],
  ['POST /aerr/error', errorTold],
  ['GET /aerr/circuits', circuits],
])

/** Leaves in `call` what is verified of the request. */
async function answered(parts: Parts, request: IncomingMessage, call: Call): Promise<Answer> {
  const { agent, baseUrl, keys } = parts
  const { method, url = '/', headers } = request
  const { pathname } = new URL(url, 'http://agent')
  const [short = '', id] = pathname.replace('/.well-known/aerr/', '/aerr/').split(/(?<=\/checkpoints\/)/)
  const [at, isGet] = [`${method} ${short}`, method === 'GET']
  if (at === 'GET /health') return ok({ status: 'ok', agent: agent.id })
  if (at === 'GET /.well-known/jwks.json') return ok(keys.jwks)
  const read = isGet && Object.hasOwn(agent.reads ?? {}, pathname) && agent.reads?.[pathname]
  if (read) return read(headers)
  const route = routes.get(at)
  must(route, 404, 'not_found', `${agent.name} has no ${method} ${pathname.slice(0, 100)}.`)
  let octets = Buffer.alloc(0)
  for await (const chunk of request) {
    octets = Buffer.concat([octets, chunk])
    must(octets.length <= maxBodyBytes, 413, 'body_too_large', 'The body is larger than 1 MiB.')
  }
  call.claims = await parts.verify([headers['execution-context']].flat()[0], [agent.id, baseUrl])
  const text = isGet ? JSON.stringify({ checkpoint_id: decodeURIComponent(id ?? '') }) : octets.toString()
  const json: Values = Object(await new Response(text).json().catch(() => undefined))
  must(isGet || Object.keys(json).length > 0, 400, 'body_not_json', 'The body is no JSON object.')
  const act = () => route(parts, { ...call, json, hash: sha256(octets) })
  parts.line = parts.line.then(act, act)
  return parts.line as Promise<Answer>
}

/** An error signal (AERR section 5), taken once, and only of a run this agent worked for. */
async function errorTold(parts: Parts, { claims: { wid }, json }: Call): Promise<Answer> {
  const [error, kept] = [uuidIn(json.error_id), await parts.checkpoints.get(json.checkpoint_id)]
  must(error, 400, 'bad_request', '"error_id" is no UUID.')
  const isOurs = (await parts.shelf.get('runs', wid)) && (kept?.wid ?? wid) === wid
  must(isOurs, 403, 'signal_outside_chain', `${parts.agent.name} has no part in that run.`)
  return firstAnswer(parts, [`error ${wid} ${error}`], '', async () => {
    await parts.agent.onError?.(json)
    return ok({ error_id: json.error_id, status: 'accepted' }, 202)
  })
}

async function checkpointShown({ checkpoints, now }: Parts, { claims, json }: Call): Promise<Answer> {
  const kept = await checkpoints.get(json.checkpoint_id)
  must(kept?.wid === claims.wid, 404, 'checkpoint_missing', 'There is no such checkpoint of that run.')
  const holds = await checkpoints.open(kept).then(Boolean, () => false)
  const verification = { signature_valid: holds, out_hash_matches: holds, expired: kept.until <= now() }
  return ok({ checkpoint_id: kept.id, ect: kept.ect, verification })
}
