import type { JsonObject } from '@/lib/base/json'
import type { Action, Step } from './runner'
import { oneLine } from './words'

/** The action of a kind that only computes: nothing in the world is touched, so there is nothing to preview or undo. */
export function pureAction(
  step: Pick<Step, 'node' | 'visit'>,
  action: JsonObject,
  words: Pick<Action, 'target' | 'sentence'>,
): Action {
  return {
    kind: step.node.kind,
    node: step.node.id,
    visit: step.visit,
    do: action,
    consequence: 'read_only',
    target: oneLine(words.target, 200),
    sentence: oneLine(words.sentence),
  }
}
