/* The process that `memory.ts` measures: an installation and its worker, and short runs one after another. */
import type { RunId } from '@/lib/base/ids'
import { startWorker } from '@/lib/worker/worker'
import { type BenchHouse, chain, openBenchHouse } from './house'
import type { Held } from './memory'
import { noteTransactions } from './transactions'

const stepsPerRun = 3
const atOnce = 50

const runs = Number(process.argv[2])
const house = await openBenchHouse()
const worker = startWorker(house.ports, 'bench')
const version = await house.version(chain('bench-short', stepsPerRun))
for (let done = 0; done < runs; ) {
  done += runs / 5
  await runShort(house, runs / 5)
  tell(done)
}
await worker.stop()
await house.close()
process.disconnect()

async function runShort(house: BenchHouse, count: number): Promise<void> {
  const waiting = new Map<RunId, () => void>()
  const noted = noteTransactions(house.installation.store, (runId) => waiting.get(runId)?.())
  let left = count
  const lane = async () => {
    while (left-- > 0) {
      const runId = await house.start(version, `hostname edge-router-${left}\n`)
      await new Promise<void>((resolve) => waiting.set(runId, resolve))
      waiting.delete(runId)
      noted.take()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  noted.stop()
}

function tell(runs: number): void {
  // Twice: what a first collection finalizes, a second one frees.
  for (let round = 0; round < 2; round++) (globalThis as { gc?: () => void }).gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  const held: Held = { runs, heapMb: heapUsed / 2 ** 20, rssMb: rss / 2 ** 20 }
  process.send?.(held)
}
