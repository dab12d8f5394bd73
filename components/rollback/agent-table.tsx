'use client'
import { type ReactNode, useState } from 'react'
import { whyCannot } from '@/components/approvals/words'
import { CopyId } from '@/components/ui/copy-id'
import { cx } from '@/components/ui/cx'
import { OpenMark } from '@/components/ui/open-mark'
import { StateMark } from '@/components/ui/state'
import { Table, TableScroll, Td, Th } from '@/components/ui/table'
import { type AgentPart, type AgentStep, saidOf } from '@/lib/view/agent-parts'
import { beginsRuns } from '@/lib/view/child-kinds'
import { asSentence } from '@/lib/view/plain-words'
import type { PlanStep, RollbackPlanView, RollbackView } from '@/lib/view/rollback-wire'
import { ActMark } from './act-mark'
import { Holder } from './holder'
import { Phases } from './phases'
import { planName } from './plan-words'
import { fateWords, plannedFate } from './step-fates'
import { holderName, isHeldBefore, phaseOf, turnWords } from './vote-words'

type KindOf = (node: string) => string | undefined
type Overwrite = (step: PlanStep) => boolean

/**
 * The plan by agent: what each is asked, what it said, and the evidence: its state now and as it was sealed. It fills while
 * agents answer, and while they act. An agent with several steps opens to show each.
 */
export function AgentTable({
  plan,
  parts,
  kindOf,
  overwrite,
  rollback,
}: {
  plan: RollbackPlanView
  parts: readonly AgentPart[]
  kindOf: KindOf
  /** Its target is put back although it was changed since. */
  overwrite: Overwrite
  rollback?: RollbackView | undefined
}) {
  if (parts.length === 0) return null
  return (
    <section aria-label="Agents of the rollback" className="shrink-0 border-t bg-surface max-md:hidden">
      <Phases parts={parts} rollback={rollback} />
      <TableScroll className="max-h-56" tabIndex={0}>
        <Table>
          <thead>
            <tr>
              <Th>Agent</Th>
              <Th numeric>Steps</Th>
              <Th>Asked to</Th>
              <Th>Vote</Th>
              <Th>State now</Th>
              <Th>Sealed state</Th>
              <Th>Check</Th>
              <Th>Turn</Th>
            </tr>
          </thead>
          <tbody>
            {parts.map((part) => (
              <PartRows
                key={part.key}
                part={part}
                plan={plan}
                kindOf={kindOf}
                overwrite={overwrite}
                rollback={rollback}
              />
            ))}
          </tbody>
        </Table>
      </TableScroll>
    </section>
  )
}

function PartRows({
  part,
  plan,
  kindOf,
  overwrite,
  rollback,
}: {
  part: AgentPart
  plan: RollbackPlanView
  kindOf: KindOf
  overwrite: Overwrite
  rollback: RollbackView | undefined
}) {
  const [open, setOpen] = useState(false)
  const [first] = part.steps
  if (!first) return null
  const one = part.steps.length === 1
  return (
    <>
      <tr>
        <Td className={cx(part.runs && 'max-w-64 truncate')}>
          {one || part.runs ? (
            <Holder part={part} />
          ) : (
            <button
              type="button"
              aria-expanded={open}
              aria-label={`Steps of ${holderName(part)}`}
              onClick={() => setOpen(!open)}
              className="ring-inside -ml-1 inline-flex items-center gap-1 align-middle rounded-r1 pr-1 hover:bg-hover"
            >
              <OpenMark open={open} />
              <Holder part={part} />
            </button>
          )}
        </Td>
        <Td numeric>{part.steps.length}</Td>
        <Td>
          <AskedTo steps={part.steps} kindOf={kindOf} overwrite={overwrite} />
        </Td>
        <Td>
          <VoteMark part={part} rollback={rollback} />
        </Td>
        {one ? (
          <Evidence of={first} kindOf={kindOf} />
        ) : (
          <>
            <Td className="text-ink-3">{open ? '' : 'each its own'}</Td>
            <Td className="text-ink-3">{open ? '' : 'each its own'}</Td>
            <Td className="text-ink-2">{open ? '' : checksOf(part.steps, kindOf)}</Td>
          </>
        )}
        <Td className="text-ink-2">
          <Turn steps={part.steps} rollback={rollback} />
        </Td>
      </tr>
      {open &&
        part.steps.map((of) => (
          <tr key={of.key}>
            <Td className="pl-9! text-ink-2">{planName(of.step, plan)}</Td>
            <Td />
            <Td>
              <AskedTo steps={[of]} kindOf={kindOf} overwrite={overwrite} />
            </Td>
            <Td>
              <VoteMark part={{ ...part, steps: [of], said: saidOf([of]) }} rollback={rollback} />
            </Td>
            <Evidence of={of} kindOf={kindOf} />
            <Td className="text-ink-2">
              <Turn steps={[of]} rollback={rollback} />
            </Td>
          </tr>
        ))}
    </>
  )
}

/** "restore", or of several kinds "restore 2, cannot undo 1". */
function AskedTo({
  steps,
  kindOf,
  overwrite,
}: {
  steps: readonly AgentStep[]
  kindOf: KindOf
  overwrite: Overwrite
}) {
  const counts = new Map<string, { n: number; bad: boolean }>()
  for (const { step } of steps) {
    const words = takesRunsBack(step, kindOf)
      ? 'roll back its runs'
      : fateWords[plannedFate(step, overwrite(step))].asked
    const bad = step.fate === 'irreversible' || step.fate === 'refused'
    counts.set(words, { n: (counts.get(words)?.n ?? 0) + 1, bad })
  }
  const several = counts.size > 1
  return [...counts].map(([words, { n, bad }], at) => (
    <span key={words} className={bad ? 'text-failed-ink' : ''}>
      {at > 0 && ', '}
      {words}
      {several && ` ${n}`}
    </span>
  ))
}

const takesRunsBack = ({ fate, node }: PlanStep, kindOf: KindOf) =>
  fate === 'restored' && beginsRuns(kindOf(node) ?? '')

/** What its holder said in phase 1; why not, in words, where it cannot. */
export function VoteMark({
  part,
  rollback,
}: {
  part: AgentPart
  rollback: RollbackView | undefined
}): ReactNode {
  const asked = phaseOf(rollback) === 'prepare'
  switch (part.said) {
    case 'prepared':
      return (
        <StateMark state="done" className="align-middle">
          prepared
        </StateMark>
      )
    case 'cannot': {
      const no = part.steps.find(({ vote }) => vote?.vote === 'cannot_prepare')?.vote
      const why = no?.reason && whyCannot(no.reason, no.changedBy !== undefined)
      return (
        <span title={no ? asSentence(no.description) : undefined}>
          <StateMark state="failed" className="align-middle">
            cannot prepare
          </StateMark>
          {why && (
            <span className="block max-w-[150px] whitespace-normal pb-1 pl-[22px] text-t1 leading-4 text-ink-2">
              <span className="sr-only">: </span>
              {why}
            </span>
          )}
        </span>
      )
    }
    case 'some':
    case 'nothing': {
      if (!rollback || isHeldBefore(rollback))
        return (
          <StateMark state="pending" className="align-middle">
            not asked yet
          </StateMark>
        )
      const answered = part.steps.filter(({ vote }) => vote).length
      if (!asked)
        return (
          <StateMark state={answered > 0 ? 'done' : 'skipped'} className="align-middle">
            {answered > 0 ? `prepared, for ${answered} of ${part.steps.length}` : 'not asked'}
          </StateMark>
        )
      return (
        <StateMark state="running">
          waiting{answered > 0 && `, ${answered} of ${part.steps.length} answered`}
        </StateMark>
      )
    }
    default:
      return part.said satisfies never
  }
}

function Evidence({ of: { step, act, vote }, kindOf }: { of: AgentStep; kindOf: KindOf }) {
  const now = act?.stateHashAfter ?? act?.stateHashBefore ?? step.stateHashNow
  return (
    <>
      <Td>
        {now ? (
          <CopyId id={now} what="state hash" />
        ) : step.stateUnread || vote?.reason === 'unreachable' ? (
          <span className="text-failed-ink">did not answer</span>
        ) : (
          <None />
        )}
      </Td>
      <Td>{step.sealedHash ? <CopyId id={step.sealedHash} what="sealed hash" /> : <None />}</Td>
      <Td className="text-ink-2">{checkOf({ step, act, vote }, kindOf)}</Td>
    </>
  )
}

function None() {
  return <span className="mono text-ink-3">none</span>
}

/** What comes of the two hashes. Before the act, that they differ is the step's own doing, and the reason to take it back. */
function checkOf(
  { step, act, vote }: Pick<AgentStep, 'step'> & { [part in 'act' | 'vote']?: AgentStep[part] | undefined },
  kindOf: KindOf,
): string {
  if (step.fate === 'irreversible') return 'a person is told'
  if (step.fate === 'refused') return 'the checkpoint does not serve'
  if (vote?.vote === 'cannot_prepare') return 'stays as it is'
  if (act?.stateHashAfter && step.sealedHash && step.fate === 'restored')
    return act.stateHashAfter === step.sealedHash ? 'matches the seal' : 'differs from the seal'
  if (takesRunsBack(step, kindOf)) return 'each run plans its own'
  if (step.changedSince && act?.status !== 'completed') return 'changed since the step'
  if (act?.status === 'completed') return step.sealedHash ? 'not read again' : 'a new action'
  if (!step.sealedHash) return 'a new action'
  if (!step.stateHashNow) return 'looked at in its turn'
  return step.sealedHash === step.stateHashNow ? 'already as before' : 'will change back'
}

function checksOf(steps: readonly AgentStep[], kindOf: KindOf): string {
  const checks = new Set(steps.map((of) => checkOf(of, kindOf)))
  return checks.size === 1 ? ([...checks][0] ?? '') : `${checks.size} different`
}

function Turn({ steps, rollback }: { steps: readonly AgentStep[]; rollback: RollbackView | undefined }) {
  const turns = turnWords(steps.map(({ turn }) => turn))
  const acts = steps.flatMap(({ act }) => act ?? [])
  const [only] = acts
  if (!rollback || acts.length === 0 || !only) return turns
  if (steps.length === 1) return <ActMark act={only} />
  const over = acts.filter(({ status }) => status !== undefined).length
  const failed = acts.some(({ status }) => status === 'failed')
  const told = acts.some(({ status }) => status === 'escalated')
  const state = failed ? 'failed' : told ? 'escalated' : over === steps.length ? 'rolled_back' : 'running'
  return (
    <StateMark state={state}>
      {over} of {steps.length} over
    </StateMark>
  )
}
