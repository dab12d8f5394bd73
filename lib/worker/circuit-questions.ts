/*
 * What runs are told of circuits that they share: people are asked about a downstream in the run whose call was the last
 * straw (ATD sections 6.3 and 8), and whoever waits behind a circuit is let go when it may be called again.
 */
import type { RunId } from '@/lib/base/ids'
import { isProblem } from '@/lib/base/problem'
import type { AskedInRun, CircuitName, CircuitStore } from '@/lib/engine/circuit-ports'
import type { Run } from '@/lib/engine/run'
import type { SharedFailure } from './circuit-ports'
import type { WorkerPorts } from './ports'

type Ports = Pick<WorkerPorts, 'book' | 'log'>

/** Runs that are tried where the one whose call it was cannot be asked any more. */
const othersTried = 10

/**
 * Asks the question, in the run whose call it was or else in one that waits behind a breaker on the same downstream, and
 * answers with what stands there then; undefined when no run can be asked. A question that stands there already, of a process
 * that died before it could say so, is the answer: there is one.
 */
export async function askShared(
  { book }: Ports,
  circuits: Pick<CircuitStore, 'ofDownstream' | 'waiting' | 'news'>,
  shared: SharedFailure,
): Promise<AskedInRun | undefined> {
  const { runId, node, visit, downstream } = shared
  const waiting = await runsWaiting(circuits, downstream)
  const { holds } = await circuits.news(Number.MAX_SAFE_INTEGER)
  const ofOthers = new Set(holds.map((hold) => hold.downstream !== downstream && hold.approval))
  for (const run of new Set([runId, ...waiting])) {
    const approval = await readIn(book, run, (one) => questionAbout(one, downstream))
    if (approval !== undefined && !ofOthers.has(approval)) return { runId: run, approval }
  }
  const own = node === undefined ? undefined : await askIn(book, runId, { node, visit }, shared)
  if (own !== undefined) return own
  for (const run of waiting) {
    const place = await readIn(book, run, (one) => waitsBehind(one, downstream))
    const asked = place && (await askIn(book, run, place, shared))
    if (asked !== undefined) return asked
  }
  if (!shared.afterEnd || node === undefined) return undefined
  return askIn(book, runId, { node, visit, afterEnd: true }, shared)
}

/** Runs that wait behind any breaker on the downstream, in an order that does not change. */
async function runsWaiting(
  circuits: Pick<CircuitStore, 'ofDownstream' | 'waiting'>,
  downstream: string,
): Promise<Set<RunId>> {
  const runs = new Set<RunId>()
  for (const { id } of await circuits.ofDownstream(downstream)) {
    for (const run of await circuits.waiting(id, othersTried)) runs.add(run)
    if (runs.size >= othersTried) break
  }
  return runs
}

/** Reads in a run; undefined where it is none any more. */
async function readIn<T>(
  book: Ports['book'],
  runId: RunId,
  reader: (run: Run) => T | undefined,
): Promise<T | undefined> {
  try {
    return await book.read(runId, reader)
  } catch (error) {
    if (isOfRun(error)) return undefined
    throw error
  }
}

/** The run says no, or is none. What the store could not do now says nothing of it: that is tried again. */
function isOfRun(error: unknown): boolean {
  return isProblem(error) && !error.code.startsWith('store_') && error.code !== 'sequence_taken'
}

/** The open question about a downstream that a step of the run asked. */
function questionAbout({ openApprovals, approvals, circuits }: Run, downstream: string): string | undefined {
  const met = [...circuits.values()].filter((seen) => seen.downstream === downstream)
  return [...openApprovals].find((id) => {
    const { kind, node } = approvals.get(id) ?? {}
    return kind === 'circuit' && met.some(({ nodes }) => nodes.some((at) => at === node))
  })
}

interface Place {
  node: string
  visit: number
  afterEnd?: true
}

async function askIn(
  book: Ports['book'],
  runId: RunId,
  place: Place,
  shared: SharedFailure,
): Promise<AskedInRun | undefined> {
  const { sentence } = shared
  const wish = { type: 'ask_about', kind: 'circuit', role: 'operator', par: [] as string[] } as const
  try {
    const { facts } = await book.execute(runId, { ...wish, ...place, sentence, reason: reasonOf(shared) })
    const asked = facts.find((fact) => fact.type === 'approval_asked')
    return asked?.type === 'approval_asked' ? { runId, approval: asked.approval } : undefined
  } catch (error) {
    if (isOfRun(error)) return undefined
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
    case 'unanswered':
      return 'Nobody answered: the run that asked before was taken back or ended. Probes are held until a person decides'
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
