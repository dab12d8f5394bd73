/** What the order of undoing is decided by. */
export interface Undoable {
  checkpoint?: { at: number }
}

/**
 * The nodes of `steps` in the order they are undone: a step before everything it follows from (reverse topological,
 * also where the path between two of them leads through steps that stay); among those that are free, the latest
 * checkpoint first. Nodes on a loop have no topological order; they come last, latest checkpoint first.
 */
export function undoOrder(
  graph: {
    order: readonly string[]
    parents: ReadonlyMap<string, readonly string[]>
    children: ReadonlyMap<string, readonly string[]>
  },
  steps: ReadonlyMap<string, Undoable>,
): string[] {
  const place = new Map(graph.order.map((node, at) => [node, at]))
  const byTime = (a: string, b: string): number =>
    takenAt(steps.get(a)) - takenAt(steps.get(b)) || (place.get(a) ?? 0) - (place.get(b) ?? 0)
  const childrenLeft = new Map(graph.order.map((node) => [node, graph.children.get(node)?.length ?? 0]))
  const undone = new Set<string>()
  /** Steps that nothing follows any more, latest last. */
  const free: string[] = []
  /** Nodes that are passed at once because they stay, so that they hold back nobody. */
  const passing: string[] = []
  const release = (node: string) => {
    if (steps.has(node)) insertSorted(free, node, byTime)
    else passing.push(node)
  }
  for (const node of graph.order) if (childrenLeft.get(node) === 0) release(node)
  for (let node = passing.pop() ?? free.pop(); node !== undefined; node = passing.pop() ?? free.pop()) {
    if (steps.has(node)) undone.add(node)
    for (const parent of graph.parents.get(node) ?? []) {
      const left = (childrenLeft.get(parent) ?? 0) - 1
      childrenLeft.set(parent, left)
      if (left === 0) release(parent)
    }
  }
  const onLoops = [...steps.keys()].filter((node) => !undone.has(node)).sort((a, b) => byTime(b, a))
  return [...undone, ...onLoops]
}

function insertSorted(list: string[], node: string, byTime: (a: string, b: string) => number): void {
  let from = 0
  let to = list.length
  while (from < to) {
    const middle = (from + to) >> 1
    if (byTime(list[middle] as string, node) < 0) from = middle + 1
    else to = middle
  }
  list.splice(from, 0, node)
}

function takenAt(step: Undoable | undefined): number {
  return step?.checkpoint?.at ?? 0
}
