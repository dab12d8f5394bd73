/*
 * What whoever undoes a step is called with: what the run noted of it, who it is, and the signed request that an agent
 * is sent.
 */
import type { RollbackId } from '@/lib/base/ids'
import type { Json } from '@/lib/base/json'
import { claimsOf } from '@/lib/engine/fact-codec'
import type { RunHeader } from '@/lib/engine/ports'
import type { CheckpointRef, Run } from '@/lib/engine/run'
import { anyVisitOf } from '@/lib/engine/visit-states'
import type { PlannedStep } from '@/lib/rollback/plan'
import type { Action, Effects, Snapshot, UndoRequest } from '@/lib/runners/runner'
import type { LastLook } from './changed-since'
import { effectsFor } from './effects'
import type { KindRunner, WorkerPorts } from './ports'
import { readJson } from './run-book'
import type { Undoing } from './undoing'

/** What the run knows of an act. Nothing that happens while its rollback is under way changes it. */
export interface NotedAct {
  run: Pick<Run, 'graph' | 'start'>
  header: RunHeader
  ref?: CheckpointRef
  kind: string
  action?: string
  output?: string
  /** The step said what it left: whether somebody else changed that since can be told. */
  tells: boolean
  /** The token of its beginning, where it was begun. */
  begun?: string
  /** Who is told when it is not undone. */
  role: string
}

/** Who undoes it, and what they are told beside the request. */
export interface Means {
  runner: KindRunner
  action: Action
  output?: Json
  look?: LastLook
}

/** What a call to whoever undoes a step is made of. */
export interface UndoCall {
  runner: KindRunner
  action: Action
  snapshot: Snapshot
  effects(signal: AbortSignal): Effects
  request: UndoRequest
}

/** What an agent is sent, signed. */
export type SignedRequest = Omit<UndoRequest, 'output'>

/** Copies out of the fold what an act of a rollback needs. */
export function noteAct(run: Run, header: RunHeader, rollback: RollbackId, step: PlannedStep): NotedAct {
  const node = run.graph.nodes.get(step.node)
  const visit = anyVisitOf(run, step.node, step.visit)
  const ref = run.checkpoints.get(step.checkpointId ?? '')
  return {
    run: { graph: run.graph, start: run.start },
    header,
    ref: ref && { ...ref },
    kind: node?.kind ?? '',
    action: visit?.action,
    output: visit?.state.status === 'done' ? visit.state.output : undefined,
    tells: visit?.changed !== undefined,
    begun: run.rollbacks.get(rollback)?.acts.get(step.checkpointId ?? '')?.jti,
    role: node?.approval?.role ?? 'operator',
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
  const { ports, hold, rollback } = of
  const noted = await ports.book.read(hold.lease.runId, (run, header) =>
    noteAct(run, header, rollback.id, step),
  )
  const means = await meansOf(ports, noted, ref)
  if (!means) return undefined
  return callWith(
    of,
    step,
    noted,
    ref,
    { snapshot, means },
    await requestFor(of, noted, ref, { snapshot }, jti),
  )
}

/** Undefined where nothing here can reach whoever undoes it. */
export async function meansOf(
  { runnerOf, ledger }: WorkerPorts,
  noted: NotedAct,
  ref: CheckpointRef,
): Promise<Means | undefined> {
  // What an agent reported has no action of ours: its checkpoint is all that it is asked about.
  const theirs = ref.agent === undefined ? undefined : reportedAction(ref, ref.agent)
  const runner = runnerOf(theirs?.kind ?? noted.kind)
  const action = theirs ?? (noted.action && ((await readJson(ledger, noted.action)) as unknown as Action))
  if (!runner || !action) return undefined
  // Only a compensation is made of what the step gave.
  const isAnswer = ref.undo === 'compensate' && noted.output !== undefined
  const output = isAnswer ? await readJson(ledger, noted.output as string) : undefined
  return { runner, action, ...(output !== undefined && { output }) }
}

/** The call, with the request that was signed for it. */
export function callWith(
  { ports, hold, draining }: Undoing,
  step: PlannedStep,
  { run, header }: NotedAct,
  ref: CheckpointRef,
  { snapshot, means: { runner, action, output } }: { snapshot: Snapshot; means: Means },
  request: SignedRequest,
): UndoCall {
  return {
    runner,
    action,
    snapshot,
    request: { ...request, output, ...(step.criticalBelow && { criticalBelow: step.criticalBelow }) },
    effects: (signal) =>
      effectsFor(ports, run as Run, header, {
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

/** A live request for the agent: the same `jti` whenever it is sent, so that a repeated one gets the first answer. `ahead`: nobody waits for it yet. */
export async function requestFor(
  { ports: { signer, timer }, rollback, deadlineAt }: Undoing,
  { run, header: { wid } }: Pick<NotedAct, 'run' | 'header'>,
  ref: CheckpointRef,
  { snapshot, means }: { snapshot: Snapshot; means?: Means },
  jti: string,
  ahead = false,
): Promise<SignedRequest> {
  const { agent } = snapshot.state
  const look = means?.look ?? {}
  const holder = ref.undo === 'remote' && typeof agent === 'string' ? agent : undefined
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
      ...(look.expectedStates && { expectedStates: [...look.expectedStates] }),
    },
    { iss: signer.iss, aud: holder ?? signer.aud, wid, vocabulary: run.graph.graph.vocabulary },
  )
  const signed = () => (ahead && signer.signAhead ? signer.signAhead(claims) : signer.sign(claims))
  return {
    id: rollback.id,
    wid,
    scope: rollback.scope,
    reason: rollback.reason,
    checkpointId: ref.jti,
    // Only an agent reads it.
    requestToken: holder === undefined ? '' : await signed(),
    requestJti: jti,
    deadlineAt,
    ...(rollback.overwrite && { overwrite: true as const }),
    ...look,
  }
}
