/*
 * Two runs next to each other, visit by visit: what both came to, and what only one did. Rows are aligned by node and
 * visit, in the order of the first run; what only the other has stands behind what it followed there.
 *
 *   A   plan   implement 1   test 1                    review
 *   B   plan   implement 1   test 1   implement 2   …  review
 */
import type { TraceRow, Written } from './artifact-trace'
import type { TraceView } from './trace-view'

/** What of a visit differs: how it stands, how it was come to, what it gave, or an artifact it found. */
export type RunDifference = 'state' | 'event' | 'output' | { artifact: string }

export interface ComparedVisit {
  node: string
  visit: number
  a?: TraceRow
  b?: TraceRow
  /** Empty: all of it is the same. Only where both runs have the visit. */
  differs: RunDifference[]
}

export interface ComparedRuns {
  visits: ComparedVisit[]
  equal: number
  different: number
  onlyA: number
  onlyB: number
}

export function compareRuns(a: TraceView, b: TraceView): ComparedRuns {
  const slots = slotsOf(a, b)
  const numbers = new SlotNumbers()
  const visits = aligned(a.rows, b.rows).map(([rowA, rowB]): ComparedVisit => {
    const { node, visit } = (rowA ?? rowB)?.transition ?? { node: '', visit: 0 }
    if (!rowA || !rowB)
      return { node, visit, ...(rowA && { a: rowA }), ...(rowB && { b: rowB }), differs: [] }
    return { node, visit, a: rowA, b: rowB, differs: differencesOf(a, rowA, b, rowB, slots, numbers) }
  })
  const both = visits.filter((visit) => visit.a && visit.b)
  return {
    visits,
    equal: both.filter((visit) => visit.differs.length === 0).length,
    different: both.filter((visit) => visit.differs.length > 0).length,
    onlyA: visits.filter((visit) => !visit.b).length,
    onlyB: visits.filter((visit) => !visit.a).length,
  }
}

const keyOf = ({ transition: { node, visit } }: TraceRow) => `${visit} ${node}`

/** Pairs in the order of A; rows that only B has follow the row they followed in B. */
function aligned(
  a: readonly TraceRow[],
  b: readonly TraceRow[],
): [TraceRow | undefined, TraceRow | undefined][] {
  const keysOfA = a.map(keyOf)
  const inA = new Set(keysOfA)
  const inB = new Map<string, TraceRow>()
  const behind = new Map<string, TraceRow[]>()
  let last = ''
  for (const row of b) {
    const key = keyOf(row)
    inB.set(key, row)
    if (inA.has(key)) last = key
    else if (behind.has(last)) behind.get(last)?.push(row)
    else behind.set(last, [row])
  }
  const pairs: [TraceRow | undefined, TraceRow | undefined][] = (behind.get('') ?? []).map((row) => [
    undefined,
    row,
  ])
  for (const [at, row] of a.entries()) {
    const key = keysOfA[at] as string
    pairs.push([row, inB.get(key)])
    for (const other of behind.get(key) ?? []) pairs.push([undefined, other])
  }
  return pairs
}

function differencesOf(
  a: TraceView,
  rowA: TraceRow,
  b: TraceView,
  rowB: TraceRow,
  slots: readonly Slot[],
  numbers: SlotNumbers,
): RunDifference[] {
  const differs: RunDifference[] = []
  if (a.stateOf(rowA) !== b.stateOf(rowB)) differs.push('state')
  if (rowA.transition.event !== rowB.transition.event) differs.push('event')
  if (a.outputOf(rowA) !== b.outputOf(rowB)) differs.push('output')
  for (const { artifact, inA, inB } of slots) {
    const here = numbers.of(rowA.cells[inA]?.written)
    if (here !== numbers.of(rowB.cells[inB]?.written)) differs.push({ artifact })
  }
  return differs
}

/** An artifact and its column in each run; -1 where that one has none. */
interface Slot {
  artifact: string
  inA: number
  inB: number
}

function slotsOf(a: TraceView, b: TraceView): Slot[] {
  const columnOf = (view: TraceView, artifact: string) =>
    view.columns.findIndex(({ name }) => name === artifact)
  return artifactsOf(a, b).map((artifact) => ({
    artifact,
    inA: a.hasArtifacts ? columnOf(a, artifact) : -1,
    inB: b.hasArtifacts ? columnOf(b, artifact) : -1,
  }))
}

/** Artifacts of both runs, by name. */
export function artifactsOf(a: TraceView, b: TraceView): string[] {
  const names = (view: TraceView) => (view.hasArtifacts ? view.columns.map(({ name }) => name) : [])
  return [...new Set([...names(a), ...names(b)])]
}

/** A number that slots with the same entries share, whichever run wrote them; a long log costs its length once. */
class SlotNumbers {
  readonly #numbers = new Map<string, number>()
  readonly #known = new Map<Written, number>()

  of(written: Written | undefined): number {
    const unknown: Written[] = []
    let at = written
    while (at && !this.#known.has(at)) {
      unknown.push(at)
      at = at.count > 1 ? at.before : undefined
    }
    let number = at ? (this.#known.get(at) ?? 0) : 0
    for (const next of unknown.reverse()) {
      const text = `${next.count > 1 ? number : 0} ${next.set.value}`
      number = this.#numbers.get(text) ?? this.#numbers.size + 1
      this.#numbers.set(text, number)
      this.#known.set(next, number)
    }
    return number
  }
}

/** "5 visits are the same, 2 differ, 1 is only in A, 3 are only in B." */
export function comparedSentence({ equal, different, onlyA, onlyB }: ComparedRuns): string {
  const visits = (n: number) => (n === 1 ? '1 visit' : `${n.toLocaleString('en')} visits`)
  const parts = [
    `${visits(equal)} ${equal === 1 ? 'is' : 'are'} the same`,
    `${different.toLocaleString('en')} ${different === 1 ? 'differs' : 'differ'}`,
    onlyA > 0 && `${onlyA.toLocaleString('en')} ${onlyA === 1 ? 'is' : 'are'} only in A`,
    onlyB > 0 && `${onlyB.toLocaleString('en')} ${onlyB === 1 ? 'is' : 'are'} only in B`,
  ]
  return `${parts.filter(Boolean).join(', ')}.`
}
