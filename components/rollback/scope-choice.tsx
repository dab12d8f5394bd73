'use client'
import { Fragment } from 'react'
import { cx } from '@/components/ui/cx'
import { breadth } from '@/lib/rollback/conflict'
import type { RollbackOnly, RollbackScope } from '@/lib/rollback/terms'
import type { RollbackPlanView, RollbackView } from '@/lib/view/rollback-wire'
import type { RunDetail } from '@/lib/view/run-wire'
import { LockIcon } from './fates'
import { scopeWords, sentenceOf } from './plan-words'

/** How far a rollback reaches, smallest first. What may not be chosen says why, in place of what it would do. */
export function ScopeChoice({
  plan,
  overwrite,
  underWay,
  may,
  onScope,
}: {
  plan: RollbackPlanView
  /** What was changed since is put back, too. */
  overwrite: boolean
  /** The rollback that this one would take over. */
  underWay: Pick<RollbackView, 'scope' | 'only'> | undefined
  may: RunDetail['may']
  onScope: (scope: RollbackScope, only: RollbackOnly | undefined) => void
}) {
  const tooNarrow = (scope: RollbackScope, only?: RollbackOnly) =>
    underWay && breadth({ scope, ...(only && { only }) }) <= breadth(underWay)
      ? 'It reaches no further than the one under way, and would be refused.'
      : undefined
  return (
    <fieldset className="mb-4">
      <legend className="mb-1 text-t1 text-ink-3">How far</legend>
      <div className="overflow-hidden rounded-r2 border border-line-strong">
        {plan.scopes.map((scope) => (
          <Fragment key={scope.scope}>
            {/* Of what followed, what was made from it: smaller than all that followed. */}
            {scope.scope === 'sub_dag' && (
              <Choice
                title="This step and what used it"
                sentence={
                  plan.only
                    ? sentenceOf(plan, overwrite)
                    : 'Of what followed, only what was made from its output.'
                }
                chosen={plan.only === 'dependents'}
                refused={tooNarrow('sub_dag', 'dependents')}
                onChoose={() => onScope('sub_dag', 'dependents')}
              />
            )}
            <Choice
              title={scopeWords[scope.scope]}
              // The plan of what used it counts that alone.
              sentence={
                plan.only && scope.scope === 'sub_dag'
                  ? 'Everything after it, used or not.'
                  : ((overwrite ? scope.overwriting : undefined) ?? scope.sentence)
              }
              chosen={scope.scope === plan.scope && plan.only === undefined}
              refused={
                scope.forbidden ??
                tooNarrow(scope.scope) ??
                (scope.scope === 'full_workflow' && !may.rollBackAll ? 'Coordinator only.' : undefined)
              }
              onChoose={() => onScope(scope.scope, undefined)}
            />
          </Fragment>
        ))}
      </div>
    </fieldset>
  )
}

function Choice({
  title,
  sentence,
  chosen,
  refused,
  onChoose,
}: {
  title: string
  sentence: string
  chosen: boolean
  refused: string | undefined
  onChoose: () => void
}) {
  return (
    <label
      className={cx(
        'flex items-start gap-2 border-t px-3 py-2 first:border-t-0 has-focus-visible:outline-2 has-focus-visible:-outline-offset-2 has-focus-visible:outline-focus',
        chosen && 'bg-selected',
        refused ? 'text-ink-3' : 'cursor-pointer hover:bg-hover',
      )}
    >
      <input
        type="radio"
        name="scope"
        checked={chosen}
        disabled={refused !== undefined && !chosen}
        onChange={onChoose}
        className="sr-only"
      />
      {refused ? (
        <LockIcon size={14} className="mt-[3px] shrink-0" />
      ) : (
        <span
          aria-hidden="true"
          className={cx(
            'mt-[3px] size-3.5 shrink-0 rounded-full border',
            chosen ? 'border-4 border-ink bg-surface' : 'border-ink-3',
          )}
        />
      )}
      <span className="min-w-0 flex-1">
        <span className={cx('block', !refused && 'font-medium')}>{title}</span>
        <span className="block text-t1 text-ink-3">{refused ?? sentence}</span>
      </span>
    </label>
  )
}
