/*
 * Simulated node kinds, one for each way an effect can relate to the world:
 *
 *   pure     changes nothing
 *   file     local: it happens in the turn in which it is called; looking tells whether it did; restored
 *   keyed    remote, honours idempotency keys; asking tells; restored
 *   http     remote, honours nothing, cannot be asked; compensated
 *   agent    as keyed, by an agent that keeps its own checkpoints and takes them back itself (agents.ts)
 *   mail     remote, honours nothing, cannot be asked, cannot be undone
 *
 * A step of a walk may end with one of the labels its config lists. Each attempt goes one of the ways of `Way`. What a runner does to the world goes through the schedule, so it can be
 * late, lost on the way there or on the way back, or in flight when its process dies.
 */
import { hashJson } from '@/lib/base/hash'
import type { JsonObject } from '@/lib/base/json'
import type { UndoMethod } from '@/lib/checkpoint/terms'
import type { Consequence } from '@/lib/nodes/node-kind'
import { narrowed } from '@/lib/nodes/node-kind'
import {
  type Action,
  EffectFailed,
  type Effects,
  type Performed,
  type Runner,
  type Snapshot,
} from '@/lib/runners/runner'
import { addAgent } from './agents'
import type { Process } from './schedule'
import type { Stage } from './stage'
import type { Landing, World } from './world'

export const simulatedKinds = ['pure', 'file', 'keyed', 'agent', 'http', 'mail'] as const
export type SimulatedKind = (typeof simulatedKinds)[number]

const consequences: Record<SimulatedKind, Consequence> = {
  pure: 'read_only',
  file: 'reversible',
  keyed: 'reversible',
  agent: 'reversible',
  http: 'reversible',
  mail: 'irreversible',
}

const undoOf: Partial<Record<SimulatedKind, UndoMethod>> = {
  file: 'restore',
  keyed: 'restore',
  agent: 'remote',
  http: 'compensate',
}

type Way = 'ok' | 'flaky' | 'refused' | 'fault' | 'no_answer' | 'slow'

/** The runner of a simulated kind, as one process has it. */
export function simulatedRunner(stage: Stage, process: Process, kind: SimulatedKind): Runner {
  const runner: Runner = {
    resolve: async ({ node, values, visit }) => {
      const reads = node.config.reads as string[]
      for (const read of reads) await values.at(read)
      const { labels, artifacts, agent } = node.config
      return {
        text: `${node.id}, visit ${visit}`,
        ...(agent !== undefined && { agent }),
        ...(labels !== undefined && { labels }),
        ...(artifacts !== undefined && { artifacts }),
      }
    },
    describe: async (action, { node, visit }, effects) => {
      await reach(stage, process, `describe ${node.id}`, effects.signal, () => undefined)
      if (stage.rough() && stage.dice.chance(0.02)) {
        throw new EffectFailed('target_silent', 'It did not say what it would do', {
          retriable: stage.dice.chance(0.5),
        })
      }
      return { action: actionOf(kind, action, node.id, visit, narrowed(consequences[kind], node)) }
    },
    perform: (action, effects, snapshot) => perform(stage, process, kind, action, effects, snapshot),
  }
  if (kind === 'pure') return runner
  runner.snapshot = async (action, effects) => {
    const state = await reach(stage, process, `snapshot ${action.node}`, effects.signal, () =>
      stateOf(stage.worldOf(effects.runId), action),
    )
    if (stage.rough() && stage.dice.chance(0.02))
      throw new EffectFailed('target_silent', 'It has no state to seal')
    return { state, hash: hashJson(state), undo: kind === 'http' ? 'compensate' : 'restore' }
  }
  if (kind === 'file' || kind === 'keyed' || kind === 'agent') addLooking(runner, stage, process)
  if (kind === 'agent') addAgent(runner, stage, process)
  else if (kind !== 'mail') addUndo(runner, stage, process)
  return runner
}

function actionOf(
  kind: SimulatedKind,
  action: JsonObject,
  node: string,
  visit: number,
  consequence: Consequence,
): Action {
  return {
    kind,
    node,
    visit,
    do: action,
    consequence,
    target: node,
    sentence: `Does ${String(action.text)}`,
    ...(consequence === 'reversible' ? { undo: undoOf[kind] } : {}),
  }
}

function stateOf(world: World, action: Action): JsonObject {
  return { target: action.node, state: world.target(action.node).state }
}

function addLooking(runner: Runner, stage: Stage, process: Process): void {
  runner.probe = async (action, _snapshot, effects) => {
    const { schedule, dice } = stage
    const world = stage.worldOf(effects.runId)
    const took = await reach(stage, process, `probe ${action.node}`, effects.signal, () =>
      world.target(action.node).keys.has(effects.idempotencyKey),
    )
    if (stage.rough() && dice.chance(0.05)) throw new Error('planned: the target is out of reach')
    schedule.note(`${process.name}: ${action.node} ${took ? 'took effect' : 'did not take effect'}`)
    return took ? 'took_effect' : 'not_taken'
  }
  runner.stateHash = async (action, _snapshot, effects) =>
    reach(stage, process, `state of ${action.node}`, effects.signal, () => {
      const hash = hashJson(stateOf(stage.worldOf(effects.runId), action))
      return { hash, raw: hash }
    })
}

/** What a step did to its target, as every kind says it that can be looked at: also one whose checkpoint holds more. */
function changedBy(world: World, action: Action, snapshot: Snapshot | undefined) {
  if (!snapshot || !['file', 'keyed', 'agent'].includes(action.kind)) return {}
  const found = hashJson({ target: action.node, state: snapshot.state.state })
  return { changed: { found, left: hashJson(stateOf(world, action)) } }
}

function addUndo(runner: Runner, stage: Stage, process: Process): void {
  runner.undo = async (action, snapshot, effects, { checkpointId, whyNot }) => {
    const { dice } = stage
    const world = stage.worldOf(effects.runId)
    stage.undoCalled(action, effects, checkpointId)
    if (stage.rough() && dice.chance(0.05)) throw new EffectFailed('undo_failed', 'It could not be put back')
    const before = hashJson(stateOf(world, action))
    const why = before === snapshot.hash ? undefined : await whyNot?.({ hash: before, raw: before })
    if (why !== undefined) throw new EffectFailed('hash_mismatch', why)
    const undo = () => world.undo(action.node, checkpointId, snapshot.state.state as string | null)
    if (action.kind === 'file') undo()
    await reach(
      stage,
      process,
      `undo ${action.node}`,
      effects.signal,
      action.kind === 'file' ? () => undefined : undo,
    )
    if (stage.rough() && action.kind === 'http' && dice.chance(0.1)) {
      throw new EffectFailed('no_answer', 'No answer came', { outcomeUnknown: true })
    }
    return {
      stateHashBefore: before,
      stateHashAfter: snapshot.hash,
      description: `${action.node} was put back`,
    }
  }
}

async function perform(
  stage: Stage,
  process: Process,
  kind: SimulatedKind,
  action: Action,
  effects: Effects,
  snapshot?: Snapshot,
) {
  const { dice, schedule } = stage
  const world = stage.worldOf(effects.runId)
  const output = { did: String(action.do.text) }
  if (effects.dryRun) return { output: { ...output, dry_run: true } }
  stage.effectCalled(process, action, effects)
  const way: Way = stage.rough()
    ? dice.weighted({ ok: 12, flaky: 3, refused: 1, fault: 0.3, no_answer: 2, slow: 2 })
    : dice.weighted({ ok: 12, flaky: 0.5, refused: 0.2, fault: 0, no_answer: 0, slow: 0 })
  schedule.note(`${process.name}: performs ${action.node} visit ${action.visit}: ${way}`)
  if (way === 'flaky' || way === 'refused') {
    await reach(stage, process, `refuse ${action.node}`, effects.signal, () => undefined)
    throw new EffectFailed('target_refused', 'The target refused', { retriable: way === 'flaky' })
  }
  if (way === 'fault') throw new Error('planned: a fault of ours')
  const landing: Landing = {
    node: action.node,
    visit: action.visit,
    key: effects.idempotencyKey,
    action: hashJson(action),
  }
  let did: Pick<Performed, 'changed'> = {}
  const land = () => {
    if (kind === 'pure') return
    schedule.note(`EFFECT of ${action.node} visit ${action.visit}`)
    world.land(landing, String(action.do.text), kind === 'keyed' || kind === 'agent' || kind === 'file')
    did = changedBy(world, action, snapshot)
  }
  if (kind === 'file') land()
  if (way === 'no_answer') {
    // The request may be lost on its way there as well.
    const arrives = kind !== 'file' && dice.chance(0.5)
    await reach(stage, process, `do ${action.node}`, effects.signal, arrives ? land : () => undefined)
    throw new EffectFailed('no_answer', 'No answer came', { outcomeUnknown: true })
  }
  const slowMs = way === 'slow' ? 60_000 : 200
  await reach(stage, process, `do ${action.node}`, effects.signal, kind === 'file' ? () => undefined : land, {
    slowMs,
    // A request that left can arrive although nobody waits for its answer any more.
    late: kind === 'http' || kind === 'mail',
  })
  const labels = Array.isArray(action.do.labels) ? action.do.labels.map(String) : []
  const label = labels.length > 0 ? dice.pick(labels) : ''
  const slots = Array.isArray(action.do.artifacts) ? action.do.artifacts.map(String) : []
  const artifacts = slots.map((name) => ({ name, value: String(action.do.text) }))
  return { output, ...did, ...(label !== '' && { label }), ...(artifacts.length > 0 && { artifacts }) }
}

/** A call to the world that its caller stops waiting for when the signal fires. */
function reach<T>(
  stage: Stage,
  process: Process,
  what: string,
  signal: AbortSignal,
  work: () => T,
  { slowMs = 50, late = false }: { slowMs?: number; late?: boolean } = {},
): Promise<T> {
  let dropped = false
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      dropped = !late || stage.dice.chance(0.5)
      reject(new Error('planned: aborted'))
    }
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    const arrive = () => (dropped ? undefined : work())
    stage.schedule
      .call(process, what, arrive, { slowMs })
      .then((value) => resolve(value as T), reject)
      .finally(() => signal.removeEventListener('abort', onAbort))
  })
}
