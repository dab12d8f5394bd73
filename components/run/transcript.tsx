'use client'
import { useState } from 'react'
import { Button } from '@/components/ui/button'
import { cx } from '@/components/ui/cx'
import { Skeleton } from '@/components/ui/skeleton'
import { StateShape } from '@/components/ui/state'
import { isJsonObject, type Json } from '@/lib/base/json'
import { useValue } from '@/lib/ui/run-queries'
import {
  faultOf,
  type Saying,
  sayingOf,
  type TurnRound,
  type TurnUse,
  toolAnswer,
  turnTalk,
} from '@/lib/view/agent-transcript'
import { shownOf } from '@/lib/view/frame'
import { asSentence } from '@/lib/view/plain-words'
import { ranOutLabel } from '@/lib/view/ran-out'
import type { RunFold, WalkedStep } from '@/lib/view/run-fold'
import type { ShownState } from '@/lib/view/shown-state'
import { labelOf } from '@/lib/workflow/graph-index'

/** Steps read before a person asks for more: each is a value of its own to fetch. */
const stepsAtFirst = 24

interface OfRun {
  run: string
  fold: RunFold
  onSelect?: (node: string, visit: number) => void
}

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

/**
 * A turn of a prompt state: the prompt as the model was told it, then each answer with its calls. One answer may call
 * several tools; which step did which call is told where it is beyond doubt.
 */
function TurnTranscript({ run, fold, onSelect }: OfRun) {
  const [all, setAll] = useState(false)
  const at = fold.walked.findLastIndex(
    (step) => kindOf(fold, step) === 'prompt_turn' && step.state.status === 'done',
  )
  const last = fold.walked[at]
  const value = useValue(run, last?.state.status === 'done' ? last.state.output : undefined)
  const turn = value.data?.json === undefined ? undefined : turnTalk(value.data.json)
  const rounds = turn?.rounds ?? []
  const steps = stepsOfCalls(fold, rounds)
  // What is under way and stands beside its call needs no line of its own.
  const left = fold.walked.slice(at + 1).filter((step) => !steps.has(toolOf(fold, step) ?? ''))
  const shown = all ? rounds : rounds.slice(0, stepsAtFirst)
  return (
    <div>
      <Prompt run={run} input={fold.input} />
      {turn && turn.earlier > 1 && (
        <p className="border-t px-4 py-2 text-ink-3">
          Told again before it: {(turn.earlier - 1).toLocaleString('en')} messages of earlier turns.
        </p>
      )}
      {last && !turn && (value.isError || value.data) && (
        <p className="border-t px-4 py-3 text-ink-3">
          {value.data?.truncated
            ? 'Too long to show here; the output of the step “turn” holds it.'
            : 'What the model said could not be read.'}
        </p>
      )}
      {last && !turn && !value.isError && !value.data && <Skeleton what="what the model said" lines={3} />}
      <ol aria-label="Transcript">
        {shown.map((round, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rounds are only ever added at the end.
          <li key={index} className="border-t px-4 py-3">
            <Round number={index + 1} round={round} steps={steps} onSelect={onSelect} />
          </li>
        ))}
        {left.map((step) => (
          <li key={`${step.node} ${step.visit}`} className="border-t px-4 pt-3">
            <StepHead
              title={kindOf(fold, step) === 'prompt_turn' ? 'Round' : 'Tool'}
              step={step}
              onSelect={onSelect}
            >
              {kindOf(fold, step) === 'prompt_turn'
                ? String(rounds.length + 1)
                : labelOf(fold.index, step.node)}
            </StepHead>
            <NotDone
              step={step}
              what={kindOf(fold, step) === 'prompt_turn' ? 'The model is being asked.' : 'Under way.'}
            />
          </li>
        ))}
      </ol>
      {rounds.length > shown.length && (
        <div className="border-t px-4 py-2">
          <Button size="sm" variant="quiet" onClick={() => setAll(true)}>
            Show {rounds.length - shown.length} more rounds
          </Button>
        </div>
      )}
      {turn?.end && (
        <p className="flex items-center gap-2 border-t px-4 py-3">
          <StateShape state={turn.end.exhausted ? 'exhausted' : 'done'} />
          {turn.end.exhausted
            ? 'Ended: no tool calls are left in the run’s budget.'
            : turn.end.event === null
              ? 'Ended with its answer.'
              : 'Ended with '}
          {turn.end.event !== null && <b>{turn.end.event}</b>}
        </p>
      )}
    </div>
  )
}

function kindOf(fold: RunFold, { node }: Pick<WalkedStep, 'node'>): string | undefined {
  return fold.index.nodes.get(node)?.kind
}

function toolOf(fold: RunFold, { node }: Pick<WalkedStep, 'node'>): string | undefined {
  const kind = fold.index.nodes.get(node)?.kind
  return kind !== undefined && kind !== 'prompt_turn' ? labelOf(fold.index, node) : undefined
}

/**
 * The steps that did the calls of each tool, in order, by the tool's name. A call that was refused at once was no step:
 * where there are more calls than steps nobody can tell which did which, and that tool is left out.
 */
function stepsOfCalls(fold: RunFold, rounds: readonly TurnRound[]): ReadonlyMap<string, WalkedStep[]> {
  const found = new Map<string, WalkedStep[]>()
  for (const step of fold.walked) {
    const name = toolOf(fold, step)
    if (name !== undefined) found.set(name, [...(found.get(name) ?? []), step])
  }
  const calls = new Map<string, number>()
  for (const { name } of rounds.flatMap(({ uses }) => uses)) calls.set(name, (calls.get(name) ?? 0) + 1)
  return new Map([...found].filter(([name, steps]) => calls.get(name) === steps.length))
}

/** What the model was told before anything else: the prompt, filled in once. */
function Prompt({ run, input }: { run: string; input: string | undefined }) {
  const value = useValue(run, input)
  const json = value.data?.json
  const system = isJsonObject(json) && typeof json.system === 'string' ? json.system : undefined
  if (input === undefined) return null
  return (
    <div className="px-4 pb-3 pt-2">
      <p className="text-ink-3">Prompt</p>
      {system !== undefined ? (
        <Box label="Prompt as the model was told it" value={system} wraps />
      ) : value.isError || value.data ? (
        <p className="text-ink-3">
          {value.data?.truncated
            ? 'Too long to show here; the input of the run holds it.'
            : 'It could not be read.'}
        </p>
      ) : (
        <Skeleton what="the prompt" lines={3} />
      )}
    </div>
  )
}

function Round({
  number,
  round,
  steps,
  onSelect,
}: {
  number: number
  round: TurnRound
  steps: ReadonlyMap<string, WalkedStep[]>
  onSelect: Select
}) {
  const { said, uses, told } = round
  return (
    <>
      <p className="text-ink-3">
        Round <span className="num">{number}</span>
      </p>
      {said !== '' && <p className="mt-1 whitespace-pre-wrap text-ink-2 [overflow-wrap:anywhere]">{said}</p>}
      {uses.map((use, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the calls of an answer never change.
        <Use key={index} use={use} step={steps.get(use.name)?.[use.nth]} onSelect={onSelect} />
      ))}
      {told !== undefined && (
        <p className="mt-2 border-l-2 border-line pl-3 text-ink-3 [overflow-wrap:anywhere]">
          Told back: {told}
        </p>
      )}
    </>
  )
}

const usedFor: Record<TurnUse['as'], string> = {
  tool: 'Calls',
  artifact: 'Writes an artifact',
  event: 'Ends its turn',
}

/** A call of the model and what came of it. */
function Use({ use, step, onSelect }: { use: TurnUse; step: WalkedStep | undefined; onSelect: Select }) {
  const fault = faultOf(use)
  const under = step && shownOf(step.state)
  const args = isJsonObject(use.args) ? use.args : {}
  const name = use.as === 'event' ? args.event : use.as === 'artifact' ? args.name : use.name
  return (
    <div className="mt-2 border-l-2 border-line pl-3">
      <p className="flex items-center gap-2">
        <StateShape
          state={
            use.isError
              ? 'failed'
              : use.result !== undefined || use.as !== 'tool'
                ? 'done'
                : (under?.shown ?? 'pending')
          }
        />
        <span className="text-ink-3">{usedFor[use.as]}</span>{' '}
        <span className="min-w-0 truncate font-medium">{typeof name === 'string' ? name : use.name}</span>
        {use.result === undefined && use.as === 'tool' && (
          <span className="text-ink-3">{under?.word ?? 'comes next'}</span>
        )}
        <span className="flex-1" />
        {step && onSelect && use.as === 'tool' && <StepLink step={step} onSelect={onSelect} />}
      </p>
      {use.as === 'tool' && <Box label={`Arguments of ${use.name}`} value={use.args} />}
      {use.as === 'artifact' && <Box label={`Value for ${String(name)}`} value={args.value ?? null} />}
      {fault !== undefined ? (
        <p className="mt-1 text-failed-ink [overflow-wrap:anywhere]">{asSentence(fault)}</p>
      ) : (
        use.as === 'tool' &&
        use.result !== undefined && <Box label={`What ${use.name} gave`} value={use.result} />
      )}
    </div>
  )
}

function outcomeLabel({ state }: WalkedStep): string | undefined {
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
      {onSelect && <StepLink step={step} onSelect={onSelect} brief={isEnd} />}
    </p>
  )
}

function StepLink({
  step,
  onSelect,
  brief = false,
}: {
  step: WalkedStep
  onSelect: NonNullable<Select>
  brief?: boolean
}) {
  return (
    <button
      type="button"
      className="rounded-r1 text-t1 text-ink-3 underline decoration-line-strong underline-offset-4 hover:text-ink max-md:py-3"
      onClick={() => onSelect(step.node, step.visit)}
    >
      {brief ? step.node : `${step.node}, visit ${step.visit}`}
    </button>
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

function Box({ label, value, wraps = false }: { label: string; value: Json; wraps?: boolean }) {
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
      <pre className={cx('mono leading-5', wraps && 'whitespace-pre-wrap [overflow-wrap:anywhere]')}>
        {all ? text : lines.slice(0, linesAtFirst).join('\n')}
      </pre>
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
