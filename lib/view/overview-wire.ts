import type { ApprovalRow } from './approval-wire'
import type { RunRow } from './run-wire'

/**
 * `GET /api/v1/overview`. `counts.waiting` is every open question, of which `waiting` holds the most urgent. A run stands in
 * one of the other lists at most: `toChoose` were rolled back, and somebody has to say whether they end or go on; `failing`
 * ended so, `recent` otherwise; `resting` are those in which nothing moves and that ask nobody themselves: paused, behind a
 * breaker, offered to agents, or asking in a run below. What needs a person is `waiting` and `toChoose`.
 */
export interface Overview {
  waiting: ApprovalRow[]
  toChoose: RunRow[]
  failing: RunRow[]
  running: RunRow[]
  resting: RunRow[]
  recent: RunRow[]
  counts: {
    waiting: number
    toChoose: number
    failing: number
    running: number
    resting: number
    endedToday: number
  }
}
