/*
 * Whether another version of a workflow can take a run over at a position: every step that is done has to be in it, of
 * the same kind, and it has to lead the same way up to there. What comes after may be another: that is what one forks for.
 */
import { isProblem } from '@/lib/base/problem'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import { impossible, layOut } from './decide-fork'
import { Draft } from './draft'
import type { ForkPoint } from './fork-point'
import type { Run } from './run'

/** The run as it would stand in that version; or why it cannot, in a sentence. */
export function laidOutIn(
  from: GraphIndex,
  to: GraphIndex,
  point: ForkPoint,
): { run: Run; refusal?: undefined } | { run?: undefined; refusal: string } {
  const start = point.run.start
  if (!start) return { refusal: 'The run has not begun; there is nothing to fork' }
  try {
    if (to !== from) checkSame(from, to, point)
    let minted = 0
    const draft = new Draft({ now: point.at, mint: () => `laid ${minted++}`, chance: 0 })
    const { entry } = point
    const fork = { jti: point.jti, carried: point.carried, edited: [] }
    const { jti: _jti, at: _at, par: _par, ...body } = start
    return { run: layOut(to, { ...body, entry }, fork, draft) }
  } catch (error) {
    if (isProblem(error, 'fork_impossible') || isProblem(error, 'too_large'))
      return { refusal: error.message }
    throw error
  }
}

function checkSame(from: GraphIndex, to: GraphIndex, point: ForkPoint): void {
  if (from.graph.order !== to.graph.order) {
    throw impossible(`is done in ${to.graph.order} order, and the run was begun in ${from.graph.order} order`)
  }
  for (const { node } of point.visits) {
    const is = to.nodes.get(node)?.kind
    const was = from.nodes.get(node)?.kind
    if (is === undefined) throw impossible(`has no step "${node}", which is done`)
    if (is !== was) throw impossible(`has "${node}" as ${is}, and it was done as ${was}`)
  }
  if (from.graph.order === 'stepwise') return
  const done = new Set(point.visits.map(({ node }) => node))
  for (const { node } of point.visits) {
    const before = from.parents.get(node) ?? []
    const missing = to.parents.get(node)?.find((parent) => !done.has(parent) && !before.includes(parent))
    if (missing !== undefined) {
      throw impossible(`does "${missing}" before "${node}", and that is not done at this position`)
    }
  }
}
