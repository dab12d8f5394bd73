/*
 * Phase 2 of a rollback: its acts, at once where the graph allows it (lib/rollback/act-order.ts).
 *
 *   free ──▶ in hand ──▶ calls whoever undoes it ──▶ over, and what it kept waiting is free
 *            at most 64    at most 32, and one of each agent unless it takes more
 *
 * An act in hand has its tokens written while another one calls; so bookkeeping keeps no agent waiting. When the worker
 * stops or loses the run nothing more is begun, and what is under way ends first.
 */

import { ActOrder } from '@/lib/rollback/act-order'
import type { ActGraph } from '@/lib/rollback/critical-path'
import type { PlannedStep } from '@/lib/rollback/plan'
import type { RollbackStatus } from '@/lib/rollback/terms'
import { actKey } from '@/lib/rollback/votes'
import { HandedOver } from './handed-over'
import type { WorkerPorts } from './ports'
import type { Turn, Undoing } from './undo-act'

/** Acts whose tokens are being written or whose undo is under way. */
const inHandAtOnce = 64
/** Undos under way, all agents together. */
const callsAtOnce = 32
/** Undos of this installation itself that are under way. */
const hereAtOnce = 16

export interface ActResult {
  step: PlannedStep
  status: RollbackStatus
}

/** Carries out acts in the order the graph asks for; the results in the plan's order. `act` does one and says what it came to. */
export async function executeActs(
  { draining }: Pick<Undoing, 'draining'>,
  acts: readonly PlannedStep[],
  graph: ActGraph | 'chain',
  act: (step: PlannedStep) => Promise<RollbackStatus>,
): Promise<ActResult[]> {
  const order = new ActOrder(acts, graph)
  const results = new Map<string, RollbackStatus>()
  const place = new Map(acts.map((step, at) => [actKey(step), at]))
  const free: PlannedStep[] = []
  const inHand = new Set<Promise<void>>()
  let fault: { error: unknown } | undefined
  const take = () => {
    const more = order.take()
    if (more.length === 0) return
    free.push(...more)
    free.sort((a, b) => (place.get(actKey(a)) ?? 0) - (place.get(actKey(b)) ?? 0))
  }
  const begin = (step: PlannedStep) => {
    const work = act(step)
      .then(
        (status) => {
          results.set(actKey(step), status)
          order.over(step)
        },
        (error: unknown) => {
          fault ??= { error }
        },
      )
      .finally(() => inHand.delete(work))
    inHand.add(work)
  }
  while (!order.isOver) {
    take()
    while (fault === undefined && !draining.aborted && inHand.size < inHandAtOnce && free.length > 0) {
      begin(free.shift() as PlannedStep)
    }
    if (inHand.size === 0) break
    await Promise.race(inHand)
  }
  if (fault) throw fault.error
  if (!order.isOver) throw new HandedOver('rollback')
  return acts.map((step) => ({ step, status: results.get(actKey(step)) as RollbackStatus }))
}

/** Whose turn it is to be called: each agent takes as many undos at once as it says, one unless it says more. */
export class Turns {
  private readonly all = new Lane(callsAtOnce)
  private readonly lanes = new Map<string, Promise<Lane>>()

  constructor(
    private readonly ports: Pick<WorkerPorts, 'agents'>,
    private readonly wid: string,
  ) {}

  /** A turn with that agent; with this installation itself where there is none. */
  with(agent: string | undefined): Turn {
    return async () => {
      const lane = await this.laneOf(agent)
      const leave = await lane.enter()
      const leaveAll = await this.all.enter()
      return () => {
        leaveAll()
        leave()
      }
    }
  }

  private laneOf(agent: string | undefined): Promise<Lane> {
    const key = agent ?? ''
    let lane = this.lanes.get(key)
    if (!lane) {
      lane = agent === undefined ? Promise.resolve(new Lane(hereAtOnce)) : this.agentLane(agent)
      this.lanes.set(key, lane)
    }
    return lane
  }

  private async agentLane(agent: string): Promise<Lane> {
    const known = await this.ports.agents(this.wid).find(agent)
    return new Lane(known?.limits?.connections ?? 1)
  }
}

/** At most so many at once; first come, first served. */
class Lane {
  private readonly queue: (() => void)[] = []
  private inside = 0

  constructor(private readonly atOnce: number) {}

  /** Resolves when there is room, with what is called once on leaving. */
  async enter(): Promise<() => void> {
    if (this.inside < this.atOnce) this.inside += 1
    else await new Promise<void>((resolve) => this.queue.push(resolve))
    let left = false
    return () => {
      if (left) return
      left = true
      const next = this.queue.shift()
      if (next) next()
      else this.inside -= 1
    }
  }
}
