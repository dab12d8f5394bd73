'use client'
/*
 * Forking: a new run from a moment of another. What is taken as done, where it goes on and what may happen again are said
 * before anything begins; a dry run is chosen until somebody chooses otherwise.
 *
 *   plan ──its digest named──▶ the new run's page
 *    ▲                │
 *    └── 409: the original did more since; nothing was begun, and this is the plan now
 *
 * The plan on screen never changes under a hand, and what was edited stays when another version is looked at.
 */
import { ChevronLeft } from 'lucide-react'
import Link from 'next/link'
import { useRouter, useSearchParams } from 'next/navigation'
import { useRef, useState } from 'react'
import { seqFrom } from '@/components/timeline/use-moment'
import { Button } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { cx } from '@/components/ui/cx'
import { ErrorNote } from '@/components/ui/error-note'
import { Field, Input } from '@/components/ui/field'
import { HoldButton } from '@/components/ui/hold-button'
import { Kbd } from '@/components/ui/kbd'
import { PageHelp } from '@/components/ui/page-help'
import { Skeleton } from '@/components/ui/skeleton'
import { StateShape } from '@/components/ui/state'
import { warnOf } from '@/components/ui/toast'
import { satisfies } from '@/lib/hitl/roles'
import { isApiProblem, isRefusal, newIdempotencyKey } from '@/lib/ui/api'
import { useFork, useForkPlan } from '@/lib/ui/fork-queries'
import { duration } from '@/lib/ui/format-time'
import { links } from '@/lib/ui/links'
import { useMe } from '@/lib/ui/queries'
import { useRunDetail } from '@/lib/ui/run-queries'
import { useShortcuts } from '@/lib/ui/shortcuts'
import type { ForkPlanView } from '@/lib/view/fork-wire'
import { asSentence } from '@/lib/view/plain-words'
import type { RunDetail } from '@/lib/view/run-wire'
import { EffectList } from './effect-list'
import { type Edits, editedValues, ForkValues, isEdited, restingEdit } from './fork-values'
import { buttonWords, carriedWords, isDangerous, positionWords, stepWords } from './fork-words'
import { VersionChoice } from './version-choice'
import { WayChoice } from './way-choice'

/** The fork of a run: `?at=` is the token, else the run as it is now; `?version=` another version of its workflow. */
export function ForkPage({ run }: { run: string }) {
  const detail = useRunDetail(run)
  if (detail.isError && !detail.data) {
    return (
      <ErrorNote
        title="This run could not be read"
        error={detail.error}
        means="Nothing was begun."
        onRetry={() => void detail.refetch()}
      />
    )
  }
  if (!detail.data) return <Skeleton what="the run" lines={6} row={44} />
  return <Asked run={run} detail={detail.data} />
}

function Asked({ run, detail }: { run: string; detail: RunDetail }) {
  const search = useSearchParams()
  // Without a token the run as it was when the page was opened: it may go on meanwhile.
  const [now] = useState(detail.seq)
  const at = seqFrom(search.get('at') ?? undefined) ?? Math.max(1, now)
  const version = search.get('version') ?? undefined
  const plan = useForkPlan(run, at, version)
  const router = useRouter()
  const [edits, setEdits] = useState<Edits>({})
  const leave = () => router.push(links.moment(run, at))
  useShortcuts({ Escape: isEdited(edits) ? undefined : leave })
  return (
    <>
      <div className="flex min-h-11 shrink-0 items-center gap-3 whitespace-nowrap border-b px-4 max-md:h-14">
        <Link
          href={links.moment(run, at)}
          className="-ml-1 flex min-w-0 items-center gap-1 rounded-r1 text-ink-3 hover:text-ink max-md:h-11"
        >
          <ChevronLeft size={16} strokeWidth={1.5} aria-hidden="true" className="shrink-0" />
          <span className="truncate">{detail.row.workflow}</span>
        </Link>
        <CopyId id={run} what="run id" className="text-ink-3 max-md:hidden" />
        <h1 className="font-medium">Fork</h1>
        <span className="truncate text-ink-3 max-md:hidden">
          at token <span className="num">{at.toLocaleString('en')}</span>. Nothing has begun yet, and this run
          stays as it is.
        </span>
        <span className="flex-1" />
        <Button size="sm" variant="quiet" onClick={leave} className="max-md:hidden">
          Leave <Kbd>esc</Kbd>
        </Button>
        <span className="max-md:hidden">
          <PageHelp page="Fork" keys={[['esc', 'back to the run, while nothing is edited']]}>
            A new run that takes what was done up to a moment as done, and goes on from there. The run it
            comes from does not change. A dry run walks the same steps and touches nothing outside.
          </PageHelp>
        </span>
      </div>
      {plan.isError && !plan.isPlaceholderData && !plan.data ? (
        <ErrorNote
          title="There is no fork from here"
          error={plan.error}
          means="Nothing was begun."
          onRetry={() => void plan.refetch()}
        />
      ) : !plan.data ? (
        <Skeleton what="what a fork would do" lines={6} row={44} />
      ) : (
        <Planned
          run={run}
          plan={plan.data}
          stale={plan.isPlaceholderData}
          problem={plan.isError ? plan.error : undefined}
          edits={edits}
          onEdit={(name, text) => setEdits((before) => ({ ...before, [name]: text }))}
          asked={version}
          // Next reads the address from the browser's history: no request, and "back" leaves the page.
          onVersion={(next) => window.history.replaceState(null, '', links.fork(run, at, next))}
          onLookAgain={() => plan.refetch()}
        />
      )}
    </>
  )
}

function Planned({
  run,
  plan,
  stale,
  problem,
  edits,
  onEdit,
  asked,
  onVersion,
  onLookAgain,
}: {
  run: string
  plan: ForkPlanView
  stale: boolean
  problem: Error | undefined
  edits: Edits
  onEdit: (name: string, text: string | undefined) => void
  /** The version that is asked for; absent: the original's. */
  asked: string | undefined
  onVersion: (version: string | undefined) => void
  onLookAgain: () => Promise<unknown>
}) {
  const router = useRouter()
  const fork = useFork(run)
  const me = useMe().data
  const [dryRun, setDryRun] = useState(true)
  const [reason, setReason] = useState('')
  const [changed, setChanged] = useState(false)
  const [fault, setFault] = useState<{ artifact?: string | undefined; sentence: string }>()
  const attempts = useRef(new Map<string, string>())
  const may = !me || satisfies(me.roles, 'operator') || satisfies(me.roles, 'author')
  const values = editedValues(plan, edits)
  const resting = dryRun ? undefined : restingEdit(plan, values)
  const off = !may || values.wrong.length > 0 || resting !== undefined

  async function begin() {
    if (stale || off) return
    const { at, version, digest } = plan
    const { input, artifacts } = values
    const wish = {
      at,
      version,
      digest,
      dryRun,
      reason: reason.trim(),
      ...(input !== undefined && { input }),
      artifacts,
    }
    const intent = JSON.stringify(wish)
    const idempotencyKey = attempts.current.get(intent) ?? newIdempotencyKey()
    attempts.current.set(intent, idempotencyKey)
    setChanged(false)
    setFault(undefined)
    try {
      const begun = await fork.mutateAsync({ ...wish, idempotencyKey })
      router.push(links.run(begun.id))
    } catch (error) {
      // Without an answer the key stays: pressing again begins no second fork.
      if (isRefusal(error)) attempts.current.delete(intent)
      if (isApiProblem(error, 'fork_plan_changed')) {
        await onLookAgain()
        setChanged(true)
        return
      }
      const artifact = isApiProblem(error) ? error.data.artifact : undefined
      if (isRefusal(error)) {
        setFault({
          artifact: typeof artifact === 'string' ? artifact : undefined,
          sentence: (error as Error).message,
        })
      }
      warnOf('No fork was begun', error)
    }
  }

  const danger = !dryRun && isDangerous(plan)
  return (
    <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] max-md:block max-md:overflow-y-auto md:grid-cols-[minmax(0,1fr)_minmax(340px,420px)]">
      <div
        className={cx('min-h-0 min-w-0 px-4 py-5 md:overflow-y-auto md:border-r', stale && 'opacity-60')}
        aria-busy={stale}
      >
        <div className="mx-auto flex max-w-[860px] flex-col gap-5">
          <Position plan={plan} />
          {changed && <Changed />}
          {problem && (
            <p role="alert" className="text-failed-ink">
              {problem.message}
            </p>
          )}
          <ForkValues plan={plan} edits={edits} fault={fault} onEdit={onEdit} />
        </div>
      </div>
      <aside
        aria-label="What will happen"
        className="min-h-0 px-4 pb-8 pt-5 max-md:border-t md:overflow-y-auto"
      >
        <div className="flex flex-col gap-4">
          <VersionChoice plan={plan} asked={asked} onChoose={onVersion} />
          <WayChoice dryRun={dryRun} onChoose={setDryRun} />
          <EffectList plan={plan} dryRun={dryRun} />
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
          {resting && (
            <div role="alert" id="fork-rests" className="text-failed-ink [overflow-wrap:anywhere]">
              <p>{asSentence(resting.words)}</p>
              {resting.decision && (
                <Link
                  href={links.fork(run, resting.decision.at, asked)}
                  className="underline decoration-line-strong underline-offset-4"
                >
                  Fork from before {stepWords(resting.decision)}
                </Link>
              )}
            </div>
          )}
          <div>
            {danger ? (
              <HoldButton
                wraps
                className="w-full"
                busy={fork.isPending || stale}
                disabled={off}
                onHeld={() => void begin()}
              >
                <span>{buttonWords(plan, dryRun)}</span>
              </HoldButton>
            ) : (
              <Button
                variant="primary"
                wraps
                className="w-full"
                busy={fork.isPending || stale}
                disabled={off}
                onClick={() => void begin()}
              >
                <span>{buttonWords(plan, dryRun)}</span>
              </Button>
            )}
            <p className="mt-2 text-t1 text-ink-3">{footWords(may, values.wrong, danger)}</p>
          </div>
        </div>
      </aside>
    </div>
  )
}

function footWords(may: boolean, wrong: readonly string[], danger: boolean): string {
  if (!may) return 'Forking needs the role operator or author; ask someone who holds it.'
  if (wrong.length > 0) return `${wrong.join(', ')} cannot be read as it stands; mend it, or put it back.`
  return danger
    ? 'Hold for one second. Something of what may happen again cannot be undone.'
    : 'A new run begins. If the original did more since, nothing is begun and you see what is different.'
}

/** A visit and its number stay on one line. */
function unbroken(words: string): string {
  return words.replaceAll(/visit (\d)/g, 'visit\u00a0$1')
}

/** Where the fork stands, in words, and what it takes over. */
function Position({ plan }: { plan: ForkPlanView }) {
  return (
    <div>
      <h2 className="text-balance text-t3 tracking-[-0.01em]">
        {unbroken(positionWords(plan))}, <span className="num text-ink-3">{duration(plan.elapsedMs)}</span>
      </h2>
      <p className="mt-1 text-ink-2">{carriedWords(plan)}</p>
      {plan.insteadOf && (
        <p className="mt-1 text-ink-2">
          The original went on with {stepWords(plan.insteadOf)}; this version does not.
        </p>
      )}
      {plan.takenBack.length > 0 && (
        <div role="note" className="mt-3 flex gap-2 rounded-r2 border border-back-line px-3 py-2">
          <span className="mt-0.5">
            <StateShape state="rolled_back" />
          </span>
          <p className="min-w-0">
            <b className="font-medium">Not everything that is taken as done is still there.</b> Taken back in
            the original since this moment: {plan.takenBack.slice(0, 12).map(stepWords).join('; ')}
            {plan.takenBack.length > 12 && `; and ${plan.takenBack.length - 12} more`}.
          </p>
        </div>
      )}
    </div>
  )
}

function Changed() {
  return (
    <div role="alert" className="flex gap-2 rounded-r2 border border-line-strong px-3 py-2">
      <span className="mt-0.5">
        <StateShape state="failed" />
      </span>
      <p className="min-w-0">
        <b className="font-medium">Nothing was begun: the original did more since.</b> What you see is the
        plan now; your edits are still here. Look at it again, then fork.
      </p>
    </div>
  )
}
