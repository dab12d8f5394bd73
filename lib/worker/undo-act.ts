/*
 * One act of a rollback: a step's checkpoint is put back or compensated, here or by the agent that holds it. A token
 * before it begins and one when it is over; what an agent signed is kept beside the second. The status is final: an act
 * that was answered is never asked for again.
 *
 *   begun ──▶ undone          its state is back, and hashes to what was sealed
 *         ──▶ handed over     to a person, who is told why
 *
 * An agent that gives no answer is asked again, for half of the time that the rollback has left: the same request, which it answers with
 * its first answer. A compensation is never sent again when nobody knows whether it arrived.
 */
import { isProblem } from '@/lib/base/problem'
import { claimsOf } from '@/lib/engine/fact-codec'
import type { LeaseRef, RunHeader } from '@/lib/engine/ports'
import type { CheckpointRef, Rollback, Run } from '@/lib/engine/run'
import { anyVisitOf } from '@/lib/engine/visit-states'
import { statusWithoutAct } from '@/lib/rollback/outcome'
import type { PlannedStep } from '@/lib/rollback/plan'
import type { RollbackStatus } from '@/lib/rollback/terms'
import { actKey } from '@/lib/rollback/votes'
import {
  type Action,
  EffectFailed,
  type Effects,
  type Evidence,
  type Snapshot,
  type UndoRequest,
} from '@/lib/runners/runner'
import { effectsFor, failureOf } from './effects'
import { HandedOver } from './handed-over'
import type { Hold } from './hold'
import { snapshotOf, verified } from './plan'
import type { KindRunner, WorkerPorts } from './ports'
import { readJson } from './run-book'
import { jsonValue } from './values'

/** The rollback an act belongs to, as its coordinator knows it. */
export interface Undoing {
  ports: WorkerPorts
  hold: Hold
  draining: AbortSignal
  rollback: Pick<Rollback, 'id' | 'reason' | 'scope' | 'plan' | 'overwrite' | 'askedAgain'>
  /** When the rollback is out of time, ms since the epoch. */
  deadlineAt: number
}

/** Waits for its turn to call whoever undoes the step; gives back what ends the turn. */
export type Turn = () => Promise<() => void>

/** An agent that does not answer is asked again after this long, and longer each time. */
const askAgainMs = { first: 250, longest: 8000 }
/** How long an agent may take for one answer. */
const answerMs = 20_000
/** However late it is, an agent has this long. */
const shortestMs = 5000

/** One act, answered. */
interface Answer {
  status: RollbackStatus
  stateHashBefore?: string
  stateHashAfter?: string
  description: string
  evidence?: Evidence
}

/** What a call to whoever undoes a step is made of. */
export interface UndoCall {
  runner: KindRunner
  action: Action
  snapshot: Snapshot
  effects(signal: AbortSignal): Effects
  request: UndoRequest
}

export class UndoAct {
  constructor(
    private readonly of: Undoing,
    private readonly step: PlannedStep,
    private readonly turn: Turn = async () => () => undefined,
  ) {}

  private get lease(): LeaseRef {
    return this.of.hold.lease
  }

  /** Undoes the step, or hands it to a person. `begun`: an earlier worker began it and was lost. */
  async run(begun: boolean): Promise<RollbackStatus> {
    const { step } = this
    const { ports } = this.of
    const without = statusWithoutAct(step.fate)
    if (without !== undefined) return this.handOver(without, step.sentence)
    const ref = await ports.book.read(this.lease.runId, (run) => run.checkpoints.get(step.checkpointId ?? ''))
    if (!ref) return this.handOver('failed', `The checkpoint of ${step.label} is not in the ledger`)
    if (begun && ref.undo === 'compensate') {
      return this.handOver(
        'escalated',
        `The worker was lost while compensating ${step.label}; look before doing it again`,
      )
    }
    const { state, verification, problem } = await verified(ports, this.lease.runId, ref)
    if (verification !== 'ok' || state === undefined) {
      return this.handOver('failed', problem?.message ?? `The checkpoint of ${step.label} does not verify`)
    }
    // What may have happened once it is begun is not begun before its turn.
    const early = ref.undo === 'compensate' ? await this.turn() : undefined
    try {
      if (!begun && this.isLate) return await this.outOfTime()
      const jti = begun ? await this.begunAs() : await this.begin(ref)
      const over = early ?? (await this.turn())
      const answer = await this.perform(ref, snapshotOf(ref, state), jti).finally(over)
      return await this.answer(answer)
    } finally {
      early?.()
    }
  }

  outOfTime(): Promise<RollbackStatus> {
    return this.handOver('escalated', 'The rollback ran out of time before this step')
  }

  /** Records that this step was not undone; and asks a person about it, unless one knows already. */
  async handOver(
    status: RollbackStatus,
    why: string,
    { role, silently = false }: { role?: string; silently?: boolean } = {},
    more: Partial<Answer> = {},
  ): Promise<RollbackStatus> {
    const { step } = this
    const { ports, rollback } = this.of
    const asked = await ports.book.read(
      this.lease.runId,
      (run) => role ?? run.graph.nodes.get(step.node)?.approval?.role ?? 'operator',
    )
    const sentence = `${step.label} was not undone: ${why}`
    await this.execute(
      {
        type: 'act_ended',
        rollback: rollback.id,
        node: step.node,
        visit: step.visit,
        checkpointId: actKey(step),
        status,
        description: why,
        ...(more.stateHashBefore && { stateHashBefore: more.stateHashBefore }),
        ...(more.stateHashAfter && { stateHashAfter: more.stateHashAfter }),
        ...(!silently && { escalateTo: { role: asked, sentence, action: jsonValue({ sentence }).hash } }),
      },
      more.evidence,
    )
    return status
  }

  private get isLate(): boolean {
    return this.of.ports.timer.now() >= this.of.deadlineAt
  }

  private async begin(ref: CheckpointRef): Promise<string> {
    const { node, visit } = this.step
    const decision = await this.execute({
      type: 'act_began',
      rollback: this.of.rollback.id,
      node,
      visit,
      checkpointId: ref.jti,
      undo: ref.undo,
    })
    return decision.facts[0]?.jti ?? ''
  }

  private begunAs(): Promise<string> {
    return this.of.ports.book.read(
      this.lease.runId,
      (run) => run.rollbacks.get(this.of.rollback.id)?.acts.get(this.step.checkpointId ?? '')?.jti ?? '',
    )
  }

  private async perform(ref: CheckpointRef, snapshot: Snapshot, actJti: string): Promise<Answer> {
    const call = await callOf(this.of, this.step, ref, snapshot, actJti)
    if (!call?.runner.undo) {
      return { status: 'failed', description: `Nothing here can undo ${this.step.label}` }
    }
    const { ports, hold, draining, deadlineAt } = this.of
    const from = ports.timer.now()
    // Half of what is left: those that wait for this one need time too. What was begun is asked for its answer at least once.
    const giveUpAt = from + Math.max(shortestMs, (deadlineAt - from) / 2)
    for (let pauseMs = askAgainMs.first; ; pauseMs = Math.min(2 * pauseMs, askAgainMs.longest)) {
      const until = ref.undo === 'remote' ? Math.min(giveUpAt, ports.timer.now() + answerMs) : undefined
      try {
        hold.check(ports.timer.now())
        return await withSignal(this.of, until, (signal) => undone(call, signal))
      } catch (error) {
        // It stays begun, and the next worker goes on with it.
        if (isProblem(error, 'lease_lost') || hold.lost.aborted || error instanceof HandedOver) throw error
        if (ref.undo !== 'remote' || !mayAnswerYet(error)) return failed(error, ref)
        if (draining.aborted) throw new HandedOver(this.step.node)
        if (ports.timer.now() + pauseMs >= giveUpAt) return unanswered(error, this.step)
        await ports.timer.waitUntil(ports.timer.now() + pauseMs, hold.lost)
      }
    }
  }

  private async answer(answer: Answer): Promise<RollbackStatus> {
    const { status, stateHashBefore, stateHashAfter, description, evidence } = answer
    if (status !== 'completed') return this.handOver(status, description, {}, answer)
    const { node, visit } = this.step
    await this.execute(
      {
        type: 'act_ended',
        rollback: this.of.rollback.id,
        node,
        visit,
        checkpointId: actKey(this.step),
        status,
        stateHashBefore,
        stateHashAfter,
        description,
      },
      evidence,
    )
    return status
  }

  private execute(command: Parameters<WorkerPorts['book']['execute']>[1], evidence?: Evidence) {
    const { ports, hold } = this.of
    if (!evidence || command.type !== 'act_ended') {
      return ports.book.execute(this.lease.runId, command, hold.along)
    }
    const kept = jsonValue(evidence)
    return ports.book.execute(
      this.lease.runId,
      { ...command, evidence: kept.hash },
      { ...hold.along, values: [kept] },
    )
  }
}

/** Everything that whoever undoes a step is called with; undefined where nothing here can reach them. */
export async function callOf(
  of: Undoing,
  step: PlannedStep,
  ref: CheckpointRef,
  snapshot: Snapshot,
  jti: string,
): Promise<UndoCall | undefined> {
  const { ports, hold, draining } = of
  const noted = await ports.book.read(hold.lease.runId, (run, header) => noteUndo(run, header, step))
  // What an agent reported has no action of ours: its checkpoint is all that it is asked about.
  const theirs = ref.agent === undefined ? undefined : reportedAction(ref, ref.agent)
  const runner = ports.runnerOf(theirs?.kind ?? noted.kind)
  const action =
    theirs ?? (noted.action && ((await readJson(ports.ledger, noted.action)) as unknown as Action))
  if (!runner || !action) return undefined
  const { agent } = snapshot.state
  const holder = ref.undo === 'remote' && typeof agent === 'string' ? agent : undefined
  const request = await requestOf(of, noted, ref, jti, holder)
  return {
    runner,
    action,
    snapshot,
    request,
    effects: (signal) =>
      effectsFor(ports, noted.run, noted.header, {
        node: `${step.node}/undo`,
        visit: step.visit,
        attempt: 1,
        signal,
        lost: hold.lost,
        draining,
        lease: hold.lease,
        follows: [ref.jti],
      }),
  }
}

function reportedAction({ node, visit, target }: CheckpointRef, agent: string): Action {
  const sentence = `What ${agent} reported`
  return {
    kind: 'agent',
    node,
    visit,
    do: { agent },
    consequence: 'reversible',
    target,
    sentence,
    undo: 'remote',
  }
}

/** A live request for the agent: the same `jti` whenever it is sent, so that a repeated one gets the first answer. */
async function requestOf(
  { ports, rollback }: Undoing,
  noted: Noted,
  ref: CheckpointRef,
  jti: string,
  holder?: string,
): Promise<UndoRequest> {
  const { signer, timer, ledger } = ports
  const { wid } = noted.header
  const claims = claimsOf(
    {
      type: 'rollback_request',
      jti,
      at: timer.now(),
      par: [ref.jti],
      rollback: rollback.id,
      scope: 'single',
      node: ref.node,
      cascade: false,
      reason: rollback.reason,
      by: 'engine',
      plan: rollback.plan,
      deadlineAt: timer.now() + 60_000,
    },
    { iss: signer.iss, aud: holder ?? signer.aud, wid, vocabulary: noted.run.graph.graph.vocabulary },
  )
  return {
    id: rollback.id,
    wid,
    scope: rollback.scope,
    reason: rollback.reason,
    checkpointId: ref.jti,
    // Only an agent reads it.
    requestToken: holder === undefined ? '' : await signer.sign(claims),
    requestJti: jti,
    output: noted.output === undefined ? undefined : await readJson(ledger, noted.output),
  }
}

interface Noted {
  run: Run
  header: RunHeader
  kind: string
  action?: string
  output?: string
}

function noteUndo(run: Run, header: RunHeader, step: PlannedStep): Noted {
  const node = run.graph.nodes.get(step.node)
  const visit = anyVisitOf(run, step.node, step.visit)
  return {
    run: { graph: run.graph, start: run.start } as Run,
    header,
    kind: node?.kind ?? '',
    action: visit?.action,
    output: visit?.state.status === 'done' ? visit.state.output : undefined,
  }
}

/** Gives a signal that fires when the worker loses the run, or at `until`. */
export async function withSignal<T>(
  { ports, hold }: Pick<Undoing, 'ports' | 'hold'>,
  until: number | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (until === undefined) return work(hold.lost)
  const late = new AbortController()
  const over = new AbortController()
  const stop = () => late.abort()
  hold.lost.addEventListener('abort', stop)
  void ports.timer.waitUntil(until, over.signal).then(() => {
    if (!over.signal.aborted) late.abort()
  })
  try {
    return await work(late.signal)
  } finally {
    over.abort()
    hold.lost.removeEventListener('abort', stop)
  }
}

/** True where the same request may still be answered: nothing came back, or nothing that can be believed. */
export function mayAnswerYet(error: unknown): boolean {
  return error instanceof EffectFailed && (error.retriable || error.outcomeUnknown)
}

function failed(error: unknown, ref: CheckpointRef): Answer {
  const unknown = ref.undo === 'compensate' && error instanceof EffectFailed && error.outcomeUnknown
  return {
    status: unknown ? 'escalated' : 'failed',
    description: isProblem(error) ? error.message : failureOf(error).description,
  }
}

/** Nobody knows whether its state is back: a person looks. */
function unanswered(error: unknown, { label }: PlannedStep): Answer {
  const { description } = failureOf(error)
  return {
    status: 'escalated',
    description: `${label} was asked for and gave no answer in its time, and nobody knows whether it is undone. ${description}`,
  }
}

/** Verified after as well as before: state that was put back must hash to what was sealed. */
async function undone(
  { runner, action, snapshot, effects, request }: UndoCall,
  signal: AbortSignal,
): Promise<Answer> {
  const result = await runner.undo?.(action, snapshot, effects(signal), request)
  if (!result) return { status: 'failed', description: 'Nothing here can undo this step' }
  const { status = 'completed', stateHashBefore, stateHashAfter, description, evidence } = result
  const wrong =
    snapshot.undo !== 'compensate' && stateHashAfter !== undefined && stateHashAfter !== snapshot.hash
  if (status === 'completed' && wrong) {
    return {
      status: 'failed',
      stateHashBefore,
      stateHashAfter,
      description: `The state after the rollback is ${stateHashAfter}, not the sealed ${snapshot.hash}`,
      ...(evidence && { evidence }),
    }
  }
  return { status, stateHashBefore, stateHashAfter, description, ...(evidence && { evidence }) }
}
