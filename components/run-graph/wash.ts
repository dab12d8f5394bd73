import type { ComponentType } from 'react'
import type { PlanFate } from '@/lib/rollback/terms'

/** What a plan paints on one node: a ground, a word, and a small shape in the corner. */
export interface Wash {
  /** `changed`: left as it is, since somebody else changed it. */
  fate: PlanFate | 'changed'
  word: string
  icon?: ComponentType<{ className?: string }>
}
