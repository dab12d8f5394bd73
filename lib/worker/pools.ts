/*
 * Pools as a step meets them (cascade section 4.5, ATD section 9). A step takes a place after everybody who has to be
 * asked was asked and before its checkpoint is sealed; it says when its effect begins, and gives the place back when it
 * is over. Between taking the place and beginning the effect it may lose it again to critical work:
 *
 *   enter ──(waits)──▶ place ──▶ seal ──▶ effectBegins() ──▶ perform ──▶ leave()
 *                        ╰── preempted fires: leave(), and enter again with the same `since`
 *
 * Who goes next is decided by lib/pool/schedule.ts; what keeps the places is pool-book.ts.
 */
import { nodeKind } from '@/lib/nodes/registry'
import type { PoolAsk, PoolName } from '@/lib/pool/terms'
import type { GraphNode } from '@/lib/workflow/graph'

export interface Pools {
  /**
   * Waits for a place. Throws EffectFailed `bulkhead_full` (retriable, with `retryAt`) when as many steps of the workflow
   * wait as may, and the signal's reason when the signal fires first. `ask.since`: since when the step wants in, also
   * across attempts that lost their place again, so that it does not go to the end of the queue for it.
   */
  enter(ask: PoolAsk, signal: AbortSignal): Promise<Place>
}

export interface Place {
  /** It has less than it asked for: worth an `atd:error` of severity warning (ATD, Unsatisfiable Resource Hints). */
  readonly degraded: boolean
  /** Fires when critical work takes the place, which it does only while the effect has not begun. */
  readonly preempted: AbortSignal
  /** From here on nobody takes the place. False: it was taken already, so nothing may be done; leave and enter again. */
  effectBegins(): boolean
  /** Gives the place back. Again: nothing. */
  leave(): void
}

/** Kinds that wait for runs of their own: with a place in hand they would keep it from the very runs they wait for. */
const kindsOfRuns = new Set(['call', 'map', 'parallel', 'agent_loop', 'prompt_turn'])

/** The pool a step is done in: the agent's, or `here` when it names resources; most steps are in none. */
export function poolOf(node: GraphNode): PoolName | undefined {
  const { agent } = node.config
  if (node.kind === 'agent') {
    return typeof agent === 'string' && agent.startsWith('spiffe://') ? (agent as PoolName) : undefined
  }
  const asks = Object.values(node.resources ?? {}).some((amount) => amount !== undefined && amount > 0)
  return asks && nodeKind(node.kind) && !kindsOfRuns.has(node.kind) ? 'here' : undefined
}

const never = new AbortController().signal

/** Room for everybody at once: dry runs, tests, and where nothing is shared. */
export const openPlaces: Pools = {
  async enter() {
    return { degraded: false, preempted: never, effectBegins: () => true, leave: () => undefined }
  },
}
