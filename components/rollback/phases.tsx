'use client'
import { CopyId } from '@/components/ui/copy-id'
import { cx } from '@/components/ui/cx'
import { Countdown, RelativeTime } from '@/components/ui/relative-time'
import { StateShape } from '@/components/ui/state'
import type { AgentPart } from '@/lib/view/agent-parts'
import type { RollbackView } from '@/lib/view/rollback-wire'
import { executeWords, isHeldBefore, phaseOf, prepareWords } from './vote-words'

/** The two phases in a line: who can, and how far the undoing is (cascade section 6.5). */
export function Phases({
  parts,
  rollback,
}: {
  parts: readonly AgentPart[]
  /** Absent while nothing was asked for. */
  rollback?: RollbackView | undefined
}) {
  const phase = phaseOf(rollback)
  const prepared = phase === 'execute' || phase === 'over'
  return (
    <div className="flex min-h-10 shrink-0 flex-wrap items-center gap-x-3 border-b px-4 py-1">
      <Phase number={1} name="Prepare" now={phase === 'prepare'} over={prepared}>
        {prepareWords(parts, rollback)}
        {phase === 'prepare' && rollback && !isHeldBefore(rollback) && (
          <>
            , asked <RelativeTime at={rollback.askedAt} />
          </>
        )}
      </Phase>
      <span aria-hidden="true" className="h-px w-7 bg-line-strong max-md:hidden" />
      <Phase number={2} name="Execute" now={phase === 'execute'} over={phase === 'over'}>
        {executeWords(parts, rollback)}
        {phase === 'execute' && rollback && (
          <>
            , time left <Countdown at={rollback.deadlineAt} soonMs={10_000} />
          </>
        )}
      </Phase>
      <span className="flex-1" />
      {rollback && (
        <span className="text-ink-3">
          rollback <CopyId id={rollback.id} what="rollback id" className="text-ink-2" />
        </span>
      )}
    </div>
  )
}

function Phase({
  number,
  name,
  now,
  over,
  children,
}: {
  number: number
  name: string
  now: boolean
  over: boolean
  children: React.ReactNode
}) {
  return (
    <p className="flex items-center gap-2" aria-current={now ? 'step' : undefined}>
      {over ? (
        <StateShape state="done" />
      ) : (
        <span
          aria-hidden="true"
          className={cx(
            'num grid size-[18px] shrink-0 place-items-center rounded-full border text-t1 leading-none',
            now ? 'border-ink bg-ink text-surface' : 'border-line-strong text-ink-3',
          )}
        >
          {number}
        </span>
      )}
      <span>
        <b className={cx('font-medium', !now && !over && 'font-regular')}>
          <span className="sr-only">Phase {number}: </span>
          {name}
        </b>{' '}
        <span className="text-ink-2">{children}</span>
        {over && <span className="sr-only"> (over)</span>}
      </span>
    </p>
  )
}
