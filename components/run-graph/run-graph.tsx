'use client'
/*
 * The map of a run or a workflow. It draws what it is given (a graph, a frame per node, perhaps a plan's washes) and
 * knows nothing of runs or servers; what is selected belongs to the page, which keeps it in the URL.
 *
 * A change of state never moves a node: the layout follows from nodes and edges alone. Drawing a thousand steps stays
 * quick because only those in sight are elements, edges are a few paths, and far out a step is a plain box.
 */
import { ReactFlow, ReactFlowProvider, useReactFlow, useStore } from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { Maximize, Minus, Plus } from 'lucide-react'
import {
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { IconButton } from '@/components/ui/button'
import { count } from '@/lib/ui/format-time'
import { useGraphLayout } from '@/lib/ui/layout'
import type { ChildStrip } from '@/lib/view/child-strip'
import { type EdgeFrame, type EdgeFrames, edgeKey, restingEdges } from '@/lib/view/edge-frame'
import type { NodeFrame } from '@/lib/view/frame'
import { layoutInput } from '@/lib/view/layout-input'
import { type GraphLayout, nodeSize } from '@/lib/view/layout-terms'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import { EdgeLayer, type EdgeTone } from './edge-layer'
import { FindStep } from './find-step'
import { IdPrefix } from './graph-ids'
import { isArrowKey, nodeTowards } from './graph-keys'
import { FarContext, type FlowNode, GraphNode } from './graph-node'
import './run-graph.css'
import { farZoom, firstView, fitView, inSight, maxZoom, minZoom, revealed } from './viewport'
import type { Wash } from './wash'

const nodeTypes = { step: GraphNode }

/** Above this many nodes only those in sight are in the page; below it keeping them all makes panning free. */
const allInPage = 300
/** Room for the tools above the picture, in px. */
const toolsHeight = 44

export interface RunGraphProps {
  index: GraphIndex
  frames: ReadonlyMap<string, NodeFrame>
  selected?: string | undefined
  onSelect: (node: string | undefined) => void
  /** What stands on the edges; of a run, how often each was taken. */
  edges?: EdgeFrames | undefined
  /** Runs that a node began, as they stand. */
  strips?: ReadonlyMap<string, ChildStrip> | undefined
  washes?: ReadonlyMap<string, Wash>
  toneOf?: (from: string, to: string) => EdgeTone
  /** Only these matter now: the others recede. */
  kept?: ReadonlySet<string> | undefined
  /** Said beside the tools: the counts, or a legend. */
  told?: ReactNode
  /** What the picture is of, for those who cannot see it. */
  label: string
  /** Where to look when the graph is larger than the screen; followed until the person moves the picture. */
  focus?: string | undefined
  /** A strip of the picture on a small screen: no tools. */
  compact?: boolean
  /** Shows at a glance which steps change something, and which for good: for a plan that somebody is to approve. */
  marksConsequences?: boolean | undefined
  /** A second picture on the page. */
  nested?: boolean
}

/** A workflow's graph on its canvas. Fills its parent. */
export function RunGraph(props: RunGraphProps) {
  return (
    <IdPrefix value={props.nested ? 'inner-step-' : 'step-'}>
      <ReactFlowProvider>
        <Canvas {...props} />
      </ReactFlowProvider>
    </IdPrefix>
  )
}

function Canvas(props: RunGraphProps) {
  const { index, frames, selected, onSelect, washes, told, label, compact = false } = props
  // What agents report grows the graph of an index; of every other, it is always the same.
  const { graph } = index
  const layout = useGraphLayout(useMemo(() => layoutInput(graph), [graph]))
  const edges = props.edges ?? restingEdges(index.graph)
  const { cursor, onKeyDown, goTo } = useCursor(index, layout, selected, onSelect)
  const { strips, kept } = props
  const nodes = useNodes({ layout, frames, selected, cursor, washes, onSelect, strips, kept })
  const toneOf = useTones(props, edges)
  const [moving, setMoving] = useState(false)
  const far = useStore((state) => state.transform[2] < farZoom)
  const view = useView(layout, selected ?? props.focus, compact)

  return (
    <section
      className="rg-graph h-full w-full"
      data-far={far}
      data-marks={props.marksConsequences}
      data-moving={moving}
      data-laid-out={layout !== undefined}
      data-looked={view.hasLooked}
      aria-busy={layout === undefined}
      onKeyDown={onKeyDown}
      aria-label={label}
    >
      {!compact && (
        <div className="rg-tools">
          <FindStep
            frames={frames}
            onFind={(id) => {
              view.leave()
              goTo(id, true)
            }}
            brief={washes !== undefined}
          />
          <span className="rg-told">{told}</span>
          <Zoom onFit={() => view.look(false)} onZoom={view.leave} />
        </div>
      )}
      <FarContext value={far}>
        <ReactFlow
          nodes={nodes}
          edges={noEdges}
          nodeTypes={nodeTypes}
          minZoom={minZoom}
          maxZoom={maxZoom}
          onlyRenderVisibleElements={index.graph.nodes.length > allInPage}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          zoomOnDoubleClick={false}
          // The space bar plays the film.
          panActivationKeyCode={null}
          panOnScroll
          proOptions={hidden}
          onMoveStart={(event) => {
            setMoving(true)
            // Without an event it is this component that moves it.
            if (event) view.leave()
          }}
          onMoveEnd={() => setMoving(false)}
          onPaneClick={() => onSelect(undefined)}
        >
          {layout && <EdgeLayer layout={layout} edges={edges} toneOf={toneOf} />}
        </ReactFlow>
      </FarContext>
      {!layout && <LayingOut steps={index.graph.nodes.length} />}
    </section>
  )
}

/** Before the first picture. It comes in late: most graphs are laid out before anyone could read it. */
function LayingOut({ steps }: { steps: number }) {
  return <p className="rg-laying-out">Laying out {count(steps, 'step')}…</p>
}

const noEdges: never[] = []
/** A step whose size React Flow does not know it puts into the page to measure it, in sight or not: each time it changes. */
const knownSize = { measured: nodeSize, handles: [] }
const hidden = { hideAttribution: true }

function useNodes({
  layout,
  frames,
  selected,
  cursor,
  washes,
  onSelect,
  strips,
  kept,
}: {
  layout: GraphLayout | undefined
  frames: ReadonlyMap<string, NodeFrame>
  selected: string | undefined
  cursor: string | undefined
  washes: ReadonlyMap<string, Wash> | undefined
  onSelect: (node: string) => void
  strips: ReadonlyMap<string, ChildStrip> | undefined
  kept: ReadonlySet<string> | undefined
}): FlowNode[] {
  // What is the same as before is the same object, so that React Flow passes over it.
  const before = useRef(new Map<string, FlowNode>())
  const select = useRef(onSelect)
  select.current = onSelect
  const stableSelect = useCallback((id: string) => select.current(id), [])
  return useMemo(() => {
    if (!layout) return []
    const made = new Map<string, FlowNode>()
    for (const [id, position] of layout.nodes) {
      const frame = frames.get(id)
      if (!frame) continue
      const old = before.current.get(id)
      const wash = washes?.get(id)
      const strip = strips?.get(id)
      const is = {
        selected: id === selected,
        cursor: id === cursor,
        recedes: kept !== undefined && !kept.has(id),
      }
      const same =
        old &&
        old.position === position &&
        old.data.frame === frame &&
        old.data.wash === wash &&
        old.data.strip === strip &&
        old.data.selected === is.selected &&
        old.data.recedes === is.recedes &&
        old.data.cursor === is.cursor
      made.set(
        id,
        same
          ? old
          : {
              id,
              type: 'step',
              position,
              ...nodeSize,
              ...knownSize,
              data: {
                frame,
                wash,
                strip,
                ...is,
                onSelect: stableSelect,
              },
            },
      )
    }
    before.current = made
    return [...made.values()]
  }, [layout, frames, selected, cursor, washes, strips, kept, stableSelect])
}

/** An edge is quiet until something went along it, and red where it led into a failure. A walk knows which it took. */
function useTones(
  { index, toneOf, frames }: RunGraphProps,
  edges: EdgeFrames,
): (from: string, to: string) => EdgeTone {
  const walks = index.graph.order === 'stepwise'
  // Only what edges show: most changes of a frame leave them as they are, and they are not drawn again.
  const states = [...frames.values()].map((frame) => toneInto(frame)[0]).join('')
  // biome-ignore lint/correctness/useExhaustiveDependencies: `states` is all of the frames that a tone depends on
  const own = useCallback(
    (from: string, to: string): EdgeTone => {
      const frame = frames.get(to)
      if (walks) return walkTone(edges.get(edgeKey(from, to)), frame)
      return frame ? toneInto(frame) : 'idle'
    },
    [states, walks, edges],
  )
  return toneOf ?? own
}

function walkTone(edge: EdgeFrame | undefined, to: NodeFrame | undefined): EdgeTone {
  if (!edge?.taken) return edge?.redirect ? 'redirect' : 'idle'
  return to?.shown === 'failed' ? 'bad' : 'taken'
}

function toneInto(frame: NodeFrame): EdgeTone {
  if (frame.shown === 'failed') return 'bad'
  return frame.shown === 'pending' || frame.shown === 'skipped' ? 'idle' : 'plain'
}

/** The step that Tab reaches and arrows move from. It follows the selection, and may run ahead of it. */
function useCursor(
  index: GraphIndex,
  layout: GraphLayout | undefined,
  selected: string | undefined,
  onSelect: (node: string | undefined) => void,
) {
  const [at, setAt] = useState<string>()
  const flow = useReactFlow()
  const prefix = useContext(IdPrefix)
  const size = useStore((state) => `${state.width} ${state.height}`)
  useEffect(() => setAt(selected), [selected])
  const cursor = at !== undefined && index.nodes.has(at) ? at : index.order[0]

  const goTo = useCallback(
    (id: string, select: boolean) => {
      const point = layout?.nodes.get(id)
      if (!point) return
      setAt(id)
      if (select) onSelect(id)
      const [width, height] = size.split(' ').map(Number) as [number, number]
      if (!inSight(flow.getViewport(), { width, height, top: toolsHeight }, point)) {
        void flow.setCenter(point.x + nodeSize.width / 2, point.y + nodeSize.height / 2, {
          zoom: Math.max(flow.getZoom(), farZoom + 0.1),
        })
      }
      focusStep(prefix + id)
    },
    [flow, layout, onSelect, size, prefix],
  )

  function onKeyDown(event: KeyboardEvent) {
    // With Shift they are the film's.
    if (event.shiftKey || !isArrowKey(event.key) || !layout || !(event.target instanceof HTMLElement)) return
    if (!event.target.id.startsWith(prefix)) return
    const from = event.target.id.slice(prefix.length)
    event.preventDefault()
    const next = nodeTowards(event.key, from, index, layout)
    if (next) goTo(next, false)
  }
  return { cursor, onKeyDown, goTo }
}

/** Focuses a step as soon as it is in the page: one out of sight is only put there after the picture moved. */
function focusStep(id: string, tries = 10): void {
  const element = document.getElementById(id)
  if (element) element.focus({ preventScroll: true })
  else if (tries > 0) requestAnimationFrame(() => focusStep(id, tries - 1))
}

/**
 * What part of the picture is in sight. It opens around `focus` and follows it, until the person moves it; when the
 * picture gets smaller, the step that was in sight stays so.
 */
function useView(layout: GraphLayout | undefined, focus: string | undefined, compact: boolean) {
  const flow = useReactFlow()
  const width = useStore((state) => state.width)
  const height = useStore((state) => state.height)
  const shownFor = useRef<GraphLayout>(undefined)
  const left = useRef(false)
  const [hasLooked, setHasLooked] = useState(false)
  const looked = useRef<{ focus: string | undefined; width: number; height: number }>(undefined)
  const top = compact ? 0 : toolsHeight

  const look = useCallback(
    (first: boolean) => {
      if (!layout) return
      const at = focus === undefined ? undefined : layout.nodes.get(focus)
      const area = { width, height, top }
      void flow.setViewport(first ? firstView(layout, area, at) : fitView(layout, area, at))
    },
    [flow, layout, width, height, focus, top],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: the first look is taken once; later the view is the person's
  useEffect(() => {
    if (!layout || width === 0 || shownFor.current === layout) return
    shownFor.current = layout
    looked.current = { focus, width, height }
    look(true)
    setHasLooked(true)
  }, [layout, width > 0])
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another focus or size is a reason to look elsewhere
  useEffect(() => {
    const before = looked.current
    const at = focus === undefined ? undefined : layout?.nodes.get(focus)
    if (!before || shownFor.current !== layout || width === 0) return
    looked.current = { focus, width, height }
    if (!layout || !at) return
    const view = flow.getViewport()
    const area = { width, height, top }
    const smaller = width < before.width || height < before.height
    if (smaller && inSight(view, { ...before, top }, at)) void flow.setViewport(revealed(view, area, at))
    else if (before.focus !== focus && !left.current && !inSight(view, area, at))
      void flow.setViewport(firstView(layout, area, at))
  }, [focus, width, height])
  const leave = useCallback(() => {
    left.current = true
  }, [])
  return {
    look: (first: boolean) => {
      leave()
      look(first)
    },
    leave,
    hasLooked,
  }
}

function Zoom({ onFit, onZoom }: { onFit: () => void; onZoom: () => void }) {
  const flow = useReactFlow()
  const zoom = (by: () => Promise<boolean>) => {
    onZoom()
    void by()
  }
  const percent = useStore((state) => Math.round(state.transform[2] * 100))
  return (
    <span className="rg-zoom">
      <IconButton label="Zoom out" onClick={() => zoom(flow.zoomOut)}>
        <Minus size={16} strokeWidth={1.5} aria-hidden="true" />
      </IconButton>
      <span className="num min-w-11 text-center">{percent} %</span>
      <IconButton label="Zoom in" onClick={() => zoom(flow.zoomIn)}>
        <Plus size={16} strokeWidth={1.5} aria-hidden="true" />
      </IconButton>
      <IconButton label="Fit the whole graph" onClick={onFit}>
        <Maximize size={16} strokeWidth={1.5} aria-hidden="true" />
      </IconButton>
    </span>
  )
}
