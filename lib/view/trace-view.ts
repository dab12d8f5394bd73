/*
 * The trace as its screens read it, of every run: a workflow with artifacts has a column for each slot; for any other
 * the one column is what each step gave. Rows are the run's transitions in either case. It belongs to one fold and is
 * brought up to date as tokens come.
 */
import type { Hash } from '@/lib/base/hash'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { ArtifactTrace, entriesOf, type TraceRow } from './artifact-trace'
import type { RunFold } from './run-fold'
import type { EntryRef } from './slot-diff'

export interface TraceColumn {
  name: string
  /** `output`: what the step of the row gave, not what the run knew on arriving. */
  of: 'artifact' | 'output'
  mode: 'replace' | 'append'
  mediaType: string
}

export interface TraceValue {
  /** The value, of an `append` slot its latest entry. Absent: missing. */
  last?: EntryRef
  /** Entries there are; 1 of a `replace` slot. */
  count: number
  changed: boolean
}

const output: TraceColumn = { name: 'output', of: 'output', mode: 'replace', mediaType: 'application/json' }
const missing: TraceValue = { count: 0, changed: false }

export class TraceView {
  readonly #fold: RunFold
  readonly #trace: ArtifactTrace
  /** Rows by their visit, as far as somebody asked. */
  readonly #rowOf = new Map<string, number>()
  #known = 0
  #columns: readonly TraceColumn[] = [output]

  constructor(fold: RunFold) {
    this.#fold = fold
    this.#trace = new ArtifactTrace(fold.index.graph.artifacts)
  }

  /** Takes what the fold has new. */
  update(): this {
    if (!this.#trace.update(this.#fold.timeline)) return this
    const { artifacts } = this.#trace
    if (artifacts.length > (this.hasArtifacts ? this.#columns.length : 0)) {
      this.#columns = artifacts.map(({ name, mode, mediaType }) => ({
        name,
        mode,
        mediaType,
        of: 'artifact',
      }))
    }
    return this
  }

  get rows(): readonly TraceRow[] {
    return this.#trace.rows
  }

  get columns(): readonly TraceColumn[] {
    return this.#columns
  }

  get hasArtifacts(): boolean {
    return this.#columns[0]?.of === 'artifact'
  }

  /** The row of a visit; undefined where the run never came to it. */
  rowOf(node: string, visit: number): TraceRow | undefined {
    const { rows } = this.#trace
    for (; this.#known < rows.length; this.#known++) {
      const { transition, number } = rows[this.#known] as TraceRow
      this.#rowOf.set(`${transition.visit} ${transition.node}`, number)
    }
    return rows[(this.#rowOf.get(`${visit} ${node}`) ?? 0) - 1]
  }

  /** Index of the last row that had begun by that token; -1 before the first. */
  rowAt(seq: number): number {
    let low = 0
    let high = this.rows.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.rows[middle]?.transition.seq ?? 0) <= seq) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** What stands in one cell. */
  value(row: TraceRow, column: number): TraceValue {
    if (!this.hasArtifacts) return this.#outputValue(row)
    const cell = row.cells[column]
    if (!cell?.written) return cell?.changed ? { ...missing, changed: true } : missing
    const { set, count } = cell.written
    return { last: { hash: set.value, mediaType: set.mediaType }, count, changed: cell.changed }
  }

  /** All entries of a cell, oldest first; undefined where the value is missing. */
  entries(row: TraceRow, column: number): EntryRef[] | undefined {
    if (!this.hasArtifacts) {
      const { last } = this.#outputValue(row)
      return last && [last]
    }
    const written = row.cells[column]?.written
    return written && entriesOf(written).map((set) => ({ hash: set.value, mediaType: set.mediaType }))
  }

  /** True when a column holds the same in two rows. */
  isSame(a: TraceRow, b: TraceRow, column: number): boolean {
    const [here, there] = [this.value(a, column), this.value(b, column)]
    return here.last?.hash === there.last?.hash && here.count === there.count
  }

  /** Hash of what the step of a row gave, once it has. */
  outputOf({ transition: { ends } }: TraceRow): Hash | undefined {
    const fact = ends === undefined ? undefined : this.#fold.facts[ends - 1]
    return fact?.type === 'task_complete' || fact?.type === 'step_carried' ? fact.output : undefined
  }

  /** How a step stands: in one word. */
  stateOf(row: TraceRow): TraceState {
    const { leftAt, ends, begins } = row.transition
    if (leftAt !== undefined) return 'taken back'
    if (ends !== undefined) return this.outputOf(row) === undefined ? 'failed' : 'done'
    return begins === undefined ? 'not begun' : 'under way'
  }

  #outputValue(row: TraceRow): TraceValue {
    const hash = this.outputOf(row)
    if (hash === undefined) return missing
    const { node, visit } = row.transition
    const before = this.rowOf(node, visit - 1)
    const was = before && this.outputOf(before)
    return {
      last: { hash, mediaType: output.mediaType },
      count: 1,
      changed: was !== undefined && was !== hash,
    }
  }

  /** Names of the prompts, or steps, that wrote an artifact in this run. */
  writtenBy(artifact: string): string[] {
    const { nodes } = this.#fold.index
    const writers = new Set(this.#fold.timeline.writesOf(artifact).map(({ node }) => node))
    return distinct([...writers].map((id) => promptOf(nodes.get(id)) ?? id))
  }

  /** Names of the prompts that are given an artifact. */
  readBy(artifact: string): string[] {
    return readersOf(this.#fold.index.graph, artifact)
  }
}

export type TraceState = 'taken back' | 'failed' | 'done' | 'not begun' | 'under way'

function readersOf({ nodes }: WorkflowGraph, artifact: string): string[] {
  const names = nodes.flatMap((node) => {
    const { template } = node.config
    return typeof template === 'string' && mentions(template, artifact) ? [promptOf(node) ?? node.id] : []
  })
  return distinct(names)
}

/** True where a template has `{{artifacts.name}}` in it. */
function mentions(template: string, artifact: string): boolean {
  return [...template.matchAll(/\{\{\s*artifacts\.([^{}\s]+)\s*\}\}/g)].some(([, name]) => name === artifact)
}

function promptOf(node: WorkflowGraph['nodes'][number] | undefined): string | undefined {
  const prompt = node?.config.prompt
  return typeof prompt === 'string' ? prompt : undefined
}

function distinct(names: string[]): string[] {
  return [...new Set(names)]
}
