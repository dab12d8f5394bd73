/* What a card says where nobody can tell whether what a step acts on is still as it was. Pure. */
import type { SilentTarget } from '@/lib/view/approval-wire'
import { asSentence } from '@/lib/view/plain-words'

/** Who or what told nothing; or the sentence that refused the look. */
export type WhyUntold = SilentTarget | string

interface UntoldWords {
  words: string
  /** What approving does then. */
  approving: string
  /** The technical reason, small and last. */
  reason: string
}

/** `changed`: it was seen to be changed before, and that is what is shown. */
export function untoldWords(why: WhyUntold, changed: boolean): UntoldWords {
  return {
    words: `${whatHappened(why)}, so nobody can tell whether it is still as ${changed ? 'shown' : 'asked'}.`,
    approving: changed
      ? 'Approving looks once more, and is not taken where that tells nothing; refusing waits for nothing.'
      : 'It can be approved all the same.',
    reason: asSentence(typeof why === 'string' ? why : why.why),
  }
}

function whatHappened(why: WhyUntold): string {
  if (typeof why === 'string') return 'It was not looked at again'
  return why.what === 'agent' ? `${why.name} gave no answer` : `${why.name} could not be looked at`
}
