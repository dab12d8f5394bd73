/*
 * One story: a random workflow, two or three workers fighting over one run of it, people and agents who act at random
 * moments, crashes, pauses, refusals and late answers; then calm, in which everything that is asked is answered. The
 * same seed tells the same story. It ends well when the run reaches an end and nothing was broken on the way.
 */
import { runIdOf } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import { requiresApproval } from '@/lib/engine/gate'
import type { Commit } from '@/lib/engine/ports'
import type { Action, Effects } from '@/lib/runners/runner'
import { memoryStore } from '@/lib/store/memory'
import type { Store } from '@/lib/store/store'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import { jsonValue } from '../values'
import { must } from './broken'
import { Dice } from './dice'
import type { Stage } from './kinds'
import { People } from './people'
import { type House, type Surroundings, startHouse } from './processes'
import { type Fate, type Process, Schedule, settled } from './schedule'
import { Truth } from './truth'
import { randomWorkflow } from './workflows'
import { expectedKey, World } from './world'

export interface StoryEnd {
  seed: number
  /** Events that happened, and tokens that were written. */
  steps: number
  tokens: number
  crashes: number
  /** Milliseconds of simulated time. */
  tookMs: number
  terminal?: string
  /** What was broken; absent when the story ended well. */
  broken?: string
  /** The last things that happened. */
  lines: string[]
}

/** 2026-01-01. */
const beginning = 1_767_225_600_000
const maxSteps = 15_000
/** Once things are calm, a run must end within this. */
const calmMs = 3 * 3600_000
const maxCrashes = 12
/** Where a crash or a pause hurts most: around tokens and effects. */
const boundary = /^(commit|do|undo|snapshot|describe|probe) /

/** Tells the story of a seed. */
export async function tellStory(seed: number): Promise<StoryEnd> {
  const story = new Story(seed)
  await story.tell()
  return story.end()
}

class Story {
  private readonly dice: Dice
  private readonly schedule: Schedule
  private readonly world = new World()
  private readonly graph: GraphIndex
  private readonly store: Store
  private readonly truth: Truth
  private readonly people: People
  private readonly around: Surroundings
  private readonly runId: ReturnType<typeof runIdOf>
  private readonly wid: string
  private readonly roughUntil: number
  private readonly rates: { crash: number; refuse: number; pause: number }
  private houses: House[] = []
  private broken: string | undefined
  private crashes = 0
  private born = 0
  private begun = false
  private left = false
  private closing = false
  /** The latest lease anybody was given. */
  private epoch = 0

  constructor(private readonly seed: number) {
    const dice = new Dice(seed)
    this.dice = dice
    this.schedule = new Schedule(dice, beginning)
    this.store = memoryStore(this.schedule)
    this.graph = randomWorkflow(dice)
    this.wid = dice.uuid()
    this.runId = runIdOf(this.wid)
    this.truth = new Truth(this.graph, this.world, this.runId, this.wid)
    this.roughUntil = beginning + dice.whole(20, 240) * 1000
    this.rates = {
      crash: dice.pick([0, 0.003, 0.01, 0.03]),
      refuse: dice.pick([0, 0.005, 0.02]),
      pause: dice.pick([0, 0.003, 0.02]),
    }
    const stage: Stage = {
      dice,
      schedule: this.schedule,
      world: this.world,
      rough: () => this.isRough,
      effectCalled: (process, action, effects) =>
        this.guard(() => this.checkEffect(process, action, effects)),
      undoCalled: (_process, action, checkpoint) => this.guard(() => this.checkUndo(action, checkpoint)),
    }
    const break_ = (sentence: string) => this.break(sentence)
    this.around = {
      stage,
      store: this.store,
      graph: this.graph,
      commit: (commit) => this.commit(commit),
      leased: ({ epoch }) => {
        this.epoch = epoch
      },
      broken: break_,
    }
    const temper = {
      cancels: dice.pick([0, 0, 0.03]),
      pauses: dice.pick([0, 0.05]),
      rollsBack: dice.pick([0, 0.1, 0.3, 0.6]),
    }
    const crowd = { stage, runId: this.runId, truth: this.truth, server: () => this.server, broken: break_ }
    this.people = new People(crowd, temper)
    this.schedule.fateOf = (process, what) => this.fateOf(process, what)
    this.schedule.onCrash = (process) => this.restart(process)
  }

  async tell(): Promise<void> {
    this.raise()
    const begun = this.server.book.execute(
      this.runId,
      {
        type: 'start',
        version: jsonValue('version').hash,
        input: jsonValue({}).hash,
        by: 'person:ada',
        dryRun: this.dice.chance(0.05),
      },
      {
        create: {
          runId: this.runId,
          wid: this.wid,
          version: jsonValue('version').hash,
          workflowName: 'story',
          startedBy: 'person:ada',
        },
        values: [jsonValue({})],
      },
    )
    begun.then(
      () => this.begin(),
      (error) => this.break(`It could not begin: ${String(error)}`),
    )
    while (!this.isOver()) {
      if (!this.schedule.next()) this.break('Nothing happens any more')
      if (this.schedule.steps > maxSteps) this.break(`It goes on and on: ${this.whereItIs()}`)
      if (this.schedule.now() > this.roughUntil + calmMs) this.break(`It does not end: ${this.whereItIs()}`)
      await settled()
    }
    if (this.broken === undefined) await this.shutDown()
    this.guard(() => {
      this.truth.checkPrefixes(this.seed % 16 === 0)
      this.people.checkRemembered()
    })
  }

  end(): StoryEnd {
    const { state } = this.truth.run
    return {
      seed: this.seed,
      steps: this.schedule.steps,
      tokens: this.truth.run.seq,
      crashes: this.crashes,
      tookMs: this.schedule.now() - beginning,
      ...(state.status === 'ended' ? { terminal: state.terminal } : {}),
      ...(this.broken === undefined ? {} : { broken: this.broken }),
      lines: this.schedule.lines,
    }
  }

  private get isRough(): boolean {
    return this.begun && !this.closing && this.schedule.now() < this.roughUntil
  }

  /** The process people talk to: it has a worker in it too. */
  private get server(): House {
    return this.houses[0] as House
  }

  private isOver(): boolean {
    return this.broken !== undefined || (this.begun && this.truth.ended && (this.left || !this.isRough))
  }

  private raise(): void {
    const count = this.dice.chance(0.3) ? 3 : 2
    // In half of the stories people talk to a process that works as well, as in the console.
    const serverWorks = this.dice.chance(0.5)
    this.houses = [startHouse(this.around, 'server', serverWorks)]
    for (let at = 1; at <= count; at++) this.houses.push(startHouse(this.around, `worker ${at}`, true))
  }

  private begin(): void {
    this.begun = true
    this.peopleGoOn()
    this.agentsGoOn()
  }

  private peopleGoOn(): void {
    const rough = this.isRough
    const inMs = rough ? this.dice.whole(200, 12_000) : this.dice.whole(2000, 15_000)
    this.schedule.at(this.schedule.now() + inMs, 'people look', () => {
      if (this.isRough) {
        if (this.truth.ended && this.dice.chance(0.4)) this.left = true
        else for (let acts = this.dice.chance(0.3) ? 3 : 1; acts > 0; acts--) this.people.act()
      } else this.people.settle()
      this.peopleGoOn()
    })
  }

  private agentsGoOn(): void {
    this.schedule.at(this.schedule.now() + this.dice.whole(500, 8000), 'agents look', () => {
      this.people.work()
      this.agentsGoOn()
    })
  }

  private fateOf(process: Process, what: string): Fate | undefined {
    if (!this.isRough) return undefined
    const { crash, refuse, pause } = this.rates
    const often = boundary.test(what) ? 3 : 0.5
    if (this.crashes < maxCrashes && this.dice.chance(crash * often)) {
      return this.dice.chance(0.5) ? 'crash_before' : 'crash_after'
    }
    // Longer than a lease, more often than not.
    if (this.dice.chance(pause * often)) return { pauseMs: this.dice.whole(5000, 70_000) }
    const isStore = what.startsWith('commit') || what.startsWith('ledger') || what.startsWith('leases')
    if (!isStore || !this.dice.chance(refuse)) return undefined
    this.schedule.note(`${process.name}: ${what} will be refused`)
    return { refused: new Problem('store_busy', 'planned: the store is busy') }
  }

  private restart(process: Process): void {
    this.crashes += 1
    this.born += 1
    const at = this.houses.findIndex((house) => house.process === process)
    const works = this.houses[at]?.worker !== undefined
    // A machine that starts again may call itself what it was called before.
    const name = this.dice.chance(0.3) ? process.name : `${process.name.replace(/'\d+$/, '')}'${this.born}`
    this.schedule.at(this.schedule.now() + this.dice.whole(0, 20_000), `${name} starts`, () => {
      this.houses[at] = startHouse(this.around, name, works)
    })
  }

  /** The one way to the store: what becomes durable is looked at in the same turn. */
  private commit(commit: Commit): Promise<void> {
    let durable = false
    const off = this.store.onAppend(() => {
      durable = true
    })
    const done = this.store.ledger.commit(commit)
    off()
    if (durable) {
      this.schedule.note(
        `durable: ${commit.rows.length} tokens, now ${commit.expectedSeq + commit.rows.length}`,
      )
      this.guard(() => {
        const { lease } = commit
        must(
          !lease || lease.epoch === this.epoch,
          () => `${lease?.owner} wrote under a lease that is another's`,
        )
        this.truth.append(commit, this.schedule.now())
      })
      const added = this.truth.facts.slice(-commit.rows.length)
      for (const fact of added) this.schedule.note(`  ${fact.type} ${'node' in fact ? fact.node : ''}`)
    }
    return done
  }

  /** An effect may begin only when the ledger says that exactly this attempt is at work, with all it needs. */
  private checkEffect(process: Process, action: Action, effects: Effects): void {
    const { run } = this.truth
    const visit = run.visits.get(action.node)
    const what = `${action.node} in visit ${action.visit}`
    must(
      visit?.visit === action.visit,
      () => `${process.name} performs ${what}; the run is in visit ${visit?.visit}`,
    )
    if (!visit) return
    if (action.consequence === 'read_only') return
    const { state } = visit
    must(state.status === 'running', () => `${process.name} performs ${what}, which is ${state.status}`)
    const key = expectedKey(this.runId, action.node, action.visit, visit.attempt)
    must(effects.idempotencyKey === key, () => `${process.name} performs an attempt of ${what} that is over`)
    must(visit.action === jsonValue(action).hash, () => `${process.name} performs another action for ${what}`)
    must(visit.checkpoint !== undefined, () => `${process.name} performs ${what} without a checkpoint`)
    const landed = this.world.target(action.node).landings.filter((landing) => landing.key === key).length
    const canTell = action.kind === 'file' || action.kind === 'keyed'
    must(landed === 0 || canTell, () => `${process.name} performs ${what} a second time in one attempt`)
    must(
      landed === 0 || action.kind === 'keyed',
      () => `${process.name} performs ${what} although looking would have told`,
    )
    const node = this.graph.nodes.get(action.node)
    const decided = [...run.approvals.values()].some(
      (approval) =>
        approval.node === action.node &&
        approval.visit === action.visit &&
        approval.state.status === 'decided',
    )
    must(
      !node || !requiresApproval(node) || decided,
      () => `${process.name} performs ${what} without a decision`,
    )
  }

  private checkUndo(action: Action, checkpoint: string): void {
    const { run } = this.truth
    const rollback = run.state.status === 'rolling_back' ? run.rollbacks.get(run.state.rollback) : undefined
    const act = rollback?.acts.get(checkpoint)
    must(
      act !== undefined && act.status === undefined,
      () => `${action.node} is undone while no rollback asks for it`,
    )
  }

  private async shutDown(): Promise<void> {
    this.closing = true
    this.schedule.peace = true
    const stopped = Promise.all(
      this.houses.filter(({ process }) => process.alive).map(({ worker }) => worker?.stop()),
    )
    let done = false
    stopped.then(() => {
      done = true
    })
    const until = this.schedule.now() + 3600_000
    while (!done && this.broken === undefined) {
      await settled()
      if (done) return
      if (!this.schedule.next() || this.schedule.now() > until) this.break('The workers do not stop')
    }
  }

  private guard(check: () => void): void {
    try {
      check()
    } catch (error) {
      this.break(error instanceof Error ? `${error.name}: ${error.message}` : String(error))
    }
  }

  private break(sentence: string): void {
    if (this.broken !== undefined) return
    this.broken = sentence
    this.schedule.note(`BROKEN: ${sentence}`)
  }

  private whereItIs(): string {
    const { run } = this.truth
    const visits = [...run.visits.values()].map(
      ({ node, visit, state }) => `${node}/${visit} ${state.status}`,
    )
    return `${run.state.status}; ${visits.join(', ')}; open ${[...run.openApprovals].length}`
  }
}
