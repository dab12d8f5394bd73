/* What a card says where nobody can tell whether what a step acts on is still as it was. Pure. */
import { asSentence } from '@/lib/view/plain-words'

export interface UntoldWords {
  words: string
  /** What approving does then. */
  approving: string
  /** The technical reason, small and last. */
  reason?: string
}

/** Who gave no answer or what could not be looked at, and why, as `lib/server/look-again.ts` puts it. */
const silentClause =
  /^(?:the agent )?(.+?) (gave no answer|could not be looked at)(?: to go by)?(?: \((.+)\))?$/s

/**
 * `why`: the clause of `ApprovalNow.silent`, or the sentence of a refusal to look. `changed`: it was seen to be changed
 * before, and that is what is shown.
 */
export function untoldWords(why: string, changed: boolean): UntoldWords {
  const as = changed ? 'as shown' : 'as asked'
  const approving = changed
    ? 'Approving looks once more, and is not taken where that tells nothing; refusing waits for nothing.'
    : 'Approving waits for nothing.'
  const [, who, what, reason] = silentClause.exec(why) ?? []
  const words = `${who ? `${who} ${what}` : 'It was not looked at again'}, so nobody can tell whether it is still ${as}.`
  const told = who ? reason : why
  return { words, approving, ...(told && { reason: asSentence(told) }) }
}
