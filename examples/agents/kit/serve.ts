/*
 * An agent behind HTTP. What changes it stands in one line, so that a snapshot is never of something half way to something
 * else. Every answer to a verified request is signed: `Execution-Context` with the hash of the body's octets.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Breaker } from './breaker'
import { Checkpoints } from './checkpoints'
import { Shelf } from './disk'
import { bare, inAerr, prepare, rollback } from './rollbacks'
import { task } from './tasks'
import { type Agent, type Answer, must, Refusal, type Values } from './terms'
import { type Claims, type Jwks, openKeys, sha256, signerOf, uuid, verifierOf } from './tokens'

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

async function openParts(agent: Agent, { folder, callers, calls, log = () => {}, now = Date.now }: Options) {
  const shelf = new Shelf(folder)
  const keys = await openKeys(shelf)
  for (const kind of ['seen', 'answers', 'locks', 'runs', 'checkpoints']) await shelf.purge(kind, now())
  const checkpoints = new Checkpoints(agent, shelf, keys)
  const tokens = { keys, sign: signerOf(agent.id, keys, now), verify: verifierOf(callers, now) }
  const own = { calls: calls ?? new Breaker(now), baseUrl: '', line: Promise.resolve() as Promise<unknown> }
  return { agent, shelf, checkpoints, log, now, ...tokens, ...own }
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

/** The answer that a refusal is; whatever else was thrown is thrown on. */
export function refused(error: unknown): Answer {
  if (error instanceof Refusal) return error.answer
  throw error
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
  parts.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
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
  const broken = ({ message }: Error) => {
    parts.log(`${parts.agent.name} could not answer: ${message}`)
    return new Refusal(500, 'internal', `${parts.agent.name} could not do this.`, { retriable: true }).answer
  }
  const { status, body: said } = await answered(parts, request, call).catch(refused).catch(broken)
  const body = typeof said === 'string' ? said : JSON.stringify(said)
  const type = typeof said === 'string' ? 'text/plain' : `application/${status < 400 ? '' : 'problem+'}json`
  const headers: Record<string, string> = { 'content-type': type, 'cache-control': 'no-store' }
  if (status === 503) headers['retry-after'] = `${(said as Values).retry_after_s ?? 1}`
  if (!call.claims) return { status, headers, body }
  const { iss: aud, wid, jti } = call.claims
  const signed = { aud, wid, par: [jti], exec_act: 'hp:agent_answer', out_hash: sha256(body) }
  return { status, headers: { ...headers, 'execution-context': await parts.sign(signed) }, body }
}

const circuits: Route = async ({ calls }) => ({ status: 200, body: { circuits: calls.circuits() } })
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
  const { agent, baseUrl } = parts
  const { pathname } = new URL(request.url ?? '/', 'http://agent')
  const [short = '', id] = pathname.replace('/.well-known/aerr/', '/aerr/').split(/(?<=\/checkpoints\/)/)
  const [at, isGet] = [`${request.method} ${short}`, request.method === 'GET']
  if (at === 'GET /health') return { status: 200, body: { status: 'ok', agent: agent.id } }
  if (at === 'GET /.well-known/jwks.json') return { status: 200, body: parts.keys.jwks }
  const read = isGet && Object.hasOwn(agent.reads ?? {}, pathname) && agent.reads?.[pathname]
  if (read) return read(request.headers)
  const route = routes.get(at)
  must(route, 404, 'not_found', `${agent.name} has no ${request.method} ${pathname.slice(0, 100)}.`)
  let octets = Buffer.alloc(0)
  for await (const chunk of request) {
    octets = Buffer.concat([octets, chunk])
    must(octets.length <= maxBodyBytes, 413, 'body_too_large', 'The body is larger than 1 MiB.')
  }
  call.claims = await parts.verify([request.headers['execution-context']].flat()[0], [agent.id, baseUrl])
  const text = isGet ? JSON.stringify({ checkpoint_id: id }) : octets.toString()
  const json: Values = Object(await new Response(text).json().catch(() => undefined))
  must(isGet || Object.keys(json).length > 0, 400, 'body_not_json', 'The body is no JSON object.')
  const act = () => route(parts, { ...call, json, hash: sha256(octets) })
  const turn = parts.line.then(act, act)
  parts.line = turn
  return turn
}

/** An error signal (AERR section 5), taken once, and only of a run this agent worked for. */
async function errorTold(parts: Parts, { claims: { wid }, json }: Call): Promise<Answer> {
  const [error, kept] = [bare(json.error_id), await checkpointOf(parts, json)]
  must(uuid.test(error), 400, 'bad_request', '"error_id" is no UUID.')
  const isOurs = (await parts.shelf.get('runs', wid)) && (kept?.wid ?? wid) === wid
  must(isOurs, 403, 'signal_outside_chain', `${parts.agent.name} has no part in that run.`)
  return firstAnswer(parts, [`error ${wid} ${error}`], '', async () => {
    await parts.agent.onError?.(json)
    return { status: 202, body: { error_id: json.error_id, status: 'accepted' } }
  })
}

async function checkpointShown(parts: Parts, { claims, json }: Call): Promise<Answer> {
  const kept = await checkpointOf(parts, json)
  must(kept?.wid === claims.wid, 404, 'checkpoint_missing', 'There is no such checkpoint of that run.')
  const holds = (await parts.checkpoints.open(kept).catch(() => undefined)) !== undefined
  const verification = { signature_valid: holds, out_hash_matches: holds, expired: kept.until <= parts.now() }
  return { status: 200, body: { checkpoint_id: kept.id, ect: kept.ect, verification } }
}

async function checkpointOf({ checkpoints }: Parts, json: Values) {
  const id = bare(decodeURIComponent(`${json.checkpoint_id}`))
  return uuid.test(id) ? checkpoints.get(id) : undefined
}
