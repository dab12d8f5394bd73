/*
 * Agents that fail on purpose. A fault sits between an agent and the wire: the agent itself is sound, and what it did and
 * keeps stays true. So whatever a fault shows, the one who called must find out and contain.
 *
 *   errors   answers 503 to everything, and does nothing
 *   slow     answers so many milliseconds late
 *   unsigned answers, without its token           garbage  answers, signed, what nobody can read
 *   twice    sends each answer two times          never    does not answer
 *   stolen   signs with another agent's key       skewed   its clock is 40 s slow
 *   dies     is gone after a `prepare`, and back 3 s later with what it had on disk
 */
import type { ServerResponse } from 'node:http'
import type { FaultKind, PresentFault } from '@/lib/view/lab-wire'
import { sha256 } from '../agents/kit/tokens'
import type { Sending, serve } from '../agents/serve'

export interface Fault {
  kind: FaultKind | 'none'
  /** For `slow`; 3,000 unless told otherwise. */
  ms?: number
}

type Running = Awaited<ReturnType<typeof serve>>
/** Signs as an agent. */
export type Sign = Running['sign']
type Start = (port: number, own: Pick<FaultyAgent, 'now' | 'sending'>) => Promise<Running>

const skewMs = 40_000
const deadMs = 3_000
const slowMs = 3_000

export class FaultyAgent {
  readonly #start: Start
  readonly #with: { now(): number; othersSign(): Sign | undefined; log(sentence: string): void }
  #fault: Fault = { kind: 'none' }
  #since = 0
  #running: Running | undefined
  #port = 0
  #revival: NodeJS.Timeout | undefined
  /** Ends what is held back when the fault or the agent does. */
  #held = new AbortController()

  constructor(
    readonly name: string,
    start: Start,
    more: { now(): number; othersSign(): Sign | undefined; log(sentence: string): void },
  ) {
    this.#start = start
    this.#with = more
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get jwks(): { keys: Record<string, unknown>[] } {
    return this.#running?.jwks ?? { keys: [] }
  }

  get sign(): Sign | undefined {
    return this.#running?.sign
  }

  get fault(): PresentFault | undefined {
    const { kind, ms } = this.#fault
    return kind === 'none' ? undefined : { kind, since: this.#since, ...(ms === undefined ? {} : { ms }) }
  }

  /** Makes it fail from now on; `none` sets it right. */
  fail(fault: Fault): void {
    this.#held.abort()
    this.#held = new AbortController()
    this.#fault = fault.kind === 'slow' ? { kind: 'slow', ms: fault.ms ?? slowMs } : { kind: fault.kind }
    this.#since = this.#with.now()
    this.#with.log(fault.kind === 'none' ? `${this.name} is set right` : `${this.name} fails: ${fault.kind}`)
  }

  async start(port: number): Promise<void> {
    const own = { now: () => this.now(), sending: this.sending }
    this.#running = await this.#start(port, own)
    this.#port = Number(new URL(this.#running.baseUrl).port)
  }

  async stop(): Promise<void> {
    clearTimeout(this.#revival)
    this.#held.abort()
    const running = this.#running
    this.#running = undefined
    await running?.stop()
  }

  /** Its clock, ms since the epoch. */
  now(): number {
    return this.#with.now() - (this.#fault.kind === 'skewed' ? skewMs : 0)
  }

  readonly sending: Sending = async (request, answer, raw) => {
    const { pathname } = new URL(request.url)
    // Keys are published by something that does not fail with the agent.
    if (pathname === '/.well-known/jwks.json') return answer()
    const { kind, ms = slowMs } = this.#fault
    switch (kind) {
      case 'none':
      case 'skewed':
        return answer()
      case 'errors':
        return this.#broken()
      case 'slow':
        await this.#hold(ms)
        return answer()
      case 'never':
        await this.#hold()
        return answer()
      case 'unsigned':
        return signedBy(undefined, await answer())
      case 'stolen':
        return signedBy(this.#with.othersSign(), await answer())
      case 'garbage':
        return signedBy(this.sign, new Response('{"outcome": <<<', { headers: (await answer()).headers }))
      case 'twice':
        return sentTwice(raw, await answer())
      case 'dies':
        if (pathname.endsWith('/prepare')) raw.once('finish', () => this.#die())
        return answer()
      default:
        return kind satisfies never
    }
  }

  #broken(): Response {
    const detail = `${this.name} is out of order.`
    const body = { title: 'out_of_order', status: 503, code: 'out_of_order', detail, retriable: true }
    const headers = { 'content-type': 'application/problem+json' }
    return Response.json({ ...body, error_type: 'action_failed' }, { status: 503, headers })
  }

  /** Waits so long, or until the fault is over. */
  async #hold(ms?: number): Promise<void> {
    const { signal } = this.#held
    await new Promise<void>((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
      signal.addEventListener('abort', () => {
        clearTimeout(timer)
        resolve()
      })
      if (signal.aborted) resolve()
    })
  }

  #die(): void {
    void this.#running?.stop().then(() => {
      this.#with.log(`${this.name} died between prepare and execute`)
      this.#revival = setTimeout(() => void this.start(this.#port).catch(() => undefined), deadMs)
    })
  }
}

/** The answer with this signer's token instead of its own. */
async function signedBy(sign: Sign | undefined, response: Response): Promise<Response> {
  const body = await response.text()
  const headers = new Headers(response.headers)
  const own = headers.get('execution-context')
  headers.delete('execution-context')
  if (own && sign) {
    const claims = JSON.parse(Buffer.from(own.split('.')[1] ?? '', 'base64url').toString('utf8'))
    const { aud, wid, exec_act, par } = claims
    headers.set('execution-context', await sign({ aud, wid, exec_act, par, out_hash: sha256(body) }))
  }
  return new Response(body, { status: response.status, headers })
}

/** The same octets once more on the same connection, as a proxy that lost count would. */
async function sentTwice(raw: ServerResponse, response: Response): Promise<Response> {
  const body = await response.clone().text()
  const length = Buffer.byteLength(body)
  const lines = [...response.headers, ['content-length', length]].map((pair) => pair.join(': '))
  const again = [`HTTP/1.1 ${response.status} OK`, ...lines, '', body].join('\r\n')
  const { socket } = raw
  raw.once('finish', () => socket?.write(again))
  return response
}
