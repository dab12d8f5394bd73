'use client'
import { useMemo } from 'react'
import type { Wash } from '@/components/run-graph/wash'
import { Actor } from '@/components/ui/actor'
import { Button } from '@/components/ui/button'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { RelativeTime } from '@/components/ui/relative-time'
import { StateMark } from '@/components/ui/state'
import { warn } from '@/components/ui/toast'
import { sentenceOf } from '@/lib/ui/api'
import { count } from '@/lib/ui/format-time'
import { useRollbackChoice } from '@/lib/ui/run-queries'
import { stopped } from '@/lib/view/frame'
import type { RunFold } from '@/lib/view/run-fold'
import type { RollbackPlanView, RollbackView, RunDetail } from '@/lib/view/wire'
import { washesOf } from './fates'
import { PlanGraph } from './plan-graph'
import { scopeWords } from './plan-words'

/** A rollback that began: each act as its token arrives, how it ended, and what happens to the run after it. */
export function Progress({
  run,
  detail,
  fold,
  rollback,
  plan,
  onGone,
}: {
  run: string
  detail: RunDetail
  fold: RunFold
  rollback: RollbackView
  plan: RollbackPlanView | undefined
  /** The choice is made: back to the run. */
  onGone: () => void
}) {
  const labelOf = (id: string) => fold.index.nodes.get(id)?.label || id
  const washes = useWashes(plan, rollback)
  return (
    <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] max-md:flex max-md:flex-col md:grid-cols-[minmax(0,1fr)_var(--inspector)]">
      <div className="min-h-0 min-w-0 border-r max-md:h-40 max-md:shrink-0 max-md:border-b max-md:border-r-0">
        <PlanGraph
          fold={fold}
          plan={plan}
          washes={washes}
          node={rollback.node}
          over={rollback.status !== 'executing'}
        />
      </div>
      <aside aria-label="Rollback" className="min-h-0 overflow-y-auto px-4 pb-4 pt-5 max-md:flex-1">
        <h2 className="text-balance text-t3 tracking-[-0.01em]" role="status">
          {headline(rollback, plan)}
        </h2>
        <p className="mb-4 mt-2 text-ink-3">
          {scopeWords[rollback.scope]}, from before <span className="mono">{labelOf(rollback.node)}</span>.
          Asked by <Actor id={rollback.by} /> <RelativeTime at={rollback.askedAt} />
          {rollback.reason ? `: ${stopped(rollback.reason)}` : '.'}
        </p>
        <Facts label={120}>
          {rollback.acts.map((act) => (
            <Fact key={act.node} label={labelOf(act.node)}>
              <ActMark act={act} />
              {act.description && (
                <span className="block">
                  <Sub>{stopped(act.description)}</Sub>
                </span>
              )}
            </Fact>
          ))}
          {waitingSteps(rollback, plan).map((step) => (
            <Fact key={step.node} label={step.label}>
              <StateMark state="pending">its turn comes</StateMark>
            </Fact>
          ))}
        </Facts>
        {rollback.status !== 'executing' && (
          <Choice
            run={run}
            detail={detail}
            fold={fold}
            rollback={rollback}
            label={labelOf(rollback.node)}
            onGone={onGone}
          />
        )}
      </aside>
    </div>
  )
}

/** Steps of the plan that nothing was heard of yet. */
function waitingSteps(rollback: RollbackView, plan: RollbackPlanView | undefined) {
  if (rollback.status !== 'executing') return []
  const begun = new Set(rollback.acts.map((act) => act.node))
  return (plan?.steps ?? []).filter(
    ({ node, fate }) => (fate === 'restored' || fate === 'compensated') && !begun.has(node),
  )
}

/** The plan's washes, taken off each step as soon as the step itself says that it is back. */
function useWashes(
  plan: RollbackPlanView | undefined,
  rollback: RollbackView,
): ReadonlyMap<string, Wash> | undefined {
  const settled = rollback.acts
    .filter((act) => act.status)
    .map((act) => act.node)
    .join('\n')
  const executing = rollback.status === 'executing'
  return useMemo(() => {
    if (!plan || !executing) return undefined
    const washes = new Map(washesOf(plan))
    for (const node of settled.split('\n')) washes.delete(node)
    return washes
  }, [plan, settled, executing])
}

/** What a rollback came to, with how many steps are back. */
const resultWords: Record<Exclude<RollbackView['status'], 'executing'>, (back: string) => string> = {
  completed: (back) => `${back} taken back.`,
  partial: (back) => `Partly taken back: ${back}.`,
  escalated: (back) => `${back} taken back; a person was told of the rest.`,
  failed: (back) => `The rollback failed with ${back} taken back; the run stands still.`,
}

function headline(rollback: RollbackView, plan: RollbackPlanView | undefined): string {
  const back = rollback.acts.filter((act) => act.status === 'completed').length
  if (rollback.status !== 'executing') return resultWords[rollback.status](count(back, 'step'))
  const all = plan ? plan.counts.restored + plan.counts.compensated : undefined
  return all === undefined
    ? `Rolling back, ${count(back, 'step')} so far`
    : `Rolling back, ${back} of ${count(all, 'step')}`
}

function ActMark({ act }: { act: RollbackView['acts'][number] }) {
  if (act.status === undefined) {
    return <StateMark state="running">{act.undo === 'compensate' ? 'compensating' : 'restoring'}</StateMark>
  }
  if (act.status === 'completed') {
    return <StateMark state="rolled_back">{act.undo === 'compensate' ? 'compensated' : 'restored'}</StateMark>
  }
  return <StateMark state={act.status === 'failed' ? 'failed' : 'escalated'}>{act.status}</StateMark>
}

function Choice({
  run,
  detail,
  fold,
  rollback,
  label,
  onGone,
}: {
  run: string
  detail: RunDetail
  fold: RunFold
  rollback: RollbackView
  label: string
  onGone: () => void
}) {
  const choose = useRollbackChoice(run)
  if (rollback.choice || fold.status !== 'rolled_back') {
    return (
      <div className="mt-4 border-t pt-4">
        <p className="mb-3 text-ink-2">
          {rollback.choice === 'go_on'
            ? `The run went on from before ${label}.`
            : rollback.choice === 'end'
              ? 'The run was ended after it.'
              : 'The run has moved on since.'}
        </p>
        <Button onClick={onGone}>Show the run</Button>
      </div>
    )
  }
  async function pick(choice: 'end' | 'go_on') {
    try {
      await choose.mutateAsync({ rollback: rollback.id, choice })
      onGone()
    } catch (error) {
      warn('The run still waits for your choice', sentenceOf(error))
    }
  }
  return (
    <section aria-label="What happens to the run" className="mt-4 border-t pt-4">
      <h3>What happens to the run now?</h3>
      <p className="mb-3 mt-1 text-ink-2">
        Going on does {label} and what follows anew: their effects will happen again. Ending leaves everything
        as it is now.
      </p>
      <div className="flex flex-wrap gap-2">
        <Button busy={choose.isPending} disabled={!detail.may.operate} onClick={() => void pick('end')}>
          End the run
        </Button>
        <Button busy={choose.isPending} disabled={!detail.may.operate} onClick={() => void pick('go_on')}>
          Go on from before {label}
        </Button>
      </div>
      {!detail.may.operate && (
        <p className="mt-2 text-t1 text-ink-3">
          Choosing needs the role operator; the run waits for someone who holds it.
        </p>
      )}
    </section>
  )
}
