import type { Clock } from '@/lib/base/clock'
import type { IdempotentAnswer } from '@/lib/engine/ports'
import { controlOf, isUniqueViolation } from './control'
import { keyReused } from './refusals'
import type { Store } from './store'

/** Answers to writes that commit nothing to a ledger: the same table as `Commit.answer`, written on its own. */
export interface Answers {
  answer(scope: string, key: string): Promise<IdempotentAnswer | undefined>
  /** Keeps an answer; keeping the same one again changes nothing. Throws Problem `idempotency_key_reused`. */
  remember(answer: IdempotentAnswer): Promise<void>
}

/** The answers of a store made by `openStore`. */
export function openAnswers(store: Store, clock: Clock): Answers {
  const control = controlOf(store)
  return {
    answer: (scope, key) => store.ledger.answer(scope, key),
    async remember(answer) {
      try {
        await control.write((prisma) =>
          prisma.answer.create({ data: { ...answer, answeredAt: clock.now() } }),
        )
      } catch (error) {
        if (!isUniqueViolation(error)) throw error
        const kept = await store.ledger.answer(answer.scope, answer.key)
        if (kept?.requestHash !== answer.requestHash)
          throw keyReused(answer, { requestHash: kept?.requestHash ?? '' })
      }
    },
  }
}
