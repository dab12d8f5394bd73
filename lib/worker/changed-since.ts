/*
 * Looking whether somebody else changed a step's target since (lib/rollback/changed-since.ts): the target is asked what
 * state it is in, and what the run's own steps made of it is folded from the ledger. The runs above and below count as
 * the run's own; they are read only where nothing in the run itself explains the state.
 *
 *   plan   the target is asked        said in the plan
 *   vote   the target is asked anew   `cannot_prepare`
 *   act    here: compared just before it is written, and then not written; an agent is told what it may be in
 *
 * Who did is looked up by the state that somebody brought the target to: other runs say what they left.
 */
import type { Hash } from '@/lib/base/hash'
import { type RunId, runIdOf } from '@/lib/base/ids'
import { type Comparable, comparable, holderOf, type Touching, touching } from '@/lib/engine/own-steps'
import type { RunHeader } from '@/lib/engine/ports'
import { isOverwritten } from '@/lib/engine/rollback-question'
import type { CheckpointRef, Rollback, Run } from '@/lib/engine/run'
import { anyVisitOf } from '@/lib/engine/visit-states'
import { foreignState, isChangedSince, type OtherStep, ownStates } from '@/lib/rollback/changed-since'
import type { PlannedStep } from '@/lib/rollback/plan'
import { changedMeanwhile } from '@/lib/rollback/sentence'
import type { ChangedBy } from '@/lib/rollback/terms'
import type { Action, Effects, SeenState, Snapshot, UndoRequest } from '@/lib/runners/runner'
import { effectsFor } from './effects'
import type { KindRunner, WorkerPorts } from './ports'
import { readJson } from './run-book'

/** How long a target may take to say what state it is in before the plan goes on without. */
const lookMs = 5000
/** A family of more runs is not read to its end: then nothing is claimed. */
const mostRuns = 500
/** An agent is not told of more states than that: they travel in the request's token. */
const mostStates = 40

/** Whom to ask for the state of what a step acted on. */
export interface StateAsked {
  /** Its graph and its start. */
  run: Run
  header: RunHeader
  kind: string
  actionHash: string | undefined
}

/** The target's state now; `silent` when it was asked and gave none, undefined when it cannot be asked. */
export async function stateNow(
  ports: WorkerPorts,
  asked: StateAsked,
  ref: CheckpointRef,
  snapshot: Snapshot,
): Promise<SeenState | 'silent' | undefined> {
  try {
    return await lookingAt(ports, asked, ref, async (runner, action, effects) =>
      runner.stateHash?.(action, snapshot, effects),
    )
  } catch {
    // It cannot be looked at now; the plan says so, and the undo itself will tell.
    return 'silent'
  }
}

/** What a look at a step's target gives, in bounded time; undefined when nothing here reaches it. Throws what the look throws. */
export async function lookingAt<T>(
  ports: WorkerPorts,
  { run, header, kind, actionHash }: StateAsked,
  ref: CheckpointRef,
  look: (runner: KindRunner, action: Action, effects: Effects) => Promise<T>,
): Promise<T | undefined> {
  const runner = ports.runnerOf(kind)
  const action = actionHash && ((await readJson(ports.ledger, actionHash)) as unknown as Action)
  if (!runner || !action) return undefined
  const over = new AbortController()
  const late = new AbortController()
  void ports.timer.waitUntil(ports.timer.now() + lookMs, over.signal).then(() => late.abort())
  const step = { node: ref.node, visit: ref.visit, attempt: 0, signal: late.signal, follows: [ref.jti] }
  try {
    return await look(runner, action, effectsFor(ports, run, header, step))
  } finally {
    over.abort()
  }
}

/** Somebody else changed it: the step of another run, where one says so. */
export interface Changed {
  by?: ChangedBy
}

/** A rollback whose turn it is to undo a step: what it has put back itself is nobody else's doing. */
export type UndoneBy = Pick<Rollback, 'id' | 'askedAt'>

/** What else than the run's own steps changed a target that is in this state now; undefined where nothing did, or where that cannot be told. */
export async function changedByOthers(
  ports: WorkerPorts,
  runId: RunId,
  ref: CheckpointRef,
  snapshot: Snapshot,
  now: SeenState,
  undoing?: UndoneBy,
): Promise<Changed | undefined> {
  if (now.hash === snapshot.hash) return undefined
  const { of, own } = await ports.book.read(runId, (run) => {
    const of = comparable(run, ref, undoing?.id)
    return { of, own: of && now.raw !== of.step.change.left ? besides(run, of, undoing) : undefined }
  })
  if (!of || !own || !isForeign(of, own, now.raw)) return undefined
  const family = await familyOf(ports, runId, of, undoing).catch(() => undefined)
  if (!family || !isForeign(of, family, now.raw)) return undefined
  const by = await whoLeft(ports, of, foreignState(of.step, family.steps, now.raw), family.runs)
  return { ...(by && { by }) }
}

/** False where it cannot be told. */
function isForeign(of: Comparable, { steps, putBack }: Pick<Touching, 'steps' | 'putBack'>, now: Hash) {
  return !putBack.includes(now) && isChangedSince(of.step, steps, now) === true
}

function besides(run: Run, of: Comparable, undoing: UndoneBy | undefined): Touching {
  return touching(run, of, ({ node, visit }) => node === of.node && visit === of.visit, undoing?.askedAt)
}

interface Family {
  runs: RunId[]
  steps: OtherStep[]
  putBack: Hash[]
}

/** The steps of the run and those above, below and beside; undefined where there are too many of them. */
async function familyOf(
  ports: WorkerPorts,
  runId: RunId,
  of: Comparable,
  undoing: UndoneBy | undefined,
): Promise<Family | undefined> {
  const family: Family = { runs: [await topOf(ports, runId)], steps: [], putBack: [] }
  for (const id of family.runs) {
    if (family.runs.length > mostRuns) return undefined
    const found = await ports.book.read(id, (run) =>
      id === runId ? besides(run, of, undoing) : touching(run, of, () => false, undoing?.askedAt),
    )
    family.steps.push(...found.steps)
    family.putBack.push(...found.putBack)
    for (const { node, visit } of found.below) family.runs.push(...(await ports.childrenOf(id, node, visit)))
  }
  return family
}

/** Whose step brought the target to this state: one look, however many runs there are. */
async function whoLeft(
  { ledger }: WorkerPorts,
  of: Comparable,
  state: Hash,
  family: readonly RunId[],
): Promise<ChangedBy | undefined> {
  const holder = holderOf(of)
  const left = holder && (await ledger.leftBy({ holder, state }, of.step.began, family))
  if (!left) return undefined
  const { runId: run, workflowName: workflow, node, visit, label, at, undid } = left
  return { run, workflow, node, visit, label, at, ...(undid && { undid }) }
}

async function topOf(ports: WorkerPorts, runId: RunId): Promise<RunId> {
  const above = await ports.book.read(runId, (run) => run.start?.parentWid)
  return above === undefined ? runId : topOf(ports, runIdOf(above))
}

/** Whom to ask about what a checkpoint was taken of. */
export function whomToAsk(run: Run, header: RunHeader, { node, visit }: CheckpointRef): StateAsked {
  return {
    run: { graph: run.graph, start: run.start } as Run,
    header,
    kind: run.graph.nodes.get(node)?.kind ?? '',
    actionHash: anyVisitOf(run, node, visit)?.action,
  }
}

/**
 * Whether a checkpoint's target was changed by somebody else since its step, looked at now; false when it was not.
 * Undefined when the target does not say what state it is in, or what it was left in.
 */
export async function changedByNow(
  ports: WorkerPorts,
  runId: RunId,
  ref: CheckpointRef,
  snapshot: Snapshot,
): Promise<Changed | false | undefined> {
  const asked = await ports.book.read(runId, (run, header) =>
    comparable(run, ref) ? whomToAsk(run, header, ref) : undefined,
  )
  const seen = asked && (await stateNow(ports, asked, ref, snapshot))
  if (seen === undefined || seen === 'silent') return undefined
  return (await changedByOthers(ports, runId, ref, snapshot, seen)) ?? false
}

/** What goes along with the request to put a step back, so that nobody's change between vote and act is lost unseen. */
export type LastLook = Pick<UndoRequest, 'whyNot' | 'expectedStates'>

/** Nothing, where the rollback overwrites whatever was changed, or where nobody can tell. */
export async function lastLook(
  ports: WorkerPorts,
  runId: RunId,
  rollback: UndoneBy & Pick<Rollback, 'overwrite' | 'overwritten'>,
  step: PlannedStep,
  ref: CheckpointRef,
  snapshot: Snapshot,
): Promise<LastLook> {
  if (isOverwritten(rollback, ref.jti) || ref.undo === 'compensate') return {}
  if (ref.undo === 'remote') return expected(ports, runId, rollback, ref)
  return {
    whyNot: async (now) => {
      const changed = await changedByOthers(ports, runId, ref, snapshot, now, rollback)
      return changed && changedMeanwhile({ label: step.label, checkpoint: ref }, changed.by, runId)
    },
  }
}

/**
 * The states that an agent may be in when its turn comes: those that the run led it to, and those that others of its steps
 * found, which are put back meanwhile. Runs above and below may know of more: then it is told none.
 */
async function expected(
  ports: WorkerPorts,
  runId: RunId,
  undoing: UndoneBy,
  ref: CheckpointRef,
): Promise<LastLook> {
  const known = await ports.book.read(runId, (run) => {
    const of = run.start?.parentWid === undefined ? comparable(run, ref, undoing.id) : undefined
    const own = of && besides(run, of, undoing)
    if (!own || own.below.length > 0) return undefined
    const { states, isUnknown } = ownStates(of.step, own.steps)
    const found = own.steps.flatMap(({ change }) => change?.found ?? [])
    return isUnknown ? undefined : new Set([...states, ...found, ...own.putBack])
  })
  return known && known.size <= mostStates ? { expectedStates: [...known] } : {}
}
