/*
 * A map over 500 items, eight at once: how much of the time its eight lanes have a child run under way, and how many
 * items that makes a second. The child runs only compute, so that the gaps between them are as large as they get.
 */
import type { RunId } from '@/lib/base/ids'
import { startRun } from '@/lib/server/runs'
import type { Store } from '@/lib/store/store'
import { startWorker } from '@/lib/worker/worker'
import { atLeast, type Benchmark, median, shown } from './figures'
import { type BenchHouse, openBenchHouse } from './house'
import { noteTransactions } from './transactions'

const lanes = 8

export const mapItems: Benchmark = {
  group: 'map',
  async measure(say, quick) {
    const items = quick ? 100 : 500
    const house = await openBenchHouse()
    const endings = new Endings(house.installation.store)
    const worker = startWorker(house.ports, 'bench')
    await house.version(item)
    const version = await house.version(mapping)
    const measured: Measured[] = []
    // The first round warms up what is compiled while it runs, and is not counted.
    for (let round = 0; round <= (quick ? 2 : 5); round++) {
      const one = await mapOnce(house, version, items, endings)
      say(
        `${items} items: ${one.perS.toFixed(0)} items/s, ${(one.busy * lanes).toFixed(2)} of ${lanes} lanes busy`,
      )
      if (round > 0) measured.push(one)
    }
    await worker.stop()
    endings.stop()
    await house.close()
    const name = `map, ${items} items, ${lanes} at once`
    return [
      atLeast(0.9, `${name}: lanes busy`, median(measured.map(({ busy }) => busy)), `of ${lanes}`),
      shown(`${name}: throughput`, median(measured.map(({ perS }) => perS)), 'items/s'),
    ]
  },
}

interface Measured {
  /** The lanes that have a child run under way, as a part of all, on average. */
  busy: number
  perS: number
}

async function mapOnce(
  { installation }: BenchHouse,
  version: string,
  count: number,
  endings: Endings,
): Promise<Measured> {
  endings.clear()
  const input = { items: Array.from({ length: count }, (_, at) => ({ account: `account ${at}` })) }
  const runId = await startRun(installation, { version, input, by: 'person:bench', dryRun: false })
  await endings.of(runId)
  const { items } = await installation.store.runs.list({ parent: runId }, { limit: 500 })
  if (items.length !== count) throw new Error(`${items.length} of ${count} items were run`)
  // Under way: from the decision that begins it until its end is on the disk.
  const starts = items.map(({ startedAt }) => startedAt)
  const ends = items.map((run) => endings.at.get(run.runId) ?? run.startedAt)
  const tookMs = Math.max(...ends) - Math.min(...starts)
  const busyMs = ends.reduce((sum, end, at) => sum + end - (starts[at] as number), 0)
  return { busy: busyMs / (lanes * tookMs), perS: (count / tookMs) * 1000 }
}

/** When each run's end was on the disk, ms since the epoch. */
class Endings {
  readonly at = new Map<RunId, number>()
  private awaited: { runId: RunId; over: () => void } | undefined
  private readonly noted

  constructor(store: Store) {
    this.noted = noteTransactions(store, (runId) => {
      this.at.set(runId, Date.now())
      if (this.awaited?.runId === runId) this.awaited.over()
    })
  }

  of(runId: RunId): Promise<void> {
    if (this.at.has(runId)) return Promise.resolve()
    return new Promise((over) => {
      this.awaited = { runId, over }
    })
  }

  clear(): void {
    this.at.clear()
    this.noted.take()
  }

  stop(): void {
    this.noted.stop()
  }
}

const item = `
name = "bench-item"
[[start_nodes]]
name = "main"
source = "manual"
entry_node = "greet"
[[nodes]]
id = "greet"
type = "template_render"
template = "Hello {{account}}"
input_from = "trigger"
[[nodes]]
id = "score"
type = "json_select"
input_from = "trigger"
path = "account"
[[edges]]
from = "greet"
to = "score"
`

const mapping = `
name = "bench-map"
[[start_nodes]]
name = "main"
source = "manual"
entry_node = "each"
[[nodes]]
id = "each"
type = "map"
items_from = "trigger.items"
workflow = "bench-item"
max_items = 1000
max_concurrent = ${lanes}
`
