/*
 * Simulated people and outside agents. They see the run as it is, or as it was a while ago, act at random moments
 * through a server process, and remember what they were told: an acknowledged wish must be in the ledger, a refused one
 * must not.
 */
import { hashJson } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import { prefixed } from '@/lib/base/ids'
import { isProblem } from '@/lib/base/problem'
import type { ActionRef, CheckpointTaken, Command } from '@/lib/engine/commands'
import { eventsOf } from '@/lib/engine/decide-events'
import type { Approval, Visit } from '@/lib/engine/run'
import type { Verdict } from '@/lib/hitl/terms'
import type { Action } from '@/lib/runners/runner'
import { makePlan } from '../plan'
import { type Along, readJson } from '../run-book'
import { jsonValue } from '../values'
import { must } from './broken'
import type { House } from './processes'
import type { Stage } from './stage'
import type { Truth } from './truth'
import { expectedKey } from './world'

export interface Crowd {
  stage: Stage
  runId: RunId
  truth: Truth
  server(): House
  broken(sentence: string): void
}

/** How eager people are in this story; each a probability of an act. */
export interface Temper {
  cancels: number
  pauses: number
  rollsBack: number
  /** How many of the rollbacks no person asks for, but an agent; absent: some. */
  agentAsks?: number
  /** They wait until most of it is done before they take anything back. */
  patient?: boolean
}

export class People {
  readonly kept: string[] = []
  private readonly refusedTags: string[] = []
  private tags = 0
  private goneOn = 0
  private busyAgents = new Set<string>()

  constructor(
    private readonly crowd: Crowd,
    private readonly temper: Temper,
  ) {}

  /** One act at a random moment, while things are rough. */
  act(): void {
    const { dice } = this.crowd.stage
    const { truth } = this.crowd
    const { run } = truth
    if (run.state.status === 'rolled_back' && dice.chance(0.3)) return this.choose()
    if (dice.chance(this.temper.rollsBack)) return this.rollBack()
    if (dice.chance(this.temper.pauses)) {
      return this.say(
        run.state.status === 'paused'
          ? { type: 'resume', by: 'person:ada' }
          : { type: 'pause', by: 'person:ada', reason: this.tag() },
      )
    }
    if (dice.chance(this.temper.cancels))
      return this.say({ type: 'cancel', by: 'person:ada', reason: this.tag() })
    const approvals = [...run.approvals.values()].filter(
      ({ state }) => state.status === 'open' || dice.chance(0.1),
    )
    if (approvals.length === 0) return
    const approval = dice.pick(approvals)
    if (dice.chance(0.15))
      return this.say({ type: 'comment', approval: approval.id, by: 'person:bo', comment: this.tag() })
    this.decide(approval)
  }

  /** What brings the run to its end, once things are calm. */
  settle(): void {
    const { run } = this.crowd.truth
    if (run.state.status === 'paused') return this.say({ type: 'resume', by: 'person:ada' })
    if (run.state.status === 'rolled_back') return this.choose()
    for (const id of run.openApprovals) {
      const approval = run.approvals.get(id)
      if (approval) this.decide(approval)
    }
  }

  /** Outside agents take what is offered. */
  work(): void {
    const { truth, stage } = this.crowd
    for (const node of truth.run.active) {
      const visit = truth.run.visits.get(node)
      if (visit?.state.status !== 'waiting' || visit.state.for !== 'agent') continue
      const key = `${node}/${visit.visit}/${visit.attempt}`
      if (this.busyAgents.has(key) && stage.dice.chance(0.8)) continue
      this.busyAgents.add(key)
      void this.guarded(this.doTask(visit))
    }
  }

  /** Throws Broken when what was acknowledged is gone, or what was refused is there. */
  checkRemembered(): void {
    const { truth } = this.crowd
    truth.checkKept(this.kept)
    const refused = new Set(this.refusedTags)
    for (const fact of truth.facts) {
      const tag = 'comment' in fact ? fact.comment : 'reason' in fact ? (fact.reason ?? '') : ''
      must(!refused.has(tag), () => `${tag} was refused, and is in the ledger as ${fact.type}`)
    }
  }

  private tag(): string {
    this.tags += 1
    // Reasons travel down to child runs: each run's people have words of their own.
    return `wish ${this.tags} of ${this.crowd.runId.slice(-8)}`
  }

  private say(command: Command, along: Along = {}): void {
    void this.guarded(this.execute(command, along))
  }

  private async execute(command: Command, along: Along = {}) {
    const { server, runId, stage } = this.crowd
    const house = server()
    stage.schedule.note(`${house.process.name}: asked to ${command.type}`)
    try {
      const decision = await house.book.execute(runId, command, along)
      this.kept.push(...decision.facts.map((fact) => fact.jti))
      return decision
    } catch (error) {
      const tag = 'comment' in command ? command.comment : 'reason' in command ? command.reason : undefined
      if (tag) this.refusedTags.push(tag)
      stage.schedule.note(`${house.process.name}: ${command.type} refused: ${String(error)}`)
      throw error
    }
  }

  private async guarded(work: Promise<unknown>): Promise<void> {
    try {
      await work
    } catch (error) {
      if (!isProblem(error))
        this.crowd.broken(`A person was told ${error instanceof Error ? (error.stack ?? '') : String(error)}`)
    }
  }

  private decide(approval: Approval): void {
    const { dice } = this.crowd.stage
    const stale = dice.chance(0.03)
    const verdict = dice.chance(0.03) ? 'took_effect' : this.verdictOn(approval)
    const events = approval.kind === 'event' ? this.eventsFor(approval) : []
    const action = stale ? hashJson('another') : approval.action
    const wish = {
      type: 'decide',
      approval: approval.id,
      verdict,
      by: `person:${dice.pick(['ada', 'bo'])}`,
      action,
      comment: this.tag(),
      ...(verdict === 'event' && { event: dice.chance(0.05) ? 'nonsense' : dice.pick(events) }),
    } as const
    if (verdict === 'event' && dice.chance(0.4)) {
      const value = jsonValue(`said of ${approval.node}`)
      return this.say({ ...wish, artifacts: [{ name: 'log', value: value.hash }] }, { values: [value] })
    }
    if (verdict === 'approve' && approval.kind === 'approval' && dice.chance(0.2))
      void this.guarded(this.decideEdited(approval, wish))
    else this.say(wish)
  }

  private async decideEdited(approval: Approval, wish: Extract<Command, { type: 'decide' }>): Promise<void> {
    const action = (await readJson(this.crowd.server().ports.ledger, approval.action)) as unknown as Action
    const text = `${String(action.do.text)}, edited`
    const edited: Action = { ...action, do: { ...action.do, text } }
    const { consequence, target, sentence } = edited
    const ref: ActionRef = {
      hash: jsonValue(edited).hash,
      consequence,
      target,
      sentence,
      reads: approval.reads,
    }
    await this.execute({ ...wish, edited: ref }, { values: [jsonValue(edited)] })
  }

  private eventsFor({ node }: Approval): string[] {
    const { run } = this.crowd.truth
    const waiting = run.graph.nodes.get(node)
    return waiting ? eventsOf(run, waiting) : []
  }

  /** People look before they answer what a crash left open, and are wrong now and then. */
  private verdictOn(approval: Approval): Verdict {
    const { stage, runId, truth } = this.crowd
    if (approval.kind === 'event') return 'event'
    if (approval.kind === 'approval') return stage.dice.chance(0.8) ? 'approve' : 'refuse'
    if (approval.kind === 'rollback_critical') return stage.dice.chance(0.7) ? 'approve' : 'refuse'
    if (approval.kind === 'rollback_unprepared') {
      return stage.dice.pick(['go_on_without', 'go_on_without', 'abort', 'escalate'] as const)
    }
    if (approval.kind !== 'outcome_unknown') return 'acknowledge'
    const { attempt } = truth.run.visits.get(approval.node) ?? { attempt: 1 }
    const key = expectedKey(runId, approval.node, approval.visit, attempt)
    const took = stage.worldOf(runId).target(approval.node).keys.has(key)
    return took !== stage.dice.chance(0.1) ? 'took_effect' : 'not_taken'
  }

  /** Ends what was rolled back, or goes on with it. */
  choose(): void {
    const { run } = this.crowd.truth
    if (run.state.status !== 'rolled_back') return
    const goesOn = this.goneOn < 3 && this.crowd.stage.dice.chance(0.6)
    if (goesOn) this.goneOn += 1
    this.say({
      type: 'choose',
      rollback: run.state.rollback,
      choice: goesOn ? 'go_on' : 'end',
      by: 'person:ada',
    })
  }

  private rollBack(): void {
    const { stage, truth } = this.crowd
    const visits = [...truth.run.visits.values()]
    const begun = visits.filter(({ state }) => state.status !== 'pending')
    if (begun.length === 0 || (this.temper.patient && 4 * begun.length < 3 * visits.length)) return
    const sealed = begun.filter(({ checkpoint }) => checkpoint !== undefined)
    const from = this.temper.patient && sealed.length > 0 ? sealed : begun
    void this.guarded(this.planAndRollBack(stage.dice.pick(from)))
  }

  private async planAndRollBack({ node }: Visit): Promise<void> {
    const { stage, runId, server, truth } = this.crowd
    const { dice } = stage
    // A walk is taken back from a node, or whole: what lies between is another matter for each.
    const scopes = truth.run.walk
      ? (['single', 'sub_dag', 'full_workflow', 'full_workflow'] as const)
      : (['single', 'sub_dag', 'full_workflow'] as const)
    const wide = this.temper.patient === true && dice.chance(0.6)
    const some = dice.chance(0.5) ? undefined : dice.pick(scopes)
    const scope = wide ? dice.pick(['sub_dag', 'full_workflow'] as const) : some
    const only = dice.chance(0.15) ? ({ only: 'dependents', scope: 'sub_dag' } as const) : { scope }
    const plan = await makePlan(server().ports, runId, { node, ...only, mayCoordinate: true })
    if (plan.forbidden) return
    await this.execute(
      {
        type: 'roll_back',
        rollback: prefixed('rb', dice.uuid()),
        scope: plan.scope,
        ...(plan.only && { only: plan.only }),
        node,
        checkpoints: plan.steps.flatMap((step) => step.checkpointId ?? []),
        plan: jsonValue(plan).hash,
        seq: plan.seq,
        reason: this.tag(),
        by: dice.chance(this.temper.agentAsks ?? 0.15)
          ? 'agent:spiffe://simulated.example/agent/x'
          : 'person:ada',
        deadlineS: dice.chance(0.1) ? 1 : 60,
      },
      { values: [jsonValue(plan)] },
    )
  }

  private async doTask({ node, visit }: Visit): Promise<void> {
    const { stage, runId } = this.crowd
    const { dice, schedule } = stage
    const world = stage.worldOf(runId)
    const agent = `spiffe://example.com/agent/${dice.pick(['a', 'b'])}`
    const checkpoint = dice.chance(0.7) ? this.takenBy(node) : undefined
    const { facts } = await this.execute({
      type: 'claim',
      node,
      visit,
      agent,
      claimS: dice.whole(5, 40),
      checkpoint,
    })
    const start = facts.find((fact) => fact.type === 'task_start')
    if (start?.type !== 'task_start') return
    const { attempt } = start
    const silent = stage.rough() && dice.chance(0.2)
    const lands = !silent || dice.chance(0.5)
    for (let beats = dice.whole(0, 3); beats > 0; beats--) {
      await this.sleep(dice.whole(100, stage.rough() ? 15_000 : 4000))
      await this.execute({ type: 'heartbeat', node, visit, claimant: agent, claimS: 20 })
    }
    const key = expectedKey(runId, node, visit, attempt)
    if (lands) world.land({ node, visit, key, action: start.action }, `${node} by ${agent}`, false)
    if (silent) return schedule.note(`${agent} falls silent with ${node}`)
    if (dice.chance(0.85)) {
      const output = jsonValue({ by: agent })
      const report = {
        type: 'succeeded',
        node,
        visit,
        attempt,
        output: output.hash,
        claimant: agent,
      } as const
      await this.execute(report, { values: [output] })
    } else {
      const failure = {
        severity: 'error',
        errorType: 'action_failed',
        code: 'agent_failed',
        description: 'It could not',
        retriable: dice.chance(0.5),
      } as const
      await this.execute({ type: 'failed', node, visit, attempt, failure, claimant: agent })
    }
  }

  private takenBy(node: string): CheckpointTaken {
    const { stage } = this.crowd
    return {
      jti: stage.dice.uuid(),
      snapshot: hashJson({ node }),
      reversible: stage.dice.chance(0.5),
      rollbackUri: 'https://agent.example/rollback',
      target: node,
      description: `What ${node} changes`,
      ttlS: 3600,
      undo: 'remote',
    }
  }

  private sleep(forMs: number): Promise<void> {
    const { schedule } = this.crowd.stage
    return new Promise((resolve) => {
      schedule.at(schedule.now() + forMs, 'an agent goes on', resolve)
    })
  }
}
