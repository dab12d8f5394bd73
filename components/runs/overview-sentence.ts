import { count } from '@/lib/ui/format-time'
import type { Overview } from '@/lib/view/wire'

/** The one sentence of the overview: "2 steps wait for a person, 1 run has failed, 5 are running." */
export function overviewSentence({
  waiting,
  failing,
  running,
  resting,
  rolledBack,
  endedToday,
}: Overview['counts']): string {
  const parts = [
    waiting > 0 && `${count(waiting, 'question waits', 'questions wait')} for a person`,
    rolledBack > 0 && `${count(rolledBack, 'rolled-back run waits', 'rolled-back runs wait')} for a choice`,
    failing > 0 && `${count(failing, 'run has failed', 'runs have failed')}`,
  ].filter((part) => part !== false)
  if (parts.length === 0) parts.push('Nothing needs you')
  const still = resting - rolledBack
  if (still > 0) parts.push(`${count(still, 'run stands', 'runs stand')} still`)
  parts.push(
    running > 0
      ? `${running} ${running === 1 ? 'is' : 'are'} running`
      : `${count(endedToday, 'run')} ended today`,
  )
  return `${parts.join(', ')}.`
}
