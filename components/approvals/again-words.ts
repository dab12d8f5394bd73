/* What came of "ask them again" and of "put it back all the same", as the answered question says it. Pure. */
import type { AboutRollback } from '@/lib/view/question-wire'
import type { ShownState } from '@/lib/view/shown-state'

export interface AgainWords {
  state: ShownState
  words: string
  /** The question that came of it. */
  anew?: string
}

const ends = {
  completed: { state: 'done', words: 'it is taken back.' },
  partial: { state: 'done', words: 'part of it is taken back.' },
  escalated: { state: 'skipped', words: 'the rollback ended without them.' },
  failed: { state: 'failed', words: 'the rollback failed.' },
  superseded: { state: 'skipped', words: 'a broader rollback took it over.' },
} as const

/**
 * How the rollback stands since those that said no are asked again, `overwrites`: to put back what was changed since.
 * `approval` is the question that was answered so.
 */
export function againWords(
  { phase, status, question }: AboutRollback['now'],
  approval: string,
  overwrites = false,
): AgainWords {
  const asked = `They were asked ${overwrites ? 'to put it back all the same' : 'again'}`
  if (status !== 'executing') return { ...ends[status], words: `${asked}, and ${ends[status].words}` }
  if (phase === 'asking' && question !== undefined && question !== approval) {
    const why = overwrites ? 'Something else stands in the way' : 'They said no again'
    return { state: 'waiting', words: `${why}, so it is asked anew.`, anew: question }
  }
  if (phase === 'executing') return { state: 'running', words: `${asked}, and the rollback goes on.` }
  return {
    state: 'running',
    words: `${asked.replace('were', 'are')}. What they say shows here.`,
  }
}
