'use client'
import Link from 'next/link'
import { ForkedFrom, ForkTree } from '@/components/forks/fork-tree'
import { Gauges } from '@/components/timeline/gauges'
import { Actor } from '@/components/ui/actor'
import { CopyId } from '@/components/ui/copy-id'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { RelativeTime, Took } from '@/components/ui/relative-time'
import { StateMark, StateShape } from '@/components/ui/state'
import { count, duration } from '@/lib/ui/format-time'
import { links } from '@/lib/ui/links'
import { isCalledOff } from '@/lib/view/act-words'
import { visitShown } from '@/lib/view/frame'
import type { RollbackView } from '@/lib/view/rollback-wire'
import type { RunFold } from '@/lib/view/run-fold'
import type { RunDetail } from '@/lib/view/run-wire'
import type { Gauge } from '@/lib/view/timeline/terms'
import { labelOf } from '@/lib/workflow/graph-index'
import type { ShownRun } from './shown-run'
import { isTalk, Transcript } from './transcript'

const quiet = new Set<string>(['done', 'pending', 'skipped'])

/** The inspector when nothing is selected: the run itself, its limits, and the steps that need a look. */
export function RunSummary({
  detail,
  fold,
  shown: then,
  gauges,
  onSelect,
}: {
  detail: RunDetail
  fold: RunFold
  /** The run as it is shown: now, or as it was. */
  shown: ShownRun
  gauges: readonly Gauge[]
  onSelect: (node: string, visit?: number) => void
}) {
  const { row } = detail
  const { took } = then.frame.headline
  const walks = fold.index.graph.order === 'stepwise'
  const trouble = [...then.frame.nodes.values()].filter(
    // Of a walk, what runs stands at the top of the way it took.
    ({ shown, handled }) => handled || !(quiet.has(shown) || (walks && shown === 'running')),
  )
  const rollbacks = fold.rollbacks(row.id)
  return (
    <aside aria-label="Run" className="flex min-h-0 min-w-0 flex-col overflow-y-auto max-md:flex-1">
      <div className="flex min-h-10 shrink-0 items-center border-b px-4">
        <h2>Run</h2>
      </div>
      <div className="px-4 pb-4 pt-2">
        <Facts label={96}>
          <Fact label="Began">
            <RelativeTime at={row.startedAt} />.{' '}
            <Sub>
              By <Actor id={row.startedBy} />
            </Sub>
          </Fact>
          <Fact label={took === undefined ? 'So far' : 'Took'}>
            <Took from={row.startedAt} to={took === undefined ? undefined : row.startedAt + took} />
          </Fact>
          <Fact label="Workflow">
            <Link
              href={links.workflow(row.version)}
              className="underline decoration-line-strong underline-offset-4"
            >
              {row.workflow}
            </Link>{' '}
            <Sub>
              version <CopyId id={row.version} what="version" />
            </Sub>
          </Fact>
          {row.forkOf && (
            <Fact label="Forked from">
              <ForkedFrom run={row.id} of={row.forkOf} />
            </Fact>
          )}
          <Fact label="Steps">{then.frame.sentence.replace(/^.*?: /, '')}</Fact>
          {rollbacks.map((rollback) => (
            <Fact key={rollback.id} label="Rollback">
              <Link
                href={links.rollback(row.id, { node: rollback.node, rollback: rollback.id })}
                className="underline decoration-line-strong underline-offset-4"
              >
                {rollbackWord(rollback)}
              </Link>
              .{' '}
              <Sub>
                {isCalledOff(rollback) && rollback.decided ? (
                  <>
                    Asked for by <Actor id={rollback.by} />, called off by <Actor id={rollback.decided.by} />
                  </>
                ) : (
                  <>
                    By <Actor id={rollback.by} />
                  </>
                )}
              </Sub>
            </Fact>
          ))}
        </Facts>
        <Gauges gauges={gauges} labelOf={(node) => labelOf(fold.index, node)} />
        {trouble.length > 0 && (
          <>
            <h3 className="mb-1 mt-4 text-t1 text-ink-3">Steps to look at</h3>
            <ul className="border-t">
              {trouble.slice(0, 40).map((frame) => (
                <li key={frame.id}>
                  <button
                    type="button"
                    onClick={() => onSelect(frame.id)}
                    className="ring-inside flex h-8 w-full items-center gap-3 border-b text-left hover:bg-hover max-md:h-12"
                  >
                    <span className="min-w-0 flex-1 truncate">{frame.label}</span>
                    <StateMark state={frame.handled ? 'failed' : frame.shown}>{frame.word}</StateMark>
                  </button>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
      <ForkTree run={row.id} />
      {isTalk(fold) ? (
        <>
          <h3 className="px-4 pb-2 text-t1 text-ink-3">What the model said and did</h3>
          <Transcript run={row.id} fold={fold} onSelect={onSelect} />
        </>
      ) : (
        <Walked fold={fold} steps={then.walked} onSelect={onSelect} />
      )}
    </aside>
  )
}

/** Steps of a walk that are listed; a longer one shows its end. */
const stepsListed = 60

/** The way the run took, step by step, the latest first: each visit can be looked at. */
function Walked({
  fold,
  steps,
  onSelect,
}: {
  fold: RunFold
  steps: ShownRun['walked']
  onSelect: (node: string, visit: number) => void
}) {
  if (steps.length === 0) return null
  const listed = steps
    .map((step, at) => ({ ...step, at: at + 1 }))
    .slice(-stepsListed)
    .reverse()
  return (
    <div className="px-4 pb-6">
      <h3 className="mb-1 text-t1 text-ink-3">
        The way it took, {count(steps.length, 'step')}
        {steps.length > listed.length && `, the last ${listed.length}`}
      </h3>
      <ol className="border-t">
        {listed.map((step) => {
          const shown = visitShown(step)
          const failed = step.state.status === 'done' && step.state.label === 'error'
          return (
            <li key={step.at}>
              <button
                type="button"
                onClick={() => onSelect(step.node, step.visit)}
                className="ring-inside flex h-8 w-full items-center gap-2 border-b text-left hover:bg-hover max-md:h-12"
              >
                <span className="num w-7 shrink-0 text-right text-ink-3">{step.at}</span>
                <StateShape state={failed ? 'failed' : shown.shown} />
                <span className="min-w-0 truncate">{labelOf(fold.index, step.node)}</span>
                {step.visit > 1 && <span className="shrink-0 text-ink-3">visit {step.visit}</span>}
                <span className="flex-1" />
                {step.state.status === 'done' ? (
                  <span className="truncate text-ink-3">
                    {step.state.label !== undefined && `${step.state.label}, `}
                    {step.carriedFrom === undefined ? (
                      <span className="num">{duration(step.state.tookMs)}</span>
                    ) : (
                      shown.word
                    )}
                  </span>
                ) : (
                  <span className="text-ink-2">{shown.word}</span>
                )}
              </button>
            </li>
          )
        })}
      </ol>
    </div>
  )
}

function rollbackWord(rollback: RollbackView): string {
  if (rollback.question) return `waiting for ${rollback.question.role}`
  if (rollback.status === 'executing') return 'under way'
  return isCalledOff(rollback) ? 'called off' : rollback.status
}
