/* What the tag of a rollback that cannot be whole warns of. Pure. */
import type { AboutRollback, QuestionAbout } from './question-wire'

/** `changed_since`: somebody else changed all of it, and it can be put back all the same. `irreversible`: part cannot be undone. */
export type RollbackWarning = 'changed_since' | 'irreversible'

/** The warning, of those that cannot take their part back; undefined where neither is so: no answer, expired, unknown. */
export function warningOf({ cannot }: Pick<AboutRollback, 'cannot'>): RollbackWarning | undefined {
  if (cannot.some(({ why }) => why === 'irreversible')) return 'irreversible'
  return cannot.length > 0 && cannot.every(({ why }) => why === 'hash_mismatch') ? 'changed_since' : undefined
}

/** True of a rollback that stops only before what somebody else changed since. */
export function isChangedSince(about: QuestionAbout | undefined): about is AboutRollback {
  return about?.what === 'rollback' && warningOf(about) === 'changed_since'
}
