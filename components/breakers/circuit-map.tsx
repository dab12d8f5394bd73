'use client'
/*
 * Who calls whom, from the calls that were made: callers at the left, what they call at the right, a breaker on each
 * line between them. A change of state moves nothing: the layout follows from who calls whom alone, and every line has
 * room for the longest words it may come to wear.
 *
 * Lines to one agent run together. Where they do, pointing at them names all of them, and a click there opens a menu to
 * choose one of them; a click on the agent, of all of its own; by keyboard the agent is a place like the breakers are.
 */
import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useState } from 'react'
import { cx } from '@/components/ui/cx'
import { useGraphLayout } from '@/lib/ui/layout'
import type { CircuitRow } from '@/lib/view/circuit-wire'
import type { ShownBreaker } from '@/lib/view/circuit-words'
import { edgeKey } from '@/lib/view/edge-frame'
import { arrowPath, ownLoop, routePath } from '@/lib/view/layout-path'
import { type GraphLayout, type LayoutInput, nodeSize, type Point } from '@/lib/view/layout-terms'
import { BreakerShape, breakerLooks } from './breaker-mark'
import './breakers.css'
import { BundleTip, useNamed } from './bundle-tip'
import { type Line, rowsAt, sharedParty } from './bundles'
import { circuitTowards } from './map-keys'
import { narrowed, partyWidth } from './narrowed'
import { Party, partiesOf, partyElement } from './party'
import { badgeWords, spokenCircuit } from './words'

/** Px: "forced closed to 10:30" with its lever. */
const badgeWidth = 160
const margin = 24
/** A map that is wider than its place is drawn smaller, as far as its words can be read; then it scrolls. */
const smallest = 0.75

/** Lines that say more are drawn later, over the others. */
const drawnLater: ShownBreaker[] = ['closed', 'forced_closed', 'forced_open', 'half_open', 'open']

export function CircuitMap({
  rows,
  now,
  selected,
  onSelect,
}: {
  rows: readonly CircuitRow[]
  /** By the server's clock. */
  now: number
  selected: string | undefined
  onSelect: (id: string) => void
}) {
  const input = useMapInput(rows)
  const wide = useGraphLayout(input)
  const layout = useMemo(() => wide && narrowed(wide), [wide])
  const [frame, width] = useWidth()
  const [section, setSection] = useState<HTMLElement | null>(null)
  const { named, name } = useNamed(section)
  const windows = [...new Set(rows.map((row) => row.windowS))]
  return (
    <section
      ref={setSection}
      aria-label="Map of callers and called"
      className="relative flex min-h-0 min-w-0 flex-col bg-canvas md:border-r"
    >
      <div className="flex shrink-0 justify-between px-6 pt-3 text-t1 text-ink-3" aria-hidden="true">
        <span>callers</span>
        <span>called</span>
      </div>
      <div ref={frame} className="br-map flex flex-1" aria-busy={!layout}>
        {layout && width > 0 && (
          <Picture
            layout={layout}
            width={width}
            rows={rows}
            now={now}
            selected={selected}
            onSelect={onSelect}
            menuIn={section}
            named={named?.rows ?? []}
            onName={name}
          />
        )}
      </div>
      {named && <BundleTip {...named} />}
      <Legend windowS={windows.length === 1 ? windows[0] : undefined} />
    </section>
  )
}

/** The same callers and called give the same input, in whatever order and state their breakers are. */
function useMapInput(rows: readonly CircuitRow[]): LayoutInput {
  const shape = JSON.stringify(rows.map((row) => [row.caller.id, row.downstream.id]).sort())
  return useMemo(() => {
    const pairs = JSON.parse(shape) as [string, string][]
    const callers = pairs.map(([from]) => from)
    return {
      nodes: [...new Set([...callers, ...pairs.map(([, to]) => to)])],
      edges: pairs.map(([from, to]) => ({ from, to, words: badgeWidth })),
    }
  }, [shape])
}

function linesOf(rows: readonly CircuitRow[], layout: GraphLayout): Line[] {
  const routes = new Map(layout.routes.map((route) => [edgeKey(route.from, route.to), route]))
  return rows.flatMap((row): Line[] => {
    const own = row.caller.id === row.downstream.id ? layout.nodes.get(row.caller.id) : undefined
    if (own) return [{ row, ...ownLoop(own) }]
    const route = routes.get(edgeKey(row.caller.id, row.downstream.id))
    return route ? [{ row, points: route.points, words: route.words ?? middleOf(route.points) }] : []
  })
}

/** Px of the place the map has. */
function useWidth(): [(element: HTMLElement | null) => void, number] {
  const [element, setElement] = useState<HTMLElement | null>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (!element) return
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [element])
  return [setElement, width]
}

function middleOf(points: readonly Point[]): Point {
  const last = points.at(-1) ?? { x: 0, y: 0 }
  return { x: last.x - badgeWidth / 2, y: last.y }
}

/** Whose menu is open, and the breakers of the stretch that was clicked; without them all of its own. */
interface Opened {
  party: string
  rows?: readonly CircuitRow[]
}

function Picture({
  layout,
  width,
  rows,
  now,
  selected,
  onSelect,
  menuIn,
  named,
  onName,
}: {
  layout: GraphLayout
  /** Px there are. */
  width: number
  rows: readonly CircuitRow[]
  now: number
  selected: string | undefined
  onSelect: (id: string) => void
  menuIn: HTMLElement | null
  /** Breakers whose lines are pointed at, or whose agent is. */
  named: readonly CircuitRow[]
  onName: ReturnType<typeof useNamed>['name']
}) {
  const lines = useMemo(() => linesOf(rows, layout), [rows, layout])
  const isNamed = new Set(named.map(({ id }) => id))
  const drawn = [...lines].sort(
    (a, b) =>
      Number(isNamed.has(a.row.id)) - Number(isNamed.has(b.row.id)) ||
      drawnLater.indexOf(a.row.shown) - drawnLater.indexOf(b.row.shown) ||
      Number(a.row.id === selected) - Number(b.row.id === selected),
  )
  const parties = useMemo(() => partiesOf(rows), [rows])
  const scale = Math.max(smallest, Math.min(1, (width - 2 * margin) / Math.max(1, layout.width)))
  const hot = rows.find((row) => row.id === selected)?.downstream.id
  const places = useMemo(() => placesOf(lines, parties, layout), [lines, parties, layout])
  const { cursor, onKeyDown, onFocus } = useCursor(places, selected)
  const [opened, setOpened] = useState<Opened>()
  // What is pointed at beside an open menu is not what it offers.
  const name: typeof onName = (found, at) => onName(opened ? [] : found, at)
  const open = (next: Opened | undefined) => {
    setOpened(next)
    onName([])
  }
  const pointedAt = ({ clientX, clientY, currentTarget }: MouseEvent<SVGElement>) => {
    const { left, top } = (currentTarget.ownerSVGElement ?? currentTarget).getBoundingClientRect()
    return rowsAt(lines, { x: (clientX - left) / scale, y: (clientY - top) / scale })
  }
  const choose = (event: MouseEvent<SVGElement>) => {
    const found = pointedAt(event)
    const party = sharedParty(found)
    if (party === undefined) return found[0] && onSelect(found[0].id)
    document.getElementById(partyElement(party))?.scrollIntoView(wherever)
    open({ party, rows: found })
  }
  // Chosen from the list or by a link, it may lie below the fold.
  // biome-ignore lint/correctness/useExhaustiveDependencies: of a new picture, too.
  useEffect(() => {
    if (selected !== undefined) document.getElementById(badgeId(selected))?.scrollIntoView(wherever)
  }, [selected, layout, scale])
  return (
    <div
      className="br-picture m-auto"
      style={{ width: layout.width * scale + 2 * margin, height: layout.height * scale + 2 * margin }}
    >
      <div style={{ left: margin, top: margin, transform: scale < 1 ? `scale(${scale})` : undefined }}>
        <svg className="br-lines" width={layout.width} height={layout.height} aria-hidden="true">
          {drawn.map(({ row, points }) => (
            <g key={row.id}>
              <path
                className="br-line"
                data-shown={row.shown}
                data-selected={row.id === selected || isNamed.has(row.id)}
                d={routePath(points)}
              />
              <path className="br-arrow" data-shown={row.shown} d={arrowPath(points)} />
            </g>
          ))}
          {/* biome-ignore lint/a11y/noStaticElementInteractions: the keyboard has the agent at their end for it. */}
          <g
            className="br-near"
            onPointerMove={(event) => name(pointedAt(event), event)}
            onPointerLeave={() => onName([])}
            onClick={choose}
          >
            {lines.map(({ row, points }) => (
              <path key={row.id} d={routePath(points)} />
            ))}
          </g>
        </svg>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: arrows move among the buttons in it. */}
        <div onKeyDown={onKeyDown}>
          {[...layout.nodes].map(([id, at]) => {
            const party = parties.get(id)
            const key = partyElement(id)
            return (
              party && (
                <Party
                  key={id}
                  {...party}
                  at={at}
                  hot={id === hot}
                  cursor={key === cursor}
                  open={id === opened?.party}
                  stretch={id === opened?.party ? opened.rows : undefined}
                  menuIn={menuIn}
                  onOpen={(isOpen) => open(isOpen ? { party: id } : undefined)}
                  onFocus={() => onFocus(key)}
                  onName={name}
                  onSelect={onSelect}
                />
              )
            )
          })}
          {lines.map(({ row, words }) => (
            <Badge
              key={row.id}
              row={row}
              now={now}
              at={words}
              selected={row.id === selected}
              cursor={badgeId(row.id) === cursor}
              onFocus={() => onFocus(badgeId(row.id))}
              onSelect={() => onSelect(row.id)}
            />
          ))}
        </div>
      </div>
    </div>
  )
}

const wherever = { block: 'nearest', inline: 'nearest' } as const

/** What the arrows lead to, by the id of its element: every breaker, and who has several of them in a bundle. */
function placesOf(
  lines: readonly Line[],
  parties: ReturnType<typeof partiesOf>,
  layout: GraphLayout,
): Map<string, Point> {
  const places = new Map(lines.map(({ row, words }) => [badgeId(row.id), words]))
  for (const [id, { x, y }] of layout.nodes) {
    if (parties.get(id)?.bundle.length)
      places.set(partyElement(id), { x: x + partyWidth / 2, y: y + nodeSize.height / 2 })
  }
  return places
}

/** The place that Tab reaches; arrows move from there. */
function useCursor(places: ReadonlyMap<string, Point>, selected: string | undefined) {
  const [at, setAt] = useState<string>()
  const chosen = selected === undefined ? undefined : badgeId(selected)
  const known = [at, chosen].find((id) => id !== undefined && places.has(id))
  const [first] = places.keys()
  const cursor = known ?? first
  const onKeyDown = (event: KeyboardEvent) => {
    // A menu's own keys, and the one that opens it.
    if (event.defaultPrevented) return
    if (event.shiftKey || event.altKey || event.ctrlKey || event.metaKey || cursor === undefined) return
    const next = circuitTowards(event.key, cursor, places)
    if (!event.key.startsWith('Arrow')) return
    event.preventDefault()
    if (next === undefined) return
    setAt(next)
    document.getElementById(next)?.focus()
  }
  return { cursor, onKeyDown, onFocus: setAt }
}

function badgeId(circuit: string): string {
  return `circuit-${circuit}`
}

function Badge({
  row,
  now,
  at,
  selected,
  cursor,
  onFocus,
  onSelect,
}: {
  row: CircuitRow
  now: number
  at: Point
  selected: boolean
  cursor: boolean
  onFocus: () => void
  onSelect: () => void
}) {
  const { word, figure } = badgeWords(row, now)
  const look = breakerLooks[row.shown]
  return (
    <button
      type="button"
      id={badgeId(row.id)}
      className={cx('br-badge', look.badge, look.text)}
      style={{ left: at.x, top: at.y }}
      tabIndex={cursor ? 0 : -1}
      aria-pressed={selected}
      aria-label={spokenCircuit(row)}
      onFocus={onFocus}
      onClick={onSelect}
    >
      <BreakerShape shown={row.shown} />
      <span suppressHydrationWarning>
        {word}
        {figure && (
          <>
            {word && ' '}
            <span className={/\d/.test(figure) ? 'num' : undefined}>{figure}</span>
          </>
        )}
      </span>
    </button>
  )
}

const legend: [ShownBreaker, string][] = [
  ['closed', 'closed: calls pass'],
  ['half_open', 'half-open: one probe'],
  ['open', 'open: refused at once'],
  ['forced_open', 'forced by a person'],
]

function Legend({ windowS }: { windowS: number | undefined }) {
  return (
    <div className="flex shrink-0 flex-wrap gap-x-5 gap-y-1 px-6 pb-3 text-t1 text-ink-3">
      {legend.map(([shown, words]) => (
        <span key={shown} className="flex items-center gap-1.5 whitespace-nowrap">
          <BreakerShape shown={shown} />
          {words}
        </span>
      ))}
      <span className="flex-1" />
      {windowS !== undefined && (
        <span>
          window <span className="num">{windowS} s</span>
        </span>
      )}
    </div>
  )
}
