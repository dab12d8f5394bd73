/*
 * Child runs, held against the ledgers of the runs above and below them: each is begun once for its place, by the step
 * that waits for it; no step is done before its children have ended, no run ends before the runs it began, and what a
 * rollback says it took back of them is taken back; none of their critical steps without a person's word.
 */
import { type RunId, runIdOf, uuidOfText } from '@/lib/base/ids'
import type { Fact, FactOf } from '@/lib/engine/facts'
import type { Commit, ParentPlace } from '@/lib/engine/ports'
import { isFromAbove } from '@/lib/engine/rollback-question'
import type { Rollback, Run } from '@/lib/engine/run'
import { belowKey } from '../critical-below'
import { must } from './broken'
import type { Truth } from './truth'

/** Kinds whose steps begin runs. */
const callingKinds: readonly string[] = ['call', 'parallel', 'map']

export class ChildrenTruth {
  private readonly begun = new Map<string, RunId>()
  private readonly parents = new Map<RunId, ParentPlace & { attempt: number }>()

  constructor(private readonly truthOf: (runId: RunId) => Truth | undefined) {}

  /** A child run's first commit became durable. Throws Broken. */
  begin({ runId, create }: Commit, parent: ParentPlace, start: FactOf<'workflow_start'>): void {
    const { node, visit, index } = parent
    const above = this.truthOf(parent.runId)
    const what = `Child ${index} of ${node} in visit ${visit}`
    const current = above?.run.visits.get(node)
    if (!above || !current) return must(false, () => `${what} was begun by no run`)
    const attempt = Array.from({ length: current.attempt }, (_, at) => at + 1).find(
      (number) => runIdOf(uuidOfText(`${parent.runId}/${node}/${visit}/${number}/${index}`)) === runId,
    )
    if (attempt === undefined) return must(false, () => `${what} has an id that is not of its place`)
    const key = `${parent.runId}/${node}/${visit}/${attempt}/${index}`
    must(!this.begun.has(key), () => `${what} was begun twice in attempt ${attempt}`)
    this.begun.set(key, runId)
    this.parents.set(runId, { ...parent, attempt })
    const { state } = current
    must(
      state.status === 'running' && state.attempt === attempt,
      () => `${what} was begun while its step was ${state.status}`,
    )
    const task = above.facts.find(
      (fact) =>
        fact.type === 'task_start' && fact.node === node && fact.visit === visit && fact.attempt === attempt,
    )
    must(task !== undefined && start.par.includes(task.jti), () => `${what} does not follow its step's token`)
    must(start.parentWid === above.wid && create?.parent === parent, () => `${what} names another parent`)
    must(start.depth === (above.run.start?.depth ?? 0) + 1, () => `${what} is as deep as ${start.depth}`)
    must(start.dryRun === above.run.start?.dryRun, () => `${what} is no dry run, or is one alone`)
  }

  /** A fact of a run, before it is folded in. Throws Broken. */
  check(runId: RunId, fact: Fact): void {
    const run = this.truthOf(runId)?.run
    if (!run) return
    if (fact.type === 'workflow_complete') this.checkEnd(runId)
    if (fact.type === 'task_complete' && this.isCalling(run, fact.node)) this.checkComplete(runId, fact)
    if (fact.type === 'rollback_act_result' && fact.status === 'completed' && this.isCalling(run, fact.node))
      this.checkTakenBack(runId, fact)
    if (fact.type === 'rollback_act') this.checkCritical(runId, run, fact)
  }

  /** The child runs of a step, of one attempt or of all. */
  private of(parent: RunId, node?: string, visit?: number, attempt?: number): Truth[] {
    const isMeant = (place: ParentPlace & { attempt: number }) =>
      place.runId === parent &&
      (node === undefined || place.node === node) &&
      (visit === undefined || place.visit === visit) &&
      (attempt === undefined || place.attempt === attempt)
    return [...this.parents].flatMap(([runId, place]) => (isMeant(place) ? (this.truthOf(runId) ?? []) : []))
  }

  private isCalling(run: Run, node: string): boolean {
    return callingKinds.includes(run.graph.nodes.get(node)?.kind ?? '')
  }

  private checkEnd(runId: RunId): void {
    for (const child of this.of(runId)) {
      must(hasEnded(child), () => `The run ends while a run it began has not: ${child.run.state.status}`)
    }
  }

  private checkComplete(runId: RunId, { node, visit, attempt, linked = [] }: FactOf<'task_complete'>): void {
    const children = this.of(runId, node, visit, attempt)
    for (const child of children)
      must(hasEnded(child), () => `${node} is done and a run it began is ${child.run.state.status}`)
    for (const jti of linked) {
      const isEnd = children.some(({ facts }) =>
        facts.some((fact) => fact.jti === jti && fact.type === 'workflow_complete'),
      )
      must(isEnd, () => `${node} names ${jti}, which ends none of its children`)
    }
  }

  /** No critical step goes back but a person saw it coming, wherever that was asked. */
  private checkCritical(runId: RunId, run: Run, { rollback, node, checkpointId }: FactOf<'rollback_act'>) {
    const of = run.rollbacks.get(rollback)
    if (!of || run.graph.nodes.get(node)?.priority !== 'critical') return
    const { visit = 0 } = run.checkpoints.get(checkpointId) ?? {}
    must(
      this.isAgreed(runId, of, belowKey({ run: runId, node, visit })),
      () => `${node} is critical and goes back, and nobody was asked about that`,
    )
  }

  /** Did a person ask for the rollback, or agree to it; where it comes from above, to one that names the step? */
  private isAgreed(runId: RunId, rollback: Rollback, step: string): boolean {
    const { run } = this.truthOf(runId) as Truth
    if (!isFromAbove(run, rollback)) {
      const isOwn = step.startsWith(`${runId}/`)
      if (rollback.by.startsWith('person:') || (isOwn && rollback.scope === 'single')) return true
      return [...run.approvals.values()].some(
        ({ kind, action, state }) =>
          kind === 'rollback_critical' &&
          action === rollback.plan &&
          state.status === 'decided' &&
          state.verdict === 'approve',
      )
    }
    const place = this.parents.get(runId)
    const above = place && this.truthOf(place.runId)
    if (!above) return false
    return [...above.run.rollbacks.values()].some((one) => {
      const steps = above.planOf(one.id)?.steps.filter(({ node }) => node === place.node) ?? []
      const named = steps.flatMap(({ criticalBelow = [] }) => criticalBelow.map(belowKey))
      return isUndoing(one, place.node) && named.includes(step) && this.isAgreed(place.runId, one, step)
    })
  }

  private checkTakenBack(runId: RunId, { node, visit }: FactOf<'rollback_act_result'>): void {
    for (const { run } of this.of(runId, node, visit)) {
      const { status } = run.state
      must(
        status === 'ended' || status === 'rolled_back',
        () => `${node} is rolled back and a run it began is ${status}`,
      )
      for (const visit of standing(run)) {
        must(
          visit.state.status === 'rolled_back',
          () => `${node} is rolled back; ${visit.node} of a run it began is ${visit.state.status}`,
        )
      }
    }
  }
}

/** Has the rollback begun to undo that step, and not ended it? */
function isUndoing({ acts }: Rollback, node: string): boolean {
  return [...acts.values()].some((act) => act.node === node && act.status === undefined)
}

/** Visits with something to take back: where the run stands, and what led there. */
function standing(run: Run) {
  const visits = run.walk ? run.walk.path.map((step) => step.visit) : [...run.visits.values()]
  return visits.filter(({ checkpoint, state }) => checkpoint !== undefined && state.status !== 'pending')
}

function hasEnded({ facts }: Truth): boolean {
  return facts.some(({ type }) => type === 'workflow_complete')
}
