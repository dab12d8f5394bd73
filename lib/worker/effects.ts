import { sha256 } from '@/lib/base/hash'
import { isProblem } from '@/lib/base/problem'
import type { StepFailure } from '@/lib/engine/commands'
import type { RunHeader } from '@/lib/engine/ports'
import type { Run } from '@/lib/engine/run'
import { EffectFailed, type Effects } from '@/lib/runners/runner'
import type { WorkerPorts } from './ports'

/** What a runner is given for one attempt. The idempotency key follows from run, node, visit and attempt. */
export function effectsFor(
  ports: WorkerPorts,
  run: Run,
  header: RunHeader,
  step: { node: string; visit: number; attempt: number; signal: AbortSignal; follows: readonly string[] },
): Effects {
  return {
    runId: header.runId,
    signal: step.signal,
    get idempotencyKey() {
      return sha256(`${header.runId}/${step.node}/${step.visit}/${step.attempt}`)
    },
    dryRun: run.start?.dryRun ?? false,
    policy: run.graph.graph.policy,
    installationRoots: ports.installationRoots,
    agents: ports.agents(header.wid),
    follows: step.follows,
    ...ports.reach({ run, header, ...step }),
    now: () => ports.timer.now(),
  }
}

/** A failure as the engine records it. What is neither refused nor failed is a fault of ours: recorded without its text. */
export function failureOf(error: unknown): StepFailure {
  if (error instanceof EffectFailed) {
    const { code, errorType, severity, retriable, message } = error
    return { code, errorType, severity, retriable, description: message }
  }
  if (isProblem(error)) {
    const errorType = error.code === 'checkpoint_limit' ? 'resource_exhausted' : 'constraint_violation'
    return { code: error.code, errorType, severity: 'error', retriable: false, description: error.message }
  }
  return {
    code: 'internal',
    errorType: 'unknown',
    severity: 'error',
    retriable: false,
    description: 'The step stopped on a fault inside Holdpoint; the server log has the details',
  }
}
