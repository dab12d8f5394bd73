/*
 * Which undos wait for which, and what it means for the rest when one of them cannot be done.
 *
 *   A ─▶ B ─▶ C        undone C, then B, then A: a step only after all that followed from it
 *   ╰──▶ D             D at any time before A
 *
 * A holder that cannot prepare is off the critical path when leaving its step as it is takes the ground from nothing
 * (cascade section 6.5): no other act of the rollback would be undone after it because of it. That is so when
 *
 *   - no act of the set lies before it in the graph: undoing A while C stays would leave C resting on what A is no more;
 *   - no act of the set that would be undone later changes the same target: putting back what A found there would wipe
 *     out what C left.
 *
 * So of A, B, C and D only A could be left out. What is drawn counts here, not only what was read: state is
 * touched without being read.
 */

/** A step of a plan, as far as the order goes. `acts`: something is done for it. */
export interface Act {
  node: string
  visit: number
  /** Of whom and what; both absent: unknown, like no other. */
  agent?: string
  target?: string
}

export interface ActGraph {
  parents: ReadonlyMap<string, readonly string[]>
  children: ReadonlyMap<string, readonly string[]>
}

/** The acts among `acts` (in the order they are undone) that cannot be left out, since others would be undone after them. */
export function onCriticalPath<A extends Act>(
  acts: readonly A[],
  left: ReadonlySet<A>,
  graph: ActGraph | 'chain',
): Set<A> {
  const critical = new Set<A>()
  const undone = acts.filter((act) => !left.has(act))
  const nodes = new Set(undone.map((act) => act.node))
  for (const [at, act] of acts.entries()) {
    if (!left.has(act)) continue
    const later = acts.slice(at + 1).filter((other) => !left.has(other))
    const follows = graph === 'chain' ? later.length > 0 : hasAncestor(act.node, nodes, graph)
    if (follows || later.some((other) => isSameTarget(act, other))) critical.add(act)
  }
  return critical
}

function isSameTarget(a: Act, b: Act): boolean {
  // Checkpoints of one step belong together, whatever they name.
  if (a.node === b.node && a.visit === b.visit) return true
  return a.target !== undefined && a.target !== '' && a.target === b.target && a.agent === b.agent
}

function hasAncestor(node: string, among: ReadonlySet<string>, { parents }: ActGraph): boolean {
  const reached = new Set(parents.get(node) ?? [])
  for (const at of reached) {
    if (among.has(at)) return true
    for (const parent of parents.get(at) ?? []) reached.add(parent)
  }
  return false
}
