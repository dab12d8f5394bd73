/*
 * The live stream: server-sent events, one for each ledger row, numbered by its place in the installation-wide order.
 * A browser that lost the connection names the last number it saw and misses and doubles nothing. Nothing is buffered
 * here: what is sent is read from the store, from where this reader is. A `circuits` event says that a breaker changed.
 */
import { z } from 'zod'
import type { RunId } from '@/lib/base/ids'
import { unverifiedPayload } from '@/lib/ect/jws'
import type { StoredRow } from '@/lib/engine/ports'
import type { StreamCircuits } from '@/lib/view/circuit-wire'
import type { StreamBeat, StreamEvent } from '@/lib/view/wire'
import { CircuitWatch } from '../circuit-watch'
import { route } from '../current'
import { queryOf } from '../http/paging'
import type { Installation } from '../installation'
import { runIdFrom } from '../run-id'

const rowsPerRead = 500
const beatMs = 5000
/** Bytes that may wait for a slow reader before reading from the store pauses. */
const maxWaitingBytes = 1024 * 1024

const streamQuery = z.object({
  run: z.string().optional(),
  after: z.coerce.number().int().min(0).optional(),
})

/** `GET /api/v1/stream`, and `?run=` for one run with its tokens. Resumes behind `Last-Event-ID` or `after`. */
export const getStream = route({ auth: 'either', scope: 'runs:read', role: 'viewer' }, async (call) => {
  const { installation, request, url } = call
  const query = queryOf(url, streamQuery)
  const run = query.run === undefined ? undefined : runIdFrom(query.run)
  const last = Number(request.headers.get('last-event-id') ?? Number.NaN)
  const after = Number.isSafeInteger(last) && last >= 0 ? last : query.after
  const position = after ?? (await installation.store.ledger.lastPosition())
  const feed = new Feed(installation, position, run)
  request.signal.addEventListener('abort', () => feed.close(), { once: true })
  return new Response(feed.stream(), {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    },
  })
})

const watches = new WeakMap<Installation, CircuitWatch>()

/** One for all streams of an installation. */
function circuitWatchOf(installation: Installation): CircuitWatch {
  const known = watches.get(installation)
  if (known) return known
  const made = new CircuitWatch(installation.store.circuits, (error) =>
    installation.log.warn({ err: error }, 'Changes of breakers could not be looked for; it is tried again'),
  )
  watches.set(installation, made)
  return made
}

class Feed {
  private controller: ReadableStreamDefaultController<Uint8Array> | undefined
  private off: () => void = () => undefined
  private offCircuits: () => void = () => undefined
  private beat: ReturnType<typeof setInterval> | undefined
  private reading = false
  private again = false
  private closed = false
  private readonly encoder = new TextEncoder()

  constructor(
    private readonly installation: Installation,
    private position: number,
    private readonly run: RunId | undefined,
  ) {}

  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.controller = controller
          this.off = this.installation.store.onAppend((event) => {
            if (this.run === undefined || event.runId === this.run) void this.pump()
          })
          // Breakers belong to no run: who follows one run hears of them from its tokens.
          if (this.run === undefined) {
            this.offCircuits = circuitWatchOf(this.installation).listen((mark) => this.sendCircuits(mark))
          }
          this.beat = setInterval(() => this.sendBeat(), beatMs)
          this.sendBeat()
          void this.pump()
        },
        pull: () => void this.pump(),
        cancel: () => this.close(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: maxWaitingBytes }),
    )
  }

  close(): void {
    if (this.closed) return
    this.closed = true
    this.off()
    this.offCircuits()
    clearInterval(this.beat)
    try {
      this.controller?.close()
    } catch {
      // The reader closed it first.
    }
  }

  private async pump(): Promise<void> {
    this.again = true
    if (this.reading) return
    this.reading = true
    try {
      while (this.again && !this.closed) {
        this.again = false
        while (!this.closed && (this.controller?.desiredSize ?? 0) > 0) {
          const rows = await this.installation.store.ledger.since(this.position, rowsPerRead, this.run)
          for (const row of rows) this.send(row)
          if (rows.length < rowsPerRead) break
        }
      }
    } catch (error) {
      this.installation.log.warn(
        { err: error },
        'A live stream could not be read; its reader will come again',
      )
      this.close()
    } finally {
      this.reading = false
    }
  }

  private send(row: StoredRow): void {
    if (this.closed) return
    const { position, runId, seq, token, prevHash, hash } = row
    this.position = position
    const act = String(unverifiedPayload(token).exec_act)
    const event: StreamEvent = {
      position,
      run: runId,
      seq,
      act,
      ...(this.run ? { token, prevHash, hash } : {}),
    }
    this.write(`id: ${position}\ndata: ${JSON.stringify(event)}\n\n`)
  }

  private sendCircuits(mark: number): void {
    const changed: StreamCircuits = { mark }
    this.write(`event: circuits\ndata: ${JSON.stringify(changed)}\n\n`)
  }

  private sendBeat(): void {
    const beat: StreamBeat = { position: this.position }
    this.write(`event: beat\ndata: ${JSON.stringify(beat)}\n\n`)
  }

  private write(text: string): void {
    if (this.closed) return
    try {
      this.controller?.enqueue(this.encoder.encode(text))
    } catch {
      this.close()
    }
  }
}
