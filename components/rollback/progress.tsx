'use client'
import Link from 'next/link'
import { useMemo, useState } from 'react'
import { Decision } from '@/components/approvals/decision'
import { useCameByItself } from '@/components/approvals/key-guard'
import { RunName } from '@/components/run/run-name'
import { TokenPanel } from '@/components/run/token-panel'
import { useBelow } from '@/components/run/use-child-strips'
import { Actor } from '@/components/ui/actor'
import { Button } from '@/components/ui/button'
import { cx } from '@/components/ui/cx'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { RelativeTime } from '@/components/ui/relative-time'
import { StateMark } from '@/components/ui/state'
import { count } from '@/lib/ui/format-time'
import type { RunLedger } from '@/lib/ui/ledger'
import { useVerification } from '@/lib/ui/ledger-verify'
import { links } from '@/lib/ui/links'
import { useValue } from '@/lib/ui/run-queries'
import { type AgentPart, agentParts, stepKey } from '@/lib/view/agent-parts'
import { asSentence } from '@/lib/view/plain-words'
import type { PlanStep, RollbackPlanView, RollbackView } from '@/lib/view/rollback-wire'
import type { RunFold } from '@/lib/view/run-fold'
import type { RunDetail } from '@/lib/view/run-wire'
import { labelOf } from '@/lib/workflow/graph-index'
import { ActEvidence, type OnEvidence, type OpenedEvidence } from './act-evidence'
import { ActMark } from './act-mark'
import { AgentTable, VoteMark } from './agent-table'
import { AgentTokenPanel } from './agent-token-panel'
import { Conflict, notBegunWords, winnerWords } from './conflict'
import { Phases } from './phases'
import { PlanGraph } from './plan-graph'
import { planKey, planName, resultWords, scopeWords } from './plan-words'
import { Proof } from './proof'
import { isToChoose, RollbackChoice } from './rollback-choice'
import { hasSetBack, isOverwritten, progressStands, type StepStand, whyNotSetBack } from './step-fates'
import { holderName, type WaitsFor, waitWords } from './vote-words'

/** What the address asks to preview while this one is under way. */
export type Asked = Pick<RollbackView, 'scope' | 'only'>

/**
 * A rollback that began: who can, by their votes; each act as its token arrives, with its proof; how it ended; and what
 * happens to the run after it. Where people have to say first how it goes on, they are asked here.
 */
export function Progress({
  run,
  detail,
  ledger,
  fold,
  rollback,
  notBegun,
  pressed,
  onGone,
  onBroader,
}: {
  run: string
  detail: RunDetail
  ledger: RunLedger
  fold: RunFold
  rollback: RollbackView
  notBegun: Asked | undefined
  /** The plan whose button was pressed here; after a reload the stored one is fetched. */
  pressed: RollbackPlanView | undefined
  /** The choice is made: back to the run. */
  onGone: () => void
  /** Previews another rollback, which may take this one over; absent where none reaches further. */
  onBroader: (() => void) | undefined
}) {
  const [opened, setOpened] = useState<OpenedEvidence>()
  const verification = useVerification(run, ledger, fold.seq, ledger.status === 'following')
  const plan = useExecutedPlan(run, rollback, pressed)
  const parts = plan ? agentParts(plan, rollback) : []
  const stands = useMemo(() => plan && progressStands(plan, rollback), [plan, rollback])
  return (
    <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] max-md:flex max-md:flex-col md:grid-cols-[minmax(0,1fr)_var(--inspector)]">
      <div className="flex min-h-0 min-w-0 flex-col border-r max-md:h-40 max-md:shrink-0 max-md:border-b max-md:border-r-0">
        <div className="min-h-0 flex-1">
          <PlanGraph
            fold={fold}
            plan={plan}
            // Once the run went on, its steps have another life, and speak for themselves.
            stands={rollback.choice === 'go_on' ? undefined : stands}
            node={rollback.node}
          />
        </div>
        {plan && (
          <AgentTable
            plan={plan}
            parts={parts}
            kindOf={(id) => fold.index.nodes.get(id)?.kind}
            overwrite={(step) => isOverwritten(rollback, step)}
            rollback={rollback}
          />
        )}
      </div>
      {opened?.kind === 'ledger' ? (
        <TokenPanel
          fold={fold}
          seq={opened.seq}
          verification={verification.state}
          onOpen={(seq) => setOpened(seq === undefined ? undefined : { kind: 'ledger', seq })}
          onMoment={undefined}
        />
      ) : opened ? (
        <AgentTokenPanel
          run={run}
          hash={opened.hash}
          agent={opened.agent}
          label={opened.label}
          onBack={() => setOpened(undefined)}
        />
      ) : (
        <aside
          aria-label="Rollback"
          // Words for screen readers are placed in it: else they make the document as long as what scrolls here.
          // The end is room of its own: below what sticks to the edge nothing shows.
          className="relative min-h-0 overflow-y-auto px-4 pt-5 after:block after:h-4 max-md:flex-1 max-md:after:h-8"
        >
          <Told
            run={run}
            detail={detail}
            fold={fold}
            rollback={rollback}
            notBegun={notBegun}
            plan={plan}
            stands={stands ?? []}
            parts={parts}
            onOpen={setOpened}
          />
          {onBroader && rollback.status === 'executing' && (
            <Button size="sm" className="mt-3" onClick={onBroader}>
              Take it over with one that reaches further…
            </Button>
          )}
          {rollback.status !== 'executing' && parts.length > 0 && (
            <Proof detail={detail} parts={parts} verification={verification} seq={fold.seq} />
          )}
          {rollback.status !== 'executing' && (
            <div className="mt-4 border-t pt-4">
              {isToChoose(fold, rollback) ? (
                <RollbackChoice run={run} detail={detail} rollback={rollback} fold={fold} onChosen={onGone} />
              ) : (
                <Chosen rollback={rollback} label={labelOf(fold.index, rollback.node)} onGone={onGone} />
              )}
            </div>
          )}
        </aside>
      )}
    </div>
  )
}

/** How it stands in a sentence, who asked for it, what stands in its way, and every step of it. */
function Told({
  run,
  detail,
  fold,
  rollback,
  notBegun,
  plan,
  stands,
  parts,
  onOpen,
}: {
  run: string
  detail: RunDetail
  fold: RunFold
  rollback: RollbackView
  notBegun: Asked | undefined
  plan: RollbackPlanView | undefined
  stands: readonly StepStand[]
  parts: readonly AgentPart[]
  onOpen: OnEvidence
}) {
  const label = (id: string) => labelOf(fold.index, id)
  const others = fold.rollbacks(run)
  const broader = others.find(({ id }) => id === rollback.supersededBy)
  const narrower = others.find(({ id }) => id === rollback.supersedes)
  const byStep = new Map(parts.flatMap(({ steps }) => steps.map((of) => [planKey(of.step), of] as const)))
  const asked = rollback.votes.length > 0
  const nameOf = (key: string) => {
    const step = plan?.steps.find((one) => stepKey(one) === key)
    return step ? planName(step, plan) : 'a step'
  }
  const below = useBelow(run, fold).summary?.waitsIn
  const waitsFor = rollback.question ?? (rollback.status === 'executing' ? below : undefined)
  const cameByItself = useCameByItself(waitsFor?.approval, rollback.id)
  return (
    <>
      <div role="status">
        <h2 className="text-balance text-t3 tracking-[-0.01em]">
          {headline(rollback, plan, stands, waitsFor)}
        </h2>
      </div>
      <p className="mb-4 mt-2 text-ink-3">
        {scopeWords[rollback.scope]}
        {rollback.scope !== 'full_workflow' && `, from before ${label(rollback.node)}`}. Asked by{' '}
        <Actor id={rollback.by} /> <RelativeTime at={rollback.askedAt} />
        {rollback.reason ? `: ${asSentence(rollback.reason)}` : '.'}
        {rollback.overwrite && ' What was changed since is put back, too.'}
      </p>
      {notBegun && (
        <p role="status" className="mb-4 rounded-r2 border border-line-strong px-3 py-2">
          {notBegunWords(notBegun, rollback)}
        </p>
      )}
      {broader && (
        <Conflict
          other={broader}
          title="This one lost: a broader rollback took it over."
          why={`${winnerWords(broader, rollback)} What was not taken back here, it takes back.`}
          labelOf={label}
        />
      )}
      {narrower && (
        <Conflict
          other={narrower}
          title="This one won, and took a narrower rollback over."
          why={`${winnerWords(rollback, narrower)} What the other had taken back already stays taken back.`}
          labelOf={label}
        />
      )}
      {parts.length > 0 && (
        <div className="md:hidden">
          <div className="-mx-4 mb-2 border-t">
            <Phases parts={parts} rollback={rollback} />
          </div>
          {asked && <PhoneVotes parts={parts} rollback={rollback} />}
        </div>
      )}
      {waitsFor && (
        <section
          aria-label="Decision"
          // On a phone the line of the phases is above it already.
          className={cx('-mx-4 mb-4 border-y', !asked && 'max-md:-mt-2 max-md:border-t-0')}
        >
          <WhoAnswers waitsFor={waitsFor} />
          <Decision
            key={waitsFor.approval}
            id={waitsFor.approval}
            compact
            leadsOn={false}
            cameByItself={cameByItself}
          />
        </section>
      )}
      {rollback.overwritten?.map((said) => (
        <p key={said.checkpointId} className="mb-4 text-ink-2">
          <Actor id={said.by} /> had {nameOf(said.checkpointId)} put back all the same{' '}
          <RelativeTime at={said.at} className="text-ink-3" />: {asSentence(said.reason)}
        </p>
      ))}
      {rollback.decided && rollback.decided.by !== 'engine' && <DecidedBy decided={rollback.decided} />}
      <Facts label={120}>
        {rollback.acts.map((act) => {
          const of = byStep.get(planKey(act))
          return (
            <Fact key={planKey(act)} label={actName(act, label(act.node))}>
              <ActMark act={act} />
              {act.description && (
                <span className="block">
                  <Sub>{asSentence(act.description)}</Sub>
                </span>
              )}
              {of && <ActEvidence of={of} fold={fold} onOpen={onOpen} />}
            </Fact>
          )
        })}
        {otherSteps(rollback, stands).map((of) => (
          <Fact key={stepKey(of.step)} label={planName(of.step, plan)}>
            <OtherStep of={of} rollback={rollback} />
          </Fact>
        ))}
      </Facts>
      {detail.may.rollBack ? null : (
        <p className="mt-2 text-t1 text-ink-3">
          You can follow it here; acting on it needs the role operator.
        </p>
      )}
    </>
  )
}

/** Who may answer what the rollback waits for, and where else; and whose question it is, where a run below asks. */
function WhoAnswers({ waitsFor }: { waitsFor: WaitsFor }) {
  return (
    <p className="px-4 pt-3 text-ink-3">
      {'run' in waitsFor && (
        <>
          Asked by <RunName {...waitsFor} />, a run below.{' '}
        </>
      )}
      Anyone with the role {waitsFor.role} may answer, here or in{' '}
      <Link
        href={links.approvals({ item: waitsFor.approval })}
        className="underline decoration-line-strong underline-offset-4 hover:decoration-ink"
      >
        Approvals
      </Link>
      .
    </p>
  )
}

/** What a person decided between the two phases. */
function DecidedBy({ decided }: { decided: NonNullable<RollbackView['decided']> }) {
  return (
    <p className="mb-4 text-ink-2">
      <Actor id={decided.by} /> {decisionWords[decided.decision]}
      {decided.decision === 'partial' && ` ${count(decided.withoutCount, 'step')}`}{' '}
      <RelativeTime at={decided.at} className="text-ink-3" />
      {decided.reason ? `: ${asSentence(decided.reason)}` : '.'}
    </p>
  )
}

const decisionWords: Record<NonNullable<RollbackView['decided']>['decision'], string> = {
  execute: 'let it go on',
  partial: 'let it go on without',
  abort: 'called it off',
  escalate: 'handed it on',
}

/** The votes on a phone, where there is no room for the table. */
function PhoneVotes({ parts, rollback }: { parts: readonly AgentPart[]; rollback: RollbackView }) {
  return (
    <Facts label={120} dense className="mb-3">
      {parts.map((part) => (
        <Fact key={part.key} label={holderName(part)}>
          <span className="[&_span]:whitespace-normal">
            <VoteMark part={part} rollback={rollback} />
          </span>
        </Fact>
      ))}
    </Facts>
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
function otherSteps(rollback: RollbackView, stands: readonly StepStand[]): StepStand[] {
  const begun = new Set(rollback.acts.map(planKey))
  return stands.filter(({ step }) => step.fate !== 'untouched' && !begun.has(planKey(step)))
}

function OtherStep({ of: { step, state, word }, rollback }: { of: StepStand; rollback: RollbackView }) {
  const why = whyOther(step, rollback)
  return (
    <>
      <StateMark state={state}>{word}</StateMark>
      {why !== undefined && (
        <span className="block">
          <Sub>{asSentence(why)}</Sub>
        </span>
      )}
    </>
  )
}

/** Why a step has no act, where that needs saying. */
function whyOther(step: PlanStep, rollback: RollbackView): string | undefined {
  switch (step.fate) {
    case 'irreversible':
    case 'refused':
      return step.sentence
    case 'reset':
      return whyNotSetBack(rollback)
    case 'restored':
    case 'compensated': {
      const key = stepKey(step)
      const vote = rollback.votes.find(({ checkpointId }) => checkpointId === key)
      if (vote?.vote === 'cannot_prepare') return vote.description
      return rollback.status === 'executing' || rollback.decided ? undefined : 'its turn never came'
    }
    default:
      return undefined
  }
}

function headline(
  rollback: RollbackView,
  plan: RollbackPlanView | undefined,
  stands: readonly StepStand[],
  waitsFor: WaitsFor | undefined,
): string {
  const decision = rollback.decided?.decision
  const nothing = rollback.acts.every(({ status }) => status !== 'completed')
  if (decision === 'abort' && nothing) return 'Called off: nothing was taken back.'
  if (decision === 'escalate' && nothing) return 'Handed on to a person: nothing was taken back.'
  if (rollback.status === 'superseded') return 'Taken over by another rollback.'
  if (rollback.status !== 'executing')
    return resultWords(rollback.status, rollback.acts, hasSetBack(rollback) ? (plan?.counts.reset ?? 0) : 0)
  if (waitsFor) return waitWords(waitsFor)
  if (rollback.phase === 'preparing') return 'Asking who can; nothing has changed yet'
  const back = rollback.acts.filter((act) => act.status === 'completed').length
  const undone = stands.filter(({ step }) => step.fate === 'restored' || step.fate === 'compensated')
  const all = undone.filter(({ fate }) => fate !== 'untouched').length
  return plan === undefined
    ? `Rolling back, ${count(back, 'step')} so far`
    : `Rolling back, ${back} of ${count(all, 'step')} so far`
}

/** A step by name, with its visit where the run came there more than once. */
function actName({ visit = 1 }: RollbackView['acts'][number], label: string): string {
  return visit > 1 ? `${label}, visit ${visit}` : label
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
