import type { Json, JsonObject } from '@/lib/base/json'
import type { LedgerStore } from '@/lib/engine/ports'
import type { Run } from '@/lib/engine/run'
import { outputOf } from '@/lib/engine/walk'
import { valueAt } from '@/lib/nodes/values-path'
import type { Values } from '@/lib/runners/runner'
import { readJson } from './run-book'

/** Reads of more nodes than fit into a token are recorded as all of the node's ancestors. */
const maxReadsBytes = 800

type ReadRun = <T>(reader: (run: Run) => T) => Promise<T>

/**
 * The values a step can see: the run's input as `trigger`, and the output of each finished step by its id. It records
 * which steps were read, because a rollback must know (NOTES 3.9).
 */
export class RunValues implements Values {
  private readonly reads = new Set<string>()
  private readonly parents: readonly string[]
  private readonly input: string
  private readonly ledger: LedgerStore
  private readonly readRun: ReadRun

  /** `readRun` reads the run anew: what finished steps gave is looked up when it is asked for, not copied for all. */
  constructor(run: Run, node: string, ledger: LedgerStore, readRun: ReadRun) {
    this.ledger = ledger
    this.readRun = readRun
    this.parents = run.graph.parents.get(node) ?? []
    this.input = run.start?.input ?? ''
  }

  async at(path: string): Promise<Json | undefined> {
    const candidates = rootsOf(path)
    const found = await this.readRun((run) => {
      const root = candidates.find((id) => id === 'trigger' || outputOf(run, id) !== undefined)
      if (root === undefined) return undefined
      return { root, hash: root === 'trigger' ? this.input : (outputOf(run, root) ?? '') }
    })
    if (!found) return undefined
    const { root, hash } = found
    if (root !== 'trigger') this.reads.add(root)
    const value = await this.stored(hash)
    if (value === undefined) return undefined
    const rest = path.slice(root.length).replace(/^\./, '')
    // A bracket right after the root is an index into it: give it a root of its own to hang on.
    return rest === ''
      ? value
      : valueAt({ root: value }, rest.startsWith('[') ? `root${rest}` : `root.${rest}`)
  }

  async ofParents(): Promise<JsonObject> {
    const done = await this.readRun((run) =>
      this.parents.map((parent) => ({ parent, hash: outputOf(run, parent) })),
    )
    const entries: [string, Json][] = []
    for (const { parent, hash } of done) {
      if (hash !== undefined) this.reads.add(parent)
      entries.push([parent, (hash === undefined ? undefined : await this.stored(hash)) ?? null])
    }
    return Object.fromEntries(entries)
  }

  /** Ids of the steps whose output was read; `*` stands for all ancestors where the list is too long for a token. */
  recorded(): string[] {
    const list = [...this.reads].sort()
    return Buffer.byteLength(JSON.stringify(list)) > maxReadsBytes ? ['*'] : list
  }

  private stored(hash: string): Promise<Json | undefined> {
    return readJson(this.ledger, hash)
  }
}

/** What a path may begin with, longest first: ids may hold dots themselves. */
function rootsOf(path: string): string[] {
  const roots = [path]
  for (let at = path.length - 1; at > 0; at--) {
    if (path[at] === '.' || path[at] === '[') roots.push(path.slice(0, at))
  }
  return roots
}
