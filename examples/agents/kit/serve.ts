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
import { type Caller, type Claims, openKeys, sha256, Tokens, uuid } from './tokens'

export interface Options {
  /** Its own folder: keys, checkpoints, answers. */
  folder: string
  /** On loopback; 0 takes a free one. */
  port: number
  /** Whose tokens are believed. */
  callers: readonly Caller[]
  /** The breakers of what it calls itself. */
  calls?: Breaker
  log?: (sentence: string) => void
  /** Milliseconds since the epoch. */
  now?: () => number
  /** Looks at, changes or holds back an answer before it is sent. */
  sending?: (request: IncomingMessage, response: ServerResponse, answer: () => Promise<Sent>) => Promise<Sent>
}

/** What goes over the wire. */
export interface Sent {
  status: number
  headers: Record<string, string>
  body: string
}

/** A request with a verified token. `hash`: of the body's octets. */
export interface Call {
  claims: Claims
  json: Values
  hash: string
}

interface Kept {
  answer: Answer
  request: string
}

export type Parts = Awaited<ReturnType<typeof openParts>>
const [usedKeptMs, answersKeptMs, maxBodyBytes] = [960_000, 7 * 86_400_000, 1_048_576]
const kinds = ['seen', 'answers', 'locks', 'runs', 'checkpoints']

async function openParts(agent: Agent, { folder, callers, calls, log = () => {}, now = Date.now }: Options) {
  const shelf = new Shelf(folder)
  const keys = await openKeys(shelf)
  for (const kind of kinds)
    for (const name of await shelf.names(kind))
      if (((await shelf.get<{ until: number }>(kind, name))?.until ?? 0) < now()) await shelf.drop(kind, name)
  const checkpoints = new Checkpoints(shelf, keys, agent)
  const tokens = new Tokens(agent.id, keys, callers, now)
  return {
    ...{ agent, shelf, keys, checkpoints, tokens, log, now, calls: calls ?? new Breaker(now), baseUrl: '' },
    answer: (name: string) => shelf.get<Kept>('answers', name),
    keepAnswer: (name: string, answer: Answer, request = '') =>
      shelf.put('answers', name, { answer, request, until: now() + answersKeptMs } as Kept),
    /** Refuses a token that was used before; remembers the run as one this agent worked for. */
    async spend({ jti, wid }: Claims) {
      must(
        !(await shelf.get('seen', jti)),
        403,
        'ect_replayed',
        `The token ${jti} was used before; send a fresh one.`,
      )
      await shelf.put('seen', jti, { until: now() + usedKeptMs })
      if (!(await shelf.get('runs', wid))) await shelf.put('runs', wid, { until: now() + answersKeptMs })
    },
  }
}

/** Starts the agent on loopback. Rejects when the port is taken or the folder cannot be written. */
export async function serve(agent: Agent, options: Options) {
  const parts = await openParts(agent, options)
  let line: Promise<unknown> = Promise.resolve()
  const inLine: InLine = (act) => {
    const turn = line.then(act)
    line = turn.catch(() => undefined)
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
  const answer = await answerTo(parts, request, verified, inLine)
    .catch(refused)
    .catch((error: Error) => {
      parts.log(`${parts.agent.name} could not answer: ${error.message}`)
      const more = { error_type: 'unknown', retriable: true }
      return new Refusal(500, 'internal', `${parts.agent.name} could not do this; look into its log.`, more)
        .answer
    })
  const body = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)
  const type = typeof answer.body === 'string' ? 'text/plain; charset=utf-8' : 'application/json'
  const headers: Record<string, string> = { 'content-type': type, 'cache-control': 'no-store' }
  if (answer.status >= 400) headers['content-type'] = 'application/problem+json'
  const waitS = (answer.body as Values).retry_after_s
  if (waitS) headers['retry-after'] = String(waitS)
  if (claims) {
    const { iss: aud, wid, jti } = claims
    const signed = { aud, wid, exec_act: 'hp:agent_answer', par: [jti], out_hash: sha256(body) }
    headers['execution-context'] = await parts.tokens.sign(signed)
  }
  return { status: answer.status, headers, body }
}

type Route = (parts: Parts, call: Call) => Promise<Answer>
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

async function answerTo(
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
  if (id) return checkpointShown(parts, await verified(), bare(decodeURIComponent(id)))
  const route = Object.hasOwn(routes, at) ? routes[at] : undefined
  must(route, 404, 'not_found', `${agent.name} has no ${request.method} ${pathname.slice(0, 100)}.`)
  if (request.method === 'GET') return route(parts, { claims: await verified(), json: {}, hash: '' })
  const octets = await octetsOf(request)
  return inLine(async () => {
    const claims = await verified()
    const json: unknown = await Promise.resolve(octets.toString())
      .then(JSON.parse)
      .catch(() => undefined)
    must(
      typeof json === 'object' && json,
      400,
      'body_not_json',
      'The body is not JSON; a JSON object was expected.',
    )
    return route(parts, { claims, json: json as Values, hash: sha256(octets) })
  })
}

/** An error signal (AERR section 5), taken once, and only of a run this agent worked for. */
async function errorTold(
  { agent, shelf, checkpoints, ...parts }: Parts,
  { claims, json }: Call,
): Promise<Answer> {
  const [error, checkpoint] = [bare(json.error_id), bare(json.checkpoint_id)]
  must(uuid.test(error), 400, 'bad_request', '"error_id" is no UUID.')
  const kept = uuid.test(checkpoint) ? await checkpoints.get(checkpoint) : undefined
  const isOurs = (await shelf.get('runs', claims.wid)) && (!kept || kept.wid === claims.wid)
  must(isOurs, 403, 'signal_outside_chain', `${agent.name} has no part in that run.`)
  const name = sha256(`error ${claims.wid} ${error}`)
  const answer = { status: 202, body: { error_id: json.error_id, status: 'received' } }
  if (!(await parts.answer(name))) await agent.onError?.(json)
  await parts.keepAnswer(name, answer)
  return answer
}

async function checkpointShown({ checkpoints, now }: Parts, { wid }: Claims, id: string): Promise<Answer> {
  const kept = uuid.test(id) ? await checkpoints.get(id) : undefined
  must(kept?.wid === wid, 404, 'checkpoint_missing', 'There is no such checkpoint of that run.')
  const opened = await Promise.resolve(kept)
    .then((one) => checkpoints.open(one))
    .catch(() => undefined)
  const checked = {
    signature_valid: true,
    out_hash_matches: opened !== undefined,
    expired: kept.until <= now(),
  }
  return { status: 200, body: { checkpoint_id: id, ect: kept.ect, verification: checked } }
}

async function octetsOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    must(bytes <= maxBodyBytes, 413, 'body_too_large', 'The body is larger than 1 MiB.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
