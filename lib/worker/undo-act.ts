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
import { expiresAt } from '@/lib/checkpoint/due'
import type { Command } from '@/lib/engine/commands'
import type { LeaseRef } from '@/lib/engine/ports'
import type { CheckpointRef } from '@/lib/engine/run'
import { statusWithoutAct } from '@/lib/rollback/outcome'
import type { PlannedStep } from '@/lib/rollback/plan'
import { irreversibleSentence } from '@/lib/rollback/sentence'
import type { RollbackStatus } from '@/lib/rollback/terms'
import { actKey } from '@/lib/rollback/votes'
import { EffectFailed, type Evidence, type Snapshot } from '@/lib/runners/runner'
import { lastLook } from './changed-since'
import { failureOf } from './effects'
import type { Act, ActHooks } from './execute-acts'
import { HandedOver } from './handed-over'
import { snapshotOf, verified } from './plan'
import {
  callWith,
  type Means,
  meansOf,
  type NotedAct,
  noteAct,
  requestFor,
  type SignedRequest,
  type UndoCall,
} from './undo-call'
import type { Turn } from './undo-turns'
import { type Undoing, withSignal } from './undoing'
import { jsonValue } from './values'

/** An agent that does not answer is asked again after this long, and longer each time. */
const askAgainMs = { first: 250, longest: 8000 }
/** How long an agent may take for one answer. */
const answerMs = 20_000
/** However late it is, an agent has this long. */
const shortestMs = 5000
/** A request that was signed ahead is sent within this time, and else signed anew: the agent looks at its age. */
const signedAheadMs = 10_000

/** One act, answered. */
interface Answer {
  status: RollbackStatus
  stateHashBefore?: string
  stateHashAfter?: string
  description: string
  evidence?: Evidence
}

/** Its checkpoint verified, and all that its undo needs was read. */
interface Ready {
  snapshot: Snapshot
  means?: Means
  /** Until then its checkpoint serves, ms since the epoch. */
  until: number
}

/** What an agent will be sent, signed while those before it are at work. */
interface SignedAhead {
  jti: string
  /** When it was signed, ms since the epoch. */
  at: number
  request: Promise<SignedRequest>
}

/** What an act is carried out with; by itself it waits for nobody, and nothing begins with its end. */
interface Among {
  noted?: NotedAct
  turn?: Turn
  hooks?: ActHooks
}

export class UndoAct implements Act {
  private made: Promise<Ready | RefusedAct> | undefined
  private ready: Ready | undefined
  private ahead: SignedAhead | undefined

  constructor(
    private readonly of: Undoing,
    private readonly step: PlannedStep,
    private readonly among: Among = {},
  ) {}

  private get lease(): LeaseRef {
    return this.of.hold.lease
  }

  private get isLate(): boolean {
    return this.of.ports.timer.now() >= this.of.deadlineAt
  }

  /** Verifies its checkpoint, reads what its undo needs and signs the request, ahead of its turn. A fault is told to whoever carries it out. */
  makeReady(): void {
    if (statusWithoutAct(this.step.fate) === undefined) this.makeReadyNow().catch(() => undefined)
  }

  private async makeReadyNow(): Promise<void> {
    const ready = await this.readyNow()
    const { ref, begun } = await this.noted()
    if ('why' in ready || ref?.undo !== 'remote' || begun !== undefined) return
    const { ports } = this.of
    const jti = ports.mint()
    const request = requestFor(this.of, await this.noted(), ref, ready, jti, true)
    this.ahead = { jti, at: ports.timer.now(), request }
    await request
  }

  /** The request of an act that was begun: as it was signed ahead, or anew under the same `jti`. */
  private async requestOf(ref: CheckpointRef, ready: Ready, jti: string): Promise<SignedRequest> {
    const { ahead } = this
    const serves = ahead?.jti === jti && this.of.ports.timer.now() - ahead.at < signedAheadMs
    return serves ? ahead.request : requestFor(this.of, await this.noted(), ref, ready, jti)
  }

  /** A compensation is begun in its turn and not before: once it is begun, it may have happened. */
  beginning(): Command | undefined {
    const { ref, begun } = this.among.noted ?? {}
    if (!ref || begun !== undefined || ref.undo === 'compensate' || this.isLate || !this.isFresh)
      return undefined
    return this.beginningOf(ref)
  }

  /** Undoes the step, or hands it to a person. `began`: the token of its beginning, where it was begun already. */
  async run(began?: string): Promise<RollbackStatus> {
    const { step } = this
    const { ref, begun } = await this.noted()
    const without = statusWithoutAct(step.fate)
    if (without !== undefined) {
      const said = { label: step.label, ...(ref && { checkpoint: ref }) }
      const sentence = step.fate === 'irreversible' ? irreversibleSentence(said) : undefined
      return this.handOver(without, step.sentence, { ...(sentence && { sentence }) })
    }
    if (!ref) return this.handOver('failed', `The checkpoint of ${step.label} is not in the ledger`)
    // An earlier worker began it and was lost.
    if (begun !== undefined && ref.undo === 'compensate') {
      return this.handOver(
        'escalated',
        `The worker was lost while compensating ${step.label}; look before doing it again`,
      )
    }
    const ready = await this.readyNow()
    if ('why' in ready) return this.handOver('failed', ready.why)
    return this.carryOut(ref, began ?? begun)
  }

  private async carryOut(ref: CheckpointRef, begun: string | undefined): Promise<RollbackStatus> {
    const turn = this.among.turn ?? (async () => () => undefined)
    // What may have happened once it is begun is not begun before its turn.
    const early = ref.undo === 'compensate' ? await turn() : undefined
    try {
      if (begun === undefined && this.isLate) return await this.outOfTime()
      const jti = begun ?? (await this.begin(ref))
      const over = early ?? (await turn())
      const answer = await this.perform(ref, jti).finally(over)
      return await this.answer(answer)
    } finally {
      early?.()
    }
  }

  private async noted(): Promise<NotedAct> {
    const { ports, rollback } = this.of
    this.among.noted ??= await ports.book.read(this.lease.runId, (run, header) =>
      noteAct(run, header, rollback.id, this.step),
    )
    return this.among.noted
  }

  /** True where it was made ready and its checkpoint still serves. */
  private get isFresh(): boolean {
    return this.ready !== undefined && this.of.ports.timer.now() < this.ready.until
  }

  private readyNow(): Promise<Ready | RefusedAct> {
    if (this.ready && !this.isFresh) this.made = undefined
    this.made ??= this.lookUp()
    return this.made
  }

  private async lookUp(): Promise<Ready | RefusedAct> {
    this.ready = undefined
    const { ports } = this.of
    const noted = await this.noted()
    const { ref } = noted
    if (!ref) return { why: `The checkpoint of ${this.step.label} is not in the ledger` }
    const { state, verification, problem } = await verified(ports, this.lease.runId, ref)
    if (verification !== 'ok' || state === undefined) {
      return { why: problem?.message ?? `The checkpoint of ${this.step.label} does not verify` }
    }
    const means = await meansOf(ports, noted, ref)
    const snapshot = snapshotOf(ref, state)
    // Ahead of its turn, so that it keeps nobody waiting.
    const look = noted.tells
      ? await lastLook(ports, this.lease.runId, this.of.rollback, this.step, ref, snapshot)
      : undefined
    const told = means && look ? { ...means, look } : means
    this.ready = { snapshot, means: told, until: expiresAt(ref.at, ref.ttlS) }
    return this.ready
  }

  outOfTime(): Promise<RollbackStatus> {
    return this.handOver('escalated', 'The rollback ran out of time before this step')
  }

  /** Records that this step was not undone, `why`; and asks a person about it, with `sentence`, unless one knows already. */
  async handOver(
    status: RollbackStatus,
    why: string,
    {
      role,
      silently = false,
      sentence = `${this.step.label} was not undone: ${why}`,
    }: { role?: string; silently?: boolean; sentence?: string } = {},
    more: Partial<Answer> = {},
  ): Promise<RollbackStatus> {
    const { step } = this
    const { rollback } = this.of
    const asked = role ?? (await this.noted()).role
    await this.end(
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

  private async begin(ref: CheckpointRef): Promise<string> {
    const { ports, hold } = this.of
    const decision = await ports.book.execute(this.lease.runId, this.beginningOf(ref), hold.along)
    return decision.facts[0]?.jti ?? ''
  }

  private beginningOf({ jti, undo }: CheckpointRef): Command {
    const { node, visit } = this.step
    const of = { rollback: this.of.rollback.id, node, visit, checkpointId: jti, undo }
    return { type: 'act_began', ...of, ...(this.ahead && { jti: this.ahead.jti }) }
  }

  private async perform(ref: CheckpointRef, actJti: string): Promise<Answer> {
    // It may have waited for its turn until its checkpoint ran out.
    const ready = await this.readyNow()
    if ('why' in ready) return { status: 'failed', description: ready.why }
    const { snapshot, means } = ready
    if (!means?.runner.undo) {
      return { status: 'failed', description: `Nothing here can undo ${this.step.label}` }
    }
    const request = await this.requestOf(ref, ready, actJti)
    const call = callWith(this.of, this.step, await this.noted(), ref, { snapshot, means }, request)
    const { ports, hold, draining, deadlineAt } = this.of
    const from = ports.timer.now()
    // Half of what is left: those that wait for this one need time too. What was begun is asked for its answer at least once.
    const giveUpAt = from + Math.max(shortestMs, (deadlineAt - from) / 2)
    for (let pauseMs = askAgainMs.first; ; pauseMs = Math.min(2 * pauseMs, askAgainMs.longest)) {
      const until = ref.undo === 'remote' ? Math.min(giveUpAt, ports.timer.now() + answerMs) : undefined
      try {
        hold.check(ports.timer.now())
        return await withSignal(this.of, until, (signal) => this.call(call, signal))
      } catch (error) {
        // It stays begun, and the next worker goes on with it.
        if (isProblem(error, 'lease_lost') || error instanceof HandedOver) throw error
        // What was given up for want of the run says nothing of whoever undoes it.
        if (hold.lost.aborted) throw new HandedOver(this.step.node)
        if (ref.undo !== 'remote' || !mayAnswerYet(error)) return failed(error, ref)
        if (draining.aborted) throw new HandedOver(this.step.node)
        if (ports.timer.now() + pauseMs >= giveUpAt) return unanswered(error, this.step)
        await ports.timer.waitUntil(ports.timer.now() + pauseMs, hold.lost)
      }
    }
  }

  private call(call: UndoCall, signal: AbortSignal): Promise<Answer> {
    const answer = undone(call, signal)
    this.among.hooks?.called()
    return answer
  }

  private async answer(answer: Answer): Promise<RollbackStatus> {
    const { status, stateHashBefore, stateHashAfter, description, evidence } = answer
    if (status !== 'completed') return this.handOver(status, description, {}, answer)
    const { node, visit } = this.step
    await this.end(
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

  private async end(command: Extract<Command, { type: 'act_ended' }>, evidence?: Evidence): Promise<void> {
    const { ports, hold } = this.of
    const kept = evidence && jsonValue(evidence)
    const told = kept ? { ...command, evidence: kept.hash } : command
    const values = kept ? [kept] : []
    if (this.among.hooks) return this.among.hooks.end(told, values)
    await ports.book.execute(this.lease.runId, told, { ...hold.along, values })
  }
}

/** Its checkpoint does not serve, and why. */
interface RefusedAct {
  why: string
}

/** True where the same request may still be answered: nothing came back, or nothing that can be believed. */
export function mayAnswerYet(error: unknown): boolean {
  return error instanceof EffectFailed && (error.retriable || error.outcomeUnknown)
}

function failed(error: unknown, ref: CheckpointRef): Answer {
  const known = error instanceof EffectFailed ? error : undefined
  const isUnknown = ref.undo === 'compensate' && known?.outcomeUnknown
  // Nothing failed: what somebody else changed since the vote is for a person to look at.
  const isChanged = known?.code === 'hash_mismatch'
  return {
    status: isUnknown || isChanged ? 'escalated' : 'failed',
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
