/*
 * What runs are told of circuits that they share: people are asked about a downstream in the run whose call was the last
 * straw (ATD sections 6.3 and 8), and whoever waits behind a circuit is let go when it may be called again.
 */
import type { RunId } from '@/lib/base/ids'
import { isProblem } from '@/lib/base/problem'
import type { CircuitName, CircuitStore } from '@/lib/engine/circuit-ports'
import type { Run } from '@/lib/engine/run'
import type { SharedFailure } from './circuit-ports'
import type { WorkerPorts } from './ports'

type Ports = Pick<WorkerPorts, 'book' | 'log'>

/** Other runs that are tried where the one whose call it was cannot be asked any more. */
const othersTried = 10

/**
 * Asks the question, in the run whose call it was or else in one that waits behind a breaker on the same downstream, and
 * answers with its approval's id; undefined when no run can be asked.
 */
export async function askShared(
  { book }: Ports,
  circuits: Pick<CircuitStore, 'ofDownstream' | 'waiting'>,
  shared: SharedFailure,
): Promise<string | undefined> {
  const { runId, node, visit, downstream } = shared
  const own = await askIn(book, runId, { node, visit }, shared)
  if (own !== undefined) return own
  let left = othersTried
  for (const { id } of await circuits.ofDownstream(downstream)) {
    for (const other of await circuits.waiting(id, left)) {
      left--
      const place = await book.read(other, (run) => waitsBehind(run, downstream))
      const asked = place && (await askIn(book, other, place, shared))
      if (asked !== undefined) return asked
    }
    if (left <= 0) break
  }
  return undefined
}

interface Place {
  node: string
  visit: number
}

async function askIn(
  book: Ports['book'],
  runId: RunId,
  place: Place,
  shared: SharedFailure,
): Promise<string | undefined> {
  const { sentence } = shared
  const wish = { type: 'ask_about', kind: 'circuit', role: 'operator', par: [] as string[] } as const
  try {
    const { facts } = await book.execute(runId, { ...wish, ...place, sentence, reason: reasonOf(shared) })
    const asked = facts.find((fact) => fact.type === 'approval_asked')
    return asked?.type === 'approval_asked' ? asked.approval : undefined
  } catch (error) {
    if (isProblem(error)) return undefined
    throw error
  }
}

function reasonOf({ because, callers, reopened }: SharedFailure): string {
  switch (because) {
    case 'several':
      return `${callers.length} workflows stand before open breakers; probes are held until a person decides`
    case 'again':
      return `Its breaker opened again after ${reopened} probes; probes are held until a person decides`
    case 'probe':
      return 'The probe that was let go failed; the others are held until a person decides'
  }
}

function waitsBehind(run: Run, downstream: string): Place | undefined {
  for (const { node, visit, state } of run.visits.values()) {
    if (state.status === 'waiting' && state.for === 'breaker' && state.downstream === downstream)
      return { node, visit }
  }
  return undefined
}

/** Lets the steps go that wait behind the circuit, in every run. */
export async function letGo(
  { book, log }: Ports,
  runs: readonly RunId[],
  { id, downstream }: CircuitName,
  by: string,
): Promise<void> {
  for (const runId of runs) {
    try {
      await book.execute(runId, { type: 'release', circuit: id, downstream, by })
    } catch (error) {
      // It went on, or ended, by itself.
      if (isProblem(error)) continue
      const fault = error instanceof Error ? error.message : 'unknown'
      log.warn(
        { run: runId, circuit: id, fault },
        `${runId} was not told that a breaker lets go; it asks by itself later`,
      )
    }
  }
}
