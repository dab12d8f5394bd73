import { sha256 } from '@/lib/base/hash'
import { isProblem } from '@/lib/base/problem'
import type { StepFailure } from '@/lib/engine/commands'
import type { RunHeader } from '@/lib/engine/ports'
import type { Run } from '@/lib/engine/run'
import { grantedTo } from '@/lib/policy/grants'
import { type ChildLimits, EffectFailed, type Effects } from '@/lib/runners/runner'
import type { Budget } from '@/lib/workflow/graph'
import type { ReachingStep, WorkerPorts } from './ports'

/** For whoever only looks: nobody stops it before its own time. */
const never = new AbortController().signal

/** What a runner is given for one attempt. The idempotency key follows from run, node, visit and attempt. */
export function effectsFor(
  ports: WorkerPorts,
  run: Run,
  header: RunHeader,
  step: Omit<ReachingStep, 'run' | 'header' | 'draining' | 'lost' | 'lease'> &
    Partial<Pick<ReachingStep, 'draining' | 'lost' | 'lease'>>,
): Effects {
  const reach = ports.reach({ draining: never, lost: never, ...step, run, header })
  return {
    runId: header.runId,
    signal: step.signal,
    ...(step.until !== undefined && { until: step.until }),
    // Made when it is asked for: most steps ask nobody.
    get request() {
      return step.request?.()
    },
    get idempotencyKey() {
      return sha256(`${header.runId}/${step.node}/${step.visit}/${step.attempt}`)
    },
    dryRun: run.start?.dryRun ?? false,
    ...grantedTo(run.graph.graph, ports),
    childLimits: childLimitsOf(run.graph.graph.budget),
    agents: ports.agents(header.wid),
    follows: step.follows,
    allow: reach.allow,
    secret: reach.secret,
    authored: reach.authored,
    spendBytes: reach.spendBytes,
    calls: reach.calls,
    // Made when they are asked for: most steps ask for none.
    get models() {
      return reach.models
    },
    get mcp() {
      return reach.mcp
    },
    get children() {
      return reach.children
    },
    now: () => ports.timer.now(),
  }
}

function childLimitsOf({ maxMemoryMb, maxCpuS }: Budget): ChildLimits {
  return { memoryMb: maxMemoryMb, cpuS: maxCpuS }
}

/** A failure as the engine records it. What is neither refused nor failed is a fault of ours: recorded without its text. */
export function failureOf(error: unknown): StepFailure {
  if (error instanceof EffectFailed) {
    const { code, errorType, severity, retriable, message, upstream } = error
    return {
      code,
      errorType,
      severity,
      retriable,
      description: message,
      ...(upstream.length > 0 && { upstream: [...upstream] }),
    }
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
