'use client'
import type { Node, NodeProps } from '@xyflow/react'
import { createContext, memo, useContext } from 'react'
import { AgentIcon, NoUndoIcon } from '@/components/ui/icons'
import { StateShape } from '@/components/ui/state'
import { countdown, duration } from '@/lib/ui/format-time'
import { useNow } from '@/lib/ui/now'
import type { ChildStrip } from '@/lib/view/child-strip'
import { breakerWords } from '@/lib/view/circuit-words'
import type { NodeFrame, NodeTime } from '@/lib/view/frame'
import { agentName } from '@/lib/view/plain-words'
import { BreakerBadge } from './breaker-badge'
import { IdPrefix } from './graph-ids'
import type { Wash } from './wash'

export interface GraphNodeData extends Record<string, unknown> {
  frame: NodeFrame
  wash?: Wash
  strip?: ChildStrip
  selected: boolean
  /** Others matter now: it is drawn faint. */
  recedes: boolean
  /** The one node that Tab reaches; arrows move from there. */
  cursor: boolean
  onSelect: (id: string) => void
}

export type FlowNode = Node<GraphNodeData, 'step'>

/** True while the picture is too small for words: a step is then a box and nothing else, which is quick to make. */
export const FarContext = createContext(false)

/** One step: shape, label, word and time; the agent's name above it; a struck arrow where there is no way back. */
export const GraphNode = memo(function GraphNode({ id, data }: NodeProps<FlowNode>) {
  const { frame, wash, strip, selected, recedes, cursor, onSelect } = data
  const far = useContext(FarContext)
  const prefix = useContext(IdPrefix)
  const Corner = wash ? wash.icon : frame.irreversible ? NoUndoIcon : undefined
  const word = wash ? wash.word : frame.word
  const visits = visitWords(frame)
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
        id={prefix + id}
        className="rg-node nopan"
        data-shown={frame.shown}
        data-handled={frame.handled}
        data-consequence={frame.consequence}
        data-wash={wash?.fate}
        data-selected={selected}
        data-recedes={recedes}
        data-corner={Corner !== undefined}
        tabIndex={cursor ? 0 : -1}
        aria-pressed={selected}
        aria-label={spoken(frame, word, visits, strip)}
        title={frame.label.length > 16 ? frame.label : undefined}
        onClick={() => onSelect(id)}
      >
        {!far && (
          <>
            <StateShape state={frame.handled ? 'failed' : frame.shown} />
            <b>{frame.label}</b>
            <small>
              <span>
                {word}
                {!wash && visits && <span className="rg-visit">, {visits}</span>}
              </span>
              {time && <Time time={time} />}
            </small>
            {Corner && <Corner className="rg-corner" />}
          </>
        )}
      </button>
      {frame.breaker && !far && !wash && <BreakerBadge breaker={frame.breaker} />}
      {strip && !far && !wash && (
        <span className="rg-strip" title={strip.words}>
          {strip.marks.map((state, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: marks have no identity but their place.
            <StateShape key={at} state={state} size={12} />
          ))}
          <span>{strip.words}</span>
        </span>
      )}
    </>
  )
})

function spoken(
  frame: NodeFrame,
  word: string,
  visits: string | undefined,
  strip: ChildStrip | undefined,
): string {
  const parts = [`${frame.label}: ${word}`]
  if (visits) parts.push(visits)
  if (strip) parts.push(strip.words)
  if (frame.agent) parts.push(`agent ${agentName(frame.agent)}`)
  if (frame.breaker) parts.push(`breaker ${breakerWords[frame.breaker.shown]}`)
  if (frame.irreversible) parts.push('cannot be undone')
  return parts.join(', ')
}

/** "visit 3", or "visit 3 of 10" of a state that may be entered so often; nothing where that tells nothing. */
function visitWords({ visit, isEnd, entries }: NodeFrame): string | undefined {
  if (isEnd) return undefined
  if (entries && entries.now > 0) return `visit ${entries.now} of ${entries.most}`
  return visit > 1 ? `visit ${visit}` : undefined
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
