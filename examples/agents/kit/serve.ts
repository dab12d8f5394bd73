/*
 * An agent behind HTTP. What changes it stands in one line, so that a snapshot is never of something half way to something
 * else. Every answer to a verified request is signed: `Execution-Context` with the hash of the body's octets.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Breaker } from './breaker'
import { Checkpoints } from './checkpoints'
import { Shelf } from './disk'
import { bare, inAerr, prepare, rollback } from './rollbacks'
import { refused, task } from './tasks'
import { type Agent, type Answer, must, Refusal, type Values } from './terms'
import { type Claims, type Jwks, openKeys, sha256, Tokens, uuid } from './tokens'

export interface Options {
  /** Its own folder: keys, checkpoints, answers. */
  folder: string
  /** On loopback; 0 takes a free one. */
  port: number
  /** Whose tokens are believed. */
  callers: Jwks
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

const [usedKeptMs, keptMs, maxBodyBytes] = [960_000, 7 * 86_400_000, 1_048_576]

async function openParts(agent: Agent, { folder, callers, calls, log = () => {}, now = Date.now }: Options) {
  const shelf = new Shelf(folder)
  const keys = await openKeys(shelf)
  for (const kind of ['seen', 'answers', 'locks', 'runs', 'checkpoints'])
    for (const name of await shelf.names(kind))
      if (((await shelf.get<{ until: number }>(kind, name))?.until ?? 0) < now()) await shelf.drop(kind, name)
  const checkpoints = new Checkpoints(agent, shelf, keys)
  const tokens = new Tokens(agent.id, keys, callers, now)
  const answerTo = (name: string) => shelf.get<{ answer: Answer; request: string }>('answers', sha256(name))
  const own = { calls: calls ?? new Breaker(now), baseUrl: '', log, now }
  return { agent, shelf, keys, checkpoints, tokens, answerTo, ...own }
}

/** Refuses a token that was used before; remembers the run as one this agent worked for. */
export async function spend({ shelf, now }: Parts, { jti, wid }: Claims): Promise<void> {
  must(
    !(await shelf.get('seen', jti)),
    403,
    'ect_replayed',
    `The token ${jti} was used before; send a fresh one.`,
  )
  await shelf.put('seen', jti, { until: now() + usedKeptMs })
  if (!(await shelf.get('runs', wid))) await shelf.put('runs', wid, { until: now() + keptMs })
}

/** The same question gets the same answer, also after a restart; a failure that may pass is not remembered. */
export async function firstAnswer(parts: Parts, names: string[], asked: string, act: () => Promise<Answer>) {
  const request = sha256(asked)
  for (const name of names) {
    const earlier = await parts.answerTo(name)
    const isSame = !earlier || earlier.request === request
    must(isSame, 409, 'idempotency_key_reused', 'This idempotency key was used for another request.')
    if (earlier) return earlier.answer
  }
  const answer = await act()
  const isSettled = answer.status < 400 || (answer.body as Values).retriable === false
  const kept = { request, answer, until: parts.now() + keptMs }
  for (const name of isSettled ? names : []) await parts.shelf.put('answers', sha256(name), kept)
  parts.log(`${parts.agent.name} answered ${answer.status} to ${names.at(-1) ?? 'execute'}`)
  return answer
}

/** Starts the agent on loopback. Rejects when the port is taken or the folder cannot be written. */
export async function serve(agent: Agent, options: Options) {
  const parts = await openParts(agent, options)
  let line: Promise<unknown> = Promise.resolve()
  const inLine = (act: () => Promise<Answer>) => {
    const turn = line.then(act)
    line = turn.catch(() => {})
    return turn
  }
  const server = createServer(
    { requestTimeout: 30_000, headersTimeout: 10_000 },
    async (request, response) => {
      const answer = () => sent(parts, request, inLine)
      const { status, headers, body } = await (options.sending?.(request, response, answer) ?? answer())
      response.writeHead(status, headers).end(body)
    },
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port, '127.0.0.1', resolve)
  })
  parts.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  parts.log(`${agent.name} listens on ${parts.baseUrl}`)
  /** Finishes what is under way, then stops listening. */
  const stop = async () => {
    await line
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { baseUrl: parts.baseUrl, jwks: parts.keys.jwks, tokens: parts.tokens, stop }
}

type InLine = (act: () => Promise<Answer>) => Promise<Answer>

async function sent(parts: Parts, request: IncomingMessage, inLine: InLine): Promise<Sent> {
  let claims: Claims | undefined
  const verified = async () => {
    const token = [request.headers['execution-context']].flat()[0]
    claims = await parts.tokens.verify(token, [parts.agent.id, parts.baseUrl])
    return claims
  }
  const broken = (error: Error) => {
    parts.log(`${parts.agent.name} could not answer: ${error.message}`)
    const more = { error_type: 'unknown', retriable: true }
    return new Refusal(500, 'internal', `${parts.agent.name} could not do this; look into its log.`, more)
      .answer
  }
  const answer = await answered(parts, request, verified, inLine).catch(refused).catch(broken)
  const isText = typeof answer.body === 'string'
  const body = isText ? `${answer.body}` : JSON.stringify(answer.body)
  const json = answer.status < 400 ? 'application/json' : 'application/problem+json'
  const type = isText ? 'text/plain; charset=utf-8' : json
  const headers: Record<string, string> = { 'content-type': type, 'cache-control': 'no-store' }
  const wait = (answer.body as Values).retry_after_s
  if (wait) headers['retry-after'] = `${wait}`
  const about = claims && { aud: claims.iss, wid: claims.wid, par: [claims.jti], exec_act: 'hp:agent_answer' }
  if (about) headers['execution-context'] = await parts.tokens.sign({ ...about, out_hash: sha256(body) })
  return { status: answer.status, headers, body }
}

const circuits: Route = async ({ calls }) => ({ status: 200, body: { circuits: calls.circuits() } })
const routes: Record<string, Route> = {
  'POST /.well-known/holdpoint/task': task,
  'POST /.well-known/atd/rollback': rollback,
  'POST /.well-known/cascade/rollback/prepare': prepare,
  'POST /.well-known/cascade/rollback': rollback,
  'POST /aerr/rollback': (parts, call) => rollback(parts, call).then(inAerr),
  'POST /aerr/error': errorTold,
  'GET /.well-known/cascade/circuits': circuits,
  'GET /aerr/circuits': circuits,
}

async function answered(
  parts: Parts,
  request: IncomingMessage,
  verified: () => Promise<Claims>,
  inLine: InLine,
) {
  const { agent } = parts
  const { pathname } = new URL(request.url ?? '/', 'http://agent')
  const at = `${request.method} ${pathname.replace('/.well-known/aerr/', '/aerr/')}`
  if (at === 'GET /health') return { status: 200, body: { status: 'ok', agent: agent.id } }
  if (at === 'GET /.well-known/jwks.json') return { status: 200, body: parts.keys.jwks }
  const read =
    request.method === 'GET' && Object.hasOwn(agent.reads ?? {}, pathname) && agent.reads?.[pathname]
  if (read) return read(request.headers)
  const id = /^GET \/\.well-known\/cascade\/checkpoints\/([\w:%-]+)$/.exec(at)?.[1]
  const route = id ? checkpointShown : Object.hasOwn(routes, at) && routes[at]
  must(route, 404, 'not_found', `${agent.name} has no ${request.method} ${pathname.slice(0, 100)}.`)
  const octets = await octetsOf(request)
  return inLine(async () => {
    const claims = await verified()
    const text = request.method === 'GET' ? JSON.stringify({ checkpoint_id: id }) : octets.toString()
    const json: unknown = await Promise.resolve(text)
      .then(JSON.parse)
      .catch(() => undefined)
    must(typeof json === 'object' && json, 400, 'body_not_json', 'The body is no JSON object.')
    return route(parts, { claims, json: json as Values, hash: sha256(octets) })
  })
}

/** An error signal (AERR section 5), taken once, and only of a run this agent worked for. */
async function errorTold(parts: Parts, { claims: { wid }, json }: Call): Promise<Answer> {
  const [error, checkpoint] = [bare(json.error_id), bare(json.checkpoint_id)]
  must(uuid.test(error), 400, 'bad_request', '"error_id" is no UUID.')
  const kept = uuid.test(checkpoint) ? await parts.checkpoints.get(checkpoint) : undefined
  const isOurs = (await parts.shelf.get('runs', wid)) && (kept?.wid ?? wid) === wid
  must(isOurs, 403, 'signal_outside_chain', `${parts.agent.name} has no part in that run.`)
  return firstAnswer(parts, [`error ${wid} ${error}`], '', async () => {
    await parts.agent.onError?.(json)
    return { status: 202, body: { error_id: json.error_id, status: 'accepted' } }
  })
}

async function checkpointShown({ checkpoints, now }: Parts, { claims, json }: Call): Promise<Answer> {
  const id = bare(decodeURIComponent(`${json.checkpoint_id}`))
  const kept = uuid.test(id) ? await checkpoints.get(id) : undefined
  must(kept?.wid === claims.wid, 404, 'checkpoint_missing', 'There is no such checkpoint of that run.')
  const holds = (await checkpoints.open(kept).catch(() => undefined)) !== undefined
  const verification = { signature_valid: holds, out_hash_matches: holds, expired: kept.until <= now() }
  return { status: 200, body: { checkpoint_id: id, ect: kept.ect, verification } }
}

async function octetsOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) {
    chunks.push(chunk)
    const isShort = chunks.reduce((sum, { length }) => sum + length, 0) <= maxBodyBytes
    must(isShort, 413, 'body_too_large', 'The body is larger than 1 MiB.')
  }
  return Buffer.concat(chunks)
}
