/*
 * Lines of the map that are drawn as one. Callers of one agent share the last part of their way to it, and what one
 * caller calls shares the first part: which of them is meant there, no line can say.
 */
import { count } from '@/lib/ui/format-time'
import type { CircuitParty, CircuitRow } from '@/lib/view/circuit-wire'
import type { Point } from '@/lib/view/layout-terms'

/** Px from a line at which a pointer means it, and by how much another may be further away to be meant as well. */
const nearPx = 8
const togetherPx = 1.5
/** Names that a sentence tells; the menu has them all. */
const namesTold = 12

export interface Line {
  row: CircuitRow
  points: readonly Point[]
  /** The middle of its words. */
  words: Point
}

/** Those that are drawn as one at the point: of one that is called, or else of one that calls. Empty where there is no line. */
export function rowsAt(lines: readonly Line[], at: Point): CircuitRow[] {
  const near = lines
    .map(({ row, points }) => ({ row, far: distance(points, at) }))
    .filter(({ far }) => far <= nearPx)
    .sort((a, b) => a.far - b.far)
  const [first] = near
  if (!first) return []
  const together = near.filter(({ far }) => far <= first.far + togetherPx).map(({ row }) => row)
  const called = together.filter(({ downstream }) => downstream.id === first.row.downstream.id)
  return called.length > 1 ? called : together.filter(({ caller }) => caller.id === first.row.caller.id)
}

/** Who is at the end that several have in common; undefined for a line of its own. */
export function sharedParty(rows: readonly CircuitRow[]): string | undefined {
  const [first, ...others] = rows
  if (!first || others.length === 0) return undefined
  const isCalled = others.every(({ downstream }) => downstream.id === first.downstream.id)
  return isCalled ? first.downstream.id : first.caller.id
}

/** "14 call edge-router-07: failover, watch and 12 more"; of one line "failover to edge-router-07". */
export function bundleWords(rows: readonly CircuitRow[]): string {
  const [first] = rows
  if (!first) return ''
  if (rows.length === 1) return `${first.caller.name} to ${first.downstream.name}`
  const isCalled = sharedParty(rows) === first.downstream.id
  const names = rows.map(({ caller, downstream }) => (isCalled ? caller : downstream).name).sort()
  const more = names.length - namesTold
  const told = names.slice(0, more > 1 ? namesTold : undefined).join(', ')
  const rest = more > 1 ? ` and ${more} more` : ''
  const what = isCalled
    ? `${count(rows.length, 'caller')} of ${first.downstream.name}`
    : `${first.caller.name} calls ${rows.length}`
  return `${what}: ${told}${rest}`
}

/** What the menu of a party offers: each breaker by the name at its other end. `isStretch`: those of one line, not all of it. */
export function offeredOf(
  party: Pick<CircuitParty, 'id' | 'name'>,
  rows: readonly CircuitRow[],
  isStretch: boolean,
): { label: string; items: { row: CircuitRow; name: string }[] } {
  const isCalled = rows.every(({ downstream }) => downstream.id === party.id)
  const which = isStretch ? 'Breakers on this line' : 'Breakers'
  return {
    label: isCalled ? `${which} to ${party.name}, by caller` : `${which} of ${party.name}, by what it calls`,
    items: rows.map((row) => ({ row, name: (isCalled ? row.caller : row.downstream).name })),
  }
}

/** Px from the point to the nearest place of the line. */
function distance(points: readonly Point[], { x, y }: Point): number {
  let least = Number.POSITIVE_INFINITY
  for (const [at, to] of points.entries()) {
    const from = points[at - 1] ?? to
    const [dx, dy] = [to.x - from.x, to.y - from.y]
    const length = dx * dx + dy * dy
    const along = length === 0 ? 0 : ((x - from.x) * dx + (y - from.y) * dy) / length
    const share = Math.min(1, Math.max(0, along))
    least = Math.min(least, Math.hypot(x - from.x - share * dx, y - from.y - share * dy))
  }
  return least
}
