/** Starting runs, and what operators do with them: the one way for page, API and command line. */
import { type RunId, runIdOf, widOf } from '@/lib/base/ids'
import type { Json } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import type { Actor } from '@/lib/engine/facts'
import type { IdempotentAnswer } from '@/lib/engine/ports'
import { keepable } from '@/lib/runners/kept-output'
import { jsonValue } from '@/lib/worker/values'
import { leaseMs } from '@/lib/worker/worker'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { checkInput } from '@/lib/workflow/input-form'
import { type TriggerKind, triggerInput } from '@/lib/workflow/trigger-input'
import { refuseUnbound } from '@/lib/workflow/unbound-tools'
import type { Installation } from './installation'

export interface StartWish {
  /** Content hash of a stored workflow version. */
  version: string
  input: Json
  by: Actor
  dryRun: boolean
  /** Name of a start; absent: the workflow's first. */
  start?: string
  /** Seconds it may take, whatever its own budget allows. */
  timeoutS?: number
  /** What began it; `manual` when a person or a program asked. */
  trigger?: TriggerKind
  answer?: (runId: RunId) => IdempotentAnswer
  /** The worker that alone is to do it, until it falls silent; absent: any. */
  keptFor?: string
}

/**
 * Starts a run of a stored version. Durable when it resolves. Throws Problem `not_found` for an unknown version and
 * `input_invalid` naming each place of the input that does not fit.
 */
export async function startRun(installation: Installation, wish: StartWish): Promise<RunId> {
  const { ports, book } = installation
  const graph = await installation.graphOf(wish.version)
  await checkMayBegin(installation, graph.graph, wish.input)
  const runId = runIdOf(ports.mint())
  const input = jsonValue(triggerInput(graph.graph, wish.trigger ?? 'manual', wish.input))
  const { answer, keptFor: owner } = wish
  const keptFor = owner === undefined ? undefined : { owner, until: ports.timer.now() + leaseMs }
  await book.execute(
    runId,
    {
      type: 'start',
      version: wish.version,
      input: input.hash,
      by: wish.by,
      dryRun: wish.dryRun,
      start: wish.start,
      deadlineAt: wish.timeoutS === undefined ? undefined : ports.timer.now() + wish.timeoutS * 1000,
    },
    {
      create: {
        runId,
        wid: widOf(runId),
        version: wish.version,
        workflowName: graph.graph.name,
        startedBy: wish.by,
        ...(keptFor && { keptFor }),
      },
      values: [input],
      answer: answer && (() => answer(runId)),
    },
  )
  return runId
}

/** Refuses a run that could not be what it says: an input that does not fit or cannot be kept, a policy that is no more. */
export async function checkMayBegin(
  installation: Installation,
  graph: WorkflowGraph,
  input: Json,
): Promise<void> {
  if (graph.reported) {
    throw new Problem(
      'bad_request',
      'This version is of runs that agents outside report; they begin them with atd:workflow_start',
    )
  }
  if (keepable(input) === undefined || keepable(input) !== input) {
    throw new Problem(
      'input_invalid',
      'The input holds half a character or a number too large for a number; such values cannot be kept',
    )
  }
  refuseUnbound(graph)
  checkInput(graph, input)
  await checkPolicy(installation, graph)
}

/** A policy was good when its workflow was imported; its file, or the OPA that holds it, may have changed since. */
async function checkPolicy({ policies }: Installation, { policy }: WorkflowGraph): Promise<void> {
  const diagnostics = await policies.check(policy)
  const [first] = diagnostics
  if (!first) return
  throw new Problem('workflow_invalid', `The workflow’s policy cannot be loaded: ${first.message}`, {
    diagnostics,
  })
}
