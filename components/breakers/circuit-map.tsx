'use client'
/*
 * Who calls whom, from the calls that were made: callers at the left, what they call at the right, a breaker on each
 * line between them. A change of state moves nothing: the layout follows from who calls whom alone, and every line has
 * room for the longest words it may come to wear.
 */
import { Globe, Plug } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useState } from 'react'
import { cx } from '@/components/ui/cx'
import { AgentIcon, WorkflowsIcon } from '@/components/ui/icons'
import { count } from '@/lib/ui/format-time'
import { useGraphLayout } from '@/lib/ui/layout'
import type { CircuitParty, CircuitRow } from '@/lib/view/circuit-wire'
import type { ShownBreaker } from '@/lib/view/circuit-words'
import { edgeKey } from '@/lib/view/edge-frame'
import { arrowPath, ownLoop, routePath } from '@/lib/view/layout-path'
import type { GraphLayout, LayoutInput, Point } from '@/lib/view/layout-terms'
import { BreakerShape, breakerLooks } from './breaker-mark'
import './breakers.css'
import { circuitTowards } from './map-keys'
import { narrowed, partyWidth } from './narrowed'
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
  const windows = [...new Set(rows.map((row) => row.windowS))]
  return (
    <section
      aria-label="Map of callers and called"
      className="flex min-h-0 min-w-0 flex-col bg-canvas md:border-r"
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
          />
        )}
      </div>
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

interface Line {
  row: CircuitRow
  points: readonly Point[]
  words: Point
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

function Picture({
  layout,
  width,
  rows,
  now,
  selected,
  onSelect,
}: {
  layout: GraphLayout
  /** Px there are. */
  width: number
  rows: readonly CircuitRow[]
  now: number
  selected: string | undefined
  onSelect: (id: string) => void
}) {
  const lines = useMemo(() => linesOf(rows, layout), [rows, layout])
  const drawn = [...lines].sort(
    (a, b) =>
      drawnLater.indexOf(a.row.shown) - drawnLater.indexOf(b.row.shown) ||
      Number(a.row.id === selected) - Number(b.row.id === selected),
  )
  const parties = useMemo(() => partiesOf(rows), [rows])
  const scale = Math.max(smallest, Math.min(1, (width - 2 * margin) / Math.max(1, layout.width)))
  const hot = rows.find((row) => row.id === selected)?.downstream.id
  const { cursor, onKeyDown, onFocus } = useCursor(lines, selected)
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
                data-selected={row.id === selected}
                d={routePath(points)}
              />
              <path className="br-arrow" data-shown={row.shown} d={arrowPath(points)} />
            </g>
          ))}
        </svg>
        {[...layout.nodes].map(([id, at]) => {
          const party = parties.get(id)
          return party && <Party key={id} {...party} at={at} hot={id === hot} />
        })}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: arrows move among the buttons in it. */}
        <div onKeyDown={onKeyDown}>
          {lines.map(({ row, words }) => (
            <Badge
              key={row.id}
              row={row}
              now={now}
              at={words}
              selected={row.id === selected}
              cursor={row.id === cursor}
              onFocus={() => onFocus(row.id)}
              onSelect={() => onSelect(row.id)}
            />
          ))}
        </div>
      </div>
    </div>
  )
}

/** The circuit that Tab reaches; arrows move from there. */
const wherever = { block: 'nearest', inline: 'nearest' } as const

function useCursor(lines: readonly Line[], selected: string | undefined) {
  const [at, setAt] = useState<string>()
  const places = useMemo(() => new Map(lines.map(({ row, words }) => [row.id, words])), [lines])
  const known = [at, selected].find((id) => id !== undefined && places.has(id))
  const cursor = known ?? lines[0]?.row.id
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.shiftKey || event.altKey || event.ctrlKey || event.metaKey || cursor === undefined) return
    const next = circuitTowards(event.key, cursor, places)
    if (!event.key.startsWith('Arrow')) return
    event.preventDefault()
    if (next === undefined) return
    setAt(next)
    document.getElementById(badgeId(next))?.focus()
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

interface PartyShown {
  party: CircuitParty
  words: string
}

/** Everybody on the map, with what is worth saying of them. */
function partiesOf(rows: readonly CircuitRow[]): Map<string, PartyShown> {
  const parties = new Map<string, { party: CircuitParty; callers: number; waits: number }>()
  const of = (party: CircuitParty) => {
    const known = parties.get(party.id) ?? { party, callers: 0, waits: 0 }
    parties.set(party.id, known)
    return known
  }
  for (const { caller, downstream, waiting } of rows) {
    of(caller).waits += waiting.count
    of(downstream).callers += 1
  }
  return new Map(
    [...parties].map(([id, { party, callers, waits }]) => {
      const kind = party.kind === 'agent' && callers > 0 ? '' : kindWords[party.kind]
      const words = [
        kind,
        waits > 0 ? `${count(waits, 'run')} ${waits === 1 ? 'waits' : 'wait'}` : '',
        callers > 0 ? count(callers, 'caller') : '',
      ]
      return [id, { party, words: words.filter(Boolean).join(', ') }]
    }),
  )
}

const kindWords: Record<CircuitParty['kind'], string> = {
  workflow: 'workflow',
  agent: 'agent',
  backend: 'model backend',
  mcp: 'MCP server',
  host: 'host',
}

const drawnIcon = { size: 16, strokeWidth: 1.25, 'aria-hidden': true } as const
export const kindIcons: Record<CircuitParty['kind'], ReactNode> = {
  workflow: <WorkflowsIcon strokeWidth={1.25} />,
  agent: <AgentIcon strokeWidth={1.25} />,
  backend: <AgentIcon strokeWidth={1.25} />,
  mcp: <Plug {...drawnIcon} />,
  host: <Globe {...drawnIcon} />,
}

function Party({ party, words, at, hot }: PartyShown & { at: Point; hot: boolean }) {
  return (
    <div
      className="br-node"
      data-hot={hot}
      style={{ left: at.x, top: at.y, width: partyWidth }}
      title={party.id}
    >
      {kindIcons[party.kind]}
      <b>{party.name}</b>
      <small>{words}</small>
    </div>
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
