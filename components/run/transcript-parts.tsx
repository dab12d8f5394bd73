'use client'
import { useState } from 'react'
import { cx } from '@/components/ui/cx'
import { StateShape } from '@/components/ui/state'
import type { Json } from '@/lib/base/json'
import type { Saying } from '@/lib/view/agent-transcript'
import { shownOf } from '@/lib/view/frame'
import { asSentence } from '@/lib/view/plain-words'
import type { RunFold, WalkedStep } from '@/lib/view/run-fold'
import type { ShownState } from '@/lib/view/shown-state'

/** Steps read before a person asks for more: each is a value of its own to fetch. */
export const stepsAtFirst = 24

export interface OfRun {
  run: string
  fold: RunFold
  onSelect?: (node: string, visit: number) => void
}

export function sentenceCase(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

export type Select = ((node: string, visit: number) => void) | undefined

export function saidWords(saying: Saying): string {
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

export function StepHead({
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

export function StepLink({
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

export function NotDone({ step, what }: { step: WalkedStep; what: string }) {
  const { state } = step
  if (state.status === 'failed')
    return <p className="pb-3 text-failed-ink">{asSentence(state.error.description)}</p>
  const shown = shownOf(state)
  return <p className="pb-3 text-ink-3">{shown.shown === 'running' ? what : `It is ${shown.word}.`}</p>
}

/** Lines of a value that are shown before a person asks for all of it. */
const linesAtFirst = 12

export function Box({ label, value, wraps = false }: { label: string; value: Json; wraps?: boolean }) {
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
