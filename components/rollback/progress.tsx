'use client'
import { useMemo } from 'react'
import { Actor } from '@/components/ui/actor'
import { Button } from '@/components/ui/button'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { RelativeTime } from '@/components/ui/relative-time'
import { StateMark } from '@/components/ui/state'
import { count } from '@/lib/ui/format-time'
import { useValue } from '@/lib/ui/run-queries'
import { asSentence } from '@/lib/view/frame'
import type { RunFold } from '@/lib/view/run-fold'
import type { PlanStep, RollbackPlanView, RollbackView, RunDetail } from '@/lib/view/wire'
import { fates, progressWashes } from './fates'
import { PlanGraph } from './plan-graph'
import { backWords, planKey, planName, scopeWords } from './plan-words'
import { isToChoose, RollbackChoice } from './rollback-choice'

/** A rollback that began: each act as its token arrives, how it ended, and what happens to the run after it. */
export function Progress({
  run,
  detail,
  fold,
  rollback,
  pressed,
  onGone,
}: {
  run: string
  detail: RunDetail
  fold: RunFold
  rollback: RollbackView
  /** The plan whose button was pressed here; after a reload the stored one is fetched. */
  pressed: RollbackPlanView | undefined
  /** The choice is made: back to the run. */
  onGone: () => void
}) {
  const labelOf = (id: string) => fold.index.nodes.get(id)?.label || id
  const plan = useExecutedPlan(run, rollback, pressed)
  const washes = useMemo(() => {
    // Once the run went on, its steps have another life, and speak for themselves.
    if (!plan || rollback.choice === 'go_on') return undefined
    return progressWashes(plan, { status: rollback.status, acts: rollback.acts })
  }, [plan, rollback.status, rollback.acts, rollback.choice])
  return (
    <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] max-md:flex max-md:flex-col md:grid-cols-[minmax(0,1fr)_var(--inspector)]">
      <div className="min-h-0 min-w-0 border-r max-md:h-40 max-md:shrink-0 max-md:border-b max-md:border-r-0">
        <PlanGraph fold={fold} plan={washes && plan} washes={washes} node={rollback.node} />
      </div>
      <aside aria-label="Rollback" className="min-h-0 overflow-y-auto px-4 pb-4 pt-5 max-md:flex-1">
        <h2 className="text-balance text-t3 tracking-[-0.01em]" role="status">
          {headline(rollback, plan)}
        </h2>
        <p className="mb-4 mt-2 text-ink-3">
          {scopeWords[rollback.scope]}
          {rollback.scope !== 'full_workflow' && `, from before ${labelOf(rollback.node)}`}. Asked by{' '}
          <Actor id={rollback.by} /> <RelativeTime at={rollback.askedAt} />
          {rollback.reason ? `: ${asSentence(rollback.reason)}` : '.'}
        </p>
        <Facts label={120}>
          {rollback.acts.map((act) => (
            <Fact key={planKey(act)} label={actName(act, labelOf(act.node))}>
              <ActMark act={act} />
              {act.description && (
                <span className="block">
                  <Sub>{asSentence(act.description)}</Sub>
                </span>
              )}
            </Fact>
          ))}
          {otherSteps(rollback, plan).map((step) => (
            <Fact key={planKey(step)} label={planName(step, plan)}>
              <OtherStep step={step} over={rollback.status !== 'executing'} />
            </Fact>
          ))}
        </Facts>
        {rollback.status !== 'executing' && (
          <div className="mt-4 border-t pt-4">
            {isToChoose(fold, rollback) ? (
              <RollbackChoice run={run} detail={detail} rollback={rollback} fold={fold} onChosen={onGone} />
            ) : (
              <Chosen rollback={rollback} label={labelOf(rollback.node)} onGone={onGone} />
            )}
          </div>
        )}
      </aside>
    </div>
  )
}

/**
 * The plan that is carried out: a run keeps it by its hash, so that whoever opens the page later sees the same. Absent
 * until it is here, and for one that was stored in another shape.
 */
function useExecutedPlan(
  run: string,
  rollback: RollbackView,
  pressed: RollbackPlanView | undefined,
): RollbackPlanView | undefined {
  const stored = useValue(run, pressed ? undefined : rollback.plan).data?.json
  return pressed ?? (isPlan(stored) ? stored : undefined)
}

function isPlan(value: unknown): value is RollbackPlanView {
  const plan = value as Partial<RollbackPlanView> | undefined | null
  return (
    typeof plan === 'object' && Array.isArray(plan?.steps) && Array.isArray(plan.untouched) && !!plan.counts
  )
}

/** Steps of the plan that have no act: their turn has not come, or there is nothing to do or to be done. */
function otherSteps(rollback: RollbackView, plan: RollbackPlanView | undefined): PlanStep[] {
  const begun = new Set(rollback.acts.map(planKey))
  return (plan?.steps ?? []).filter((step) => step.fate !== 'untouched' && !begun.has(planKey(step)))
}

function OtherStep({ step, over }: { step: PlanStep; over: boolean }) {
  switch (step.fate) {
    case 'irreversible':
    case 'refused':
      return (
        <>
          <StateMark state="escalated">{fates[step.fate].word}</StateMark>
          <span className="block">
            <Sub>{asSentence(step.sentence)}</Sub>
          </span>
        </>
      )
    case 'reset':
      return (
        <StateMark state={over ? 'rolled_back' : 'pending'}>
          {over ? 'only set back' : 'to set back'}
        </StateMark>
      )
    default:
      return over ? (
        <StateMark state="skipped">its turn never came</StateMark>
      ) : (
        <StateMark state="pending">its turn comes</StateMark>
      )
  }
}

/** What a rollback came to, with what is back. */
const resultWords: Record<Exclude<RollbackView['status'], 'executing'>, (back: string) => string> = {
  completed: (back) => `Taken back: ${back}.`,
  partial: (back) => `Partly taken back: ${back}.`,
  escalated: (back) => `Taken back: ${back}; a person was told of the rest.`,
  failed: (back) => `The rollback failed, with ${back}; the run stands still.`,
}

function headline(rollback: RollbackView, plan: RollbackPlanView | undefined): string {
  if (rollback.status !== 'executing')
    return resultWords[rollback.status](backWords(rollback.acts, plan?.counts.reset ?? 0))
  const back = rollback.acts.filter((act) => act.status === 'completed').length
  const all = plan ? plan.counts.restored + plan.counts.compensated : undefined
  return all === undefined
    ? `Rolling back, ${count(back, 'step')} so far`
    : `Rolling back, ${back} of ${count(all, 'step')} so far`
}

/** A step by name, with its visit where the run came there more than once. */
function actName({ visit = 1 }: RollbackView['acts'][number], label: string): string {
  return visit > 1 ? `${label}, visit ${visit}` : label
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

/** A rollback whose choice is made, or that the run has left behind. */
function Chosen({
  rollback: { choice, scope },
  label,
  onGone,
}: {
  rollback: RollbackView
  label: string
  onGone: () => void
}) {
  return (
    <>
      <p className="mb-3 text-ink-2">
        {choice === 'go_on'
          ? scope === 'full_workflow'
            ? 'The run went on from the beginning.'
            : `The run went on from before ${label}.`
          : choice === 'end'
            ? 'The run was ended after it.'
            : 'The run has moved on since.'}
      </p>
      <Button onClick={onGone}>Show the run</Button>
    </>
  )
}
