/** Simulated processes: each has a book, ports and perhaps a worker of its own, and reaches the world by calls alone. */

import type { RunId } from '@/lib/base/ids'
import type { Commit, LeaseRef, LedgerStore } from '@/lib/engine/ports'
import { noReach } from '@/lib/runners/no-reach'
import { resolverOf } from '@/lib/runners/registry'
import type { Store } from '@/lib/store/store'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import { type ChildWorkflows, childRunsOf } from '../child-runs'
import { ChildWaits } from '../child-waits'
import { openPlaces } from '../pools'
import type { WorkerLog, WorkerPorts } from '../ports'
import { RunBook } from '../run-book'
import { startWorker, type Worker } from '../worker'
import { agentOf } from './agents'
import { type SimulatedKind, simulatedKinds, simulatedRunner } from './kinds'
import { signer, vault } from './paper'
import type { Process, Schedule } from './schedule'
import type { Stage } from './stage'

export interface Surroundings {
  stage: Stage
  store: Store
  /** The graphs of the story, by version. */
  graphOf(version: string): Promise<GraphIndex>
  /** What a step finds under a workflow's name. */
  load(workflow: string): ReturnType<ChildWorkflows['load']>
  /** Every commit passes here on its way to the store. */
  commit(commit: Commit): Promise<void>
  /** A worker was given the run. */
  leased(lease: LeaseRef): void
  /** A fault nobody planned. */
  broken(sentence: string): void
}

export interface House {
  process: Process
  ports: WorkerPorts
  book: RunBook
  worker?: Worker
}

/** Starts a process; `works`: with a worker in it. */
export function startHouse(around: Surroundings, name: string, works: boolean): House {
  const process: Process = { name, alive: true }
  const { stage, store, graphOf } = around
  const { schedule, dice } = stage
  const mint = () => dice.uuid()
  const timer = schedule.timerOf(process)
  const ledger: LedgerStore = {
    ...reached(schedule, process, 'ledger', store.ledger),
    commit: (commit) => schedule.call(process, commitWords(commit), () => around.commit(commit)),
  }
  const book = new RunBook({
    ledger,
    signer,
    timer,
    mint,
    chance: () => dice.next(),
    graphOf,
  })
  const workflows: ChildWorkflows = {
    load: (workflow) => schedule.call(process, 'load', () => around.load(workflow)),
    loop: () => Promise.reject(new Error('There are no agent loops here')),
    turn: () => Promise.reject(new Error('There are no prompts here')),
  }
  const runners = new Map(simulatedKinds.map((kind) => [kind, simulatedRunner(stage, process, kind)]))
  const ports: WorkerPorts = {
    book,
    ledger,
    leases: {
      ...reached(schedule, process, 'leases', store.leases),
      claimDue: (...asked) =>
        schedule.call(process, 'leases.claimDue', async () => {
          const claimed = await store.leases.claimDue(...asked)
          for (const lease of claimed) around.leased(lease)
          return claimed
        }),
    },
    vault,
    signer,
    timer,
    mint,
    tokenHolds: (runId, jti) =>
      schedule.call(process, 'token', async () => (await store.ledger.row(runId, jti)) !== undefined),
    runnerOf: (kind) => runners.get(kind as SimulatedKind) ?? resolverOf(kind),
    agents: () => ({
      find: async (id) => agentOf(id),
      requestToken: async () => '',
    }),
    reach: (step) => ({ ...noReach, children: childRunsOf(ports, workflows, step) }),
    graphOf,
    childWaits: new ChildWaits(),
    pools: openPlaces,
    childrenOf: (runId, node, visit) =>
      schedule.call(process, 'children', () => childrenOf(store, runId, node, visit)),
    installationRoots: [],
    rollbackUri: 'https://simulated.example/.well-known/atd/rollback',
    onAppend: (listener) =>
      store.onAppend((event) => {
        if (process.alive)
          schedule.tell(process, schedule.now() + dice.whole(0, 250), 'append', () => listener(event))
      }),
    log: logOf(around, process),
  }
  return { process, ports, book, worker: works ? startWorker(ports, name) : undefined }
}

async function childrenOf(store: Store, parent: RunId, node: string, visit: number): Promise<RunId[]> {
  const { items } = await store.runs.list({ parent }, { limit: 500 })
  return items
    .flatMap(({ runId, parent: place }) =>
      place?.node === node && place.visit === visit ? [{ runId, index: place.index }] : [],
    )
    .sort((a, b) => a.index - b.index)
    .map(({ runId }) => runId)
}

/** Each method as a call over the schedule. */
function reached<T extends object>(schedule: Schedule, process: Process, room: string, target: T): T {
  const methods = Object.entries(target).map(([name, method]) => [
    name,
    (...args: unknown[]) =>
      schedule.call(process, `${room}.${name}`, () => (method as (...args: unknown[]) => unknown)(...args)),
  ])
  return Object.fromEntries(methods) as T
}

function commitWords({ expectedSeq, rows }: Commit): string {
  return `commit ${expectedSeq + 1}…${expectedSeq + rows.length}`
}

/** A fault is expected only where the story planned it; a Problem is a refusal, and refusals are expected. */
function logOf({ stage, broken }: Surroundings, process: Process): WorkerLog {
  const look = (data: object, sentence: string) => {
    const fault = 'fault' in data ? String(data.fault) : ''
    stage.schedule.note(`${process.name} logs: ${sentence} ${fault}`)
    if (fault !== '' && !fault.startsWith('Problem: ') && !fault.includes('planned'))
      broken(`${sentence}: ${fault}`)
  }
  return { info: look, warn: look, error: look }
}
