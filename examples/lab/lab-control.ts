/*
 * Where the console asks for faults. Loopback alone, and only who knows the lab's secret: the command that starts both
 * makes it and gives it to both. A page in a browser cannot send the Authorization header here without being asked first,
 * and is never answered with leave to.
 *
 *   GET  /faults                     { faults: { name: { kind, since, ms? } } }
 *   PUT  /faults/{name}  { kind, ms? }   `none` sets it right
 */
import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isFaultKind, maxSlowMs } from '@/lib/view/lab-wire'
import { sha256 } from '../agents/kit/tokens'
import type { Fault, FaultyAgent } from './faults'

const maxBodyBytes = 4_096

export async function listenForFaults(
  port: number,
  secret: string,
  agents: ReadonlyMap<string, Pick<FaultyAgent, 'fault' | 'fail'>>,
): Promise<{ url: string; close(): Promise<void> }> {
  const expected = Buffer.from(sha256(`Bearer ${secret}`))
  const server = createServer({ requestTimeout: 5_000 }, async (request, response) => {
    const given = Buffer.from(sha256(request.headers.authorization ?? ''))
    const mayAsk = timingSafeEqual(given, expected)
    const status = mayAsk ? await answer(request, agents).catch(() => 400) : 403
    const faults = Object.fromEntries([...agents].map(([name, { fault }]) => [name, fault]))
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    response.end(JSON.stringify(status === 200 ? { faults } : { status }))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  })
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

async function answer(
  request: IncomingMessage,
  agents: ReadonlyMap<string, Pick<FaultyAgent, 'fault' | 'fail'>>,
): Promise<number> {
  if (request.method === 'GET' && request.url === '/faults') return 200
  const name = /^\/faults\/([\w-]+)$/.exec(request.url ?? '')?.[1]
  const agent = name === undefined ? undefined : agents.get(name)
  if (request.method !== 'PUT' || !agent) return 404
  const fault = faultOf(await bodyOf(request))
  if (!fault) return 400
  agent.fail(fault)
  return 200
}

function faultOf(body: { kind?: unknown; ms?: unknown }): Fault | undefined {
  const { kind, ms } = body
  const isTimed = ms === undefined || (Number.isInteger(ms) && Number(ms) > 0 && Number(ms) <= maxSlowMs)
  if (!isTimed) return undefined
  if (kind === 'none') return { kind }
  return isFaultKind(kind) ? { kind, ...(ms === undefined ? {} : { ms: Number(ms) }) } : undefined
}

async function bodyOf(request: IncomingMessage): Promise<{ kind?: unknown; ms?: unknown }> {
  let text = ''
  for await (const chunk of request) {
    text += chunk
    if (text.length > maxBodyBytes) throw new RangeError('The body is too long')
  }
  return JSON.parse(text)
}
