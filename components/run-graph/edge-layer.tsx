'use client'
import { type ReactFlowState, useStore, ViewportPortal } from '@xyflow/react'
import { memo, useContext, useMemo } from 'react'
import { type EdgeFrame, type EdgeFrames, edgeKey, edgeWords } from '@/lib/view/edge-frame'
import { arrowPath, ownLoop, routePath } from '@/lib/view/layout-path'
import type { EdgeRoute, GraphLayout } from '@/lib/view/layout-terms'
import { FarContext } from './graph-node'

export type EdgeTone = 'redirect' | 'idle' | 'plain' | 'taken' | 'bad' | 'back'

/** Drawn in this order, so that where edges share a trunk the one that says more is on top. */
const tones: EdgeTone[] = ['redirect', 'idle', 'plain', 'taken', 'back', 'bad']

/** Edges of one tone whose routes begin in the same strip of the picture are one path: parts out of sight cost nothing. */
const stripWidth = 1600
/** Above this many words only those in sight are in the page, by squares of so many px of the picture. */
const allWordsInPage = 300
const wordsSquare = 800
/** Px a piece of an edge needs for "×3" to stand on it. */
const roomForCount = 26

interface Drawn {
  key: string
  tone: EdgeTone
  lines: string
  arrows: string
}

/**
 * All edges, as a few paths under the nodes. A thousand edges as a thousand elements is what makes panning slow; they are
 * not for clicking, and readers of the page hear of them by each step's place. What takes an edge, and how often it was
 * taken, stands on it.
 */
export const EdgeLayer = memo(function EdgeLayer({
  layout,
  edges,
  toneOf,
}: {
  layout: GraphLayout
  edges: EdgeFrames
  toneOf: (from: string, to: string) => EdgeTone
}) {
  const laidOut = useMemo(() => layout.routes.map(shapeOf), [layout])
  const shapes = useMemo(
    // Of a graph that grows with its run, the past has fewer edges than are laid out.
    () => [
      ...laidOut.filter(({ route: { from, to } }) => edges.has(edgeKey(from, to))),
      ...ownLoops(layout, edges).map(shapeOf),
    ],
    [laidOut, layout, edges],
  )
  const drawn = useMemo(() => {
    const groups = new Map<string, Drawn>()
    for (const { route, strip, line, arrow } of shapes) {
      const tone = toneOf(route.from, route.to)
      const key = `${tone} ${strip}`
      const group = groups.get(key) ?? { key, tone, lines: '', arrows: '' }
      group.lines += line
      group.arrows += arrow
      groups.set(key, group)
    }
    return [...groups.values()].sort((a, b) => tones.indexOf(a.tone) - tones.indexOf(b.tone))
  }, [shapes, toneOf])
  const words = useMemo(() => shapes.flatMap(({ route }) => wordsOn(route, edges)), [shapes, edges])

  return (
    <ViewportPortal>
      <svg className="rg-edges" width={1} height={1} aria-hidden="true">
        {drawn.map((group) => (
          <path key={group.key} className="rg-edge" data-tone={group.tone} d={group.lines} />
        ))}
        {drawn.map((group) => (
          <path key={group.key} className="rg-arrow" data-tone={group.tone} d={group.arrows} />
        ))}
        <WordsInSight words={words} />
      </svg>
    </ViewportPortal>
  )
})

function WordsInSight({ words }: { words: readonly Words[] }) {
  const far = useContext(FarContext)
  const many = words.length > allWordsInPage
  const squares = useStore((state) => (many ? squaresInSight(state) : ''))
  const shown = useMemo(() => {
    if (squares === '') return words
    const [left = 0, top = 0, right = 0, bottom = 0] = squares.split(' ').map(Number)
    return words.filter(({ x, y }) => x >= left && x <= right && y >= top && y <= bottom)
  }, [words, squares])
  if (far && many) return null
  return shown.map(({ key, x, y, text, taken }) => (
    <g key={key} className="rg-words" data-taken={taken}>
      <rect x={x - widthOf(text) / 2} y={y - 8} width={widthOf(text)} height={16} />
      <text x={x} y={y}>
        {text}
      </text>
    </g>
  ))
}

/** What is in sight and a little more, in px of the picture, to the next square: it seldom changes while one pans. */
function squaresInSight({ transform: [x, y, zoom], width, height }: ReactFlowState): string {
  const from = (at: number) => (Math.floor(-at / zoom / wordsSquare) - 0.5) * wordsSquare
  const until = (at: number, size: number) =>
    (Math.ceil((size - at) / zoom / wordsSquare) + 0.5) * wordsSquare
  return [from(x), from(y), until(x, width), until(y, height)].join(' ')
}

interface Shape {
  route: EdgeRoute
  strip: number
  line: string
  arrow: string
}

function shapeOf(route: EdgeRoute): Shape {
  return {
    route,
    strip: Math.floor((route.points[0]?.x ?? 0) / stripWidth),
    line: routePath(route.points),
    arrow: arrowPath(route.points),
  }
}

/** Edges from a node to itself: no layout knows them, and they need none. */
function ownLoops(layout: GraphLayout, edges: EdgeFrames): EdgeRoute[] {
  return [...edges.values()].flatMap(({ from, to }) => {
    const at = from === to ? layout.nodes.get(from) : undefined
    return at ? [{ from, to, ...ownLoop(at) }] : []
  })
}

/** Px of a line of 12 px letters, with a little room. */
function widthOf(text: string): number {
  return Math.round(text.length * 6) + 8
}

interface Words {
  key: string
  x: number
  y: number
  text: string
  taken: boolean
}

function wordsOn(route: EdgeRoute, edges: EdgeFrames): Words[] {
  const key = edgeKey(route.from, route.to)
  const frame = edges.get(key)
  const text = frame ? edgeWords(frame) : ''
  const place = route.words ?? placeOnEdge(route, frame)
  return frame && place && text !== '' ? [{ key, ...place, text, taken: frame.taken > 0 }] : []
}

/** Where a count stands that no layout made room for: on the last level piece that is long enough. */
function placeOnEdge({ points }: EdgeRoute, frame: EdgeFrame | undefined) {
  if (!frame || frame.count === '') return undefined
  for (let at = points.length - 1; at > 0; at--) {
    const [a, b] = [points[at - 1], points[at]]
    if (a && b && a.y === b.y && Math.abs(a.x - b.x) >= roomForCount)
      return { x: (a.x + b.x) / 2 - 2, y: a.y }
  }
  return undefined
}
