/* Whose turn it is to be asked for an undo: each agent takes as many at once as it says, one unless it says more. */
import type { WorkerPorts } from './ports'

/** Undos under way, all agents together. */
const callsAtOnce = 32
/** Undos of this installation itself that are under way. */
const hereAtOnce = 16

/** Waits for its turn to call whoever undoes the step; gives back what ends the turn. */
export type Turn = () => Promise<() => void>

/** The turns of one rollback with these agents; with this installation itself where there is none. */
export async function turnsFor(
  ports: Pick<WorkerPorts, 'agents'>,
  wid: string,
  agents: Iterable<string | undefined>,
): Promise<Turns> {
  const lanes = [...new Set(agents)].map(async (agent) => {
    if (agent === undefined) return [agent, new Lane(hereAtOnce)] as const
    const known = await ports.agents(wid).find(agent)
    return [agent, new Lane(known?.limits?.connections ?? 1)] as const
  })
  return new Turns(new Map(await Promise.all(lanes)))
}

export class Turns {
  private readonly all = new Lane(callsAtOnce)

  constructor(private readonly lanes: ReadonlyMap<string | undefined, Lane>) {}

  with(agent: string | undefined): Turn {
    return async () => {
      const leave = await this.laneOf(agent).enter()
      const leaveAll = await this.all.enter()
      return () => {
        leaveAll()
        leave()
      }
    }
  }

  /** How many it takes at once. */
  atOnce(agent: string | undefined): number {
    return this.laneOf(agent).atOnce
  }

  private laneOf(agent: string | undefined): Lane {
    return this.lanes.get(agent) as Lane
  }
}

/** At most so many at once; first come, first served. */
class Lane {
  private readonly queue: (() => void)[] = []
  private inside = 0

  constructor(readonly atOnce: number) {}

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
