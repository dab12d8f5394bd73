/*
 * Layouts of graphs seen before. A version of a workflow has one graph and a graph one layout, so what is kept goes by
 * the graph itself: two versions that differ in words alone share it, and none can be drawn in the shape of another.
 *
 *   memory            every layout, for as long as the page lives: from a run to its rollback no node moves
 *   session storage   those that elk made, so that a reload does not wait for it again
 *
 * What is read from storage is checked before it is believed: it may be of another release, or cut short.
 */
import { z } from 'zod'
import type { GraphLayout, LayoutInput } from '@/lib/view/layout-terms'

const keptLayouts = 20
/** About five graphs of 300 steps. */
const maxStoredChars = 500_000
/** Goes up whenever elk or its options change: what was stored before is another shape. */
const storageKey = 'holdpoint.layouts.2'

const kept = new Map<string, GraphLayout>()
let storageRead = false

const pixels = z.number().finite()
const point = z.object({ x: pixels, y: pixels })
const storedLayouts = z.array(
  z.object({
    shape: z.string(),
    nodes: z.array(z.tuple([z.string(), point])),
    routes: z.array(
      z.object({ from: z.string(), to: z.string(), points: z.array(point), words: point.optional() }),
    ),
    width: pixels,
    height: pixels,
  }),
)
type StoredLayout = z.infer<typeof storedLayouts>[number]

/** The same nodes and edges have one name, whatever else is said of them. */
export function shapeOf({ nodes, edges }: LayoutInput): string {
  return JSON.stringify([nodes, edges.map(({ from, to, words }) => (words ? [from, to, words] : [from, to]))])
}

/** The layout this page has already shown of that shape. */
export function layoutInMemory(shape: string): GraphLayout | undefined {
  return kept.get(shape)
}

/** The same, and what the tab kept over a reload. Only in a browser. */
export function layoutInStorage(shape: string): GraphLayout | undefined {
  if (!storageRead) {
    storageRead = true
    for (const { shape: of, nodes, ...rest } of readStorage()) {
      if (!kept.has(of)) keepLayout(of, { ...rest, nodes: new Map(nodes) })
    }
  }
  return kept.get(shape)
}

/** Keeps a layout for this page; the oldest goes when there are too many. */
export function keepLayout(shape: string, layout: GraphLayout): GraphLayout {
  kept.delete(shape)
  kept.set(shape, layout)
  const oldest = kept.keys().next().value
  if (kept.size > keptLayouts && oldest !== undefined) kept.delete(oldest)
  return layout
}

/** Keeps one that took long to make, over reloads as well. The oldest go when there is no room. */
export function storeLayout(shape: string, layout: GraphLayout): GraphLayout {
  const others = readStorage().filter((one) => one.shape !== shape)
  const all = [...others, { shape, ...layout, nodes: [...layout.nodes] }].map((one) => JSON.stringify(one))
  for (let chars = 0, at = all.length - 1; at >= 0; at--) {
    chars += (all[at] as string).length
    if (chars > maxStoredChars) {
      all.splice(0, at + 1)
      break
    }
  }
  try {
    sessionStorage.setItem(storageKey, `[${all.join(',')}]`)
  } catch {
    // Storage is full or closed; the next reload lays the graph out again, in the same shape.
  }
  return keepLayout(shape, layout)
}

function readStorage(): StoredLayout[] {
  try {
    return storedLayouts.parse(JSON.parse(sessionStorage.getItem(storageKey) ?? '[]'))
  } catch {
    return []
  }
}
