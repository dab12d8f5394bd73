/*
 * One MCP server, whatever happens to it.
 *
 *   off ──(somebody calls)──▶ starting ──▶ live ──(dies, or is given up)──▶ off
 *                               ╰──(fails, or takes too long)──────────────▶ off
 *
 * A start is shared: callers that come meanwhile wait for the same one. A caller's own signal ends its waiting and its
 * request, never the server, which others use. After a request that was given up the server is asked whether it still
 * answers, and is replaced if it does not.
 *
 * The SDK is loaded at the first start: a command line without tools never waits for it.
 */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { z } from 'zod'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import type { AnswerTooLarge } from '@/lib/runners/models/bounded-fetch'
import { deeperThan, maxJsonDepth } from '@/lib/runners/parse-bounded'
import { EffectFailed, type McpTool } from '@/lib/runners/runner'
import { streamFetch } from './bounded-stream'
import type { McpServerConfig } from './server-config'
import { maxMessageBytes, noAnswerCode, ServerGone, StdioTransport } from './stdio-transport'

export interface ConnectionLimits {
  /** Milliseconds from the start of a server to its first answer. */
  startMs: number
  /** Milliseconds one request may take, whatever the step allows. */
  requestMs: number
}

export interface ConnectionSurroundings {
  env(name: string): string | undefined
  /** Folder that servers are started in. */
  cwd: string
  limits: ConnectionLimits
}

/** How long a server that left a request unanswered may take to say that it is there. */
const pingMs = 3_000
const maxToolPages = 50
const maxTools = 2_000

const anyObject = z.record(z.string(), z.json())
const hint = z.boolean().optional().catch(undefined)

const toolsPage = z.looseObject({
  tools: z.array(
    z.looseObject({
      name: z.string(),
      description: z.string().optional().catch(undefined),
      inputSchema: anyObject.catch({}),
      annotations: z
        .looseObject({ readOnlyHint: hint, destructiveHint: hint, idempotentHint: hint })
        .optional()
        .catch(undefined),
    }),
  ),
  nextCursor: z.string().optional(),
})

interface Live {
  client: Client
  transport: Transport
  tools?: Promise<McpTool[]>
  /** What ended it, when it said. */
  tooLarge?: AnswerTooLarge
}

export class Connection {
  readonly config: McpServerConfig
  private readonly surroundings: ConnectionSurroundings
  private starting?: Promise<Live>
  private connecting?: Live
  private live?: Live
  private suspect = false
  private closed = false

  constructor(config: McpServerConfig, surroundings: ConnectionSurroundings) {
    this.config = config
    this.surroundings = surroundings
  }

  /** All tools of the server, as it describes them. Listed once a start, and again when it says they changed. */
  async tools(signal: AbortSignal): Promise<McpTool[]> {
    const live = await this.ready(signal)
    live.tools ??= this.listTools(live).catch((error: unknown) => {
      live.tools = undefined
      throw error
    })
    return untilAborted(live.tools, signal, () => this.tooLate(false))
  }

  /** One request and its answer, an object of at most 8 MiB. Throws EffectFailed; `changes`: it may have happened. */
  async request(
    method: string,
    params: JsonObject,
    signal: AbortSignal,
    changes = false,
  ): Promise<JsonObject> {
    const live = await this.ready(signal)
    try {
      return await this.ask(live, method, params, signal, changes)
    } catch (error) {
      if (isSessionLost(error, live)) {
        // The server forgot the session, so it did nothing with the request.
        await this.drop(live)
        return this.ask(await this.ready(signal), method, params, signal, changes).catch((again: unknown) => {
          throw this.spoken(again, undefined, signal, changes)
        })
      }
      throw this.spoken(error, live, signal, changes)
    }
  }

  /** Stops the server; nothing of it is left running. */
  async close(): Promise<void> {
    this.closed = true
    if (this.connecting) await closed(this.connecting)
    const started = await this.starting?.catch(() => undefined)
    await this.drop(started ?? this.live)
  }

  private async ask(
    live: Live,
    method: string,
    params: JsonObject,
    signal: AbortSignal,
    changes = false,
  ): Promise<JsonObject> {
    const timeout = this.surroundings.limits.requestMs
    // A signal of its own: the SDK leaves its listener on the one it is given.
    const own = AbortSignal.any([signal])
    const answer: unknown = await live.client.request({ method, params }, z.unknown(), {
      signal: own,
      timeout,
    })
    if (isJsonObject(answer) && !deeperThan(answer as Json, maxJsonDepth)) return answer as JsonObject
    throw this.invalid('its answer is no object, or is nested too deep', changes)
  }

  private async ready(signal: AbortSignal): Promise<Live> {
    if (this.closed) throw this.failure('mcp_stopped', 'is stopped; Holdpoint is shutting down', false)
    if (this.live && this.suspect) await this.reassure(this.live)
    if (this.live) return this.live
    this.starting ??= this.begin().finally(() => {
      this.starting = undefined
    })
    return untilAborted(this.starting, signal, () => this.tooLate(false))
  }

  private async reassure(live: Live): Promise<void> {
    this.suspect = false
    try {
      await live.client.ping({ timeout: pingMs })
    } catch {
      await this.drop(live)
    }
  }

  private async begin(): Promise<Live> {
    const [{ Client }, types] = await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ])
    const client = new Client({ name: 'holdpoint', version: '1' }, { capabilities: {} })
    const live: Live = { client, transport: await this.transport((error) => (live.tooLarge = error)) }
    client.onclose = () => {
      if (this.live === live) this.live = undefined
    }
    client.onerror = () => undefined // What matters of it ends a request, which says so.
    client.setNotificationHandler(types.ToolListChangedNotificationSchema, () => {
      live.tools = undefined
    })
    const { startMs } = this.surroundings.limits
    this.connecting = live
    try {
      await client.connect(live.transport, { timeout: startMs, maxTotalTimeout: startMs })
    } catch (error) {
      const failure = this.spoken(error, live, undefined, false)
      await closed(live)
      throw failure
    } finally {
      this.connecting = undefined
    }
    if (this.closed) {
      await closed(live)
      throw this.failure('mcp_stopped', 'is stopped; Holdpoint is shutting down', false)
    }
    this.live = live
    return live
  }

  private async transport(onTooLarge: (error: AnswerTooLarge) => void): Promise<Transport> {
    const { config, surroundings } = this
    if ('command' in config) {
      const { deserializeMessage } = await import('@modelcontextprotocol/sdk/shared/stdio.js')
      return new StdioTransport({
        command: config.command,
        args: config.args,
        cwd: surroundings.cwd,
        env: environmentOf(config, surroundings.env),
        parse: deserializeMessage,
      })
    }
    const { StreamableHTTPClientTransport } = await import(
      '@modelcontextprotocol/sdk/client/streamableHttp.js'
    )
    const bearer = config.bearerEnv && surroundings.env(config.bearerEnv)?.trim()
    const headers = { ...config.headers, ...(bearer ? { authorization: `Bearer ${bearer}` } : {}) }
    const transport = new StreamableHTTPClientTransport(new URL(config.url), {
      requestInit: { headers },
      fetch: streamFetch(maxMessageBytes, onTooLarge),
      // A request is answered or fails; a step that may be tried again says so itself.
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 1_000,
        maxReconnectionDelay: 1_000,
        reconnectionDelayGrowFactor: 1,
      },
    })
    return transport as Transport
  }

  private async listTools(live: Live): Promise<McpTool[]> {
    if (!live.client.getServerCapabilities()?.tools) return []
    const found: McpTool[] = []
    let cursor: string | undefined
    // Not the caller's signal: the list is for all who wait for it.
    const bound = AbortSignal.timeout(this.surroundings.limits.startMs)
    try {
      for (let page = 0; page < maxToolPages && found.length < maxTools; page++) {
        const parsed = toolsPage.safeParse(
          await this.ask(live, 'tools/list', cursor ? { cursor } : {}, bound),
        )
        if (!parsed.success) throw this.invalid('its list of tools is not as the protocol has it')
        found.push(...parsed.data.tools.map((tool) => toolOf(this.config.name, tool)))
        cursor = parsed.data.nextCursor
        if (!cursor) break
      }
      return found
    } catch (error) {
      if ((error as { code?: unknown }).code === methodUnknownCode) return []
      throw this.spoken(error, live, bound, false)
    }
  }

  private async drop(live: Live | undefined): Promise<void> {
    if (!live) return
    if (this.live === live) this.live = undefined
    await closed(live)
  }

  private spoken(
    error: unknown,
    live: Live | undefined,
    signal: AbortSignal | undefined,
    changes: boolean,
  ): EffectFailed {
    if (error instanceof EffectFailed) return error
    if (signal?.aborted) {
      this.suspect = true
      return this.tooLate(changes)
    }
    const gone = live?.transport instanceof StdioTransport ? live.transport.gone : undefined
    if (gone ?? error instanceof ServerGone) {
      return this.failure('mcp_server_gone', (gone ?? (error as Error)).message, changes)
    }
    if (live?.tooLarge) return this.failure('mcp_answer_invalid', 'sent a message larger than 8 MiB', changes)
    const code = (error as { code?: unknown }).code
    if (code === timedOutCode) {
      this.suspect = true
      return this.tooLate(changes)
    }
    if (code === closedCode) return this.failure('mcp_server_gone', 'closed the connection', changes)
    if (typeof code === 'number' && code < 0 && code !== noAnswerCode) {
      return this.failure(
        'mcp_refused',
        `refused the request with the JSON-RPC error ${code}`,
        false,
        code !== internalErrorCode,
      )
    }
    if (typeof code === 'number' && code > 0)
      return this.failure('mcp_refused', `answered with status ${code}`, code >= 500 && changes, code < 500)
    const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined)?.code : undefined
    if (typeof cause === 'string') {
      const never = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'].includes(cause)
      return this.failure('mcp_unreachable', `could not be reached: ${cause}`, changes && !never)
    }
    return this.failure('mcp_answer_invalid', 'answered what is no MCP message', changes)
  }

  private tooLate(changes: boolean): EffectFailed {
    return new EffectFailed('mcp_timeout', `The MCP server "${this.config.name}" did not answer in time`, {
      errorType: 'timeout',
      outcomeUnknown: changes,
    })
  }

  private invalid(what: string, changes = false): EffectFailed {
    return this.failure('mcp_answer_invalid', `answered rubbish: ${what}`, changes)
  }

  private failure(code: string, what: string, outcomeUnknown: boolean, answered = false): EffectFailed {
    return new EffectFailed(code, `The MCP server "${this.config.name}" ${what}.`, {
      retriable: true,
      outcomeUnknown,
      answered,
    })
  }
}

// Of the SDK's ErrorCode; by number, so that nothing is loaded for it.
const closedCode = -32_000
const methodUnknownCode = -32_601
const timedOutCode = -32_001
const internalErrorCode = -32_603

/** Some servers answer 400 where the protocol has 404. Either way nothing was done. */
function isSessionLost(error: unknown, { transport }: Live): boolean {
  const status = (error as { code?: unknown }).code
  return transport.sessionId !== undefined && (status === 404 || status === 400)
}

async function closed({ client, transport }: Live): Promise<void> {
  await farewell(transport)
  await client.close().catch(() => undefined)
  await transport.close().catch(() => undefined)
}

/** How long a far server may take to hear that its session is over; it forgets it by itself otherwise. */
const farewellMs = 1_000

async function farewell(transport: Transport): Promise<void> {
  if (!('terminateSession' in transport) || transport.sessionId === undefined) return
  const { terminateSession } = transport as { terminateSession(): Promise<void> }
  let timer: NodeJS.Timeout | undefined
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, farewellMs)
  })
  await Promise.race([terminateSession.call(transport).catch(() => undefined), enough])
  clearTimeout(timer)
}

function environmentOf(
  config: Extract<McpServerConfig, { command: string }>,
  env: (name: string) => string | undefined,
): Record<string, string> {
  const given = ['PATH', 'HOME', ...config.passEnv].flatMap((name): [string, string][] => {
    const value = env(name)
    return value === undefined ? [] : [[name, value]]
  })
  return { ...Object.fromEntries(given), ...config.env }
}

type ListedTool = z.infer<typeof toolsPage>['tools'][number]

function toolOf(server: string, { name, description, inputSchema, annotations }: ListedTool): McpTool {
  const { readOnlyHint, destructiveHint, idempotentHint } = annotations ?? {}
  return {
    server,
    name,
    description: (description ?? '').slice(0, 4_096),
    inputSchema: inputSchema as JsonObject,
    ...(readOnlyHint === undefined ? {} : { readOnly: readOnlyHint }),
    ...(destructiveHint === undefined ? {} : { destructive: destructiveHint }),
    ...(idempotentHint === undefined ? {} : { idempotent: idempotentHint }),
  }
}

/** The promise's end, or the signal's, whichever comes first; the promise goes on for others. */
async function untilAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  late: () => EffectFailed,
): Promise<T> {
  if (signal.aborted) throw late()
  let stop: (() => void) | undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(late())
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    if (stop) signal.removeEventListener('abort', stop)
  }
}
