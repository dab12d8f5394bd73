/*
 * Steps, done: resolve, describe, ask or offer or begin, seal the checkpoint, perform, record. The order is what makes
 * a crash harmless:
 *
 *   snapshot ─▶ [task token + checkpoint token + sealed state] durable ─▶ effect ─▶ [completion] durable
 *                                                              crash here ╰─▶ recover: look, or ask a person
 */
import { isJsonObject } from '@/lib/base/json'
import { isProblem, Problem } from '@/lib/base/problem'
import type { CallRefusal, CircuitChange } from '@/lib/breaker/terms'
import { checkCheckpointRoom, DEFAULT_TTL_S, isCheckpointDue } from '@/lib/checkpoint/due'
import type { ActionRef, CheckpointTaken, StepFailure } from '@/lib/engine/commands'
import { parentsOfStep } from '@/lib/engine/draft'
import { endsAt } from '@/lib/engine/due'
import { nextFor } from '@/lib/engine/gate'
import { workedUpAt } from '@/lib/engine/limits'
import { outOfRunTime, runWorkedUp } from '@/lib/engine/outcome'
import { beginsRuns } from '@/lib/engine/own-steps'
import type { LeaseRef, RunHeader, SealedCheckpoint, StoredValue } from '@/lib/engine/ports'
import type { Run } from '@/lib/engine/run'
import { nodeKind } from '@/lib/nodes/registry'
import { type Action, EffectFailed, type Effects, type Performed, type Snapshot } from '@/lib/runners/runner'
import { withMargin } from '@/lib/runners/time-left'
import type { ArtifactDeclaration, GraphNode } from '@/lib/workflow/graph'
import { storedArtifact } from './artifact-values'
import { Deadlines, type WorkTime } from './deadlines'
import { effectsFor, failureOf } from './effects'
import { HandedOver } from './handed-over'
import type { Hold } from './hold'
import { Places } from './places'
import type { Place } from './pools'
import type { KindRunner, WorkerPorts } from './ports'
import { readJson } from './run-book'
import { RunValues } from './run-values'
import { RunWatch } from './run-watch'
import { jsonValue } from './values'

/** A step as it stood when it was read from the run; kept outside the book's turn. */
interface Standing {
  node: GraphNode
  visit: number
  attempt: number
  runner: KindRunner
  values: RunValues
  dryRun: boolean
  follows: string[]
  reads: string[]
  /** The slots that the workflow declares. */
  artifacts: readonly ArtifactDeclaration[]
  /** An edge takes the node's error branch; without one, ending there is a failure. */
  routesError: boolean
  /** The workflow by name: whose share of a pool the step uses. */
  workflow: string
  /** Checkpoints the run has taken, and may take. */
  checkpoints: number
  maxCheckpoints?: number
  /** When the run is out of its time, ms since the epoch. */
  endsAt?: number
  /** When it has worked for as long as it may. Of a step that begins runs absent: people may be waited for in those. */
  workedUpAt?: number
  effects(attempt: number, time: WorkTime, follows?: readonly string[]): Effects
}

/** The time of one piece of a step's work. */
interface StepTime extends WorkTime {
  /** Why it was stopped, once the signal has fired. */
  late(): EffectFailed
}

interface Resolved {
  action: Action
  ref: ActionRef
  /** The action and its preview as they will be stored; absent when they are stored already. */
  stored?: StoredValue
  shown?: StoredValue
}

export class Steps {
  private readonly ports: WorkerPorts
  private readonly hold: Hold
  private readonly draining: AbortSignal
  private readonly deadlines: Deadlines
  private readonly places: Places

  /**
   * When the hold is lost, effects in hand are aborted and nothing is recorded of them: the next worker finds them
   * running and recovers them, as after a crash.
   */
  constructor(ports: WorkerPorts, hold: Hold, draining: AbortSignal) {
    this.ports = ports
    this.hold = hold
    this.draining = draining
    this.deadlines = new Deadlines(ports.timer, hold.lost)
    this.places = new Places(ports.pools, AbortSignal.any([hold.lost, draining]))
  }

  private get lease(): LeaseRef {
    return this.hold.lease
  }

  /** No step is under way any more, nor will be. */
  close(): void {
    this.deadlines.close()
  }

  /** These are due, by node and visit: who waits for a place and is not among them stops waiting. */
  keepWaiting(due: ReadonlySet<string>): void {
    this.places.keepOnly(due)
  }

  /** A ready node: resolve it, then ask a person, offer it, or begin. */
  async prepare(node: string, visit: number): Promise<void> {
    const standing = await this.standing(node, visit)
    let resolved: Resolved
    try {
      resolved = await this.resolve(standing)
    } catch (error) {
      return this.unresolved(standing, error)
    }
    const next = nextFor(standing.node, standing.dryRun)
    if (next === 'begin') return this.begin(standing, resolved)
    const values = [resolved.stored, resolved.shown].filter((value) => value !== undefined)
    await this.execute({ type: next, node, visit, action: resolved.ref }, { values })
  }

  /** The attempt failed before it began; nothing happened to the world. */
  private async unresolved(standing: Standing, error: unknown): Promise<void> {
    if (this.hold.lost.aborted) return
    const { node, visit } = standing
    const refusal = refusalIn(error)
    if (refusal) {
      await this.execute({ type: 'rejected', node: node.id, visit, refusal })
      return
    }
    this.note(error, standing)
    await this.execute({ type: 'unresolved', node: node.id, visit, failure: failureOf(error) })
  }

  /** An approved action, or another attempt of one: exactly that action, never a new resolution. */
  async beginWith(node: string, visit: number, actionHash: string): Promise<void> {
    const standing = await this.standing(node, visit)
    const action = (await readJson(this.ports.ledger, actionHash)) as Action | null | undefined
    if (!action) throw new Error(`The action ${actionHash} of ${node} is not in the store`)
    const { consequence, target, sentence } = action
    const ref = { hash: actionHash, consequence, target, sentence, reads: standing.reads }
    if (standing.node.kind === 'task') {
      await this.execute({ type: 'offer', node, visit, action: ref })
      return
    }
    await this.begin(standing, { action, ref })
  }

  /** An attempt that was running when its worker was lost. */
  async recover(node: string, visit: number, attempt: number): Promise<void> {
    const { ports } = this
    const standing = await this.standing(node, visit)
    const found = await ports.book.read(this.lease.runId, (run) => {
      const current = run.visits.get(node)
      // Another worker may have had the run since, and people may have gone on from a rollback.
      if (current?.visit !== visit) throw visitOver(node, this.lease.runId, visit)
      return { actionHash: current.action, checkpoint: current.checkpoint, taskJti: current.taskJti }
    })
    const action = found.actionHash && ((await readJson(ports.ledger, found.actionHash)) as unknown as Action)
    if (!action) throw new Error(`The action of ${node} is not in the store`)
    ports.log.info({ run: this.lease.runId, node, attempt }, `Recovering ${node} of ${this.lease.runId}`)
    const follows = found.taskJti ? [found.taskJti] : []
    if (action.consequence === 'read_only' || standing.dryRun) {
      return this.perform(standing, action, attempt, undefined, follows)
    }
    await this.settle(standing, action, attempt, { checkpoint: found.checkpoint, follows, ifNot: 'perform' })
  }

  private async standing(nodeId: string, visit: number): Promise<Standing> {
    const { ports } = this
    return ports.book.read(this.lease.runId, (run, header) => {
      const node = run.graph.nodes.get(nodeId)
      const current = run.visits.get(nodeId)
      const runner = node && ports.runnerOf(node.kind)
      if (!node || !runner) throw new Error(`Nothing here performs ${nodeId} of ${this.lease.runId}`)
      if (current?.visit !== visit) {
        throw visitOver(nodeId, this.lease.runId, visit)
      }
      return {
        node,
        visit,
        attempt: current.attempt,
        runner,
        values: new RunValues(run, nodeId, ports.ledger, (reader) =>
          ports.book.read(this.lease.runId, reader),
        ),
        dryRun: run.start?.dryRun ?? false,
        workflow: header.workflowName,
        follows: parentsOfStep(run, current).slice(0, 100),
        reads: current.reads,
        artifacts: run.graph.graph.artifacts,
        // A walk that no edge leads on from is complete there, whatever its label (agentd section 2).
        routesError:
          run.walk !== undefined ||
          run.graph.graph.edges.some((edge) => edge.from === nodeId && edge.when === 'error'),
        checkpoints: run.checkpoints.size,
        maxCheckpoints: run.graph.graph.budget.maxCheckpoints,
        endsAt: endsAt(run),
        workedUpAt: beginsRuns(run, nodeId) ? undefined : workedUpAt(run),
        effects: this.effectsFactory(run, header, nodeId, visit),
      }
    })
  }

  private effectsFactory(run: Run, header: RunHeader, node: string, visit: number): Standing['effects'] {
    const frozen = { graph: run.graph, start: run.start } as Run
    return (attempt, { signal, until, request }, follows = []) =>
      effectsFor(this.ports, frozen, header, {
        node,
        visit,
        attempt,
        signal,
        until,
        request,
        follows,
        draining: this.draining,
        lost: this.hold.lost,
        lease: this.lease,
        noteCircuit: (change) => this.noteCircuit({ node, visit, attempt }, change),
      })
  }

  /** The circuit's own chain says it already; a run that has moved on meanwhile need not. */
  private noteCircuit(place: { node: string; visit: number; attempt: number }, change: CircuitChange): void {
    this.execute({ type: 'circuit_changed', ...place, change }).catch((error: unknown) => {
      const fault = error instanceof Error ? error.message : 'unknown'
      const { runId } = this.lease
      this.ports.log.warn({ run: runId, ...place, fault }, `A breaker's change was not recorded in ${runId}`)
    })
  }

  private async resolve(standing: Standing): Promise<Resolved> {
    const { node, visit, runner, values } = standing
    const step = { runId: this.lease.runId, node, visit }
    const { action, preview } = await this.limited(standing, async (time) => {
      const effects = standing.effects(standing.attempt + 1, time, standing.follows)
      return runner.describe(await runner.resolve({ ...step, values }), step, effects)
    })
    const stored = jsonValue(action)
    const shown = preview && jsonValue(preview)
    const ref: ActionRef = {
      hash: stored.hash,
      consequence: action.consequence,
      target: action.target,
      sentence: action.sentence,
      reads: values.recorded(),
      preview: shown?.hash,
    }
    return { action, ref, stored, shown }
  }

  private async begin(standing: Standing, resolved: Resolved): Promise<void> {
    const { node, visit } = standing
    const key = placeKey(node.id, visit)
    for (;;) {
      const place = standing.dryRun ? undefined : await this.placeFor(standing, key)
      if (place === 'none') return
      try {
        if (await this.beginIn(standing, resolved, place)) return this.places.begun(key)
      } finally {
        place?.leave()
      }
    }
  }

  /** A place in the step's pool; undefined where it needs none; `none` when it got none, which is recorded. */
  private async placeFor(standing: Standing, key: string): Promise<Place | undefined | 'none'> {
    const { node, workflow } = standing
    const { runId } = this.lease
    try {
      return await this.places.enter({ key, runId, workflow, node, now: this.ports.timer.now() })
    } catch (error) {
      if (error instanceof HandedOver) throw error
      await this.unresolved(standing, error)
      return 'none'
    }
  }

  /** Seals, begins and performs. False when critical work took the place before anything was done: nothing is recorded then. */
  private async beginIn(
    standing: Standing,
    { action, ref, stored }: Resolved,
    place: Place | undefined,
  ): Promise<boolean> {
    const { node, visit } = standing
    const attempt = standing.attempt + 1
    let sealed: { taken: CheckpointTaken; sealed: SealedCheckpoint; snapshot: Snapshot } | undefined
    if (isCheckpointDue(action.consequence) && !standing.dryRun) {
      try {
        sealed = await this.seal(standing, action, attempt)
      } catch (error) {
        await this.unresolved(standing, error)
        return true
      }
    }
    if (place && !place.effectBegins()) return false
    if (place?.degraded) await this.warnDegraded(node, visit, attempt)
    const begin = this.execute(
      {
        type: 'begin',
        node: node.id,
        visit,
        action: ref,
        agent: node.kind === 'agent' && typeof node.config.agent === 'string' ? node.config.agent : undefined,
        timeoutS: this.timeoutS(node),
        checkpoint: sealed?.taken,
      },
      { values: stored ? [stored] : [], checkpoints: sealed ? [sealed.sealed] : [] },
    )
    const decision = await begin.catch((error: unknown) => {
      // The workflow may seal no more: refused before anything was done.
      if (isProblem(error, 'checkpoint_limit')) return error
      throw error
    })
    if (decision instanceof Problem) {
      await this.unresolved(standing, decision)
      return true
    }
    const taskJti = decision.facts.find((fact) => fact.type === 'task_start')?.jti
    await this.perform(standing, action, attempt, sealed?.snapshot, taskJti ? [taskJti] : [])
    return true
  }

  /** ATD, Unsatisfiable Resource Hints: it goes on with less, and says so. */
  private async warnDegraded(node: GraphNode, visit: number, attempt: number): Promise<void> {
    await this.execute({
      type: 'warn',
      node: node.id,
      visit,
      attempt,
      errorType: 'resource_exhausted',
      code: 'resources_degraded',
      description: `${node.label} goes on with less than it asked for; there is no room for more`,
    })
  }

  private async seal(standing: Standing, action: Action, attempt: number) {
    const { ports } = this
    checkCheckpointRoom(standing.checkpoints, standing.maxCheckpoints)
    const jti = ports.mint()
    const snapshot = await this.limited(standing, async (time) => {
      const effects = standing.effects(attempt, time, standing.follows)
      return standing.runner.snapshot?.(action, effects, jti) ?? emptySnapshot()
    })
    const ttlS = snapshot.ttlS ?? DEFAULT_TTL_S
    const place = { jti, runId: this.lease.runId, node: standing.node.id, visit: standing.visit }
    const taken: CheckpointTaken = {
      jti,
      snapshot: snapshot.hash,
      reversible: action.consequence === 'reversible',
      rollbackUri: snapshot.rollbackUri ?? ports.rollbackUri,
      target: action.target,
      description: action.sentence,
      ttlS,
      undo: snapshot.undo,
    }
    return {
      taken,
      snapshot,
      sealed: ports.vault.seal(place, snapshot.state, ports.timer.now() + ttlS * 1000),
    }
  }

  private async perform(
    standing: Standing,
    action: Action,
    attempt: number,
    snapshot: Snapshot | undefined,
    follows: string[],
  ): Promise<void> {
    const { node, visit } = standing
    const outcome = await this.limited(standing, async (time) => {
      this.hold.check(this.ports.timer.now())
      try {
        const effects = standing.effects(attempt, time, follows)
        const done = await performed(standing, action, effects, snapshot)
        // Here, because an artifact that cannot be kept is a failure of the step like any other.
        return { ...done, kept: keptArtifacts(standing, done.artifacts) }
      } catch (error) {
        if (error instanceof HandedOver) {
          if (error.fault) throw error.fault
          return undefined
        }
        this.note(error, standing)
        return { error, late: time.signal.aborted ? time.late() : requestLate(error, time) }
      }
    })
    if (!outcome) return
    if (!('error' in outcome)) {
      if (outcome.label === 'error' && !standing.routesError) {
        const failure = answeredError(standing, action, outcome)
        await this.execute({ type: 'failed', node: node.id, visit, attempt, failure })
        return
      }
      const value = jsonValue(outcome.output)
      const { kept } = outcome
      const report = {
        type: 'succeeded',
        node: node.id,
        visit,
        attempt,
        output: value.hash,
        label: outcome.label,
        modelTokens: outcome.modelTokens,
        writtenBytes: outcome.writtenBytes,
        toolCalls: outcome.toolCalls,
        exhausted: outcome.exhausted,
        artifacts: kept.map(({ name, stored }) => ({ name, value: stored.hash })),
        changed: outcome.changed,
        linked: outcome.linked,
      } as const
      await this.execute(report, { values: [value, ...kept.map(({ stored }) => stored)] })
      return
    }
    const { error, late } = outcome
    if (late && this.hold.lost.aborted) return
    const refusal = refusalIn(error)
    if (refusal) {
      await this.execute({ type: 'rejected', node: node.id, visit, attempt, refusal })
      return
    }
    // A fault of ours in the middle of an effect says as little of it as a lost answer.
    const unknown =
      error instanceof EffectFailed ? error.outcomeUnknown : late !== undefined || !isProblem(error)
    if (unknown && action.consequence !== 'read_only' && !standing.dryRun) {
      return this.settle(standing, action, attempt, { held: snapshot, follows, ifNot: 'fail', late })
    }
    await this.execute({ type: 'failed', node: node.id, visit, attempt, failure: failureOf(late ?? error) })
  }

  /**
   * Nobody knows whether the effect happened. Looking may tell; else a person is asked. `ifNot` says what to do when
   * it did not happen: perform it now (it is still the first time), or record the attempt as failed.
   */
  private async settle(
    standing: Standing,
    action: Action,
    attempt: number,
    how: {
      held?: Snapshot
      checkpoint?: string
      follows: string[]
      ifNot: 'perform' | 'fail'
      late?: EffectFailed
    },
  ): Promise<void> {
    const { node, visit, runner } = standing
    const snapshot = how.held ?? (await this.reopened(how.checkpoint))
    const outcome = await this.limited(standing, async (time) =>
      snapshot ? probed(runner, action, snapshot, standing.effects(attempt, time, how.follows)) : 'unknown',
    )
    if (this.hold.lost.aborted) return
    if (typeof outcome === 'object') return this.lookLater(outcome)
    if (outcome === 'took_effect') {
      const value = jsonValue({ recovered: true })
      const report = {
        type: 'succeeded',
        node: node.id,
        visit,
        attempt,
        output: value.hash,
        recovered: true,
      } as const
      await this.execute(report, { values: [value] })
    } else if (outcome === 'not_taken' && how.ifNot === 'perform') {
      await this.perform(standing, action, attempt, snapshot, how.follows)
    } else if (outcome === 'not_taken') {
      const failure = failureOf(how.late ?? lateFor(node))
      await this.execute({ type: 'failed', node: node.id, visit, attempt, failure })
    } else {
      if (isOfRun(how.late) && !(await this.runSaidSo())) return
      const sentence = `Did this take effect? ${action.sentence}`
      await this.execute({ type: 'unknown', node: node.id, visit, attempt, sentence })
    }
  }

  /** Waits until the run says that it is out of time: that stopped the step. False where this worker stops before. */
  private async runSaidSo(): Promise<boolean> {
    const { runId } = this.lease
    const stops = [this.hold.lost, this.draining]
    const watch = new RunWatch(this.ports, [runId], stops)
    try {
      for (;;) {
        watch.look()
        const status = await this.ports.book.read(runId, (run) => run.state.status)
        if (stops.some((signal) => signal.aborted)) return false
        if (status !== 'running' && status !== 'paused') return true
        await watch.wait()
      }
    } finally {
      watch.close()
    }
  }

  /** A breaker lets nobody look at the target now. The attempt stays as it is, and is looked at again. */
  private async lookLater({ retryAt }: CallRefusal): Promise<void> {
    await this.ports.timer.waitUntil(retryAt, AbortSignal.any([this.hold.lost, this.draining]))
  }

  private async reopened(checkpoint: string | undefined): Promise<Snapshot | undefined> {
    const { ports } = this
    const sealed = checkpoint === undefined ? undefined : await ports.ledger.checkpoint(checkpoint)
    if (!sealed || checkpoint === undefined) return undefined
    const ref = await ports.book.read(this.lease.runId, (run) => run.checkpoints.get(checkpoint))
    if (!ref) return undefined
    const { snapshot: hash, undo, rollbackUri, ttlS } = ref
    return { state: ports.vault.open(sealed), hash, undo, rollbackUri, ttlS }
  }

  private execute(command: Parameters<WorkerPorts['book']['execute']>[1], along: object = {}) {
    return this.ports.book.execute(this.lease.runId, command, { ...along, ...this.hold.along })
  }

  private timeoutS(node: GraphNode): number {
    return node.timeoutS ?? nodeKind(node.kind)?.timeoutS ?? 60
  }

  /** The step's own time, and a margin less than its run has left. What is asked of a run that is over has its own. */
  private limitOf({ node, endsAt, workedUpAt }: Standing): { limitMs: number; late: () => EffectFailed } {
    const now = this.ports.timer.now()
    const within = (at = 0) => (at > now ? withMargin(at - now) : Number.POSITIVE_INFINITY)
    const ownMs = this.timeoutS(node) * 1000
    const runMs = within(endsAt)
    const workMs = within(workedUpAt)
    if (ownMs <= Math.min(runMs, workMs)) return { limitMs: ownMs, late: () => lateFor(node) }
    return runMs <= workMs
      ? { limitMs: runMs, late: () => runOutOfTime(node) }
      : { limitMs: workMs, late: () => workedUp(node) }
  }

  /** Works under a signal that fires when the step is out of time or the worker may wait no longer. */
  private limited<T>(standing: Standing, work: (time: StepTime) => Promise<T>): Promise<T> {
    const { limitMs, late } = this.limitOf(standing)
    return this.deadlines.within(limitMs, async (time) => {
      try {
        return await work({ ...time, late })
      } catch (error) {
        // What says itself why it stopped is believed; anything else under a fired signal stopped for the signal.
        const speaks = error instanceof EffectFailed || isProblem(error)
        throw time.signal.aborted && !speaks ? late() : error
      }
    })
  }

  private note(error: unknown, { node }: Standing): void {
    if (error instanceof EffectFailed) return
    const name = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'
    this.ports.log.error({ run: this.lease.runId, node: node.id, fault: name }, `A fault stopped ${node.id}`)
  }
}

/** The artifacts a step wrote, as they are kept. Throws EffectFailed `too_large`. */
function keptArtifacts({ artifacts: slots }: Standing, written: Performed['artifacts'] = []) {
  return written.flatMap(({ name, value }) => {
    const slot = slots.find((declared) => declared.name === name)
    return slot ? [{ name, stored: storedArtifact(slot, value) }] : []
  })
}

/** Kinds that wait for somebody outside are only performed in a dry run, which asks nobody. */
async function performed(
  standing: Standing,
  action: Action,
  effects: Effects,
  snapshot?: Snapshot,
): Promise<Performed> {
  return standing.runner.perform?.(action, effects, snapshot) ?? { output: { dry_run: true } }
}

async function probed(runner: KindRunner, action: Action, snapshot: Snapshot, effects: Effects) {
  try {
    return (await runner.probe?.(action, snapshot, effects)) ?? 'unknown'
  } catch (error) {
    // The target cannot be looked at either: only a person can tell. One that a breaker holds off can be, later.
    return refusalIn(error) ?? 'unknown'
  }
}

/** What a breaker said, where it refused the call before anything was sent. */
function refusalIn(error: unknown): CallRefusal | undefined {
  return error instanceof EffectFailed ? error.refusal : undefined
}

/** The target answered, and its answer was no: only reading again can do no harm. */
function answeredError({ node }: Standing, action: Action, { output, upstream }: Performed): StepFailure {
  const status =
    isJsonObject(output) && typeof output.status === 'number' ? ` with status ${output.status}` : ''
  return {
    code: 'answered_error',
    errorType: 'action_failed',
    severity: 'error',
    retriable: action.consequence === 'read_only',
    description: `${action.target || node.label} answered${status}, and no edge takes the error branch of ${node.label}`,
    upstream,
  }
}

/** A visit of a step, within its run. */
export function placeKey(node: string, visit: number): string {
  return `${node} ${visit}`
}

function visitOver(node: string, runId: string, visit: number): Problem {
  return new Problem('run_moved_on', `${node} of ${runId} is not in visit ${visit} any more`)
}

function lateFor(node: GraphNode): EffectFailed {
  return new EffectFailed('effect_timeout', `${node.label} was not finished in time`, {
    errorType: 'timeout',
    retriable: true,
  })
}

/** It is not tried again: its run has no time for that. */
function runOutOfTime(node: GraphNode): EffectFailed {
  return new EffectFailed(outOfRunTime, `${node.label} was not finished in the time that its run had left`, {
    errorType: 'timeout',
    retriable: false,
  })
}

/** Nor this one: its run may not work for longer. */
function workedUp(node: GraphNode): EffectFailed {
  return new EffectFailed(runWorkedUp, `${node.label} was not finished in the time that its run may work`, {
    errorType: 'timeout',
    retriable: false,
  })
}

/** Was it the run's time that the step ran out of? */
function isOfRun(late: EffectFailed | undefined): boolean {
  return late?.code === outOfRunTime || late?.code === runWorkedUp
}

/** What was given up because the run's time is nearly over did not fail by itself. */
function requestLate(error: unknown, time: StepTime): EffectFailed | undefined {
  if (!time.requestOver() || !(error instanceof EffectFailed) || error.errorType !== 'timeout') return
  const late = time.late()
  return isOfRun(late) ? late : undefined
}

/** Kinds without a state of their own still have a checkpoint: that the action was about to happen. */
async function emptySnapshot(): Promise<Snapshot> {
  return { state: {}, hash: jsonValue({}).hash, undo: 'restore' }
}
