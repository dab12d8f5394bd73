import type { Json, JsonObject } from '@/lib/base/json'
import type { LedgerStore } from '@/lib/engine/ports'
import type { Run } from '@/lib/engine/run'
import { valueAt } from '@/lib/nodes/values-path'
import type { Values } from '@/lib/runners/runner'
import { readJson } from './run-book'

/** Reads of more nodes than fit into a token are recorded as all of the node's ancestors. */
const maxReadsBytes = 1200

/**
 * The values a step can see: the run's input as `trigger`, and the output of each finished step by its id. It records
 * which steps were read, because a rollback must know (NOTES 3.9).
 */
export class RunValues implements Values {
  private readonly reads = new Set<string>()
  private readonly outputs: Map<string, string>
  private readonly parents: readonly string[]
  private readonly input: string
  private readonly ledger: LedgerStore

  constructor(run: Run, node: string, ledger: LedgerStore) {
    this.ledger = ledger
    this.parents = run.graph.parents.get(node) ?? []
    this.input = run.start?.input ?? ''
    this.outputs = new Map()
    for (const [id, visit] of run.visits) {
      if (visit.state.status === 'done') this.outputs.set(id, visit.state.output)
    }
  }

  async at(path: string): Promise<Json | undefined> {
    const root = this.rootOf(path)
    if (root === undefined) return undefined
    const value = root === 'trigger' ? await this.stored(this.input) : await this.outputOf(root)
    if (value === undefined) return undefined
    const rest = path.slice(root.length).replace(/^\./, '')
    // A bracket right after the root is an index into it: give it a root of its own to hang on.
    return rest === ''
      ? value
      : valueAt({ root: value }, rest.startsWith('[') ? `root${rest}` : `root.${rest}`)
  }

  async ofParents(): Promise<JsonObject> {
    const entries: [string, Json][] = []
    for (const parent of this.parents) entries.push([parent, (await this.outputOf(parent)) ?? null])
    return Object.fromEntries(entries)
  }

  /** Ids of the steps whose output was read; `*` stands for all ancestors where the list is too long for a token. */
  recorded(): string[] {
    const list = [...this.reads].sort()
    return JSON.stringify(list).length > maxReadsBytes ? ['*'] : list
  }

  /** The longest node id that the path begins with, or `trigger`. Ids may hold dots themselves. */
  private rootOf(path: string): string | undefined {
    let best: string | undefined
    const candidates = ['trigger', ...this.outputs.keys()]
    for (const id of candidates) {
      if (!path.startsWith(id) || (best !== undefined && id.length <= best.length)) continue
      const next = path[id.length]
      if (next === undefined || next === '.' || next === '[') best = id
    }
    return best
  }

  private async outputOf(node: string): Promise<Json | undefined> {
    const hash = this.outputs.get(node)
    if (hash === undefined) return undefined
    this.reads.add(node)
    return this.stored(hash)
  }

  private stored(hash: string): Promise<Json | undefined> {
    return readJson(this.ledger, hash)
  }
}
