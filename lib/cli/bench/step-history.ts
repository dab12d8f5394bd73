/*
 * What a step costs in a run with a short history and in one with a long one. Both runs have the same workflow, a
 * chain of steps beside a task that an outside agent holds by heartbeats: the heartbeats are the history. They are
 * driven side by side by one worker, and a runner lets only one step of the two go on at a time, in turns:
 *
 *   short   ├─ step ─┤            ├─ step ─┤            …
 *   long               ├─ step ─┤            ├─ step ─┤ …        ├─ step ─┤: from one effect to the next
 */
import type { RunId } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import type { ActionRef } from '@/lib/engine/commands'
import { startWorker } from '@/lib/worker/worker'
import { atMost, type Benchmark, median, shown } from './figures'
import { type BenchHouse, chain, openBenchHouse } from './house'

const agent = 'spiffe://holdpoint.local/bench'
const someHash = 'A'.repeat(43)
/** Steps at the start that are not counted: the fold is read, and code is compiled. */
const warmUpSteps = 50

export const stepHistory: Benchmark = {
  group: 'step history',
  async measure(say, quick) {
    const sizes = [100, quick ? 5_000 : 100_000] as const
    const steps = quick ? 150 : 700
    const turns = new Turns()
    const house = await openBenchHouse({
      perform: async (action, effects) => {
        await turns.enter(effects.runId ?? '')
        return { output: { path: action.target } }
      },
    })
    const version = await house.version(watchedChain(steps))
    const runs: RunId[] = []
    for (const size of sizes) {
      say(`writing a history of ${size.toLocaleString('en')} tokens`)
      runs.push(await runWithHistory(house, version, size))
    }
    say(`taking ${steps} steps in each run, in turns`)
    const worker = startWorker(house.ports, 'bench')
    await turns.take(runs, steps - 1)
    turns.release()
    await worker.stop()
    await house.close()
    const [short, long] = runs.map((runId) => median(turns.times(runId).slice(warmUpSteps)))
    if (short === undefined || long === undefined) throw new Error('Two runs were expected')
    return [
      shown(`step at ${sizes[0]} tokens of history`, short, 'ms'),
      shown(`step at ${sizes[1].toLocaleString('en')} tokens of history`, long, 'ms'),
      atMost(1.1, 'step: long history to short', long / short, 'times'),
    ]
  },
}

/** Holds each run's step at its effect, and lets them go one at a time. */
class Turns {
  private readonly waiting = new Map<string, () => void>()
  private readonly arrived = new Map<string, () => void>()
  private readonly ms = new Map<string, number[]>()
  private isOver = false

  /** A step is at its effect: it goes on when it is its run's turn. */
  enter(runId: string): Promise<void> {
    if (this.isOver) return Promise.resolve()
    return new Promise((resolve) => {
      this.waiting.set(runId, resolve)
      this.arrived.get(runId)?.()
    })
  }

  times(runId: string): number[] {
    return this.ms.get(runId) ?? []
  }

  /** Lets each run in turn go from one effect to its next, and notes how long that takes. */
  async take(runIds: readonly string[], rounds: number): Promise<void> {
    for (const runId of runIds) await this.arrival(runId)
    for (let round = 0; round < rounds; round++) {
      // Who goes first changes, so that neither always comes after the other's garbage.
      for (const runId of round % 2 === 0 ? runIds : [...runIds].reverse()) {
        const from = performance.now()
        this.leave(runId)
        await this.arrival(runId)
        this.ms.set(runId, [...this.times(runId), performance.now() - from])
      }
    }
  }

  /** Nobody waits any more. */
  release(): void {
    this.isOver = true
    for (const runId of [...this.waiting.keys()]) this.leave(runId)
  }

  private leave(runId: string): void {
    const go = this.waiting.get(runId)
    this.waiting.delete(runId)
    go?.()
  }

  private async arrival(runId: string): Promise<void> {
    if (this.waiting.has(runId)) return
    await new Promise<void>((resolve) => this.arrived.set(runId, resolve))
    this.arrived.delete(runId)
  }
}

function watchedChain(steps: number): JsonObject {
  const descriptor = chain('bench-history', steps)
  const watch = {
    id: 'watch',
    label: 'Watch the traffic',
    reversible: true,
    hitl_required: false,
    resource_hints: { priority: 'normal', timeout_s: 3600 },
  }
  return { ...descriptor, nodes: [...(descriptor.nodes as JsonObject[]), watch] }
}

async function runWithHistory(house: BenchHouse, version: string, tokens: number): Promise<RunId> {
  const { book } = house.installation
  const runId = await house.start(version, 'hostname edge-router-07\n')
  const place = { node: 'watch', visit: 1 }
  const action: ActionRef = {
    hash: someHash,
    consequence: 'read_only',
    target: 'the traffic',
    sentence: 'Watch the traffic',
    reads: [],
  }
  await book.execute(runId, { type: 'offer', ...place, action })
  await book.execute(runId, { type: 'claim', ...place, agent, claimS: 3600 })
  for (let left = tokens - 3; left > 0; left -= 500) {
    const beats = Array.from({ length: Math.min(left, 500) }, () =>
      book.execute(runId, { type: 'heartbeat', ...place, claimant: agent, claimS: 3600 }),
    )
    await Promise.all(beats)
  }
  return runId
}
