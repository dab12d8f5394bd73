'use client'
import { useState } from 'react'
import { Button } from '@/components/ui/button'
import { Skeleton } from '@/components/ui/skeleton'
import { StateShape } from '@/components/ui/state'
import { isJsonObject } from '@/lib/base/json'
import { useValue } from '@/lib/ui/run-queries'
import { faultOf, type TurnRound, type TurnUse, turnTalk } from '@/lib/view/agent-transcript'
import { shownOf } from '@/lib/view/frame'
import { asSentence } from '@/lib/view/plain-words'
import type { RunFold, WalkedStep } from '@/lib/view/run-fold'
import { labelOf } from '@/lib/workflow/graph-index'
import { Box, NotDone, type OfRun, type Select, StepHead, StepLink, stepsAtFirst } from './transcript-parts'

/**
 * A turn of a prompt state: the prompt as the model was told it, then each answer with its calls. One answer may call
 * several tools; which step did which call is told where it is beyond doubt.
 */
export function TurnTranscript({ run, fold, onSelect }: OfRun) {
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
