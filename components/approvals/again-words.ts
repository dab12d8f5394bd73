/* What came of "ask them again", as the answered question says it. Pure. */
import type { AboutRollback } from '@/lib/view/question-wire'
import type { ShownState } from '@/lib/view/wire'

export interface AgainWords {
  state: ShownState
  words: string
  /** The question that came of it. */
  anew?: string
}

const ends = {
  completed: { state: 'done', words: 'They were asked again, and it is taken back.' },
  partial: { state: 'done', words: 'They were asked again, and part of it is taken back.' },
  escalated: { state: 'skipped', words: 'They were asked again, and the rollback ended without them.' },
  failed: { state: 'failed', words: 'They were asked again, and the rollback failed.' },
  superseded: { state: 'skipped', words: 'They were asked again, and a broader rollback took it over.' },
} as const

/** How the rollback stands since those that said no are asked again; `approval` is the question that was answered so. */
export function againWords({ phase, status, question }: AboutRollback['now'], approval: string): AgainWords {
  if (status !== 'executing') return ends[status]
  if (phase === 'asking' && question !== undefined && question !== approval) {
    return { state: 'waiting', words: 'They said no again, so it is asked anew.', anew: question }
  }
  if (phase === 'executing')
    return { state: 'running', words: 'They were asked again, and the rollback goes on.' }
  return { state: 'running', words: 'They are asked again. What they say shows here.' }
}
