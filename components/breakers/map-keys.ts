import type { Point } from '@/lib/view/layout-terms'

/** Px that something counts as further away when it is more aside than ahead. */
const asidePx = 10_000

/** Which circuit an arrow key leads to: the nearest ahead; only where there is none ahead, one aside. */
export function circuitTowards(
  key: string,
  from: string,
  places: ReadonlyMap<string, Point>,
): string | undefined {
  const here = places.get(from)
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key]
  if (!here || !way) return undefined
  const [dx = 0, dy = 0] = way
  let best: { id: string; far: number } | undefined
  for (const [id, { x, y }] of places) {
    if (id === from) continue
    const along = (x - here.x) * dx + (y - here.y) * dy
    if (along < 1) continue
    const aside = Math.abs((x - here.x) * dy + (y - here.y) * dx)
    const far = along + 2 * aside + (aside > along ? asidePx : 0)
    if (!best || far < best.far) best = { id, far }
  }
  return best?.id
}
