import { startWorker } from '@/lib/worker/worker'
import type { Installation } from './installation'
import { watchPressure } from './pressure'

export interface Work {
  readonly owner: string
  /** Takes nothing more in hand, lets effects finish. */
  stop(): Promise<void>
}

/** All that works on by itself in a process: the worker, the care for circuits, and a look at the process's own health. */
export function startWork(house: Installation, owner: string): Work {
  house.circuits.start()
  const pressure = watchPressure((exhausted) => house.cascades.noticed(exhausted), house.ports.timer.now)
  const worker = startWorker(house.ports, owner)
  return {
    owner: worker.owner,
    async stop() {
      pressure.stop()
      await worker.stop()
    },
  }
}
