/*
 * Is this process itself short of memory or of time? Looked at every few seconds; what is short is told to whoever watches
 * for cascades (cascade section 5.1, resource exhaustion).
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { CascadeInput } from '@/lib/breaker/cascade'

const lookEveryMs = 5_000
/** The longest the event loop was held up within one look, to count as full. */
const heldUpMs = 1_000
/** Looks in a row at which it was. */
const heldUpLooks = 3
/** Share of the heap that may be in use. */
const heapShare = 0.92

type Exhausted = Extract<CascadeInput, { kind: 'exhausted' }>

/** Looks until it is stopped. `now`: ms since the epoch. */
export function watchPressure(tell: (exhausted: Exhausted) => void, now: () => number): { stop(): void } {
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  let heldUp = 0
  const timer = setInterval(() => {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
    if (used > heapShare * limit) tell({ kind: 'exhausted', at: now(), name: 'memory' })
    // Once can be a start, or a machine that slept.
    heldUp = delay.percentile(99) / 1e6 > heldUpMs ? heldUp + 1 : 0
    if (heldUp === heldUpLooks) tell({ kind: 'exhausted', at: now(), name: 'event_loop' })
    delay.reset()
  }, lookEveryMs)
  timer.unref()
  return {
    stop() {
      clearInterval(timer)
      delay.disable()
    },
  }
}
