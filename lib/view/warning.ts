/* What the tag of a rollback that cannot be whole warns of. Pure. */
import type { AboutRollback, QuestionAbout } from './question-wire'

/** `changed_since`: somebody else changed all of it, and it can be put back all the same. `irreversible`: part cannot be undone. */
export type RollbackWarning = 'changed_since' | 'irreversible'

/** The warning, of those that cannot take their part back; undefined where neither is so: no answer, expired, unknown. */
export function warningOf({ cannot }: Pick<AboutRollback, 'cannot'>): RollbackWarning | undefined {
  if (cannot.some(({ why }) => why === 'irreversible')) return 'irreversible'
  return cannot.length > 0 && cannot.every(({ why }) => why === 'hash_mismatch') ? 'changed_since' : undefined
}

/** True of a rollback that somebody's change since keeps from being whole: it can be put back all the same. */
export function mayOverwrite(about: QuestionAbout | undefined): boolean {
  return about?.what === 'rollback' && about.cannot.some(({ changed }) => changed)
}
