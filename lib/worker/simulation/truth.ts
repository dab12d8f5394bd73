/*
 * What is true, whatever the processes believe: the ledger as it is in the store, folded row by row in the turn in
 * which each commit happens, and held against everything the engine promises.
 */
import { chainHashSync, firstPrevHashSync } from '@/lib/ect/chain-node'
import { parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import { evolve, newRun } from '@/lib/engine/evolve'
import { factOf } from '@/lib/engine/fact-codec'
import type { Fact, FactOf } from '@/lib/engine/facts'
import { requiresApproval } from '@/lib/engine/gate'
import type { ApprovalProjection, Commit } from '@/lib/engine/ports'
import { approvalProjectionOf, projectionOf } from '@/lib/engine/projection'
import type { Rollback, Run, Visit } from '@/lib/engine/run'
import { statusWithoutAct } from '@/lib/rollback/outcome'
import type { Plan, PlannedStep } from '@/lib/rollback/plan'
import { actKey } from '@/lib/rollback/votes'
import { type GraphIndex, withDescendants } from '@/lib/workflow/graph-index'
import { Broken, must } from './broken'
import { simulatedKinds } from './kinds'
import { digestOf, recount } from './recount'
import { WalkTruth } from './walk-truth'
import { expectedKey, type World } from './world'

/** What a run knows of the runs above and below it. */
export interface Family {
  /** True for tokens of the child runs of this run's steps, and of the step that began this run. */
  hasToken(jti: string): boolean
  /** Each fact before it is folded in. Throws Broken. */
  check(fact: Fact): void
}

export class Truth {
  readonly run: Run
  readonly facts: Fact[] = []
  private readonly digests: string[] = []
  private readonly places = new Map<string, number>()
  private readonly approvals = new Map<string, ApprovalProjection>()
  private readonly plans = new Map<string, Plan>()
  private readonly walk: WalkTruth | undefined
  private lastHash: string

  constructor(
    private readonly graph: GraphIndex,
    private readonly world: World,
    private readonly runId: string,
    readonly wid: string,
    private readonly family: Family,
  ) {
    this.run = newRun(graph)
    this.walk = this.run.walk && new WalkTruth(graph)
    this.lastHash = firstPrevHashSync(wid)
  }

  get ended(): boolean {
    return this.run.state.status === 'ended'
  }

  /** The plan that was stored with a rollback's request. */
  planOf(rollback: string): Plan | undefined {
    return this.plans.get(rollback)
  }

  /** True when the ledger has that token. */
  holds(jti: string): boolean {
    return this.places.has(jti)
  }

  /** A commit became durable. Throws Broken. */
  append(commit: Commit, now: number): void {
    for (const row of commit.rows) {
      const { run } = this
      must(row.seq === run.seq + 1, () => `Row ${row.seq} follows row ${run.seq}`)
      must(row.prevHash === this.lastHash, () => `Row ${row.seq} does not follow in the chain`)
      must(row.hash === chainHashSync(this.lastHash, row.token), () => `The hash of row ${row.seq} is wrong`)
      this.lastHash = row.hash
      const fact = factOf(parseClaims(unverifiedPayload(row.token)))
      must(fact.jti === row.jti, () => `Row ${row.seq} names another token`)
      this.checkFact(fact)
      if (fact.type === 'rollback_request') this.notePlan(fact, commit)
      this.places.set(fact.jti, row.seq)
      this.facts.push(fact)
      this.family.check(fact)
      this.walk?.add(fact)
      evolve(run, fact)
      recount(run)
      this.walk?.compare(run)
      if (fact.type === 'rollback_choice') this.checkLeft()
      this.digests.push(digestOf(run))
    }
    this.checkBounds(commit)
    this.checkProjections(commit, now)
  }

  /** Folds anew from the first row and holds every prefix against what was folded then. Throws Broken. */
  checkPrefixes(every: boolean): void {
    const again = newRun(this.graph)
    for (const [index, fact] of this.facts.entries()) {
      evolve(again, structuredClone(fact))
      must(
        digestOf(again) === this.digests[index],
        () => `Folded anew, the run is another at token ${index + 1}`,
      )
      if (every) this.checkFromScratch(index + 1)
    }
  }

  private checkFromScratch(length: number): void {
    const scratch = newRun(this.graph)
    for (const fact of this.facts.slice(0, length)) evolve(scratch, fact)
    must(
      digestOf(scratch) === this.digests[length - 1],
      () => `The fold of ${length} tokens depends on who folded before`,
    )
  }

  /** What an acknowledged wish added is there. Throws Broken. */
  checkKept(jtis: readonly string[]): void {
    for (const jti of jtis)
      must(this.places.has(jti), () => `Token ${jti} was acknowledged and is not in the ledger`)
  }

  private checkFact(fact: Fact): void {
    const { run } = this
    must(!this.places.has(fact.jti), () => `Token ${fact.jti} is there twice`)
    for (const jti of fact.par)
      must(
        this.places.has(jti) || (isLink(fact, jti) && this.family.hasToken(jti)),
        () => `A ${fact.type} follows ${jti}, which is not there`,
      )
    must(fact.par.length > 0 || fact.type === 'workflow_start', () => `A ${fact.type} follows nothing`)
    if (this.ended) this.checkAfterEnd(fact)
    if (fact.type === 'task_start') this.checkStart(fact)
    if (fact.type === 'task_complete') this.checkComplete(fact)
    if (fact.type === 'approval_decided') {
      must(
        run.approvals.get(fact.approval)?.state.status === 'open',
        () => `${fact.approval} was decided when it was not open`,
      )
    }
    if (fact.type === 'rollback_act_result' && fact.status === 'completed') this.checkUndone(fact)
    if (fact.type === 'rollback_vote') this.checkVote(fact)
    if (fact.type === 'rollback_act') this.checkAct(fact)
    if (fact.type === 'rollback_act_result') this.checkFinal(fact)
    if (fact.type === 'rollback_result') this.checkExecuted(fact)
    if (fact.type === 'workflow_complete') {
      must((run.counts.get('running') ?? 0) === 0, () => 'The run ended with a step at work')
    }
  }

  private checkAfterEnd(fact: Fact): void {
    const allowed =
      fact.type === 'rollback_request' ||
      fact.type === 'approval_commented' ||
      (fact.type === 'approval_decided' && fact.verdict === 'acknowledge')
    must(allowed, () => `A ${fact.type} came after the end`)
  }

  /** A second attempt follows a recorded failure or a recorded unknown; the first one its parents and its decision. */
  private checkStart(fact: Extract<Fact, { type: 'task_start' }>): void {
    const { run } = this
    const visit = run.visits.get(fact.node)
    const node = this.graph.nodes.get(fact.node)
    if (!visit || !node) return must(false, () => `A step ${fact.node} that there is not began`)
    const { state } = visit
    must(
      visit.visit === fact.visit && fact.attempt === visit.attempt + 1,
      () => `Attempt ${fact.attempt} of ${fact.node} is out of turn`,
    )
    const retried =
      state.status === 'approved' ||
      (state.status === 'waiting' && (state.for === 'retry' || state.for === 'agent'))
    const first =
      state.status === 'pending' ||
      state.status === 'approved' ||
      (state.status === 'waiting' && state.for === 'agent')
    must(
      fact.attempt > 1 ? retried : first || node.kind === 'pause_for_approval',
      () => `Attempt ${fact.attempt} of ${fact.node} began while it was ${state.status}`,
    )
    if (fact.attempt === 1 && !run.walk) {
      const late = (this.graph.parents.get(fact.node) ?? []).find(
        (parent) => run.visits.get(parent)?.state.status !== 'done',
      )
      must(late === undefined, () => `${fact.node} began before ${late} was done`)
    }
    if (requiresApproval(node) && !run.start?.dryRun) {
      must(
        this.approvedAs(fact.node, fact.visit) === fact.action,
        () => `${fact.node} began as ${fact.action}, which nobody approved`,
      )
    }
  }

  /** The digest that was approved for the visit, as edited. */
  private approvedAs(node: string, visit: number): string | undefined {
    let approved: string | undefined
    for (const { node: of, visit: at, kind, state, action } of this.run.approvals.values()) {
      if (of !== node || at !== visit || kind !== 'approval') continue
      if (state.status === 'decided' && state.verdict === 'approve') approved = state.edited ?? action
    }
    return approved
  }

  private checkComplete(fact: Extract<Fact, { type: 'task_complete' }>): void {
    const visit = this.run.visits.get(fact.node)
    const isSimulated = (simulatedKinds as readonly string[]).includes(
      this.graph.nodes.get(fact.node)?.kind ?? '',
    )
    if (!isSimulated || visit?.consequence === 'read_only' || this.run.start?.dryRun) return
    // Routed along an error edge: what it gives is why it failed.
    if (fact.label === 'error' && this.facts.at(-1)?.type === 'error') return
    const asked = visit?.state.status === 'waiting'
    const key = expectedKey(this.runId, fact.node, fact.visit, fact.attempt)
    must(
      asked || this.world.target(fact.node).keys.has(key),
      () => `${fact.node} is done, and nothing happened`,
    )
  }

  private checkUndone(fact: Extract<Fact, { type: 'rollback_act_result' }>): void {
    const checkpoint = this.run.checkpoints.get(fact.checkpointId)
    const before = this.world.stateBefore(fact.node, fact.visit)
    if (!checkpoint || before === undefined) return
    const { state, undone } = this.world.target(fact.node)
    must(
      checkpoint.undo === 'compensate' || state === before,
      () => `${fact.node} was rolled back to "${state}"; before it was "${before}"`,
    )
    const times = undone.get(fact.checkpointId) ?? 0
    must(checkpoint.undo !== 'compensate' || times === 1, () => `${fact.node} was compensated ${times} times`)
  }

  /** The plan that was agreed to is of the run as it is when the rollback begins. */
  private notePlan(fact: FactOf<'rollback_request'>, commit: Commit): void {
    const value = commit.values.find(({ hash }) => hash === fact.plan)
    must(value !== undefined, () => `The plan of ${fact.rollback} was not stored with its request`)
    if (!value) return
    const plan = JSON.parse(Buffer.from(value.bytes).toString()) as Plan
    // What one that is taken over does while the broader one is planned is all that may come in between.
    must(
      plan.seq === this.run.seq || (plan.seq < this.run.seq && fact.supersedes !== undefined),
      () => `A plan of ${plan.seq} tokens is executed on a run of ${this.run.seq}`,
    )
    must(plan.forbidden === undefined, () => `A forbidden plan is executed: ${plan.forbidden?.sentence}`)
    this.plans.set(fact.rollback, plan)
  }

  /** The previewed set is the executed set. */
  private checkExecuted({ rollback }: FactOf<'rollback_result'>): void {
    const planned = (this.plans.get(rollback)?.steps ?? []).filter(isAct).map(actKey)
    const { acts = new Map(), decided } = this.run.rollbacks.get(rollback) ?? {}
    must(decided !== undefined, () => `${rollback} ended before it was decided how`)
    if (decided?.decision === 'abort' || decided?.decision === 'escalate') return
    const executed = [...acts].filter(([, act]) => act.status !== undefined).map(([checkpoint]) => checkpoint)
    const left = planned.filter((key) => !this.wasDoneBefore(key, rollback))
    must(
      left.sort().join() === executed.sort().join(),
      () => `${rollback} was to undo ${planned.join(', ')} and undid ${executed.join(', ')}`,
    )
  }

  /** A rollback that this one took over had begun it: what that came to stands. */
  private wasDoneBefore(key: string, rollback: string): boolean {
    const undone = this.run.checkpoints.get(key)?.undone
    if (!undone || undone.rollback === rollback) return false
    const { supersededBy, acts } = this.rollback(undone.rollback)
    if (supersededBy === undefined) return false
    return undone.status === 'completed' || acts.get(key)?.undo === 'compensate'
  }

  /** One vote of each holder, before it is decided what comes of them. */
  private checkVote({ rollback, checkpointId, description }: FactOf<'rollback_vote'>): void {
    const { votes, decided } = this.rollback(rollback)
    must(!votes.has(checkpointId) && !decided, () => `The holder of ${checkpointId} votes a second time`)
    // Nobody but the run itself ever touches its targets.
    must(!description.includes('was changed since'), () => `A false alarm: ${description}`)
  }

  /** Phase 2 begins when it is decided; a step is undone after all that followed from it, and only if it was to be. */
  private checkAct({ rollback, checkpointId, node }: FactOf<'rollback_act'>): void {
    const { decided, votes, acts } = this.rollback(rollback)
    const decision = decided?.decision
    must(
      decision === 'execute' || decision === 'partial',
      () => `${node} is undone, and what was decided is ${decision}`,
    )
    must(votes.get(checkpointId)?.vote === 'prepared', () => `${node} is undone and was not prepared`)
    const following = this.run.walk ? [] : withDescendants(this.graph, node)
    const waits = (this.plans.get(rollback)?.steps ?? []).find(
      (step) =>
        step.node !== node &&
        following.includes(step.node) &&
        isAct(step) &&
        acts.get(actKey(step))?.status === undefined &&
        !this.wasDoneBefore(actKey(step), rollback),
    )
    must(waits === undefined, () => `${node} is undone before ${waits?.node}, which followed from it`)
  }

  /** What an act came to is said once, and is what its agent said. */
  private checkFinal({
    rollback,
    checkpointId,
    status,
    node,
    description,
  }: FactOf<'rollback_act_result'>): void {
    const known = this.rollback(rollback).acts.get(checkpointId)
    must(known?.status === undefined, () => `The undo of ${node} is answered a second time`)
    must(!description.includes('changed since'), () => `A false alarm: ${description}`)
    const { answers, checkpoints } = this.world.agents
    if (!checkpoints.has(checkpointId) || status !== 'completed') return
    const said = answers.get(`${rollback}/${checkpointId}`)
    must(said === 'completed', () => `The ledger says that ${node} is undone; its agent says ${said}`)
  }

  private rollback(id: string): Rollback {
    const rollback = this.run.rollbacks.get(id as Rollback['id'])
    if (!rollback) throw new Broken(`There is no rollback ${id}`)
    return rollback
  }

  /**
   * After any schedule every checkpoint of a plan is restored, compensated, handed to a person or untouched, the ledger
   * says which, and no agent carried out one rollback twice. Throws Broken.
   */
  checkRollbacks(): void {
    const { executed, answers } = this.world.agents
    for (const [key, times] of executed) must(times === 1, () => `An agent carried out ${key} ${times} times`)
    for (const rollback of this.run.rollbacks.values()) {
      const isOver = rollback.status !== undefined || rollback.supersededBy !== undefined
      must(isOver || !this.ended, () => `${rollback.id} never ended`)
      for (const step of (this.plans.get(rollback.id)?.steps ?? []).filter(isAct)) {
        const act = rollback.acts.get(actKey(step))
        const key = `${rollback.id}/${actKey(step)}`
        if (act === undefined)
          must(!executed.has(key), () => `${key} was undone, and the ledger does not say so`)
        else must(act.status !== undefined || !isOver, () => `Nobody knows what became of ${key}`)
        const unsaid = act?.status === 'failed' && answers.get(key) === 'completed'
        must(!unsaid, () => `${key} is undone, and the ledger says that it failed`)
      }
    }
  }

  /** What is visited anew was not at work, and nobody is still asked whether it happened. */
  private checkLeft(): void {
    for (const visits of this.run.past.values()) {
      const { node, state } = visits.at(-1) as Visit
      must(state.status !== 'running', () => `${node} is visited anew while it is at work`)
      const waits = state.status === 'waiting' && state.for !== 'retry'
      must(!waits, () => `${node} is visited anew while it waits`)
    }
  }

  private checkBounds(commit: Commit): void {
    const bound = Math.min(this.graph.graph.budget.maxConcurrent ?? 16, 16)
    const running = [...this.run.visits.values()].filter(
      ({ state }) => state.status === 'running' && state.claimUntil === undefined,
    ).length
    must(running <= bound, () => `${running} steps are at work at once; at most ${bound} may be`)
    must(commit.rows.length > 0, () => 'A commit without a token')
  }

  private checkProjections(commit: Commit, now: number): void {
    const { dueAt, ...expected } = projectionOf(this.run, now)
    const { dueAt: written, ...found } = commit.projection
    must(
      JSON.stringify(found) === JSON.stringify(expected),
      () => `The run's row is ${JSON.stringify(found)}; the fold says ${JSON.stringify(expected)}`,
    )
    const isDue = dueAt === null ? written === null : written !== null && written <= Math.max(dueAt, now)
    must(isDue, () => `The run's row is due at ${written}; the fold says ${dueAt}`)
    for (const approval of commit.approvals) this.approvals.set(approval.id, approval)
    for (const approval of this.run.approvals.values()) {
      const row = JSON.stringify(this.approvals.get(approval.id))
      must(
        row === JSON.stringify(approvalProjectionOf(approval)),
        () => `The row of ${approval.id} is not what the fold says: ${row}`,
      )
    }
  }
}

/** True where a token may follow one of another run: a child run its parent's step, a step the ends of its children. */
function isLink(fact: Fact, jti: string): boolean {
  if (fact.type === 'workflow_start') return fact.parentWid !== undefined
  return fact.type === 'task_complete' && (fact.linked?.includes(jti) ?? false)
}

/** Something is done about the step, or somebody is told. */
function isAct({ checkpointId, fate }: PlannedStep): boolean {
  return checkpointId !== undefined || statusWithoutAct(fate) !== undefined
}
