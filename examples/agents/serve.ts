/*
 * A whole agent on a port of loopback: the kit, tasks, its documents in a folder, and what anyone may read of it. A server of
 * your own does the same with the kit's app alone.
 */
import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer, type HttpBindings } from '@hono/node-server'
import { Shelf } from './disk'
import { openAgent } from './kit/agent'
import type { Answer, Values } from './kit/answers'
import type { Options as KitOptions } from './kit/terms'
import { type TaskAgent, withTasks } from './tasks'

/** `reads`: paths that anyone may GET. */
export type Served = TaskAgent & { reads?: Record<string, (headers: Values) => Promise<Answer>> }

/** Looks at, changes or holds back an answer before it is sent. */
export type Sending = (
  request: Request,
  answer: () => Promise<Response>,
  raw: ServerResponse,
) => Promise<Response>

/** `folder`: the agent's own. `port`: 0 takes a free one. */
export type Options = Omit<KitOptions, 'store' | 'baseUrl'> & {
  folder: string
  port: number
  sending?: Sending
}

/** Checkpoints past their time are kept no longer than this. */
const purgeEveryMs = 3_600_000

/** Starts the agent. Rejects when the port is taken or the folder cannot be written; nothing is left listening. */
export async function serve(agent: Served, { folder, port, sending, ...options }: Options) {
  const { log = () => {}, now = Date.now } = options
  const store = new Shelf(folder)
  await store.purge(now())
  const fetch = (request: Request, env: unknown) => {
    const answer = async () => (await opened).app.fetch(request)
    return sending?.(request, answer, (env as HttpBindings).outgoing) ?? answer()
  }
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false }) as Server
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const opened = openToRead(agent, { ...options, store, baseUrl })
  const { jwks, sign, idle } = await opened.catch((error) => {
    server.close()
    throw error
  })
  log(`${agent.name} listens on ${baseUrl}`)
  const purge = () =>
    store.purge(now()).catch(({ message }: Error) => log(`Nothing was forgotten: ${message}`))
  const purging = setInterval(purge, purgeEveryMs).unref()
  /** Finishes what is under way, then stops listening. */
  const stop = async () => {
    clearInterval(purging)
    await idle()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { baseUrl, jwks, sign, stop }
}

async function openToRead({ reads = {}, ...agent }: Served, options: KitOptions) {
  const kit = await openAgent(withTasks(agent), options)
  kit.app.get('/health', (context) => context.json({ status: 'ok', agent: agent.id }))
  for (const [path, read] of Object.entries(reads))
    kit.app.get(path, async ({ req }) => readable(await read(req.header())))
  return kit
}

function readable({ status, body }: Answer): Response {
  const [text, type] =
    typeof body === 'string' ? [body, 'text/plain'] : [JSON.stringify(body), 'application/json']
  return new Response(text, { status, headers: { 'content-type': type, 'cache-control': 'no-store' } })
}
