import type { TraceView } from '@/lib/view/trace-view'

/** Rows that are looked at from the end for one to begin with. */
const maxLooked = 2_000

/**
 * The rows that are compared. What the address does not say is chosen so that there is something to see: B is the last
 * row at which anything changed, A the row before it that the same artifacts were last changed at, or the one before.
 */
export function positionsOf(
  view: TraceView,
  a: number | undefined,
  b: number | undefined,
): { a: number | undefined; b: number | undefined } {
  if (a !== undefined && b !== undefined) return { a, b }
  const last = b ?? lastChange(view, view.rows.length)
  if (last === undefined) return { a, b }
  return { a: a ?? before(view, last), b: last }
}

/** What a row is best held against: for what steps gave the visit before, else the change before, else the row above. */
function before(view: TraceView, number: number): number | undefined {
  if (number <= 1) return undefined
  const row = view.rows[number - 1]
  if (!view.hasArtifacts && row) {
    const { node, visit } = row.transition
    return view.rowOf(node, visit - 1)?.number ?? number - 1
  }
  return lastChange(view, number - 1, changesAt(view, number)) ?? number - 1
}

/** Columns that changed at a row. */
function changesAt(view: TraceView, number: number): number[] {
  const row = view.rows[number - 1]
  return row ? view.columns.flatMap((_, index) => (view.value(row, index).changed ? [index] : [])) : []
}

function lastChange(view: TraceView, from: number, among?: number[]): number | undefined {
  for (let number = from; number > Math.max(0, from - maxLooked); number--) {
    const changed = changesAt(view, number)
    if (changed.length > 0 && (!among || changed.some((index) => among.includes(index)))) return number
  }
  return undefined
}
