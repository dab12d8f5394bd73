'use client'
import { CopyId } from '@/components/ui/copy-id'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { StateMark } from '@/components/ui/state'
import { Tag } from '@/components/ui/tag'
import { absoluteTime, countdown } from '@/lib/ui/format-time'
import { useNow } from '@/lib/ui/now'
import type { VisitView } from '@/lib/view/visit-view'

const undoWords = {
  restore: 'Its state is put back from here.',
  remote: 'The agent that holds the state puts it back.',
  compensate: 'Another action makes up for it; what was seen meanwhile stays seen.',
}

/** What was sealed before the step acted. The contents never leave the store; their hash does. */
export function CheckpointView({ checkpoint }: { checkpoint: NonNullable<VisitView['checkpoint']> }) {
  const now = useNow()
  const left = checkpoint.at + checkpoint.ttlS * 1000 - now
  return (
    <div className="px-4 py-1">
      <Facts label={96}>
        <Fact label="Sealed">
          <time dateTime={new Date(checkpoint.at).toISOString()}>{absoluteTime(checkpoint.at)}</time>{' '}
          {checkpoint.undone ? (
            <StateMark state="rolled_back">used, {checkpoint.undone.status}</StateMark>
          ) : left <= 0 ? (
            <Tag tone="red">expired</Tag>
          ) : (
            <Sub>
              serves for another <span className="num">{countdown(left)}</span>
            </Sub>
          )}
        </Fact>
        <Fact label="Target">{checkpoint.target}</Fact>
        <Fact label="Holds">{checkpoint.description}</Fact>
        <Fact label="Undo">
          {checkpoint.reversible
            ? undoWords[checkpoint.undo]
            : 'None: it says itself that it cannot be undone.'}
        </Fact>
        <Fact label="State hash">
          <CopyId id={checkpoint.snapshot} what="state hash" />
        </Fact>
        <Fact label="Asked at">
          <span className="mono [overflow-wrap:anywhere]">{checkpoint.rollbackUri}</span>
        </Fact>
      </Facts>
    </div>
  )
}
