import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import type { LedgerStore } from '@/lib/engine/ports'
import type { Run } from '@/lib/engine/run'
import { outputOf } from '@/lib/engine/walk'
import { valueAt, valueInside } from '@/lib/nodes/values-path'
import type { Values } from '@/lib/runners/runner'
import { artifactValue } from './artifact-values'
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
    if (path.startsWith('artifacts.')) {
      const written = await this.artifactAt(path.slice('artifacts.'.length))
      if (written) return written.value
    }
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

  /** The artifact a path names, whose slot the workflow declares; what was not written yet has no value. */
  private async artifactAt(path: string): Promise<{ value: Json | undefined } | undefined> {
    const roots = rootsOf(path)
    const found = await this.readRun((run) => {
      const name = roots.find((one) => run.graph.graph.artifacts.some((slot) => slot.name === one))
      return name === undefined ? undefined : { name, writes: run.artifacts.get(name)?.slice() }
    })
    if (!found) return undefined
    const value = found.writes && (await artifactValue(this.ledger, found.writes))
    return { value: value === undefined ? undefined : valueInside(value, path.slice(found.name.length)) }
  }

  async artifacts(): Promise<[string, Json][]> {
    const all = await this.readRun((run) => {
      // Written last, told first: that is what has changed.
      const names = new Set(run.artifactWrites.toReversed().map(({ artifact }) => artifact))
      return [...names].map((name) => ({ name, writes: run.artifacts.get(name)?.slice() ?? [] }))
    })
    const values: [string, Json][] = []
    for (const { name, writes } of all) {
      const value = await artifactValue(this.ledger, writes)
      if (value !== undefined) values.push([name, value])
    }
    return values
  }

  async talk(): Promise<Json | undefined> {
    const output = await this.readRun(({ graph, walk }) => {
      const last = walk?.path.findLast(
        ({ visit }) => visit.state.status === 'done' && graph.nodes.get(visit.node)?.kind === 'prompt_state',
      )
      return last?.visit.state.status === 'done' ? last.visit.state.output : undefined
    })
    const value = output === undefined ? undefined : await this.stored(output)
    return isJsonObject(value) ? value.talk : undefined
  }

  async givenEvent(): Promise<{ event: string; by: string; comment: string } | undefined> {
    const output = await this.readRun(({ graph, walk }) => {
      const before = walk?.path.at(-2)?.visit
      const waited = before && graph.nodes.get(before.node)?.kind === 'await_event'
      return waited && before.state.status === 'done' ? before.state.output : undefined
    })
    const value = output === undefined ? undefined : await this.stored(output)
    if (!isJsonObject(value)) return undefined
    const { event, by, comment } = value
    return { event: String(event ?? ''), by: String(by ?? ''), comment: String(comment ?? '') }
  }

  toolCallsLeft(): Promise<number | undefined> {
    return this.readRun(({ graph, toolCalls }) => {
      const { maxToolCalls } = graph.graph.budget
      return maxToolCalls === undefined ? undefined : Math.max(0, maxToolCalls - toolCalls)
    })
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
