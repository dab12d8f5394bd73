/*
 * What runs are told of circuits that they share: people are asked about a downstream in the run whose call was the last
 * straw (ATD sections 6.3 and 8), and whoever waits behind a circuit is let go when it may be called again.
 */
import type { RunId } from '@/lib/base/ids'
import { isProblem } from '@/lib/base/problem'
import type { CircuitName } from '@/lib/engine/circuit-ports'
import type { SharedFailure } from './circuit-ports'
import type { WorkerPorts } from './ports'

type Ports = Pick<WorkerPorts, 'book' | 'log'>

/** Asks the question, and answers with its approval's id; undefined when the run cannot be asked any more. */
export async function askShared({ book }: Ports, shared: SharedFailure): Promise<string | undefined> {
  const { runId, node, visit, sentence, because, callers, reopened } = shared
  const reason =
    because === 'several'
      ? `${callers.length} workflows stand before open breakers; probes are held until a person decides`
      : `Its breaker opened again after ${reopened} probes; probes are held until a person decides`
  try {
    const { facts } = await book.execute(runId, {
      type: 'ask_about',
      node,
      visit,
      kind: 'circuit',
      role: 'operator',
      sentence,
      reason,
      par: [],
    })
    const asked = facts.find((fact) => fact.type === 'approval_asked')
    return asked?.type === 'approval_asked' ? asked.approval : undefined
  } catch (error) {
    if (isProblem(error)) return undefined
    throw error
  }
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
