/*
 * One run to its end, or until it waits, without a console: what `holdpoint run` does. It works on the same data folder
 * as a server would, beside one if one is there, and leaves a run that any server can show, decide and take back. As
 * long as this process lives it alone does the run and its children: their tools, models, secrets and folders are those
 * of the command line.
 */
import os from 'node:os'
import { mintUuid, type RunId } from '@/lib/base/ids'
import type { Json } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import type { TerminalStatus } from '@/lib/engine/facts'
import { endingOf } from '@/lib/engine/outcome'
import { shownStatus } from '@/lib/engine/projection'
import type { Approval, Run } from '@/lib/engine/run'
import { cancelRun } from '@/lib/worker/cancel-run'
import { finalValueOf } from '@/lib/worker/final-value'
import { readJson } from '@/lib/worker/run-book'
import { leaseMs, startWorker } from '@/lib/worker/worker'
import type { Installation } from './installation'
import { createLog } from './log'
import { openInstallation } from './open-installation'
import { openReachable, type ReachSwitches } from './reachable'
import { runIdFrom } from './run-id'
import { startRun } from './runs'
import { importWorkflow } from './workflows'

export interface OneShotOptions {
  dataDir: string
  workflow?: { filename: string; text: string }
  input?: Json
  /** A named entry; only formats that have them. */
  start?: string
  dryRun: boolean
  /** Seconds; the run is cancelled after that. */
  timeoutS?: number
  /** A run to go on with. */
  resume?: string
  /** Begins the run in another way than from a workflow, as this person and kept for this worker. */
  begin?: (house: Installation, by: string, keptFor: string) => Promise<RunId>
  /** Folders file kinds may work in; the working folder and the data folder's `files` by default. */
  roots?: string[]
  /** Where files that the workflow names are looked for, besides the working folder: the workflow's own folder. */
  workflowFolder?: string
  /** Models and tools named on the command line. */
  switches?: ReachSwitches
  signal: AbortSignal
}

export interface RunOutcome {
  runId: RunId
  status: 'completed' | 'failed' | 'timed_out' | 'paused' | 'errored'
  /** The step it ended or waits at; only of workflows that take one step at a time. */
  lastNode?: string
  terminal?: TerminalStatus
  reason: string
  /** What it waits for, one sentence each. */
  waitsFor?: string[]
  finalValue: Json
  /** The HTTP reply an http-triggered run would have given: `{status, content_type, body}`. */
  httpResponse?: Json
  elapsedS: number
}

/** Runs one workflow, or goes on with one run. Throws the Problems of importing, starting and opening. */
export async function runOnce(options: OneShotOptions): Promise<RunOutcome> {
  const { dataDir } = options
  const house = await openInstallation({
    dataDir,
    origin: 'http://localhost:3000',
    log: createLog(process.env.HOLDPOINT_LOG ?? 'warn'),
    roots: options.roots ?? [process.cwd(), `${dataDir}/files`],
    authoredFolders: [
      process.cwd(),
      ...(options.workflowFolder === undefined ? [] : [options.workflowFolder]),
    ],
    unconfined: true,
    reachable: await openReachable(dataDir, options.switches, process.cwd()),
  })
  const by = `person:${os.userInfo().username}+cli`
  try {
    const owner = `cli ${process.pid} ${mintUuid().slice(0, 8)}`
    const runId = options.begin
      ? await options.begin(house, by, owner)
      : options.resume
        ? await resumed(house, options.resume, by, owner)
        : await begun(house, options, by, owner)
    const worker = startWorker(house.ports, owner)
    try {
      return await outcomeOf(house, runId, by, options)
    } finally {
      await worker.stop()
    }
  } finally {
    await house.close()
  }
}

async function begun(
  house: Installation,
  options: OneShotOptions,
  by: string,
  keptFor: string,
): Promise<RunId> {
  const { workflow, start, dryRun, input = {} } = options
  if (!workflow) throw new Problem('bad_request', 'There is no workflow to run and no run to go on with')
  const { record } = await importWorkflow(house, workflow.text, { filename: workflow.filename, by })
  const { timeoutS } = options
  return startRun(house, { version: record.version, input, by, dryRun, start, timeoutS, keptFor })
}

/**
 * A paused run is let go on. Resuming at an agentd workflow's `pause_for_approval` is the decision it waits for (agentd
 * section 1.5), recorded as made by whoever runs the command; any other question goes on waiting for its person.
 */
async function resumed(house: Installation, text: string, by: string, owner: string): Promise<RunId> {
  const runId = runIdFrom(text)
  // Before it can go on: a server's worker would be quicker.
  await house.store.leases.keep(owner, runId, house.ports.timer.now(), leaseMs)
  const { status, pauses } = await house.book.read(runId, (run) => ({
    status: run.state.status,
    pauses: run.graph.graph.format === 'agentd' ? pausesOf(run) : [],
  }))
  if (status === 'paused') await house.book.execute(runId, { type: 'resume', by })
  for (const { id: approval, action } of pauses) {
    const comment = 'Resumed on the command line'
    await house.book.execute(runId, { type: 'decide', approval, verdict: 'approve', by, action, comment })
  }
  return runId
}

function pausesOf(run: Run): Approval[] {
  return [...run.openApprovals]
    .flatMap((id) => run.approvals.get(id) ?? [])
    .filter(
      ({ node, kind }) => kind === 'approval' && run.graph.nodes.get(node)?.kind === 'pause_for_approval',
    )
}

/** Waits for the run's end, or until it waits for somebody. After `timeoutS` seconds it is cancelled, as `by`. */
export async function outcomeOf(
  house: Installation,
  runId: RunId,
  by: string,
  options: Pick<OneShotOptions, 'timeoutS' | 'signal'>,
): Promise<RunOutcome> {
  const { timer } = house.ports
  const until =
    options.timeoutS === undefined ? Number.POSITIVE_INFINITY : timer.now() + options.timeoutS * 1000
  let changed: () => void = () => undefined
  const off = house.store.onAppend((event) => event.runId === runId && changed())
  let timedOut = false
  try {
    for (;;) {
      const wake = new AbortController()
      changed = () => wake.abort()
      const found = await standing(house, runId)
      if (found.over) return timedOut ? { ...found.outcome, status: 'timed_out' } : found.outcome
      if (options.signal.aborted)
        return { ...found.outcome, status: 'paused', reason: 'Interrupted; go on with --resume' }
      if (!timedOut && timer.now() >= until) {
        timedOut = true
        await cancelRun(house.ports, runId, { by, reason: `Not done within ${options.timeoutS} s` })
        continue
      }
      const limit = timedOut || until === Number.POSITIVE_INFINITY ? timer.now() + 3_600_000 : until
      await timer.waitUntil(limit, AbortSignal.any([wake.signal, options.signal]))
    }
  } finally {
    off()
  }
}

async function standing(house: Installation, runId: RunId): Promise<{ over: boolean; outcome: RunOutcome }> {
  const noted = await house.book.read(runId, (run) => ({
    state: run.state,
    shown: shownStatus(run),
    ending: endingOf(run),
    elapsedS: (run.lastAt - (run.start?.at ?? run.lastAt)) / 1000,
    lastNode: run.walk?.path.at(-1)?.visit.node,
    leaves: run.walk ? undefined : leavesOf(run),
    reply: replyOf(run),
    waits: waitsOf(run),
    triesAgain: [...run.active].some((node) => {
      const visit = run.visits.get(node)?.state
      return visit?.status === 'waiting' && visit.for === 'retry'
    }),
    why: [...run.openApprovals].flatMap((id) => run.approvals.get(id)?.reason ?? [])[0] ?? '',
  }))
  const { state, shown, ending, waits, triesAgain, lastNode } = noted
  const common = { runId, elapsedS: noted.elapsedS, lastNode }
  if (ending && state.status === 'ended') {
    const { status, reason } = ending
    const finalValue = noted.leaves
      ? await outputOf(house, noted.leaves)
      : await finalValueOf(house.store.ledger, ending)
    // A reply stands only for a run that completed: a failure cannot look like a clean answer.
    const reply = status === 'completed' && noted.reply ? await storedValue(house, noted.reply) : undefined
    const ended = { ...common, status, terminal: state.terminal, reason, finalValue }
    return { over: true, outcome: reply === undefined ? ended : { ...ended, httpResponse: reply } }
  }
  // A step that is about to be tried again waits for nobody.
  const waiting =
    (shown === 'waiting' && !triesAgain && (await isStillHeld(house, runId))) ||
    state.status === 'paused' ||
    state.status === 'rolled_back'
  const paused = { status: 'paused', reason: noted.why, waitsFor: waits, finalValue: null } as const
  return { over: waiting, outcome: { ...common, ...paused } }
}

/** Whatever runs below it waits as well: what was decided there just now moves it before it says so itself. */
async function isStillHeld(house: Installation, runId: RunId): Promise<boolean> {
  const { items } = await house.store.runs.list({ parent: runId }, { limit: 500 })
  for (const child of items.filter(({ status }) => status !== 'ended')) {
    const shown = await house.book.read(child.runId, shownStatus)
    if (shown === 'running' || (shown === 'waiting' && !(await isStillHeld(house, child.runId)))) return false
  }
  return true
}

/** What the last `respond` step on the way declared (agentd section 1.5). */
function replyOf(run: Run): string | undefined {
  const replies = run.walk?.path.flatMap(({ visit: { node, state } }) =>
    run.graph.nodes.get(node)?.kind === 'respond' && state.status === 'done' ? [state.output] : [],
  )
  return replies?.at(-1)
}

async function storedValue(house: Installation, hash: string | undefined): Promise<Json> {
  return hash === undefined ? null : ((await readJson(house.store.ledger, hash)) ?? null)
}

function waitsOf(run: Run): string[] {
  if (run.state.status === 'paused') return [`paused by ${run.state.by}`]
  if (run.state.status === 'rolled_back') return ['an operator to end the run or go on']
  const people = [...run.openApprovals].map((id) => {
    const approval = run.approvals.get(id)
    return `${approval?.role} to decide: ${approval?.sentence}`
  })
  const agents = [...run.active]
    .filter((node) => {
      const state = run.visits.get(node)?.state
      return state?.status === 'waiting' && state.for === 'agent'
    })
    .map((node) => `an agent to claim ${node}`)
  return [...people, ...agents]
}

function leavesOf(run: Run): [string, string][] {
  return run.graph.order.flatMap((node): [string, string][] => {
    const state = run.visits.get(node)?.state
    const isLeaf = (run.graph.children.get(node)?.length ?? 0) === 0
    return isLeaf && state?.status === 'done' ? [[node, state.output]] : []
  })
}

/** The output of the last step; of several last steps, each under its id. */
async function outputOf(house: Installation, leaves: [string, string][]): Promise<Json> {
  const outputs = await Promise.all(
    leaves.map(async ([node, hash]): Promise<[string, Json]> => [node, await storedValue(house, hash)]),
  )
  const [only] = outputs
  return outputs.length === 1 && only ? only[1] : Object.fromEntries(outputs)
}
