import type { RollbackScope } from './terms'

/** Smallest first. Each one's set contains the one before. */
export const rollbackScopes: readonly RollbackScope[] = ['single', 'sub_dag', 'full_workflow']

/** The nodes of a scope (NOTES 3.7). */
export function scopeNodes(
  scope: RollbackScope,
  node: string,
  graph: { order: readonly string[]; children: ReadonlyMap<string, readonly string[]> },
): ReadonlySet<string> {
  switch (scope) {
    case 'single':
      return new Set([node])
    case 'sub_dag': {
      const reached = new Set([node])
      // A Set is walked in the order it grows, so it serves as the queue too.
      for (const at of reached) for (const child of graph.children.get(at) ?? []) reached.add(child)
      return reached
    }
    case 'full_workflow':
      return new Set(graph.order)
    default:
      return scope satisfies never
  }
}

/**
 * A step and those made from its output, at first hand or through others (cascade section 3.2). `steps` in an order in
 * which nobody reads what comes later. What was read decides, not what is drawn.
 */
export function dependentsOf(
  node: string,
  steps: Iterable<{ node: string; reads: readonly string[] }>,
): ReadonlySet<string> {
  const made = new Set([node])
  for (const step of steps) if (step.reads.some((output) => made.has(output))) made.add(step.node)
  return made
}

/** `full_workflow` takes in every step, also one of a node the graph no longer lists. */
export function isInScope(scope: RollbackScope, nodes: ReadonlySet<string>, node: string): boolean {
  return scope === 'full_workflow' || nodes.has(node)
}

/** The scope a request means that names none: `cascade: true` is `sub_dag`, `cascade: false` is `single` (NOTES 3.7). */
export function scopeOfCascade(cascade: boolean): RollbackScope {
  return cascade ? 'sub_dag' : 'single'
}
