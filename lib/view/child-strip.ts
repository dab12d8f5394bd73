/*
 * The runs that a step began, in a line: "8 of 500 running, 1 failed", and as marks beside it. Counts come from the
 * server: a step may have begun ten thousand.
 */
import type { ChildCounts } from './run-wire'
import type { ShownState } from './shown-state'

/** What a node says of the runs it began. */
export interface ChildStrip {
  total: number
  /** A few marks that show how the states are shared out, the worst first. */
  marks: ShownState[]
  words: string
}

/** Marks on one node, which is 208 px wide. */
const maxMarks = 8

/** What needs a look comes first, what is settled last. */
const order: ShownState[] = [
  'waiting',
  'failed',
  'escalated',
  'running',
  'skipped',
  'cancelled',
  'exhausted',
  'rolled_back',
  'done',
]

const words: Partial<Record<ShownState, string>> = {
  skipped: 'paused',
  rolled_back: 'rolled back',
  exhausted: 'budget-exhausted',
}

/** The strip of a step; undefined when it began no run. */
export function childStrip({ total, states }: Pick<ChildCounts, 'total' | 'states'>): ChildStrip | undefined {
  if (total === 0) return undefined
  const found = order.flatMap((state) => {
    const n = states[state] ?? 0
    return n > 0 ? [{ state, n }] : []
  })
  return { total, marks: marksOf(found, total), words: wordsOf(found, total) }
}

/** One mark for each run while they fit; else shares, with at least one mark for every state there is. */
function marksOf(found: { state: ShownState; n: number }[], total: number): ShownState[] {
  const room = Math.min(total, maxMarks)
  const shares = found.map(({ state, n }) => ({ state, n: Math.max(1, Math.floor((n / total) * room)) }))
  const rest = room - shares.reduce((sum, { n }) => sum + n, 0)
  const most = shares.reduce(
    (best, one) => (one.n > best.n ? one : best),
    shares[0] ?? { state: 'done', n: 0 },
  )
  most.n = Math.max(1, most.n + rest)
  return shares.flatMap(({ state, n }) => Array.from({ length: n }, () => state))
}

function wordsOf(found: { state: ShownState; n: number }[], total: number): string {
  const all = total.toLocaleString('en')
  const [only] = found
  if (total === 1 && only) return `1 run ${words[only.state] ?? only.state}`
  if (found.length === 1 && only) return `${all} runs ${words[only.state] ?? only.state}`
  const parts = found
    .filter(({ state }) => state !== 'done')
    .map(({ state, n }) => `${n.toLocaleString('en')} ${words[state] ?? state}`)
  const [first, ...others] = parts
  return first === undefined ? `${all} runs` : [first.replace(/ /, ` of ${all} `), ...others].join(', ')
}
