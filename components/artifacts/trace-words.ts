import { count, countdown } from '@/lib/ui/format-time'
import type { FiredBy } from '@/lib/view/timeline/terms'
import type { TraceColumn, TraceValue } from '@/lib/view/trace-view'

/** Time since the run began: `0.0 s`, `38.2 s`, `2:10`, `1:52:00`. */
export function sinceStart(ms: number): string {
  return ms < 60_000
    ? `${(Math.max(0, Math.floor(ms / 100)) / 10).toFixed(1)} s`
    : countdown(Math.floor(ms / 1000) * 1000)
}

/** Who made the run go on, when it was not somebody with a name of their own. */
export function firedWords(fired: FiredBy): string | undefined {
  switch (fired.by) {
    case 'model':
      return 'the model'
    case 'engine':
      return 'the workflow'
    case 'limit':
      return 'a limit'
    case 'start':
    case 'person':
    case 'agent':
    case 'rollback':
      return undefined
    default:
      return fired satisfies never
  }
}

/** An `append` slot in a cell: how many entries it has. */
export function entriesWords(value: TraceValue): string {
  return count(value.count, 'entry', 'entries')
}

/** What became of a slot, when that can be said without reading it: "2 entries more", "missing at A". */
export function changeWords(column: TraceColumn, a: TraceValue, b: TraceValue): string | undefined {
  if (!a.last && !b.last) return 'missing at both'
  if (!a.last) return 'missing at A'
  if (!b.last) return 'missing at B'
  if (column.mode === 'replace') return undefined
  const more = b.count - a.count
  if (more === 0) return `${entriesWords(b)}, others`
  return more > 0 ? `${count(more, 'entry', 'entries')} more` : `${count(-more, 'entry', 'entries')} fewer`
}

/** What does not differ, in a line each: "The same: commit", "Missing at both: report". Nothing that nobody wrote is the same. */
export function unchangedWords(columns: readonly { name: string; missing: boolean }[]): string[] {
  const listed = (words: string, missing: boolean) => {
    const names = columns.filter((column) => column.missing === missing).map(({ name }) => name)
    return names.length > 0 ? [`${words}: ${names.join(', ')}`] : []
  }
  return [...listed('The same', false), ...listed('Missing at both', true)]
}

/** "2/5 pass" and "5/5 pass" as "2/5 to 5/5 pass": what both end with is said once. */
export function fromTo(a: string, b: string): string {
  if (a === b) return `both ${a}`
  const [left, right] = [a.split(' '), b.split(' ')]
  let shared = 0
  while (shared < Math.min(left.length, right.length) - 1 && left.at(-1 - shared) === right.at(-1 - shared))
    shared++
  return `${left.slice(0, left.length - shared).join(' ')} to ${b}`
}
