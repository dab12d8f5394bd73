'use client'
/*
 * Taking back: a plan before anything, painted on the run's own graph; then the acts as they happen; then the choice.
 *
 *   preview ──held for a second, by the plan's digest──▶ asked who can ──▶ under way ──▶ over ──▶ end the run | go on
 *      ▲                                   │                  │ somebody cannot: go on without, call off, hand on
 *      └── 409: the world moved; nothing was done, and this is the plan now
 *
 * The plan on screen never changes under a hand: when the run goes on, the page says so and waits to be asked.
 */
import { ChevronLeft } from 'lucide-react'
import Link from 'next/link'
import { useRouter, useSearchParams } from 'next/navigation'
import { useState } from 'react'
import { NotHere } from '@/components/shell/not-here'
import { Button } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { ErrorNote } from '@/components/ui/error-note'
import { Kbd } from '@/components/ui/kbd'
import { PageHelp } from '@/components/ui/page-help'
import { Skeleton } from '@/components/ui/skeleton'
import type { RollbackScope } from '@/lib/rollback/terms'
import { type RunLedger, useRunLedger } from '@/lib/ui/ledger'
import { links } from '@/lib/ui/links'
import { useRunDetail } from '@/lib/ui/run-queries'
import { useShortcuts } from '@/lib/ui/shortcuts'
import type { RollbackPlanView, RollbackView } from '@/lib/view/rollback-wire'
import type { RunFold } from '@/lib/view/run-fold'
import type { RunDetail } from '@/lib/view/run-wire'
import { labelOf } from '@/lib/workflow/graph-index'
import { shownInstead } from './plan-words'
import { Preview } from './preview'
import { type Asked, Progress } from './progress'

const scopes: RollbackScope[] = ['single', 'sub_dag', 'full_workflow']

/** The rollback of a run: `?node=` is where it starts from, `?scope=` how far it reaches, `?rollback=` one that began. */
export function RollbackPage({ run }: { run: string }) {
  const detail = useRunDetail(run)
  const ledger = useRunLedger(run, detail.data)
  const error = detail.error ?? (ledger?.status === 'failed' ? ledger.error : undefined)
  if (error && !(detail.data && ledger?.fold?.seq)) {
    return (
      <ErrorNote
        title="This run could not be read"
        error={error}
        means="Nothing was rolled back."
        onRetry={() => void (detail.isError ? detail.refetch() : ledger?.read())}
      />
    )
  }
  if (!detail.data || !ledger?.fold || (ledger.status === 'reading' && ledger.fold.seq < detail.data.seq)) {
    return <Skeleton what="the run" lines={6} row={44} />
  }
  return <Loaded run={run} detail={detail.data} ledger={ledger} fold={ledger.fold} />
}

function Loaded({
  run,
  detail,
  ledger,
  fold,
}: {
  run: string
  detail: RunDetail
  ledger: RunLedger
  fold: RunFold
}) {
  const router = useRouter()
  const search = useSearchParams()
  const asked = search.get('node') ?? ''
  const node = fold.index.nodes.has(asked) ? asked : (fold.rollbackNodeFor(undefined) ?? '')
  const scope = scopes.find((known) => known === search.get('scope'))
  const only = search.get('only') === 'dependents' ? 'dependents' : undefined
  // The plan that was pressed: it says how many acts there will be, before they have begun.
  const [executed, setExecuted] = useState<{ rollback: string; plan: RollbackPlanView }>()
  const [asking, setAsking] = useState(false)
  const [hasLost, setHasLost] = useState(false)
  const rollbacks = fold.rollbacks(run)
  // One that is under way may be taken over by a broader one: that is previewed beside it, and says so in the address.
  const broader = search.get('broader') !== null
  const underWay = rollbacks.findLast((one) => one.status === 'executing')
  // What somebody else began meanwhile does not come over an answer that is awaited, or that says who won.
  const stays = (asking || hasLost) && search.get('rollback') === null
  const rollback =
    rollbacks.find((one) => one.id === search.get('rollback')) ??
    (stays || (broader && underWay)
      ? undefined
      : (underWay ?? rollbacks.findLast((one) => fold.status === 'rolled_back' && !one.choice)))
  const notBegun =
    rollback && !search.has('rollback') ? otherThan(rollback, { node: asked, scope, only }) : undefined
  // Asked for, and its first token is not here yet.
  const begun = !rollback && executed !== undefined && executed.rollback === search.get('rollback')
  const further =
    rollback && detail.may.rollBack
      ? fold.broaderScopes(rollback).find((broader) => broader !== 'full_workflow' || detail.may.rollBackAll)
      : undefined
  const named = search.get('rollback')
  const isUnknown = named !== null && rollback?.id !== named && !begun && ledger.status !== 'reading'
  const instead = shownInstead(rollback)
  const missing = isUnknown
    ? { what: 'rollback', asked: named, where: 'of this run', instead }
    : !rollback && asked !== '' && asked !== node
      ? { what: 'step', asked, where: 'in this workflow', instead: previewed(fold, node) }
      : undefined
  const leave = () => router.push(links.run(run, { node: rollback?.node ?? node }))
  useShortcuts({ Escape: leave })
  const view = (change: { node?: string; scope?: string; only?: string; rollback?: string }) =>
    router.replace(
      links.rollback(run, { node, ...(broader && { broader: '1' }), ...(scope && { scope }), ...change }),
      { scroll: false },
    )

  return (
    <>
      <div className="flex min-h-11 shrink-0 items-center gap-3 whitespace-nowrap border-b px-4 max-md:h-14">
        <Link
          href={links.run(run, { node })}
          className="-ml-1 flex min-w-0 items-center gap-1 rounded-r1 text-ink-3 hover:text-ink max-md:h-11"
        >
          <ChevronLeft size={16} strokeWidth={1.5} aria-hidden="true" className="shrink-0" />
          <span className="truncate">{detail.row.workflow}</span>
        </Link>
        <CopyId id={run} what="run id" className="text-ink-3 max-md:hidden" />
        <h1 className="font-medium">{rollback ? 'Rollback' : 'Rollback preview'}</h1>
        {!rollback && (
          <span className="truncate text-ink-3 max-md:hidden">
            {asking || begun ? (
              'Asked for; nothing has changed yet.'
            ) : (
              <>
                at token <span className="num">{fold.seq.toLocaleString('en')}</span>. Nothing has changed
                yet.
              </>
            )}
          </span>
        )}
        <span className="flex-1" />
        <Button size="sm" variant="quiet" onClick={leave} className="max-md:hidden">
          {rollback ? 'Back to the run' : 'Leave preview'} <Kbd>esc</Kbd>
        </Button>
        <span className="max-md:hidden">
          <PageHelp
            page="Rollback"
            keys={[
              ['/', 'find a step'],
              ['← →', 'along the edges'],
              ['↵', 'begin from that step instead'],
              ['a x d n', 'answer the question it waits for'],
              ['esc', 'back to the run'],
            ]}
          >
            What taking back would do, step by step, before anything is done. What is executed is this plan or
            nothing; its outcome is kept in the ledger.
          </PageHelp>
        </span>
      </div>
      <NotHere of={missing} />
      {rollback ? (
        <Progress
          key={rollback.id}
          run={run}
          detail={detail}
          ledger={ledger}
          fold={fold}
          rollback={rollback}
          notBegun={notBegun}
          pressed={rollback.id === executed?.rollback ? executed.plan : undefined}
          onGone={() => router.push(links.run(run))}
          onBroader={
            further &&
            (() => router.push(links.rollback(run, { node: rollback.node, scope: further, broader: '1' })))
          }
        />
      ) : (
        <Preview
          run={run}
          detail={detail}
          fold={fold}
          node={node}
          scope={scope}
          only={only}
          underWay={broader ? underWay : undefined}
          begun={begun}
          onAsking={setAsking}
          onLost={() => setHasLost(true)}
          onNode={(id) => router.replace(links.rollback(run, { node: id }), { scroll: false })}
          onScope={(next, nextOnly) => view({ scope: next, ...(nextOnly && { only: nextOnly }) })}
          onBegun={(plan, id) => {
            setExecuted({ rollback: id, plan })
            router.replace(links.rollback(run, { node, scope: plan.scope, rollback: id }), { scroll: false })
          }}
        />
      )}
    </>
  )
}

/** The rollback that the address asks to preview, where another one is under way. */
function otherThan(
  { status, ...underWay }: RollbackView,
  { node, scope, only }: { node: string; scope: RollbackScope | undefined; only: 'dependents' | undefined },
): Asked | undefined {
  if (status !== 'executing' || scope === undefined) return undefined
  const isSame = underWay.scope === scope && underWay.only === only
  const isWhole = isSame && scope === 'full_workflow'
  return isWhole || (isSame && underWay.node === node) ? undefined : { scope, ...(only && { only }) }
}

/** What a preview begins from where the step that was asked for is none. */
function previewed(fold: RunFold, node: string): string {
  const label = labelOf(fold.index, node)
  return label === '' ? 'no step can be taken back' : `the preview begins from “${label}”`
}
