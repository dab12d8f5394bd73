/*
 * Phase 2 of a rollback: its acts, at once where the graph allows it (lib/rollback/act-order.ts).
 *
 *   free ──▶ in hand ──▶ calls whoever undoes it ──▶ over, and what it kept waiting is free
 *            at most 64    at most 32, and one of each agent unless it takes more
 *
 * Bookkeeping keeps no agent waiting. What an act needs is looked up while those before it are at work; an agent has
 * more in hand than it takes at once, so that the next one is begun when the one before is answered; and the end of an
 * act and the beginning of what may follow are one commit:
 *
 *   agent     ├── undoes a ──┤        ├── undoes b ──┤
 *   ledger                    a ends,                 b ends,
 *                             b begins                c begins
 *
 * b may be what a kept waiting: nothing of b happens before that commit is durable, and if the end of a is not granted
 * b does not begin. When the worker stops or loses the run nothing more is begun, and what is under way ends first.
 */
import type { Command } from '@/lib/engine/commands'
import type { StoredValue } from '@/lib/engine/ports'
import { ActOrder } from '@/lib/rollback/act-order'
import type { ActGraph } from '@/lib/rollback/critical-path'
import type { PlannedStep } from '@/lib/rollback/plan'
import type { RollbackStatus } from '@/lib/rollback/terms'
import { HandedOver } from './handed-over'
import type { Turns } from './undo-turns'
import type { Undoing } from './undoing'

/** Acts whose tokens are being written or whose undo is under way. */
const inHandAtOnce = 64
/** Of each agent this many more are in hand than it takes at once. */
const inHandBeyond = 2
/** Acts that are looked up before they are in hand: their state lies open in memory. */
const aheadAtOnce = 64
const aheadOfEach = 3

/** How one act is carried out. */
export interface Act {
  /** Looks up what it needs, which changes nothing. */
  makeReady(): void
  /** What begins it in the commit that ends another one; undefined where it begins by itself. */
  beginning(): Command | undefined
  /** Carries it out; `began`: the token of its beginning, where it was begun so. Says what it came to. */
  run(began?: string): Promise<RollbackStatus>
}

/** What an act tells whoever carries out all of them. */
export interface ActHooks {
  /** Makes its end durable. */
  end(command: Command, values: StoredValue[]): Promise<void>
  /** Whoever undoes it is at it. */
  called(): void
}

export interface ActResult {
  step: PlannedStep
  status: RollbackStatus
}

/** Carries out acts in the order the graph asks for; the results in the plan's order. */
export function executeActs(
  of: Undoing,
  acts: readonly PlannedStep[],
  graph: ActGraph | 'chain',
  turns: Turns,
  actOf: (step: PlannedStep, hooks: ActHooks) => Act,
): Promise<ActResult[]> {
  return new Execution(of, acts, graph, turns, actOf).run()
}

/** One agent's part: or this installation's own. */
interface Part {
  /** In the plan's order. */
  readonly acts: PlannedStep[]
  /** Acts that may begin, in the plan's order. */
  readonly free: PlannedStep[]
  readonly inHandAtOnce: number
  inHand: number
  /** How many of `acts` were looked at; and how many of those wait, ready, for their turn. */
  looked: number
  ready: number
}

function partOf(most: number): Part {
  return { acts: [], free: [], inHandAtOnce: most, inHand: 0, looked: 0, ready: 0 }
}

class Execution {
  private readonly order: ActOrder<PlannedStep>
  private readonly place: ReadonlyMap<PlannedStep, number>
  private readonly parts = new Map<string | undefined, Part>()
  private readonly results = new Map<PlannedStep, RollbackStatus>()
  private readonly known = new Map<PlannedStep, Act>()
  private readonly ready = new Set<PlannedStep>()
  private readonly begun = new Set<PlannedStep>()
  /** Its end is being written: its place is another one's. */
  private readonly ending = new Set<PlannedStep>()
  private inHand = 0
  private atWork = 0
  private fault: { error: unknown } | undefined
  private settle: () => void = () => undefined

  constructor(
    private readonly of: Undoing,
    private readonly acts: readonly PlannedStep[],
    graph: ActGraph | 'chain',
    turns: Turns,
    private readonly actOf: (step: PlannedStep, hooks: ActHooks) => Act,
  ) {
    this.order = new ActOrder(acts, graph)
    this.place = new Map(acts.map((step, at) => [step, at]))
    for (const step of acts) {
      const { agent } = step
      const part = this.parts.get(agent) ?? partOf(turns.atOnce(agent) + inHandBeyond)
      this.parts.set(agent, part)
      part.acts.push(step)
    }
  }

  async run(): Promise<ActResult[]> {
    const settled = new Promise<void>((resolve) => {
      this.settle = resolve
    })
    this.free(this.order.take())
    this.goOn()
    await settled
    if (this.fault) throw this.fault.error
    if (!this.order.isOver) throw new HandedOver('rollback')
    return this.acts.map((step) => ({ step, status: this.results.get(step) as RollbackStatus }))
  }

  private get mayBegin(): boolean {
    return this.fault === undefined && !this.of.draining.aborted && this.inHand < inHandAtOnce
  }

  private goOn(): void {
    for (let step = this.next(); step; step = this.next()) this.begin(step)
    if (this.atWork === 0) this.settle()
  }

  /** Takes the first in the plan's order whose agent has room for it; it is in hand then. */
  private next(may: (step: PlannedStep) => boolean = () => true): PlannedStep | undefined {
    if (!this.mayBegin) return undefined
    let first: Part | undefined
    for (const part of this.parts.values()) {
      const [head] = part.free
      if (!head || part.inHand >= part.inHandAtOnce || !may(head)) continue
      if (!first || this.placeOf(head) < this.placeOf(first.free[0] as PlannedStep)) first = part
    }
    const step = first?.free.shift()
    if (step) this.takeInHand(step)
    return step
  }

  private takeInHand(step: PlannedStep): void {
    const part = this.partOf(step)
    this.inHand += 1
    part.inHand += 1
    this.atWork += 1
    this.begun.add(step)
    if (this.ready.delete(step)) part.ready -= 1
  }

  private begin(step: PlannedStep, began?: string): void {
    void this.act(step)
      .run(began)
      .then(
        (status) => {
          this.results.set(step, status)
          // What was answered long ago has no end to write.
          if (this.leave(step)) this.over(step)
        },
        (error: unknown) => {
          this.leave(step)
          this.fault ??= { error }
        },
      )
      .finally(() => {
        this.known.delete(step)
        this.ending.delete(step)
        this.atWork -= 1
        this.goOn()
      })
  }

  /** Gives its place in hand to another; false where it has none any more. */
  private leave(step: PlannedStep): boolean {
    if (this.ending.has(step)) return false
    this.ending.add(step)
    this.inHand -= 1
    this.partOf(step).inHand -= 1
    return true
  }

  private over(step: PlannedStep): void {
    this.order.over(step)
    this.free(this.order.take())
  }

  /** The act's end, and the beginning of what may follow, in one commit. */
  private async end(step: PlannedStep, command: Command, values: StoredValue[]): Promise<void> {
    const { ports, hold } = this.of
    this.leave(step)
    this.order.over(step)
    const freed = this.order.take()
    const next = this.nextAlong(freed)
    try {
      const [, ...began] = await ports.book.executeAll(
        hold.lease.runId,
        [command, ...next.map(({ beginning }) => beginning)],
        { ...hold.along, values },
      )
      for (const [at, one] of next.entries()) {
        const granted = began[at]
        if (granted && 'decision' in granted) this.begin(one.step, granted.decision.facts[0]?.jti)
        else this.notBegun(one.step, granted?.refusal)
      }
    } catch (error) {
      for (const one of next) this.notBegun(one.step, error)
      throw error
    }
    this.free(freed.filter((other) => !this.begun.has(other)))
  }

  /** What begins in the commit that ends another act: of what that one kept waiting, and of what is free already. */
  private nextAlong(freed: readonly PlannedStep[]): { step: PlannedStep; beginning: Command }[] {
    const along: { step: PlannedStep; beginning: Command }[] = []
    const may = (step: PlannedStep) => {
      const part = this.partOf(step)
      return part.inHand < part.inHandAtOnce && this.known.get(step)?.beginning() !== undefined
    }
    const add = (step: PlannedStep) => {
      const beginning = this.known.get(step)?.beginning()
      if (beginning) along.push({ step, beginning })
    }
    for (const step of freed) {
      if (!this.mayBegin || !may(step)) continue
      this.takeInHand(step)
      add(step)
    }
    for (let step = this.next(may); step; step = this.next(may)) add(step)
    return along
  }

  /** It was to begin with the end of another one, and did not. */
  private notBegun(step: PlannedStep, error: unknown): void {
    this.leave(step)
    this.fault ??= { error }
    this.atWork -= 1
  }

  private free(steps: readonly PlannedStep[]): void {
    const parts = new Set(steps.map((step) => this.partOf(step)))
    for (const step of steps) this.partOf(step).free.push(step)
    for (const { free } of parts) free.sort((a, b) => this.placeOf(a) - this.placeOf(b))
  }

  /** Looks up what is next of an agent while it is at work. */
  private lookAhead(part: Part): void {
    while (this.mayBegin && part.ready < aheadOfEach && this.ready.size < aheadAtOnce) {
      const step = part.acts[part.looked]
      if (!step) return
      part.looked += 1
      if (this.begun.has(step)) continue
      part.ready += 1
      this.ready.add(step)
      this.act(step).makeReady()
    }
  }

  private act(step: PlannedStep): Act {
    const known = this.known.get(step)
    if (known) return known
    const act = this.actOf(step, {
      end: (command, values) => this.end(step, command, values),
      called: () => this.lookAhead(this.partOf(step)),
    })
    this.known.set(step, act)
    return act
  }

  private partOf({ agent }: PlannedStep): Part {
    return this.parts.get(agent) as Part
  }

  private placeOf(step: PlannedStep): number {
    return this.place.get(step) as number
  }
}
