import path from 'node:path'
import type { Json } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import type { RunOutcome } from '@/lib/server/one-shot'
import { dataFolder } from './data-folder'
import { exitCode } from './exit-codes'
import { readText } from './parse-options'
import { UsageError } from './usage-error'

export interface RunOptions {
  input?: Json
  start?: string
  dryRun?: boolean
  timeoutSecs?: number
  data?: string
  resume?: string
  approvePlan?: string
  json?: boolean
  intelUnix?: string
  intelHttp?: string
  mcpStdio?: string
}

/**
 * `holdpoint run FILE`: one run to its end, or until it waits. The outcome goes to standard output as JSON, one sentence
 * and logs to standard error.
 */
export async function runCommand(file: string | undefined, options: RunOptions): Promise<number> {
  if (file === undefined && options.resume === undefined) {
    throw new UsageError('run needs a workflow file, or --resume and the id of a run that waits')
  }
  if (options.resume !== undefined && (options.input !== undefined || options.start !== undefined)) {
    throw new UsageError('--resume goes on with a run as it is; --input and --start belong to a new one')
  }
  const text = file === undefined ? undefined : await mayRun(file, readText(file), options.approvePlan)
  if (file === undefined && options.approvePlan !== undefined) {
    throw new UsageError(
      '--approve-plan needs the file of the plan; a run that waits was approved when it began',
    )
  }
  const { runOnce } = await import('@/lib/server/one-shot')
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const data = dataFolder(options.data)
  const outcome = await runOnce({
    dataDir: data.path,
    ...(file === undefined || text === undefined
      ? {}
      : {
          workflow: { filename: file, text },
          workflowFolder: path.dirname(path.resolve(file)),
        }),
    ...(options.resume === undefined ? {} : { resume: options.resume }),
    ...(options.input === undefined ? {} : { input: options.input }),
    ...(options.start === undefined ? {} : { start: options.start }),
    ...(options.timeoutSecs === undefined ? {} : { timeoutS: options.timeoutSecs }),
    dryRun: options.dryRun ?? false,
    switches: options,
    signal: stop.signal,
  })
  return tellOutcome(outcome, data.path, options.json ?? false)
}

/** Prints how a run ended, or what it waits for; gives the exit code. */
export function tellOutcome(outcome: RunOutcome, dataPath: string, asLine: boolean): number {
  console.error(sentenceOf(outcome))
  if (outcome.status === 'paused') console.error(howToGoOn(outcome.runId, dataPath))
  console.log(JSON.stringify(wire(outcome), null, asLine ? 0 : 2))
  return codeOf(outcome)
}

/**
 * The text to run. A plan is approved by its hash: one word changed makes another plan. Throws Problem
 * `plan_not_approved` for a plan without approval, `workflow_invalid` for another one than was approved.
 */
async function mayRun(file: string, text: string, approved: string | undefined): Promise<string> {
  const { approvedText, planMarkIn, refuseMarked } = await import('@/lib/server/plan-mark')
  const planned = planMarkIn(text)
  if (planned === undefined && approved === undefined) return text
  const { readWorkflow } = await import('@/lib/formats/format')
  const { nodeKind } = await import('@/lib/nodes/registry')
  const { versionOf } = await import('@/lib/workflow/versions')
  const { graph } = readWorkflow(text, file, nodeKind)
  const is = graph && versionOf(graph)
  if (approved === undefined) {
    const changed = is === planned ? '' : ', which was changed since it was planned'
    refuseMarked(text, file, `read it${changed}, then run it with --approve-plan ${is ?? planned}`)
  } else if (is !== approved) {
    const found = is === undefined ? 'is no workflow' : `has the hash ${is}`
    throw new Problem(
      'workflow_invalid',
      `${file} ${found}, and ${approved.slice(0, 80)} was approved; nothing was run`,
    )
  }
  return is === undefined ? text : approvedText(text, is)
}

/** The outcome with the member names that agentd's users know (agentd section 12), and what is more. */
function wire({
  runId,
  status,
  lastNode,
  terminal,
  reason,
  waitsFor,
  finalValue,
  httpResponse,
  elapsedS,
}: RunOutcome): object {
  return {
    status,
    final_value: finalValue,
    last_node: lastNode ?? null,
    reason: reason === '' ? undefined : reason,
    http_response: httpResponse,
    run_id: runId,
    terminal_status: terminal,
    waits_for: waitsFor,
    elapsed_s: elapsedS,
  }
}

function sentenceOf({ runId, status, reason, waitsFor, elapsedS }: RunOutcome): string {
  const words = status.replace('_', ' ')
  const waits = waitsFor?.length ? `: ${waitsFor.join('; ')}` : ''
  const why = reason ? `: ${reason}` : ''
  return `${runId} ${words} after ${elapsedS.toFixed(1)} s${waits || why}`
}

/** What a run that waits needs next: someone who decides, and something that works on it again. */
function howToGoOn(runId: string, dataPath: string): string {
  const folder = /^[\w./~:\\-]+$/.test(dataPath) ? dataPath : JSON.stringify(dataPath)
  return [
    `Decide it in the console:  npx holdpoint serve --data ${folder}`,
    `It goes on there, or here: npx holdpoint run --resume ${runId} --data ${folder}`,
  ].join('\n')
}

function codeOf({ status }: RunOutcome): number {
  switch (status) {
    case 'completed':
      return exitCode.ok
    case 'paused':
      return exitCode.paused
    case 'failed':
    case 'timed_out':
    case 'errored':
      return exitCode.failed
    default:
      return status satisfies never
  }
}
