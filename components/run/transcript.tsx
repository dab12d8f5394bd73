'use client'
import { useState } from 'react'
import { Button } from '@/components/ui/button'
import { cx } from '@/components/ui/cx'
import { Skeleton } from '@/components/ui/skeleton'
import { StateShape } from '@/components/ui/state'
import type { Json } from '@/lib/base/json'
import { useValue } from '@/lib/ui/run-queries'
import { type Saying, sayingOf, toolAnswer } from '@/lib/view/agent-transcript'
import { asSentence, shownOf } from '@/lib/view/frame'
import { ranOutLabel } from '@/lib/view/ran-out'
import type { RunFold, WalkedStep } from '@/lib/view/run-fold'
import type { ShownState } from '@/lib/view/wire'

/** Steps read before a person asks for more: each is a value of its own to fetch. */
const stepsAtFirst = 24

/** An agent loop as a conversation: what the model said, the tool it chose and with what, and what came of it. */
export function Transcript({
  run,
  fold,
  onSelect,
}: {
  run: string
  fold: RunFold
  onSelect?: (node: string, visit: number) => void
}) {
  const [all, setAll] = useState(false)
  const steps = fold.walked
  const shown = all ? steps : steps.slice(0, stepsAtFirst)
  let turn = 0
  return (
    <div>
      <ol aria-label="Transcript">
        {shown.map((step, at) => {
          const kind = fold.index.nodes.get(step.node)?.kind
          const isThought = kind === 'agent_think'
          const isEnd = isThought && labelOf(step) === ranOutLabel
          if (isThought && !isEnd) turn++
          const next = steps[at + 1]
          const refused = isThought && next !== undefined && labelOf(next) === 'error'
          return (
            <li
              key={`${step.node} ${step.visit}`}
              className={cx('px-4', isThought ? 'border-t pt-3' : 'pb-3 pt-1')}
            >
              {isEnd ? (
                <StepHead
                  title={sentenceCase(fold.ranOut ?? 'out of steps')}
                  step={step}
                  mark="skipped"
                  isEnd
                  onSelect={onSelect}
                />
              ) : isThought ? (
                <Thought run={run} step={step} turn={turn} refused={refused} onSelect={onSelect} />
              ) : (
                <ToolUse run={run} step={step} onSelect={onSelect} />
              )}
            </li>
          )
        })}
      </ol>
      {steps.length > shown.length && (
        <div className="border-t px-4 py-2">
          <Button size="sm" variant="quiet" onClick={() => setAll(true)}>
            Show {steps.length - shown.length} more steps
          </Button>
        </div>
      )}
    </div>
  )
}

function labelOf({ state }: WalkedStep): string | undefined {
  return state.status === 'done' ? state.label : undefined
}

function sentenceCase(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

type Select = ((node: string, visit: number) => void) | undefined

function Thought({
  run,
  step,
  turn,
  refused,
  onSelect,
}: {
  run: string
  step: WalkedStep
  turn: number
  /** The tool it chose was refused, or failed. */
  refused: boolean
  onSelect: Select
}) {
  const value = useValue(run, step.state.status === 'done' ? step.state.output : undefined)
  const saying = value.data?.json === undefined ? undefined : sayingOf(value.data.json)
  return (
    <>
      <StepHead
        title={`Step ${turn}`}
        step={step}
        mark={labelOf(step) === 'again' ? 'failed' : refused ? 'skipped' : undefined}
        onSelect={onSelect}
      >
        {saying && saidWords(saying)}
      </StepHead>
      {step.state.status !== 'done' ? (
        <NotDone step={step} what="The model is being asked." />
      ) : value.isError ? (
        <p className="pb-3 text-ink-3">What the model said could not be read.</p>
      ) : value.data?.truncated ? (
        <p className="pb-3 text-ink-3">Too long to show here; the step’s output holds it.</p>
      ) : !saying ? (
        <Skeleton what="what the model said" lines={2} />
      ) : (
        <div className="pb-2">
          {saying.thought !== '' && <p className="text-ink-2 [overflow-wrap:anywhere]">{saying.thought}</p>}
          {saying.does === 'tool' && <Box label={`Arguments of ${saying.tool}`} value={saying.args} />}
          {saying.does === 'final' && <Box label="Result" value={saying.result} />}
          {saying.does === 'again' && <p className="text-failed-ink">{asSentence(saying.why)}</p>}
        </div>
      )}
    </>
  )
}

function saidWords(saying: Saying): string {
  switch (saying.does) {
    case 'tool':
      return saying.tool
    case 'final':
      return 'final answer'
    case 'exhausted':
      return saying.why
    case 'again':
      return 'not usable'
    default:
      return saying satisfies never
  }
}

function ToolUse({ run, step, onSelect }: { run: string; step: WalkedStep; onSelect: Select }) {
  const value = useValue(run, step.state.status === 'done' ? step.state.output : undefined)
  const answer = value.data?.json === undefined ? undefined : toolAnswer(value.data.json, step.state)
  return (
    <div className="border-l-2 border-line pl-3">
      <StepHead
        title={answer?.refused ? 'Refused' : 'Answer'}
        step={step}
        onSelect={onSelect}
        mark={labelOf(step) === 'error' ? 'failed' : undefined}
      />
      {step.state.status !== 'done' ? (
        <NotDone step={step} what="Under way." />
      ) : value.data?.truncated ? (
        <p className="text-ink-3">Too long to show here; the step’s output holds it.</p>
      ) : !answer ? (
        value.isError ? (
          <p className="text-ink-3">The answer could not be read.</p>
        ) : (
          <Skeleton what="the answer" lines={1} />
        )
      ) : answer.refused !== undefined ? (
        <p className="text-failed-ink [overflow-wrap:anywhere]">{asSentence(answer.refused)}</p>
      ) : (
        <Box label="Answer of the tool" value={answer.result} />
      )}
    </div>
  )
}

function StepHead({
  title,
  step,
  onSelect,
  mark,
  isEnd = false,
  children,
}: {
  title: string
  step: WalkedStep
  onSelect: Select
  /** In place of the mark of its state: that it was done says nothing of whether it was of use. */
  mark?: ShownState | undefined
  /** It is no step, but where they end. */
  isEnd?: boolean
  children?: string | undefined
}) {
  return (
    <p className="flex items-center gap-2">
      <StateShape state={mark ?? shownOf(step.state).shown} />
      <span className="text-ink-3">{title}</span>
      {children && <span className="min-w-0 truncate font-medium">{children}</span>}
      <span className="flex-1" />
      {onSelect && (
        <button
          type="button"
          className="rounded-r1 text-t1 text-ink-3 underline decoration-line-strong underline-offset-4 hover:text-ink max-md:py-3"
          onClick={() => onSelect(step.node, step.visit)}
        >
          {isEnd ? step.node : `${step.node}, visit ${step.visit}`}
        </button>
      )}
    </p>
  )
}

function NotDone({ step, what }: { step: WalkedStep; what: string }) {
  const { state } = step
  if (state.status === 'failed')
    return <p className="pb-3 text-failed-ink">{asSentence(state.error.description)}</p>
  const shown = shownOf(state)
  return <p className="pb-3 text-ink-3">{shown.shown === 'running' ? what : `It is ${shown.word}.`}</p>
}

/** Lines of a value that are shown before a person asks for all of it. */
const linesAtFirst = 12

function Box({ label, value }: { label: string; value: Json }) {
  const [all, setAll] = useState(false)
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  const lines = text.split('\n')
  const more = lines.length - linesAtFirst
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
      tabIndex={0}
      aria-label={label}
      className="mt-1 overflow-x-auto rounded-r2 border bg-well px-3 py-1.5"
    >
      <pre className="mono leading-5">{all ? text : lines.slice(0, linesAtFirst).join('\n')}</pre>
      {!all && more > 0 && (
        <button
          type="button"
          className="mt-1 text-t1 text-ink-3 underline decoration-line-strong underline-offset-4"
          onClick={() => setAll(true)}
        >
          Show {more.toLocaleString('en')} more lines
        </button>
      )}
    </section>
  )
}
