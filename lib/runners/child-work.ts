/*
 * What `call`, `parallel` and `map` share: their children are pinned when the step is resolved, begun and waited for
 * when it is performed, and rolled back, last first, when it is undone. A child that did not complete is an answer, not
 * a fault: it routes the `error` branch (agentd section 1.45).
 */
import { z } from 'zod'
import { hashJson } from '@/lib/base/hash'
import type { Json, JsonObject } from '@/lib/base/json'
import type { Consequence } from '@/lib/nodes/node-kind'
import { actionOf } from './resolved'
import type { Action, ChildOutcome, Effects, Performed, Runner, Step } from './runner'
import { oneLine } from './words'

/** One child as its step's action has it. `version` is pinned by `describe`. */
const childDo = z.strictObject({
  workflow: z.string(),
  version: z.string().optional(),
  start: z.string().optional(),
  input: z.json(),
})

export type ChildDo = z.infer<typeof childDo>

export const childrenDo = z.strictObject({
  children: z.array(childDo),
  atOnce: z.int().min(1),
})

/** The children of an action. */
export function childrenOf(action: Action): z.infer<typeof childrenDo> {
  return actionOf(childrenDo, action.do, action.node)
}

/** The action with every workflow pinned to the version it is now. */
export async function pinned(
  action: JsonObject,
  step: Pick<Step, 'node' | 'visit'>,
  effects: Effects,
  sentence: (workflows: string) => string,
): Promise<{ action: Action }> {
  const { children, atOnce } = actionOf(childrenDo, action, step.node.id)
  const loaded = new Map<string, { version: string; consequence: Consequence }>()
  for (const { workflow } of children) {
    if (!loaded.has(workflow)) loaded.set(workflow, await effects.children.load(workflow))
  }
  const versions = children.map((child) => ({ ...child, version: loaded.get(child.workflow)?.version ?? '' }))
  const names = [...loaded.keys()].map((name) => `"${oneLine(name, 80)}"`).join(', ')
  const readsOnly = [...loaded.values()].every(({ consequence }) => consequence === 'read_only')
  return {
    action: {
      kind: step.node.kind,
      node: step.node.id,
      visit: step.visit,
      do: { children: versions, atOnce },
      consequence: readsOnly ? 'read_only' : 'reversible',
      target: oneLine(names),
      sentence: oneLine(sentence(names)),
      ...(!readsOnly && { undo: 'restore', undoSentence: 'Roll back the runs it began' }),
    },
  }
}

/** Runs the children, so many at once, and gives their outcomes in order. */
export async function ran(action: Action, effects: Effects): Promise<ChildOutcome[]> {
  const { children, atOnce } = childrenOf(action)
  const outcomes: ChildOutcome[] = []
  let next = 0
  let faulty = false
  const lane = async () => {
    for (let index = next++; index < children.length && !faulty; index = next++) {
      const { version = '', start, input } = children[index] as ChildDo
      try {
        outcomes[index] = await effects.children.run({ version, start, input, index }, effects.signal)
      } catch (error) {
        faulty = true
        throw error
      }
    }
  }
  const lanes = Array.from({ length: Math.min(atOnce, children.length) }, lane)
  // All lanes come to rest before a fault of one is told: nothing of this step is under way after it.
  const settled = await Promise.allSettled(lanes)
  const fault = settled.find((lane) => lane.status === 'rejected')
  if (fault) throw fault.reason
  return outcomes
}

/** `{result}` of a child that completed, `{error}` of any other. */
export function answerOf({ status, finalValue, reason }: ChildOutcome): { result: Json } | { error: string } {
  return status === 'completed' ? { result: finalValue } : { error: reason === '' ? status : reason }
}

/** At most this many end tokens are named as parents; of more, the output alone names the runs. */
const maxLinked = 60

/** What the step's completion says of its children. */
export function tally(
  outcomes: readonly ChildOutcome[],
): Pick<Performed, 'modelTokens' | 'writtenBytes' | 'toolCalls' | 'linked' | 'upstream'> {
  const sum = (of: 'modelTokens' | 'writtenBytes' | 'toolCalls') =>
    outcomes.reduce((total, child) => total + child[of], 0)
  const [modelTokens, writtenBytes, toolCalls] = [sum('modelTokens'), sum('writtenBytes'), sum('toolCalls')]
  const ends = outcomes.flatMap(({ endJti }) => endJti ?? [])
  const upstream = outcomes.flatMap(({ errorJti }) => errorJti ?? [])
  return {
    ...(modelTokens > 0 && { modelTokens }),
    ...(writtenBytes > 0 && { writtenBytes }),
    ...(toolCalls > 0 && { toolCalls }),
    ...(ends.length > 0 && ends.length <= maxLinked && { linked: ends }),
    ...(upstream.length > 0 && { upstream }),
  }
}

/** Checkpoint, probe and undo: all three are the children's own. */
export const childUndo: Pick<Runner, 'snapshot' | 'probe' | 'undo'> = {
  async snapshot(action) {
    const state = { children: childrenOf(action).children.map(({ version = '' }) => version) }
    return { state, hash: hashJson(state), undo: 'restore' }
  },
  // Beginning a child that was begun finds it: performing again is looking.
  probe: async () => 'not_taken',
  undo: async (_action, _snapshot, effects, request) => effects.children.takeBack(request, effects.signal),
}
