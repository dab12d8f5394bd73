/*
 * Who is next. Acts of a rollback are undone at once where the graph allows it: one becomes free when all that follows
 * from it in the set is over, also where the way between leads through steps that stay. Of a walk each visit follows the
 * one before, so they go one by one, as do the checkpoints of one step.
 *
 * Linear in nodes and edges, whatever the order in which acts end.
 */
import type { ActGraph } from './critical-path'

/** Hands out acts, and is told when each is over. */
export class ActOrder<A extends { node: string }> {
  /** Acts of each node that were not handed out yet, the next one first. */
  private readonly waiting = new Map<string, A[]>()
  /** Nodes whose children are not all over. */
  private readonly childrenLeft = new Map<string, number>()
  private readonly free: A[] = []
  private readonly chain: A[] | undefined
  private left: number

  /** `acts` in the order they would be undone one by one. `chain`: so they are. */
  constructor(
    acts: readonly A[],
    private readonly graph: ActGraph | 'chain',
  ) {
    this.left = acts.length
    if (graph === 'chain') {
      this.chain = [...acts]
      this.nextInChain()
      return
    }
    for (const act of acts) {
      const of = this.waiting.get(act.node)
      if (of) of.push(act)
      else this.waiting.set(act.node, [act])
    }
    for (const [node, children] of graph.children) this.childrenLeft.set(node, children.length)
    for (const [node, children] of [...graph.children]) if (children.length === 0) this.release(node)
  }

  /** True when every act is over. */
  get isOver(): boolean {
    return this.left === 0
  }

  /** Takes the acts that may begin now; none is handed out twice. */
  take(): A[] {
    return this.free.splice(0)
  }

  /** The act is over, whatever became of it. */
  over(act: A): void {
    this.left -= 1
    if (this.chain) return this.nextInChain()
    const more = this.waiting.get(act.node) ?? []
    if (more.length > 0) this.free.push(more.shift() as A)
    else this.pass(act.node)
  }

  private nextInChain(): void {
    const next = this.chain?.shift()
    if (next) this.free.push(next)
  }

  private release(node: string): void {
    const next = this.waiting.get(node)?.shift()
    if (next) this.free.push(next)
    else this.pass(node)
  }

  /** Nothing of the node is left to undo: its parents have one child less to wait for. */
  private pass(node: string): void {
    if (this.graph === 'chain') return
    // Not recursive: a chain of ten thousand steps that stay is passed at once.
    const queue = [node]
    for (let at = 0; at < queue.length; at++) {
      for (const parent of this.graph.parents.get(queue[at] as string) ?? []) {
        const left = (this.childrenLeft.get(parent) ?? 0) - 1
        this.childrenLeft.set(parent, left)
        if (left !== 0) continue
        const next = this.waiting.get(parent)?.shift()
        if (next) this.free.push(next)
        else queue.push(parent)
      }
    }
  }
}
