import type { Approval } from '@/lib/engine/run'
import type { Consequence } from '@/lib/nodes/node-kind'
import type { NodeFrame } from './frame'
import type { VisitView } from './visit-view'

const words: Record<Consequence, string> = {
  read_only: 'It only reads.',
  reversible: 'It changes something, and can be taken back.',
  irreversible: 'It changes something for good.',
}

/** Questions about a step's own act: what they say of it is what the step does. */
const ofItsAct = new Set<Approval['kind']>(['approval', 'outcome_unknown'])

/**
 * What a step does to the world, as the card that asked about this very act says it; else as the act told when it was
 * begun. Of an agent that has not been asked yet nothing is claimed.
 */
export function consequenceSentence(
  { kind, consequence }: Pick<NodeFrame, 'kind' | 'consequence'>,
  { action, approvals }: Pick<VisitView, 'action' | 'approvals'>,
): string {
  const asked = approvals.findLast((one) => ofItsAct.has(one.kind) && one.action === action)
  if (asked) return words[asked.consequence]
  if (kind === 'agent' && action === undefined) return 'Its agent says what it changes when its turn comes.'
  return words[consequence]
}
