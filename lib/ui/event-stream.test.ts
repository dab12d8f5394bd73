import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { StreamEvent } from '@/lib/view/wire'
import { EventStream } from './event-stream'

/** The browser's EventSource, driven by the test: what is asked for, and what the server would say. */
class FakeSource extends EventTarget {
  static opened: FakeSource[] = []
  onopen: (() => void) | undefined
  onmessage: ((message: { data: string }) => void) | undefined
  onerror: (() => void) | undefined
  closed = false
  readonly url: string
  constructor(url: string) {
    super()
    this.url = url
    FakeSource.opened.push(this)
  }
  close() {
    this.closed = true
  }
  event(position: number) {
    this.onmessage?.({ data: JSON.stringify({ position, run: 'run_1', seq: position, act: 'task' }) })
  }
  beat(position: number) {
    this.dispatchEvent(new MessageEvent('beat', { data: JSON.stringify({ position }) }))
  }
}

const latest = () => FakeSource.opened.at(-1) as FakeSource

function open() {
  const seen: number[] = []
  const stream = new EventStream({
    url: '/api/v1/stream',
    onEvent: (event: StreamEvent) => seen.push(event.position),
  })
  stream.open()
  latest().onopen?.()
  return { stream, seen }
}

beforeEach(() => {
  vi.useFakeTimers()
  FakeSource.opened = []
  vi.stubGlobal('EventSource', FakeSource)
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe('the live stream', () => {
  it('asks for what came after the last event when the connection breaks, and takes nothing twice', () => {
    const { stream, seen } = open()
    latest().event(7)
    latest().event(8)
    latest().onerror?.()
    expect(stream.state.status).toBe('lost')
    vi.advanceTimersByTime(500)
    expect(latest().url).toBe('/api/v1/stream?after=8')
    latest().onopen?.()
    latest().event(8)
    latest().event(9)
    expect(seen).toEqual([7, 8, 9])
    expect(stream.state.status).toBe('live')
  })

  it('resumes from a beat when it has seen no event yet', () => {
    const { seen } = open()
    latest().beat(40)
    latest().onerror?.()
    vi.advanceTimersByTime(500)
    expect(latest().url).toBe('/api/v1/stream?after=40')
    latest().event(41)
    expect(seen).toEqual([41])
  })

  it('waits longer after each failure, and at once when a person asks', () => {
    const { stream } = open()
    for (const pause of [500, 1_000, 2_000, 5_000, 10_000, 10_000]) {
      latest().onerror?.()
      expect((stream.state.retryAt ?? 0) - Date.now()).toBe(pause)
      const before = FakeSource.opened.length
      vi.advanceTimersByTime(pause)
      expect(FakeSource.opened.length).toBe(before + 1)
    }
    latest().onerror?.()
    stream.open()
    latest().onopen?.()
    expect(stream.state.status).toBe('live')
    latest().onerror?.()
    expect((stream.state.retryAt ?? 0) - Date.now()).toBe(500)
  })

  it('notices a connection that died without a word', () => {
    const { stream } = open()
    latest().beat(1)
    vi.advanceTimersByTime(19_999)
    expect(stream.state.status).toBe('live')
    vi.advanceTimersByTime(1)
    expect(stream.state.status).toBe('lost')
    expect(FakeSource.opened[0]?.closed).toBe(true)
  })

  it('leaves nothing behind when it is closed', () => {
    const { stream } = open()
    latest().beat(1)
    stream.close()
    vi.advanceTimersByTime(60_000)
    expect(FakeSource.opened).toHaveLength(1)
    expect(latest().closed).toBe(true)
  })
})
