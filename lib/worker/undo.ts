/*
 * Coordinating a rollback (cascade section 6.5). Every step of it is a token before it matters, so whoever has the run
 * goes on from the ledger, wherever the coordinator before it died, and nothing is done twice:
 *
 *   asked for ─▶ what a narrower rollback has under way ends first
 *             ─▶ a critical step in the way, here or in a run below? ─▶ a person says whether (ATD section 8, level 1)
 *             ─▶ phase 1: prepare ─▶ votes; those that say no again, when a person wants it   prepare.ts
 *             ─▶ decided: all of it; or, by the workflow's rule or a person's word, without some, or nothing
 *             ─▶ phase 2: acts, as many at once as the graph allows           execute-acts.ts, undo-act.ts
 *             ─▶ result
 *
 * While a person is asked nothing is held in memory and no time passes for the rollback: the answer is read from the
 * fold. A broader rollback may take this one over at any moment; then nothing more is begun here.
 */
import { type RollbackId, widOf } from '@/lib/base/ids'
import type { Json } from '@/lib/base/json'
import type { Command } from '@/lib/engine/commands'
import {
  answerOf,
  decisionDeadline,
  isFromAbove,
  openQuestion,
  wasAsked,
} from '@/lib/engine/rollback-question'
import type { Rollback, Run } from '@/lib/engine/run'
import type { ActGraph } from '@/lib/rollback/critical-path'
import { overallStatus } from '@/lib/rollback/outcome'
import type { Plan, PlannedStep } from '@/lib/rollback/plan'
import { criticalSentence } from '@/lib/rollback/sentence'
import type { RollbackStatus } from '@/lib/rollback/terms'
import { actKey, actsOf, type Judgement, judge, unpreparedSentence } from '@/lib/rollback/votes'
import { belowKey } from './critical-below'
import { Deadlines } from './deadlines'
import { type Act, type ActResult, executeActs } from './execute-acts'
import type { Hold } from './hold'
import type { WorkerPorts } from './ports'
import { prepare } from './prepare'
import { readJson } from './run-book'
import { UndoAct } from './undo-act'
import { noteAct } from './undo-call'
import { type Turns, turnsFor } from './undo-turns'
import type { Undoing } from './undoing'
import { jsonValue } from './values'

/** Coordinators at work under a lease: one that takes over waits for the one before it. */
const atWork = new WeakMap<Hold, Map<RollbackId, Promise<void>>>()

/** Drives a rollback that was asked for to its result, or to the question that a person has to answer first. */
export async function undoRollback(
  ports: WorkerPorts,
  hold: Hold,
  draining: AbortSignal,
  id: RollbackId,
): Promise<void> {
  const mates = atWork.get(hold) ?? new Map<RollbackId, Promise<void>>()
  atWork.set(hold, mates)
  const deadlines = new Deadlines(ports.timer, hold.lost)
  const work = new Coordinator(ports, hold, draining, deadlines, id).run()
  mates.set(id, work)
  try {
    await work
  } finally {
    mates.delete(id)
    deadlines.close()
  }
}

/** The rollback, copied out of the fold. */
interface Noted {
  rollback: Pick<
    Rollback,
    | 'id'
    | 'reason'
    | 'scope'
    | 'plan'
    | 'by'
    | 'decided'
    | 'supersedes'
    | 'askedAt'
    | 'overwrite'
    | 'overwritten'
    | 'askedAgain'
  >
  deadlineAt: number
  /** When holders without an answer count as unreachable. */
  prepareUntil: number
  votes: Rollback['votes']
  /** By key; `begun` where it was not answered yet. */
  statuses: Map<string, RollbackStatus | 'begun'>
  waits: boolean
  critical: ReturnType<typeof answerOf>
  askedCritical: boolean
  unprepared: ReturnType<typeof answerOf>
  askedUnprepared: boolean
}

class Coordinator {
  private turns: Promise<Turns> | undefined

  constructor(
    private readonly ports: WorkerPorts,
    private readonly hold: Hold,
    private readonly draining: AbortSignal,
    private readonly deadlines: Deadlines,
    private readonly id: RollbackId,
  ) {}

  async run(): Promise<void> {
    const first = await this.note(this.id)
    if (first.rollback.supersedes) await this.letEnd(first.rollback.supersedes)
    const plan = await this.planOf(first)
    const acts = await this.leftOf(actsOf(plan.steps))
    // Looked up while they vote.
    this.turnsOf(acts).catch(() => undefined)
    if (!(await this.decide(plan, acts))) return
    await this.execute(acts)
  }

  /**
   * The acts of a plan without those that rollbacks which were taken over did after it was made: what they undid stays
   * undone, and a compensation that they sent is never sent again.
   */
  private leftOf(acts: PlannedStep[]): Promise<PlannedStep[]> {
    return this.read((run) =>
      acts.filter(({ checkpointId = '' }) => {
        const undone = run.checkpoints.get(checkpointId)?.undone
        if (undone === undefined || run.rollbacks.get(this.id)?.acts.has(checkpointId)) return true
        const before = run.rollbacks.get(undone.rollback)
        if (before?.supersededBy === undefined) return true
        return undone.status !== 'completed' && before.acts.get(checkpointId)?.undo !== 'compensate'
      }),
    )
  }

  /** True once it is decided how it goes on; false while a person is asked. */
  private async decide(plan: Plan, acts: PlannedStep[]): Promise<boolean> {
    let noted = await this.note(this.id)
    if (noted.rollback.decided) return true
    if (noted.waits) return false
    if (noted.critical?.verdict === 'refuse') {
      const { by, comment } = noted.critical
      return this.decided({ decision: 'abort', by, reason: comment || 'A critical step is left as it is' })
    }
    if (!noted.askedCritical && (await this.askAboutCritical(noted, plan, acts))) return false
    const unvoted = acts.filter((step) => !noted.votes.has(actKey(step)))
    if (unvoted.length > 0) {
      await prepare(this.undoing(noted), unvoted, noted.prepareUntil)
      noted = await this.note(this.id)
    }
    const judgement = await this.judge(acts, noted)
    const answer = noted.unprepared
    if (answer) return this.decided(await decisionOf(judgement, answer))
    if (judgement.decision === 'execute') {
      return this.decided({ decision: 'execute', by: 'engine', reason: 'All are prepared' })
    }
    if (judgement.decision === 'ask') {
      await this.askAboutUnprepared(acts, noted, judgement)
      return false
    }
    const reason =
      judgement.decision === 'abort'
        ? 'One cannot be prepared, and the workflow wants nothing done then'
        : 'Those that cannot be prepared are off the critical path, and the workflow goes on without them'
    const { decision } = judgement
    return this.decided({
      ...{ decision, by: 'engine', reason },
      without: decision === 'partial' ? judgement.unprepared.map(actKey) : [],
    })
  }

  /**
   * A rollback that no person asked for looks at people first when, as a cascade, it reaches a critical step of this run
   * or of one below. One that comes from above was agreed to there, with every critical step that it may reach.
   */
  private async askAboutCritical(noted: Noted, plan: Plan, acts: PlannedStep[]): Promise<boolean> {
    const { by } = noted.rollback
    if (by.startsWith('person:')) return false
    const below = acts.filter(({ criticalBelow }) => criticalBelow !== undefined)
    const found = await this.read((run) => {
      if (isFromAbove(run, noted.rollback)) return undefined
      const isCritical = ({ node }: PlannedStep) => run.graph.nodes.get(node)?.priority === 'critical'
      const own = plan.scope === 'single' ? undefined : acts.find(isCritical)
      const step = own ?? below[0]
      return step && { own, step, role: run.graph.nodes.get(step.node)?.approval?.role ?? 'operator' }
    })
    if (!found) return false
    const { own, step, role } = found
    const reached = new Map(
      below.flatMap(({ criticalBelow = [] }) => criticalBelow.map((step) => [belowKey(step), step] as const)),
    )
    await this.say({
      ...{ type: 'ask_rollback', rollback: this.id, kind: 'rollback_critical', role },
      ...{ node: step.node, visit: step.visit },
      sentence: criticalSentence(own?.label, [...reached.values()], acts.length - 1, by),
    })
    return true
  }

  private async askAboutUnprepared(
    acts: readonly PlannedStep[],
    { votes }: Noted,
    { unprepared, critical }: Exclude<Judgement, { decision: 'execute' }>,
  ): Promise<void> {
    const [step] = unprepared
    if (!step) return
    const role = await this.read((run) => run.graph.nodes.get(step.node)?.approval?.role ?? 'operator')
    const named = unprepared.map((one) => {
      const { reason, changedBy } = votes.get(actKey(one)) ?? {}
      return { label: one.label, reason, changedBy }
    })
    const prepared = acts.filter((one) => votes.get(actKey(one))?.vote === 'prepared').length
    await this.say({
      ...{ type: 'ask_rollback', rollback: this.id, kind: 'rollback_unprepared', role },
      ...{ node: step.node, visit: step.visit },
      sentence: unpreparedSentence(named, critical, prepared),
    })
  }

  private judge(acts: readonly PlannedStep[], { votes }: Noted): Promise<Judgement> {
    return this.read((run) => judge(acts, votes, orderOf(run), run.graph.graph.containment?.onUnprepared))
  }

  private async decided(decision: Decision): Promise<true> {
    const { without = [], ...words } = decision
    const list = jsonValue(without)
    await this.ports.book.execute(
      this.hold.lease.runId,
      {
        type: 'decide_rollback',
        rollback: this.id,
        ...words,
        ...(without.length > 0 && { without: list.hash }),
        withoutCount: without.length,
      },
      { ...this.hold.along, ...(without.length > 0 && { values: [list] }) },
    )
    return true
  }

  private async execute(acts: PlannedStep[]): Promise<void> {
    const noted = await this.note(this.id)
    const { decided } = noted.rollback
    if (!decided) return
    const listed = decided.without === undefined ? [] : await readJson(this.ports.ledger, decided.without)
    const without = new Set((listed as Json[] | undefined)?.map(String))
    const undoing = this.undoing(noted)
    const of = actsUnder(decided.decision, acts, without)
    const { order, known } = await this.read((run, header) => ({
      order: orderOf(run),
      known: new Map(of.map((step) => [step, noteAct(run, header, this.id, step)])),
    }))
    const turns = await this.turnsOf(acts)
    let timedOut = false
    const results = await executeActs(undoing, of, order, turns, (step, hooks) => {
      const status = noted.statuses.get(actKey(step))
      if (status !== undefined && status !== 'begun') return answered(status)
      const act = new UndoAct(undoing, step, { noted: known.get(step), turn: turns.with(step.agent), hooks })
      if (!without.has(actKey(step))) return inTime(act, () => (timedOut ||= this.isLate(noted)))
      const why = noted.votes.get(actKey(step))?.description
      return { ...nothingToDo, run: () => leave(act, decided, why) }
    })
    timedOut ||= this.isLate(noted) && results.some(({ status }) => status !== 'completed')
    await this.finish([...(await this.inherited(noted, acts)), ...results], decided.decision, timedOut)
  }

  private turnsOf(acts: readonly PlannedStep[]): Promise<Turns> {
    const { ports, hold } = this
    this.turns ??= turnsFor(
      ports,
      widOf(hold.lease.runId),
      acts.map(({ agent }) => agent),
    )
    return this.turns
  }

  private isLate({ deadlineAt }: Noted): boolean {
    return this.ports.timer.now() >= deadlineAt
  }

  private async finish(
    results: ActResult[],
    decision: NonNullable<Rollback['decided']>['decision'],
    timedOut: boolean,
  ): Promise<void> {
    const iss = this.ports.signer.iss
    const cascaded = jsonValue(
      results.map(({ step, status }) => ({ agent: step.agent ?? iss, node: step.node, status })),
    )
    const restored = jsonValue(results.map(({ step }) => [step.node, step.sealedHash ?? null]))
    const isCalledOff = decision === 'abort' || decision === 'escalate'
    const status = isCalledOff ? 'escalated' : overallStatus(results.map((result) => result.status))
    await this.ports.book.execute(
      this.hold.lease.runId,
      {
        type: 'rollback_ended',
        rollback: this.id,
        status,
        restored: restored.hash,
        cascaded: cascaded.hash,
        cascadedCount: results.length,
        timedOut,
      },
      { values: [cascaded, restored], ...this.hold.along },
    )
  }

  /** What the rollbacks that were taken over had under way, and this one therefore has not in its plan. */
  private async inherited({ rollback }: Noted, acts: readonly PlannedStep[]): Promise<ActResult[]> {
    const own = new Set(acts.map(actKey))
    const results: ActResult[] = []
    for (let id = rollback.supersedes; id !== undefined; ) {
      const before = await this.note(id)
      const plan = await this.planOf(before)
      for (const step of actsOf(plan.steps)) {
        const status = before.statuses.get(actKey(step))
        if (status === undefined || status === 'begun' || own.has(actKey(step))) continue
        results.push({ step, status })
      }
      id = before.rollback.supersedes
    }
    return results
  }

  /** Waits for what a rollback that was taken over has under way; goes on with it where its coordinator was lost. */
  private async letEnd(id: RollbackId): Promise<void> {
    for (let next: RollbackId | undefined = id; next !== undefined; ) {
      await atWork
        .get(this.hold)
        ?.get(next)
        ?.catch(() => undefined)
      const noted: Noted = await this.note(next)
      const plan = await this.planOf(noted)
      const undoing = this.undoing(noted)
      for (const step of actsOf(plan.steps)) {
        if (noted.statuses.get(actKey(step)) === 'begun') await new UndoAct(undoing, step).run()
      }
      next = noted.rollback.supersedes
    }
  }

  private undoing({ rollback, deadlineAt }: Noted): Undoing {
    const { ports, hold, draining, deadlines } = this
    return { ports, hold, draining, rollback, deadlineAt, deadlines }
  }

  private async planOf({ rollback }: Noted): Promise<Plan> {
    const plan = (await readJson(this.ports.ledger, rollback.plan)) as unknown as Plan | undefined
    if (!plan) throw new Error(`The plan of ${rollback.id} is not in the store`)
    return plan
  }

  private note(id: RollbackId): Promise<Noted> {
    return this.read((run) => noteRollback(run, run.rollbacks.get(id) as Rollback))
  }

  private read<T>(reader: Parameters<typeof this.ports.book.read<T>>[1]): Promise<T> {
    return this.ports.book.read(this.hold.lease.runId, reader)
  }

  private say(command: Command): Promise<unknown> {
    return this.ports.book.execute(this.hold.lease.runId, command, this.hold.along)
  }
}

function noteRollback(run: Run, rollback: Rollback): Noted {
  const { id, reason, scope, plan, by, decided, supersedes, askedAt, overwrite, overwritten, askedAgain } =
    rollback
  // Half of its time for asking; it may have waited for a person before that.
  const deadlineAt = decisionDeadline(rollback)
  const forMs = rollback.deadlineAt - askedAt
  const critical = answerOf(run, rollback, 'rollback_critical')
  return {
    rollback: {
      ...{ id, reason, scope, plan, by, decided, supersedes, askedAt, askedAgain },
      ...{ overwrite, overwritten },
    },
    deadlineAt,
    prepareUntil: deadlineAt - forMs / 2,
    votes: new Map(rollback.votes),
    statuses: new Map([...rollback.acts].map(([key, act]) => [key, act.status ?? 'begun'] as const)),
    waits: openQuestion(run, rollback) !== undefined,
    critical,
    askedCritical: wasAsked(run, rollback, 'rollback_critical'),
    unprepared: answerOf(run, rollback, 'rollback_unprepared'),
    askedUnprepared: wasAsked(run, rollback, 'rollback_unprepared'),
  }
}

/** A walk is undone visit by visit; a drawn workflow as its graph allows. */
function orderOf(run: Run): ActGraph | 'chain' {
  return run.walk ? 'chain' : run.graph
}

/** Before and beside it there is nothing to do. */
const nothingToDo: Pick<Act, 'makeReady' | 'beginning'> = {
  makeReady: () => undefined,
  beginning: () => undefined,
}

function answered(status: RollbackStatus): Act {
  return { ...nothingToDo, run: async () => status }
}

/** What was not begun, or not answered, when the time is over is left to a person. */
function inTime(act: UndoAct, isLate: () => boolean): Act {
  return {
    makeReady: () => act.makeReady(),
    beginning: () => act.beginning(),
    run: (began) => (began === undefined && isLate() ? act.outOfTime() : act.run(began)),
  }
}

interface Decision {
  decision: 'execute' | 'partial' | 'abort' | 'escalate'
  by: string
  reason: string
  without?: string[]
}

/** What a person's answer about those that cannot prepare comes to. */
function decisionOf(
  judgement: Judgement,
  { verdict, by, comment }: { verdict: string; by: string; comment: string },
): Decision {
  const without = judgement.decision === 'execute' ? [] : judgement.unprepared.map(actKey)
  if (verdict === 'go_on_without') {
    return { decision: 'partial', by, reason: comment || 'Go on without those that cannot', without }
  }
  if (verdict === 'escalate') {
    return { decision: 'escalate', by, reason: comment || 'Left to a coordinator', without }
  }
  return { decision: 'abort', by, reason: comment || 'Called off' }
}

/** The acts that the decision says something about. */
function actsUnder(
  decision: Decision['decision'],
  acts: PlannedStep[],
  without: ReadonlySet<string>,
): PlannedStep[] {
  if (decision === 'abort') return []
  return decision === 'escalate' ? acts.filter((step) => without.has(actKey(step))) : acts
}

/** It stays as it is. Whoever decided that knows; a rule is no person, and `escalate` asks the next one. */
function leave(act: UndoAct, decided: NonNullable<Rollback['decided']>, why = ''): Promise<RollbackStatus> {
  const { decision, by } = decided
  const sentence = why === '' ? 'It cannot be prepared' : why
  if (decision === 'escalate') return act.handOver('escalated', sentence, { role: 'coordinator' })
  return act.handOver('escalated', sentence, { silently: by !== 'engine' })
}
