import type { RunId } from '@/lib/base/ids'
import type { WorkerPorts } from './ports'

/** Another process may have written to a watched run: it is looked for at least this often. */
const lookMs = 5000

/** Waits for something to happen to other runs, without missing what happens between looking and waiting. */
export class RunWatch {
  private changed = new AbortController()
  private readonly off: () => void
  private readonly ports: Pick<WorkerPorts, 'onAppend' | 'timer'>
  private readonly signals: readonly AbortSignal[]
  private readonly wake = (): void => this.changed.abort()

  /** `signals` end a wait as well. */
  constructor(
    ports: Pick<WorkerPorts, 'onAppend' | 'timer'>,
    runs: readonly RunId[],
    signals: readonly AbortSignal[],
  ) {
    this.ports = ports
    this.signals = signals
    this.off = ports.onAppend(({ runId }) => {
      if (runs.includes(runId)) this.wake()
    })
    // Listeners and not AbortSignal.any: a signal of the whole process would keep something of every wait there was.
    for (const signal of signals) signal.addEventListener('abort', this.wake)
  }

  /** What happens from now on ends the next wait. Called before looking. */
  look(): void {
    if (this.changed.signal.aborted) this.changed = new AbortController()
  }

  async wait(): Promise<void> {
    const { timer } = this.ports
    await timer.waitUntil(timer.now() + lookMs, this.changed.signal)
  }

  close(): void {
    this.off()
    for (const signal of this.signals) signal.removeEventListener('abort', this.wake)
  }
}
