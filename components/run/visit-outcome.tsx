'use client'
import { RotateCcw } from 'lucide-react'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { GiveEvent } from '@/components/approvals/give-event'
import { Button } from '@/components/ui/button'
import { isJsonObject } from '@/lib/base/json'
import { links } from '@/lib/ui/links'
import { useValue } from '@/lib/ui/run-queries'
import type { NodeFrame } from '@/lib/view/frame'
import { asSentence } from '@/lib/view/plain-words'
import type { RunFold } from '@/lib/view/run-fold'
import type { RunDetail } from '@/lib/view/run-wire'
import type { VisitView } from '@/lib/view/visit-view'
import { BreakerWait } from './breaker-wait'
import { VisitFacts } from './visit-facts'
import { WrittenArtifacts } from './written-artifacts'

/** What came of a visit, or is to come: its failure, its facts, and what can be done about it. */
export function Outcome({
  run,
  detail,
  fold,
  frame,
  visit,
  past,
  onCause,
  onFlag,
  began,
  leadsTo,
}: {
  run: string
  detail: RunDetail
  fold: RunFold
  frame: NodeFrame
  visit: VisitView
  past: boolean
  onCause: (jti: string) => void
  onFlag: (() => void) | undefined
  began: boolean
  leadsTo: ReactNode
}) {
  const mayRollBack = !past && detail.may.rollBack && began && visit.current && takesBack(visit)
  return (
    <div className="px-4 pb-4 pt-3">
      {visit.error && visit.error.code !== 'approval_refused' && (
        <Failure error={visit.error} onCause={onCause} />
      )}
      {visit.state.status === 'waiting' && visit.state.for === 'breaker' && (
        <BreakerWait {...visit.state} shown={frame.breaker?.shown} held={frame.breaker?.held} past={past} />
      )}
      {visit.state.status === 'done' && visit.state.label === 'error' && (
        <WentOn
          run={run}
          output={visit.state.output}
          onward={!(visit.current && frame.word === 'ended with error')}
        />
      )}
      <VisitFacts
        run={run}
        detail={detail}
        fold={fold}
        frame={frame}
        visit={visit}
        began={began}
        leadsTo={leadsTo}
      />
      {takesEvent(fold, visit) && <GiveEvent run={run} fold={fold} node={visit.node} />}
      {visit.entry && visit.entry.written.length > 0 && (
        <WrittenArtifacts run={run} written={visit.entry.written} />
      )}
      {(mayRollBack || onFlag) && (
        <div className="mt-3 flex flex-wrap gap-2">
          {mayRollBack && (
            <Button size="sm" asChild>
              <Link href={links.rollback(run, { node: frame.id })} aria-keyshortcuts="r">
                <RotateCcw size={14} strokeWidth={1.5} aria-hidden="true" />
                Roll back to before this
              </Link>
            </Button>
          )}
          {onFlag && (
            <Button size="sm" aria-keyshortcuts="w" onClick={onFlag}>
              This looks wrong…
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

/** A hybrid state at work: its event may come from outside as well. */
function takesEvent(fold: RunFold, visit: VisitView): boolean {
  const config = fold.index.nodes.get(visit.node)?.config
  return visit.current && visit.state.status === 'running' && config?.orchestration === 'hybrid'
}

/** True when a rollback to before the visit has something to take back, or to reset. */
function takesBack({ state }: VisitView): boolean {
  return state.status !== 'pending' && state.status !== 'rolled_back'
}

/** A failure that its author foresaw: the run went on by the edge for it, and here is why. */
function WentOn({ run, output, onward }: { run: string; output: string; onward: boolean }) {
  const value = useValue(run, output)
  const json = value.data?.json
  const why = json !== undefined && isJsonObject(json) ? json : undefined
  return (
    <div role="note" className="mb-2 rounded-r2 border border-failed-line px-3 py-2 [overflow-wrap:anywhere]">
      <p>
        {onward
          ? 'It failed, and the run went on by its edge “error”.'
          : 'It gave an error, and no edge is there to take it; the walk ended here.'}{' '}
        {typeof why?.error === 'string' && <span className="text-failed-ink">{asSentence(why.error)}</span>}
        {why && why.error === undefined && why.ok === false && (
          <span className="text-failed-ink">Not every run it began completed.</span>
        )}
      </p>
      {typeof why?.code === 'string' && (
        <p className="mt-1 text-t1 text-ink-3">
          Code <span className="mono">{why.code}</span>
        </p>
      )}
    </div>
  )
}

function Failure({
  error,
  onCause,
}: {
  error: NonNullable<VisitView['error']>
  onCause: (jti: string) => void
}) {
  return (
    <div
      role="note"
      className="mb-2 rounded-r2 border border-failed-line bg-failed-wash px-3 py-2 text-failed-ink [overflow-wrap:anywhere]"
    >
      <p>{asSentence(error.description)}</p>
      <p className="mt-1 text-t1">
        Code <span className="mono">{error.code}</span>
      </p>
      <Button size="sm" className="mt-2" onClick={() => onCause(error.jti)}>
        Show what led here
      </Button>
    </div>
  )
}
