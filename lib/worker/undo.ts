/*
 * Executing a rollback: the stored plan, step by step, last step first. Each act is a token before it begins and a
 * token when it is over, so a crash in the middle goes on where it stopped: putting state back is done again harmlessly,
 * an agent answers the same request with its first answer, and a compensation whose end was never recorded is handed
 * to a person instead of being sent twice.
 */

import type { Json } from '@/lib/base/json'
import { isProblem } from '@/lib/base/problem'
import { claimsOf } from '@/lib/engine/fact-codec'
import type { LeaseRef, RunHeader } from '@/lib/engine/ports'
import type { CheckpointRef, Rollback, Run } from '@/lib/engine/run'
import { anyVisitOf } from '@/lib/engine/visit-states'
import { overallStatus, statusWithoutAct } from '@/lib/rollback/outcome'
import type { Plan, PlannedStep } from '@/lib/rollback/plan'
import type { RollbackStatus } from '@/lib/rollback/terms'
import { type Action, EffectFailed, type Effects, type UndoRequest } from '@/lib/runners/runner'
import { effectsFor, failureOf } from './effects'
import { HandedOver } from './handed-over'
import type { Hold } from './hold'
import { snapshotOf, verified } from './plan'
import type { KindRunner, WorkerPorts } from './ports'
import { readJson } from './run-book'
import { jsonValue } from './values'

/** One act, answered. */
interface Answer {
  status: RollbackStatus
  stateHashBefore?: string
  stateHashAfter?: string
  description: string
  evidence?: Json
}

/** Drives a rollback that was asked for to its result. */
export async function undoRollback(
  ports: WorkerPorts,
  hold: Hold,
  draining: AbortSignal,
  id: Rollback['id'],
): Promise<void> {
  const { lease } = hold
  const noted = await ports.book.read(lease.runId, (run) => {
    const rollback = run.rollbacks.get(id) as Rollback
    const statuses = new Map([...rollback.acts].map(([jti, act]) => [jti, act.status ?? 'begun'] as const))
    return { plan: rollback.plan, deadlineAt: rollback.deadlineAt, reason: rollback.reason, statuses }
  })
  const plan = (await readJson(ports.ledger, noted.plan)) as unknown as Plan | undefined
  if (!plan) throw new Error(`The plan of ${id} is not in the store`)
  const results: { step: PlannedStep; status: RollbackStatus }[] = []
  let timedOut = false
  for (const step of plan.steps) {
    if (step.checkpointId === undefined && statusWithoutAct(step.fate) === undefined) continue
    const known = noted.statuses.get(actKey(step))
    if (known !== undefined && known !== 'begun') {
      results.push({ step, status: known })
      continue
    }
    timedOut ||= ports.timer.now() >= noted.deadlineAt
    const act = new UndoAct(ports, hold, draining, id, noted.reason, step)
    const status = timedOut
      ? await act.handOver('escalated', 'The rollback ran out of time before this step')
      : await act.run(known === 'begun')
    results.push({ step, status })
  }
  await finish(ports, hold, id, results, timedOut)
}

/** Steps without a checkpoint are answered under their own name. */
function actKey(step: PlannedStep): string {
  return step.checkpointId ?? `${step.node}/${step.visit}`
}

async function finish(
  ports: WorkerPorts,
  hold: Hold,
  rollback: Rollback['id'],
  results: { step: PlannedStep; status: RollbackStatus }[],
  timedOut: boolean,
): Promise<void> {
  const cascaded = jsonValue(
    results.map(({ step, status }) => ({ agent: step.agent ?? ports.signer.iss, node: step.node, status })),
  )
  const restored = jsonValue(results.map(({ step }) => [step.node, step.sealedHash ?? null]))
  const status = overallStatus(results.map((result) => result.status))
  await ports.book.execute(
    hold.lease.runId,
    {
      type: 'rollback_ended',
      rollback,
      status,
      restored: restored.hash,
      cascaded: cascaded.hash,
      cascadedCount: results.length,
      timedOut,
    },
    { values: [cascaded, restored], ...hold.along },
  )
}

class UndoAct {
  constructor(
    private readonly ports: WorkerPorts,
    private readonly hold: Hold,
    private readonly draining: AbortSignal,
    private readonly rollback: Rollback['id'],
    private readonly reason: string,
    private readonly step: PlannedStep,
  ) {}

  private get lease(): LeaseRef {
    return this.hold.lease
  }

  /** Undoes the step, or hands it to a person. `begun`: an earlier worker began it and was lost. */
  async run(begun: boolean): Promise<RollbackStatus> {
    const { step } = this
    const without = statusWithoutAct(step.fate)
    if (without !== undefined) return this.handOver(without, step.sentence)
    const ref = await this.ports.book.read(this.lease.runId, (run) =>
      run.checkpoints.get(step.checkpointId ?? ''),
    )
    if (!ref) return this.handOver('failed', `The checkpoint of ${step.label} is not in the ledger`)
    if (begun && ref.undo === 'compensate') {
      return this.handOver(
        'escalated',
        `The worker was lost while compensating ${step.label}; look before doing it again`,
      )
    }
    const { state, verification, problem } = await verified(this.ports, this.lease.runId, ref)
    if (verification !== 'ok' || state === undefined) {
      return this.handOver('failed', problem?.message ?? `The checkpoint of ${step.label} does not verify`)
    }
    const jti = begun ? await this.begunAs() : await this.begin(ref)
    return this.answer(await this.perform(ref, snapshotOf(ref, state), jti))
  }

  /** Records that this step was not undone, and asks a person about it. */
  async handOver(status: RollbackStatus, why: string): Promise<RollbackStatus> {
    const { step } = this
    const role = await this.ports.book.read(
      this.lease.runId,
      (run) => run.graph.nodes.get(step.node)?.approval?.role ?? 'operator',
    )
    const sentence = `${step.label} was not undone: ${why}`
    await this.execute({
      type: 'act_ended',
      rollback: this.rollback,
      node: step.node,
      visit: step.visit,
      checkpointId: actKey(step),
      status,
      description: why,
      escalateTo: { role, sentence, action: jsonValue({ sentence }).hash },
    })
    return status
  }

  private async begin(ref: CheckpointRef): Promise<string> {
    const { node, visit } = this.step
    const decision = await this.execute({
      type: 'act_began',
      rollback: this.rollback,
      node,
      visit,
      checkpointId: ref.jti,
      undo: ref.undo,
    })
    return decision.facts[0]?.jti ?? ''
  }

  private begunAs(): Promise<string> {
    const { runId } = this.lease
    return this.ports.book.read(
      runId,
      (run) => run.rollbacks.get(this.rollback)?.acts.get(this.step.checkpointId ?? '')?.jti ?? '',
    )
  }

  private async perform(
    ref: CheckpointRef,
    snapshot: ReturnType<typeof snapshotOf>,
    actJti: string,
  ): Promise<Answer> {
    const noted = await this.ports.book.read(this.lease.runId, (run, header) =>
      noteUndo(run, header, this.step, this.rollback),
    )
    const runner = this.ports.runnerOf(noted.kind)
    const action = noted.action && ((await readJson(this.ports.ledger, noted.action)) as unknown as Action)
    if (!runner?.undo || !action)
      return { status: 'failed', description: `Nothing here can undo ${this.step.label}` }
    try {
      const { agent } = snapshot.state
      const holder = ref.undo === 'remote' && typeof agent === 'string' ? agent : undefined
      const request = await this.request(ref, noted, actJti, holder)
      const effects = effectsFor(this.ports, noted.run, noted.header, {
        node: `${this.step.node}/undo`,
        visit: this.step.visit,
        attempt: 1,
        signal: this.hold.lost,
        lost: this.hold.lost,
        draining: this.draining,
        lease: this.lease,
        follows: [ref.jti],
      })
      this.hold.check(this.ports.timer.now())
      return await undone(runner, action, snapshot, effects, request)
    } catch (error) {
      // It stays begun, and the next worker goes on with it.
      if (isProblem(error, 'lease_lost') || this.hold.lost.aborted || error instanceof HandedOver) throw error
      const unknown = ref.undo === 'compensate' && error instanceof EffectFailed && error.outcomeUnknown
      return {
        status: unknown ? 'escalated' : 'failed',
        description: isProblem(error) ? error.message : failureOf(error).description,
      }
    }
  }

  /** A live request for the agent: the same `jti` whenever it is sent, so that a repeated one gets the first answer. */
  private async request(
    ref: CheckpointRef,
    noted: Noted,
    actJti: string,
    holder?: string,
  ): Promise<UndoRequest> {
    const { signer, timer, ledger } = this.ports
    const claims = claimsOf(
      {
        type: 'rollback_request',
        jti: actJti,
        at: timer.now(),
        par: [ref.jti],
        rollback: this.rollback,
        scope: 'single',
        node: this.step.node,
        cascade: false,
        reason: this.reason,
        by: 'engine',
        plan: noted.plan,
        deadlineAt: timer.now() + 60_000,
      },
      {
        iss: signer.iss,
        aud: holder ?? signer.aud,
        wid: noted.header.wid,
        vocabulary: noted.run.graph.graph.vocabulary,
      },
    )
    return {
      id: this.rollback,
      reason: this.reason,
      checkpointId: ref.jti,
      requestToken: await signer.sign(claims),
      output: noted.output === undefined ? undefined : await readJson(ledger, noted.output),
    }
  }

  private async answer(answer: Answer): Promise<RollbackStatus> {
    const { status, stateHashBefore, stateHashAfter, description } = answer
    if (status !== 'completed') return this.handOver(status, description)
    const { node, visit } = this.step
    await this.execute({
      type: 'act_ended',
      rollback: this.rollback,
      node,
      visit,
      checkpointId: actKey(this.step),
      status,
      stateHashBefore,
      stateHashAfter,
      description,
    })
    return status
  }

  private execute(command: Parameters<WorkerPorts['book']['execute']>[1]) {
    return this.ports.book.execute(this.lease.runId, command, this.hold.along)
  }
}

interface Noted {
  run: Run
  header: RunHeader
  kind: string
  action?: string
  output?: string
  plan: string
}

function noteUndo(run: Run, header: RunHeader, step: PlannedStep, rollback: Rollback['id']): Noted {
  const node = run.graph.nodes.get(step.node)
  const visit = anyVisitOf(run, step.node, step.visit)
  return {
    run: { graph: run.graph, start: run.start } as Run,
    header,
    kind: node?.kind ?? '',
    action: visit?.action,
    output: visit?.state.status === 'done' ? visit.state.output : undefined,
    plan: run.rollbacks.get(rollback)?.plan ?? '',
  }
}

/** Verified after as well as before: state that was put back must hash to what was sealed. */
async function undone(
  runner: KindRunner,
  action: Action,
  snapshot: ReturnType<typeof snapshotOf>,
  effects: Effects,
  request: UndoRequest,
): Promise<Answer> {
  const result = await runner.undo?.(action, snapshot, effects, request)
  if (!result) return { status: 'failed', description: 'Nothing here can undo this step' }
  const { status = 'completed', stateHashBefore, stateHashAfter, description } = result
  const wrong =
    snapshot.undo !== 'compensate' && stateHashAfter !== undefined && stateHashAfter !== snapshot.hash
  if (status === 'completed' && wrong) {
    return {
      status: 'failed',
      stateHashBefore,
      stateHashAfter,
      description: `The state after the rollback is ${stateHashAfter}, not the sealed ${snapshot.hash}`,
    }
  }
  return { status, stateHashBefore, stateHashAfter, description }
}
