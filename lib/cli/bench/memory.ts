import { fork } from 'node:child_process'
import path from 'node:path'
import { atMost, type Benchmark, shown } from './figures'

/** What the process holds after so many runs, garbage collected. */
export interface Held {
  runs: number
  heapMb: number
  rssMb: number
}

/** The memory of an installation with its worker after a fifth of many short runs, and after all of them. */
export const memory: Benchmark = {
  group: 'memory',
  async measure(say, quick) {
    const runs = quick ? 1_000 : 10_000
    const [early, late] = await heldBy(runs, say)
    const count = (held: Held) => `${held.runs.toLocaleString('en')} runs`
    return [
      atMost(
        1.1,
        `memory: heap after ${count(late)} to ${count(early)}`,
        late.heapMb / early.heapMb,
        'times',
      ),
      atMost(
        1.1,
        `memory: resident after ${count(late)} to ${count(early)}`,
        late.rssMb / early.rssMb,
        'times',
      ),
      shown(`memory: heap after ${count(late)}`, late.heapMb, 'MiB'),
      shown(`memory: resident after ${count(late)}`, late.rssMb, 'MiB'),
    ]
  },
}

/** In a process of its own: what other benchmarks leave behind is not this one's. */
function heldBy(runs: number, say: (line: string) => void): Promise<[Held, Held]> {
  const child = fork(path.join(import.meta.dirname, 'memory-child.js'), [String(runs)], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const held: Held[] = []
  return new Promise((resolve, reject) => {
    child.on('message', (message) => {
      const { runs, heapMb, rssMb } = message as Held
      held.push({ runs, heapMb, rssMb })
      say(`${runs} runs: ${heapMb.toFixed(1)} MiB of heap, ${rssMb.toFixed(1)} MiB resident`)
    })
    child.on('error', reject)
    child.on('exit', (code) => {
      const [early, late] = [held.at(0), held.at(-1)]
      if (code === 0 && early && late) resolve([early, late])
      else reject(new Error(`The process that was measured ended with ${code} after ${held.length} readings`))
    })
  })
}
