/** The simulated world: targets with a state, and a record of everything that ever landed on them. */
import { sha256 } from '@/lib/base/hash'
import { AgentMemory } from './agent-memory'

export interface Landing {
  node: string
  visit: number
  key: string
  action: string
}

export interface Target {
  /** Null: there is nothing. */
  state: string | null
  landings: Landing[]
  /** Idempotency keys the target has seen. */
  keys: Set<string>
  /** Checkpoints whose undo it has done, each with how often. */
  undone: Map<string, number>
}

export class World {
  private readonly targets = new Map<string, Target>()
  /** What the remote agents of the run remember. */
  readonly agents = new AgentMemory()
  /** State of the target before a visit's first landing, by `node/visit`. */
  private readonly before = new Map<string, string | null>()

  target(node: string): Target {
    let target = this.targets.get(node)
    if (!target) {
      target = { state: null, landings: [], keys: new Set(), undone: new Map() }
      this.targets.set(node, target)
    }
    return target
  }

  all(): IterableIterator<[string, Target]> {
    return this.targets.entries()
  }

  /** An effect happens. A target that honours keys does one key once. */
  land(landing: Landing, text: string, honoursKeys: boolean): void {
    const target = this.target(landing.node)
    if (honoursKeys && target.keys.has(landing.key)) return
    const visit = `${landing.node}/${landing.visit}`
    if (!this.before.has(visit)) this.before.set(visit, target.state)
    target.keys.add(landing.key)
    target.landings.push(landing)
    target.state = text
  }

  /** What was there before the visit's first effect; undefined when it had none. */
  stateBefore(node: string, visit: number): string | null | undefined {
    return this.before.get(`${node}/${visit}`)
  }

  undo(node: string, checkpoint: string, state: string | null): void {
    const target = this.target(node)
    target.state = state
    target.undone.set(checkpoint, (target.undone.get(checkpoint) ?? 0) + 1)
  }
}

/** The key the worker gives an effect (lib/worker/effects.ts), made anew so that a slip there is noticed. */
export function expectedKey(runId: string, node: string, visit: number, attempt: number): string {
  return sha256(`${runId}/${node}/${visit}/${attempt}`)
}
