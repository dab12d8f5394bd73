import { type RunId, widOf } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'

/** A run's id from a path. Throws Problem `not_found`: what is no id names no run. */
export function runIdFrom(text: string | undefined): RunId {
  try {
    widOf(text ?? '')
    return text as RunId
  } catch {
    throw new Problem(
      'not_found',
      `No run is known as "${(text ?? '').slice(0, 60)}"; expected run_ and 32 hex digits`,
    )
  }
}
