'use client'
import { useState } from 'react'
import { Button } from '@/components/ui/button'
import { cx } from '@/components/ui/cx'
import { Skeleton } from '@/components/ui/skeleton'
import { useValue } from '@/lib/ui/run-queries'
import { sayingOf, toolAnswer } from '@/lib/view/agent-transcript'
import { asSentence } from '@/lib/view/plain-words'
import { ranOutLabel } from '@/lib/view/ran-out'
import type { RunFold, WalkedStep } from '@/lib/view/run-fold'
import {
  Box,
  NotDone,
  type OfRun,
  type Select,
  StepHead,
  saidWords,
  sentenceCase,
  stepsAtFirst,
} from './transcript-parts'
import { TurnTranscript } from './turn-transcript'

/** True for a run that is a talk with a model: an agent loop, or one turn of a prompt state. */
export function isTalk({ index }: RunFold): boolean {
  return index.graph.nodes.some(({ kind }) => kind === 'agent_think' || kind === 'prompt_turn')
}

/** A talk with a model as a conversation: what it said, the tool it chose and with what, and what came of it. */
export function Transcript(props: OfRun) {
  const isTurn = props.fold.index.graph.nodes.some(({ kind }) => kind === 'prompt_turn')
  return isTurn ? <TurnTranscript {...props} /> : <LoopTranscript {...props} />
}

/** An agent loop: one thought a step. */
function LoopTranscript({ run, fold, onSelect }: OfRun) {
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
          const isEnd = isThought && outcomeLabel(step) === ranOutLabel
          if (isThought && !isEnd) turn++
          const next = steps[at + 1]
          const refused = isThought && next !== undefined && outcomeLabel(next) === 'error'
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

function outcomeLabel({ state }: WalkedStep): string | undefined {
  return state.status === 'done' ? state.label : undefined
}

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
        mark={outcomeLabel(step) === 'again' ? 'failed' : refused ? 'skipped' : undefined}
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

function ToolUse({ run, step, onSelect }: { run: string; step: WalkedStep; onSelect: Select }) {
  const value = useValue(run, step.state.status === 'done' ? step.state.output : undefined)
  const answer = value.data?.json === undefined ? undefined : toolAnswer(value.data.json, step.state)
  return (
    <div className="border-l-2 border-line pl-3">
      <StepHead
        title={answer?.refused ? 'Refused' : 'Answer'}
        step={step}
        onSelect={onSelect}
        mark={outcomeLabel(step) === 'error' ? 'failed' : undefined}
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
