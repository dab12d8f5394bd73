'use client'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Button } from '@/components/ui/button'
import { cx } from '@/components/ui/cx'
import { ErrorNote } from '@/components/ui/error-note'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { Field, Input } from '@/components/ui/field'
import { HoldButton } from '@/components/ui/hold-button'
import { NoUndoIcon } from '@/components/ui/icons'
import { Skeleton } from '@/components/ui/skeleton'
import { StateShape } from '@/components/ui/state'
import { warnOf } from '@/components/ui/toast'
import type { RollbackOnly, RollbackScope } from '@/lib/rollback/terms'
import { isApiProblem, isRefusal, newIdempotencyKey } from '@/lib/ui/api'
import { count } from '@/lib/ui/format-time'
import { usePreselectedPlan, useRollBack } from '@/lib/ui/run-queries'
import { agentParts } from '@/lib/view/agent-parts'
import { asSentence } from '@/lib/view/plain-words'
import type { RollbackPlanView, RollbackView } from '@/lib/view/rollback-wire'
import type { RunFold } from '@/lib/view/run-fold'
import type { RunDetail } from '@/lib/view/run-wire'
import { labelOf } from '@/lib/workflow/graph-index'
import { AgentTable } from './agent-table'
import { ChangedSince } from './changed-since'
import { Conflict, whose, winnerWords } from './conflict'
import { fatesOf, LockIcon } from './fates'
import { RunsHeld } from './holder'
import { PlanGraph } from './plan-graph'
import {
  buttonWords,
  changedSteps,
  notDoneWords,
  type PlanChange,
  planChanges,
  planKey,
  planName,
  planSentenceOf,
  type StepFate,
  sentenceOf,
  setBackListed,
  setBackWords,
  whyNot,
} from './plan-words'
import { ScopeChoice } from './scope-choice'
import { fateWords, previewStands } from './step-fates'
import { TimeLimit, usualTimeLimitS } from './time-limit'

/** The plan before anything is done: on the graph, in a sentence, step by step, and the button that repeats it. */
export function Preview({
  run,
  detail,
  fold,
  node,
  scope,
  only,
  underWay,
  begun,
  onNode,
  onScope,
  onAsking,
  onLost,
  onBegun,
}: {
  run: string
  detail: RunDetail
  fold: RunFold
  node: string
  scope: RollbackScope | undefined
  only: RollbackOnly | undefined
  /** A rollback under way that this one would take over. */
  underWay: RollbackView | undefined
  /** It was begun, and its first token is not here yet. */
  begun: boolean
  onNode: (node: string) => void
  onScope: (scope: RollbackScope, only: RollbackOnly | undefined) => void
  /** It is asked for, or no longer. */
  onAsking: (asking: boolean) => void
  /** It was refused for another one, which this page says then. */
  onLost: () => void
  onBegun: (plan: RollbackPlanView, rollback: string) => void
}) {
  // The token the plan is asked for at; it moves only when the person says so.
  const [at, setAt] = useState(fold.seq)
  const [changes, setChanges] = useState<PlanChange[]>()
  const query = usePreselectedPlan(run, { node, at, ...(scope && { scope }), ...(only && { only }) })
  const rollBack = useRollBack(run)
  const asking = rollBack.isPending || begun
  const [reason, setReason] = useState('')
  const [withinS, setWithinS] = useState(usualTimeLimitS)
  // Said of one plan: of another one it has to be said anew.
  const [overwriteOf, setOverwriteOf] = useState<string>()
  const before = useRef<ReadonlyMap<string, StepFate>>(undefined)
  const attempts = useRef(new Map<string, string>())
  const plan = query.data
  const stale = query.isPlaceholderData
  const overwrite = plan !== undefined && overwriteOf === plan.digest && changedSteps(plan).length > 0
  const stands = useMemo(() => plan && previewStands(plan, overwrite), [plan, overwrite])
  const kindOf = (id: string) => fold.index.nodes.get(id)?.kind
  const label = (id: string) => labelOf(fold.index, id)
  // The rollback that ours lost against: read from the ledger, so its answer may come after the refusal.
  const [lostTo, setLostTo] = useState<string>()
  const winner = fold.rollbacks(run).find(({ id }) => id === lostTo)

  async function execute() {
    if (!plan || stale) return
    const intent = `${plan.digest} ${overwrite} ${withinS} ${reason}`
    const idempotencyKey = attempts.current.get(intent) ?? newIdempotencyKey()
    attempts.current.set(intent, idempotencyKey)
    setChanges(undefined)
    onAsking(true)
    try {
      const { scope: chosen, only: chosenOnly, digest } = plan
      const begun = await rollBack.mutateAsync({
        node,
        scope: chosen,
        ...(chosenOnly && { only: chosenOnly }),
        digest,
        ...(overwrite && { overwrite }),
        ...(withinS !== usualTimeLimitS && { deadline_s: withinS }),
        reason: reason.trim(),
        idempotencyKey,
      })
      onBegun(plan, begun.id)
    } catch (error) {
      // Without an answer the key stays: holding the button again begins no second rollback.
      if (isRefusal(error)) attempts.current.delete(intent)
      const other = conflictIn(error)
      if (other !== undefined) {
        setLostTo(other)
        onLost()
      } else if (isApiProblem(error, 'rollback_plan_changed')) await showNewPlan(plan)
      else warnOf('Nothing was rolled back', error)
    } finally {
      onAsking(false)
    }
  }

  async function showNewPlan(old: RollbackPlanView) {
    before.current = fatesOf(old)
    const fresh = await query.refetch()
    setChanges(fresh.data ? planChanges(before.current, fatesOf(fresh.data), label) : [])
  }

  return (
    <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] max-md:flex max-md:flex-col md:grid-cols-[minmax(0,1fr)_var(--inspector)]">
      <div className="flex min-h-0 min-w-0 flex-col border-r max-md:h-40 max-md:shrink-0 max-md:border-b max-md:border-r-0">
        <div className="min-h-0 flex-1">
          <PlanGraph fold={fold} plan={plan} stands={stands} node={node} onNode={onNode} />
        </div>
        {plan && (
          <AgentTable plan={plan} parts={agentParts(plan)} kindOf={kindOf} overwrite={() => overwrite} />
        )}
      </div>
      <aside
        aria-label="Rollback"
        // Words for screen readers are placed in it: else they make the document as long as what scrolls here.
        className="relative min-h-0 overflow-y-auto px-4 pb-4 pt-5 max-md:flex-1 max-md:pb-8"
      >
        {query.isError && !plan ? (
          <ErrorNote
            title="There is no plan"
            error={query.error}
            means="Nothing was rolled back."
            onRetry={() => void query.refetch()}
          />
        ) : !plan ? (
          <Skeleton what="the plan" lines={5} />
        ) : (
          <div className={cx('flex flex-col', stale && 'opacity-60')} aria-busy={stale}>
            {winner && (
              <Conflict
                urgent
                other={winner}
                title="Nothing was done: this one lost to a rollback under way."
                why={winnerWords(winner, plan)}
                labelOf={label}
              />
            )}
            {underWay && !winner && (
              <Conflict
                other={underWay}
                title={`${whose(underWay)} is under way.`}
                why="One that reaches further wins and takes it over; one that reaches as far or less is refused."
                labelOf={label}
              />
            )}
            {changes && <Changed changes={changes} />}
            {!changes && fold.seq > plan.seq && (
              <WentOn by={fold.seq - plan.seq} onLook={() => setAt(fold.seq)} busy={query.isFetching} />
            )}
            <h2 className="text-balance text-t3 tracking-[-0.01em]">{sentenceOf(plan, overwrite)}</h2>
            <Because fold={fold} />
            <ScopeChoice
              plan={plan}
              overwrite={overwrite}
              underWay={underWay}
              may={detail.may}
              onScope={onScope}
            />
            <CannotUndo plan={plan} />
            <ChangedSince
              plan={plan}
              may={detail.may.rollBack}
              overwrite={overwrite}
              onOverwrite={(wanted) => setOverwriteOf(wanted ? plan.digest : undefined)}
            />
            <Forbidden plan={plan} />
            <Steps plan={plan} kindOf={kindOf} />
            <Field label="Reason, kept in the ledger" optional>
              {(ids) => (
                <Input
                  {...ids}
                  maxLength={500}
                  value={reason}
                  onChange={(event) => setReason(event.target.value)}
                />
              )}
            </Field>
            <div className="mt-3">
              <TimeLimit value={withinS} onChange={setWithinS} />
            </div>
            <HoldButton
              wraps
              className="mt-3 w-full"
              busy={asking || stale}
              disabled={!detail.may.rollBack || whyNot(plan) !== undefined}
              onHeld={() => void execute()}
            >
              {asking ? 'Asking for it…' : buttonWords(plan, overwrite)}
            </HoldButton>
            <p className="mt-2 text-t1 text-ink-3" role="status">
              {asking ? (
                <span className="flex gap-2 text-ink">
                  <StateShape state="running" />
                  The rollback is asked for. Every target is looked at once more before it begins; one that
                  does not answer is waited for, a few seconds long.
                </span>
              ) : changes && !whyNot(plan) ? (
                <span className="text-failed-ink">{notDoneWords}</span>
              ) : !detail.may.rollBack ? (
                'Rolling back needs the role operator; ask someone who holds it.'
              ) : (
                (whyNot(plan) ??
                'Hold for one second. If the plan no longer equals this preview, it stops before the first change.')
              )}
            </p>
          </div>
        )}
      </aside>
    </div>
  )
}

/** The rollback that won against the one that was asked for, when that is why it was refused. */
function conflictIn(error: unknown): string | undefined {
  if (!isApiProblem(error, 'rollback_conflict') && !isApiProblem(error, 'rollback_busy')) return undefined
  const { conflicting_rollback_id: id } = error.data
  return typeof id === 'string' ? id : undefined
}

/** After a 409: that nothing was done comes first, then what is different. */
function Changed({ changes }: { changes: PlanChange[] }) {
  const place = useRef<HTMLDivElement>(null)
  // Whoever held the button may have scrolled past it. It is there at once, without a motion that somebody may not want.
  useEffect(() => place.current?.scrollIntoView({ block: 'nearest', behavior: 'instant' }), [])
  return (
    <div
      ref={place}
      role="alert"
      className="scroll-mt-5 mb-4 flex gap-2 rounded-r2 border border-line-strong px-3 py-2"
    >
      <span className="mt-0.5">
        <StateShape state="failed" />
      </span>
      <div className="min-w-0">
        <p>
          <b>Nothing was done: the run moved on.</b> This is the plan now.
        </p>
        {changes.length === 0 ? (
          <p className="text-ink-2">
            The same steps meet the same fate; their state is another. Look again, then hold.
          </p>
        ) : (
          <ul className="mt-1">
            {changes.map((change) => (
              <li key={change.node} className="text-ink-2">
                {change.label}: <span className="text-ink-3">was “{fateWords[change.was].word}”, now</span> “
                {fateWords[change.now].word}”
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  )
}

function WentOn({ by, onLook, busy }: { by: number; onLook: () => void; busy: boolean }) {
  return (
    <div role="status" className="mb-4 flex items-center gap-2 rounded-r2 border px-3 py-2">
      <span className="flex-1 text-ink-2">The run went on by {count(by, 'token')} since this preview.</span>
      <Button size="sm" onClick={onLook} busy={busy}>
        Plan anew
      </Button>
    </div>
  )
}

/** Why anyone would: the step that failed, in its own words. */
function Because({ fold }: { fold: RunFold }) {
  const failed = [...fold.frame.nodes.values()].find(
    ({ shown }) => shown === 'failed' || shown === 'escalated',
  )
  const error = failed && fold.visit(failed.id)?.error
  if (!failed || !error) return <div className="mb-4" />
  return (
    <p className="mb-4 mt-2 text-ink-3 [overflow-wrap:anywhere]">
      {error.code === 'approval_refused' ? (
        asSentence(error.description)
      ) : (
        <>
          {failed.label} failed: {asSentence(error.description)}
        </>
      )}
    </p>
  )
}

function CannotUndo({ plan }: { plan: RollbackPlanView }) {
  const steps = plan.steps.filter(({ fate }) => fate === 'irreversible' || fate === 'refused')
  if (steps.length === 0) return null
  return (
    <div
      role="note"
      className="mb-2 flex gap-2 rounded-r2 border border-failed-line bg-failed-wash px-3 py-2 text-failed-ink"
    >
      <NoUndoIcon className="mt-0.5 shrink-0 text-failed-mark" />
      <div className="min-w-0">
        {steps.map((step) => (
          <p key={planKey(step)}>
            {/* Most sentences begin with the step's name. */}
            {!step.sentence.startsWith(`"${step.label}"`) && <b>{planName(step, plan)}. </b>}
            {asSentence(step.sentence)}
          </p>
        ))}
      </div>
    </div>
  )
}

function Forbidden({ plan }: { plan: RollbackPlanView }) {
  if (!plan.forbidden) return null
  return (
    <div role="alert" className="mb-2 flex gap-2 rounded-r2 border border-ink-3 px-3 py-2">
      <LockIcon className="mt-0.5 shrink-0" />
      <p>
        <b>This scope cannot be rolled back.</b> {plan.forbidden.sentence}
      </p>
    </div>
  )
}

function Steps({ plan, kindOf }: { plan: RollbackPlanView; kindOf: (node: string) => string | undefined }) {
  // A long walk sets much back that changed nothing: that is one line, not fifty.
  const many = plan.counts.reset > setBackListed
  const steps = plan.steps.filter(
    ({ fate, changedSince }) =>
      (fate === 'restored' && !changedSince) || fate === 'compensated' || (fate === 'reset' && !many),
  )
  if (steps.length === 0 && !many) return null
  return (
    <Facts label={120} className="mb-3">
      {steps.map((step) => (
        <Fact key={planKey(step)} label={planName(step, plan)}>
          {asSentence(planSentenceOf(step, kindOf(step.node)))}
          {step.runsBelow && (
            <span className="block">
              <RunsHeld below={step.runsBelow} />
            </span>
          )}
        </Fact>
      ))}
      {many && (
        <Fact label="Only set back">
          {setBackWords(plan)}. <Sub>They changed nothing outside and can run again.</Sub>
        </Fact>
      )}
    </Facts>
  )
}
