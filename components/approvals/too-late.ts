import type { Verdict } from '@/lib/hitl/terms'

/** An answer that was tried and came too late. */
export interface TooLate {
  verdict: Verdict
  event?: string | undefined
  at: number
  sentence: string
  /** The reason the person typed: it was work, and may be said elsewhere. */
  comment: string
}
