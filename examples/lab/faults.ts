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
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FaultKind, PresentFault } from '@/lib/view/lab-wire'
import type { Sent, serve } from '../agents/kit/serve'
import { sha256 } from '../agents/kit/tokens'

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

  readonly sending = async (
    request: IncomingMessage,
    response: ServerResponse,
    answer: () => Promise<Sent>,
  ): Promise<Sent> => {
    // Keys are published by something that does not fail with the agent.
    if (request.url === '/.well-known/jwks.json') return answer()
    const { kind, ms = slowMs } = this.#fault
    switch (kind) {
      case 'none':
      case 'skewed':
        return answer()
      case 'errors':
        request.resume()
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
        return signedBy(this.sign, { ...(await answer()), status: 200, body: '{"outcome": <<<' })
      case 'twice':
        return sentTwice(response, await answer())
      case 'dies':
        return this.#lastWords(request, response, await answer())
      default:
        return kind satisfies never
    }
  }

  #broken(): Sent {
    const detail = `${this.name} is out of order.`
    const body = { title: 'out_of_order', status: 503, code: 'out_of_order', detail, retriable: true }
    const headers = { 'content-type': 'application/problem+json' }
    return { status: 503, headers, body: JSON.stringify({ ...body, error_type: 'action_failed' }) }
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

  #lastWords(request: IncomingMessage, response: ServerResponse, sent: Sent): Sent {
    if (request.url?.endsWith('/prepare'))
      response.once('finish', () => {
        const running = this.#running
        void running?.stop().then(() => {
          this.#with.log(`${this.name} died between prepare and execute`)
          this.#revival = setTimeout(() => void this.start(this.#port).catch(() => undefined), deadMs)
        })
      })
    return sent
  }
}

/** The answer with this signer's token instead of its own. */
async function signedBy(sign: Sign | undefined, sent: Sent): Promise<Sent> {
  const { 'execution-context': own, ...headers } = sent.headers
  if (!own || !sign) return { ...sent, headers }
  const claims = JSON.parse(Buffer.from(own.split('.')[1] ?? '', 'base64url').toString('utf8'))
  const { aud, wid, exec_act, par } = claims
  const token = await sign({ aud, wid, exec_act, par, out_hash: sha256(sent.body) })
  return { ...sent, headers: { ...headers, 'execution-context': token } }
}

/** The same octets once more on the same connection, as a proxy that lost count would. */
function sentTwice(response: ServerResponse, sent: Sent): Sent {
  const { socket } = response
  const length = Buffer.byteLength(sent.body)
  const lines = Object.entries({ ...sent.headers, 'content-length': length }).map((pair) => pair.join(': '))
  const again = [`HTTP/1.1 ${sent.status} OK`, ...lines, '', sent.body].join('\r\n')
  response.once('finish', () => socket?.write(again))
  return sent
}
