/** Random workflows: small graphs with every kind, question, bound and silence the engine knows. */

import type { ApprovalSpec, Budget, GraphNode, Silence } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { type GraphIndex, indexGraph } from '@/lib/workflow/graph-index'
import type { Dice } from './dice'
import type { simulatedKinds } from './kinds'

const kindWeights = {
  pure: 4,
  file: 5,
  keyed: 4,
  http: 3,
  mail: 2,
  task: 3,
  pause_for_approval: 1,
} as const satisfies Record<(typeof simulatedKinds)[number] | 'task' | 'pause_for_approval', number>

/** One to twelve nodes; edges from earlier to later ones. */
export function randomWorkflow(dice: Dice): GraphIndex {
  const ids = Array.from({ length: dice.chance(0.15) ? 1 : dice.whole(2, 12) }, (_, index) => `n${index + 1}`)
  const edges: string[] = []
  const density = dice.next() * 0.5
  for (const [to, id] of ids.entries()) {
    for (const parent of ids.slice(Math.max(0, to - 4), to)) {
      if (dice.chance(density)) edges.push(`${parent}>${id}`)
    }
  }
  const parentsOf = (id: string) =>
    edges.filter((edge) => edge.endsWith(`>${id}`)).map((edge) => edge.split('>')[0] as string)
  const nodes = Object.fromEntries(ids.map((id) => [id, randomNode(dice, parentsOf(id))]))
  const vocabulary = dice.chance(0.5) ? 'atd' : 'cascade'
  return indexGraph(graphOf(nodes, edges, { name: 'story', vocabulary, budget: randomBudget(dice) }))
}

function randomNode(dice: Dice, parents: string[]): Partial<GraphNode> {
  const kind = dice.weighted(kindWeights)
  const node: Partial<GraphNode> = {
    kind,
    config: simulatedConfig(kind, dice, parents),
    priority: dice.pick(['critical', 'high', 'normal', 'low']),
    timeoutS: dice.chance(0.5) ? dice.whole(3, 60) : undefined,
  }
  if (dice.chance(0.15)) node.reversible = false
  if (dice.chance(kind === 'pause_for_approval' ? 0.5 : 0.25)) node.approval = randomApproval(dice)
  if (dice.chance(0.4)) {
    node.retry = {
      maxAttempts: dice.whole(1, 4),
      baseMs: dice.whole(0, 4000),
      factor: 2,
      maxMs: 10_000,
      jitter: dice.next(),
    }
  }
  return node
}

/** Simulated kinds read some of their parents; the kinds of the product are left to their own resolvers. */
function simulatedConfig(kind: string, dice: Dice, parents: string[]): GraphNode['config'] {
  if (kind === 'task' || kind === 'pause_for_approval') return {}
  return { reads: parents.filter(() => dice.chance(0.5)) }
}

function randomApproval(dice: Dice): ApprovalSpec {
  const silences: Silence[] = ['hold', 'deny', 'rollback', 'continue', { escalateTo: 'coordinator' }]
  const spec: ApprovalSpec = { role: 'operator', reason: 'It matters', onSilence: dice.pick(silences) }
  return dice.chance(0.6) ? { ...spec, deadlineS: dice.whole(1, 90) } : spec
}

function randomBudget(dice: Dice): Budget {
  return {
    maxConcurrent: dice.chance(0.3) ? dice.whole(1, 3) : undefined,
    maxRunS: dice.chance(0.1) ? dice.whole(30, 600) : undefined,
  }
}
