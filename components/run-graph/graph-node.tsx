'use client'
import type { Node, NodeProps } from '@xyflow/react'
import { createContext, memo, useContext } from 'react'
import { AgentIcon, NoUndoIcon } from '@/components/ui/icons'
import { StateShape } from '@/components/ui/state'
import { countdown, duration } from '@/lib/ui/format-time'
import { useNow } from '@/lib/ui/now'
import { agentName, type NodeFrame, type NodeTime } from '@/lib/view/frame'
import type { Wash } from './wash'

export interface GraphNodeData extends Record<string, unknown> {
  frame: NodeFrame
  wash?: Wash
  selected: boolean
  /** The one node that Tab reaches; arrows move from there. */
  cursor: boolean
  onSelect: (id: string) => void
}

export type FlowNode = Node<GraphNodeData, 'step'>

/** True while the picture is too small for words: a step is then a box and nothing else, which is quick to make. */
export const FarContext = createContext(false)

/** One step: shape, label, word and time; the agent's name above it; a struck arrow where there is no way back. */
export const GraphNode = memo(function GraphNode({ id, data }: NodeProps<FlowNode>) {
  const { frame, wash, selected, cursor, onSelect } = data
  const far = useContext(FarContext)
  const Corner = wash ? wash.icon : frame.irreversible ? NoUndoIcon : undefined
  const word = wash ? wash.word : frame.word
  const time = wash && wash.fate !== 'untouched' ? undefined : frame.time
  return (
    <>
      {frame.agent && !far && (
        <span className="rg-agent" title={frame.agent}>
          <AgentIcon size={12} />
          <span>{agentName(frame.agent)}</span>
        </span>
      )}
      <button
        type="button"
        id={nodeElementId(id)}
        className="rg-node nopan"
        data-shown={frame.shown}
        data-wash={wash?.fate}
        data-selected={selected}
        data-corner={Corner !== undefined}
        tabIndex={cursor ? 0 : -1}
        aria-pressed={selected}
        aria-label={spoken(frame, word)}
        title={frame.label.length > 16 ? frame.label : undefined}
        onClick={() => onSelect(id)}
      >
        {!far && (
          <>
            <StateShape state={frame.shown} />
            <b>{frame.label}</b>
            <small>
              <span>{word}</span>
              {time && <Time time={time} />}
            </small>
            {Corner && <Corner className="rg-corner" />}
          </>
        )}
      </button>
    </>
  )
})

const elementPrefix = 'step-'

/** The id of a node's button in the page. */
export function nodeElementId(id: string): string {
  return elementPrefix + id
}

/** The node whose button has that id; undefined for any other element. */
export function nodeOfElement(elementId: string): string | undefined {
  return elementId.startsWith(elementPrefix) ? elementId.slice(elementPrefix.length) : undefined
}

function spoken(frame: NodeFrame, word: string): string {
  const parts = [`${frame.label}: ${word}`]
  if (frame.agent) parts.push(`agent ${agentName(frame.agent)}`)
  if (frame.irreversible) parts.push('cannot be undone')
  return parts.join(', ')
}

function Time({ time }: { time: NodeTime }) {
  if ('took' in time) return <span className="num">{duration(time.took)}</span>
  return <LiveTime time={time} />
}

/** The only part of a node that moves by itself: seconds since, or until. */
export function LiveTime({ time }: { time: { since: number } | { until: number } }) {
  const now = useNow()
  const ms = 'since' in time ? Math.max(0, now - time.since) : Math.max(0, time.until - now)
  return (
    <span className="num" suppressHydrationWarning>
      {'since' in time ? countdown(Math.floor(ms / 1000) * 1000) : countdown(ms)}
    </span>
  )
}
