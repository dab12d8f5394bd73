/*
 * Where the words of a bar stand: in it when they fit, else right of it in the room up to the next bar, else left of it,
 * else as much of them as the bar holds, else nowhere; the bar's tooltip has them all the same. Words never cover a bar or one another.
 */
import type { DrawnBar } from '@/lib/view/timeline/terms'

export interface PlacedWords {
  text: string
  /** `in` the bar; or beside it, with `x` the px at which they begin. */
  where: 'in' | 'beside'
  x: number
}

/** Px between a bar and the words beside it. */
const gapPx = 6
/** Px of a bar that are not for words: its edges, and its shape where it has one. */
const edgesPx = 10
const shapePx = 14
/** Less of a word than this is no help. */
const leastInsidePx = 44

/** States whose bars wear their shape; the others are told apart by fill and edge. */
export const shapedStates: ReadonlySet<string> = new Set([
  'waiting',
  'rolled_back',
  'escalated',
  'failed',
  'unknown',
])

const waitWords: Partial<Record<NonNullable<DrawnBar['waitsFor']>, string>> = {
  person: 'waiting for a person',
  breaker: 'behind a breaker',
}

/** What a bar says: its step, and for what it stands still. On its step's own line, only what the line does not. */
function wordsOf({ bar, waitsFor, count }: DrawnBar, ownLine: boolean): { text: string; short: string } {
  if (count > 1) return { text: '', short: '' }
  const waits = (waitsFor && waitWords[waitsFor]) ?? ''
  const visit = bar.visit > 1 ? `visit ${bar.visit}` : ''
  if (ownLine) return { text: [visit, waits].filter(Boolean).join(': '), short: waits }
  const step = [bar.label, visit].filter(Boolean).join(', ')
  return { text: [step, waits].filter(Boolean).join(': '), short: bar.label }
}

/**
 * Words for the bars of one track, which come in their order and do not overlap. `widthOf` measures a text in px,
 * `widthPx` is the track's. `ownLine`: the line is named for the step, and need not be told again. Undefined for bars
 * without words.
 */
export function placeWords(
  bars: readonly DrawnBar[],
  widthPx: number,
  widthOf: (text: string) => number,
  ownLine = false,
): (PlacedWords | undefined)[] {
  let freeFrom = 0
  return bars.map((drawn, at) => {
    const end = drawn.x + drawn.width
    const next = bars[at + 1]?.x ?? widthPx
    const placed = place(drawn, wordsOf(drawn, ownLine), { freeFrom, next }, widthOf)
    freeFrom =
      placed?.where === 'beside' && placed.x > drawn.x ? placed.x + widthOf(placed.text) + gapPx : end
    return placed
  })
}

function place(
  drawn: DrawnBar,
  { text, short }: { text: string; short: string },
  room: { freeFrom: number; next: number },
  widthOf: (text: string) => number,
): PlacedWords | undefined {
  if (text === '') return undefined
  const end = drawn.x + drawn.width
  const inside = drawn.width - edgesPx - (shapedStates.has(drawn.shown) ? shapePx : 0)
  // The longer words only inside: beside the bar its step is enough, for the colour and shape say the rest.
  if (widthOf(text) <= inside) return { text, where: 'in', x: drawn.x }
  if (short === '') return undefined
  const width = widthOf(short)
  if (width <= inside) return { text: short, where: 'in', x: drawn.x }
  if (end + gapPx + width + gapPx <= room.next) return { text: short, where: 'beside', x: end + gapPx }
  if (drawn.x - gapPx - width >= room.freeFrom)
    return { text: short, where: 'beside', x: drawn.x - gapPx - width }
  // Cut off at the bar's end: a beginning of its words tells more than none.
  if (inside >= leastInsidePx) return { text: short, where: 'in', x: drawn.x }
  return undefined
}
