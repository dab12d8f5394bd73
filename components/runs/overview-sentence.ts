import { count } from '@/lib/ui/format-time'
import type { Overview } from '@/lib/view/wire'

/** Questions and choices that only a person can answer: what "Needs a person" holds. */
export function needsPerson({ waiting, toChoose }: Pick<Overview['counts'], 'waiting' | 'toChoose'>): number {
  return waiting + toChoose
}

/** The one sentence of the overview: "2 steps wait for a person, 1 run has failed, 5 are running." */
export function overviewSentence({
  waiting,
  toChoose,
  failing,
  running,
  resting,
  endedToday,
}: Overview['counts']): string {
  const parts = [
    waiting > 0 && `${count(waiting, 'question waits', 'questions wait')} for a person`,
    toChoose > 0 && `${count(toChoose, 'rolled-back run waits', 'rolled-back runs wait')} for a choice`,
    failing > 0 && `${count(failing, 'run has failed', 'runs have failed')}`,
  ].filter((part) => part !== false)
  if (parts.length === 0) parts.push('Nothing needs you')
  if (resting > 0) parts.push(`${count(resting, 'run stands', 'runs stand')} still`)
  parts.push(
    running > 0
      ? `${running} ${running === 1 ? 'is' : 'are'} running`
      : `${count(endedToday, 'run')} ended today`,
  )
  return `${parts.join(', ')}.`
}
