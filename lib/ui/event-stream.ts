/*
 * One live stream of the server (`/api/v1/stream`, or `?run=`), kept open.
 *
 *   connecting ──open──▶ live ──error, silence──▶ lost ──after a pause──▶ connecting
 *
 * It protects one promise: every event is handed on once, in order. Each carries the installation-wide position (it is
 * the SSE id too); what is not beyond the last one was seen already and is dropped. A stream that is opened anew asks for
 * what came `after` that position. The browser's own reconnection would send the same as `Last-Event-ID`, but only of
 * events, so a page that had heard nothing but beats would lose what happened meanwhile: reconnecting is done here.
 *
 * Breakers belong to no run: a `circuits` event says that one of them changed.
 *
 * The server sends a `beat` every few seconds with the position it is at. It tells how old the picture is, and its
 * absence tells of a connection that died without a word (a laptop that slept, a proxy that forgot).
 */
import type { StreamBeat, StreamEvent } from '@/lib/view/wire'

export interface StreamState {
  status: 'connecting' | 'live' | 'lost'
  /** When the server was last heard, ms since the epoch; undefined before the first word. */
  heardAt?: number
  /** While lost: when it is tried again. */
  retryAt?: number
}

/** 20 s: three beats of 5 s missed, and one late. */
const silenceMs = 20_000
/** Pauses between attempts; the last one repeats. */
const pausesMs = [500, 1_000, 2_000, 5_000, 10_000] as const

export interface EventStreamOptions {
  /** The address without `after`: `/api/v1/stream?run=run_…`. */
  url: string
  /** Start behind this position; absent: with what happens from now on. */
  after?: number
  onEvent: (event: StreamEvent) => void
  /** The stream was opened, for the first time or again. */
  onOpen?: () => void
  /** A breaker changed. */
  onCircuits?: () => void
  /** A few seconds went by. */
  onBeat?: () => void
}

export class EventStream {
  readonly #options: EventStreamOptions
  readonly #listeners = new Set<() => void>()
  #source: EventSource | undefined
  #state: StreamState = { status: 'connecting' }
  #position: number | undefined
  #failures = 0
  #beats = false
  #retry: ReturnType<typeof setTimeout> | undefined
  #silence: ReturnType<typeof setTimeout> | undefined

  constructor(options: EventStreamOptions) {
    this.#options = options
    this.#position = options.after
  }

  /** The same object until it changes: made for `useSyncExternalStore`. */
  get state(): StreamState {
    return this.#state
  }

  /** Position of the last event or beat. */
  get position(): number | undefined {
    return this.#position
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Opens it, now. Also what "Try now" calls while it is lost. */
  open = (): void => {
    this.#drop()
    this.#set({ ...this.#state, status: this.#state.status === 'lost' ? 'lost' : 'connecting' })
    const { url } = this.#options
    const after =
      this.#position === undefined ? '' : `${url.includes('?') ? '&' : '?'}after=${this.#position}`
    const source = new EventSource(url + after)
    this.#source = source
    source.onopen = () => {
      this.#failures = 0
      this.#heard()
      this.#options.onOpen?.()
    }
    source.onmessage = (message) => {
      const event = JSON.parse(message.data) as StreamEvent
      if (this.#position === undefined || event.position > this.#position) {
        this.#position = event.position
        this.#options.onEvent(event)
      }
      this.#heard()
    }
    source.addEventListener('beat', (message) => {
      const beat = JSON.parse(message.data) as StreamBeat
      this.#position = Math.max(this.#position ?? 0, beat.position)
      this.#beats = true
      this.#heard()
      this.#options.onBeat?.()
    })
    source.addEventListener('circuits', () => {
      this.#heard()
      this.#options.onCircuits?.()
    })
    // A browser that gives up does so for good; one that retries by itself is cut short, so that one place keeps time.
    source.onerror = () => this.#lose()
  }

  close(): void {
    this.#drop()
    this.#listeners.clear()
  }

  #heard(): void {
    clearTimeout(this.#silence)
    if (this.#beats) this.#silence = setTimeout(() => this.#lose(), silenceMs)
    this.#set({ status: 'live', heardAt: Date.now() })
  }

  #lose(): void {
    this.#drop()
    const pause = pausesMs[Math.min(this.#failures++, pausesMs.length - 1)] as number
    this.#retry = setTimeout(this.open, pause)
    this.#set({
      status: 'lost',
      ...(this.#state.heardAt === undefined ? {} : { heardAt: this.#state.heardAt }),
      retryAt: Date.now() + pause,
    })
  }

  #drop(): void {
    clearTimeout(this.#retry)
    clearTimeout(this.#silence)
    this.#source?.close()
    this.#source = undefined
  }

  #set(state: StreamState): void {
    this.#state = state
    for (const listener of this.#listeners) listener()
  }
}
