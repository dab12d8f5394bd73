/*
 * One story: a random workflow, two or three workers fighting over one run of it and the runs its steps begin, people
 * and agents who act at random moments, crashes, shutdowns, pauses, refusals and late answers; then calm, in which
 * everything that is asked is answered. The same seed tells the same story. It ends well when every run reaches an end
 * and nothing was broken on the way. Every sixth seed tells a story of the same sort (workflows.ts).
 */
import { type RunId, runIdOf } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import type { FactOf } from '@/lib/engine/facts'
import { requiresApproval } from '@/lib/engine/gate'
import type { Commit, ParentPlace } from '@/lib/engine/ports'
import type { Run } from '@/lib/engine/run'
import type { Action, Effects } from '@/lib/runners/runner'
import { memoryStore } from '@/lib/store/memory'
import type { Store } from '@/lib/store/store'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import { jsonValue } from '../values'
import { must } from './broken'
import { ChildrenTruth } from './children-truth'
import { Dice } from './dice'
import { People, type Temper } from './people'
import { type House, type Surroundings, startHouse } from './processes'
import { type Fate, type Process, Schedule, settled } from './schedule'
import type { Stage } from './stage'
import { Truth } from './truth'
import { type Library, randomLibrary, type StorySort, storyInput, storySorts } from './workflows'
import { expectedKey, World } from './world'

export interface StoryEnd {
  seed: number
  sort: StorySort
  /** Runs that were begun: the story's own, and those of its steps. */
  runs: number
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
const maxSteps = 20_000
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

/** Everything about one run of the story. */
interface Cast {
  runId: RunId
  graph: GraphIndex
  world: World
  truth: Truth
  people: People
  /** The latest lease anybody was given. */
  epoch: number
}

const versionOf = (workflow: string) => jsonValue(workflow).hash
const rootName = 'version'

class Story {
  private readonly dice: Dice
  private readonly schedule: Schedule
  private readonly sort: StorySort
  private readonly library: Library
  private readonly versions: ReadonlyMap<string, GraphIndex>
  private readonly store: Store
  private readonly stage: Stage
  private readonly around: Surroundings
  private readonly runId: RunId
  private readonly wid: string
  private readonly casts = new Map<RunId, Cast>()
  private readonly children = new ChildrenTruth((runId) => this.casts.get(runId)?.truth)
  private readonly roughUntil: number
  private readonly rates: { crash: number; refuse: number; pause: number; drain: number }
  private houses: House[] = []
  private broken: string | undefined
  private crashes = 0
  private born = 0
  private begun = false
  private left = false
  private closing = false

  constructor(private readonly seed: number) {
    const dice = new Dice(seed)
    this.dice = dice
    this.schedule = new Schedule(dice, beginning)
    this.store = memoryStore(this.schedule)
    this.sort = storySorts[seed % storySorts.length] as StorySort
    this.library = randomLibrary(dice, this.sort)
    this.versions = new Map(
      [[rootName, this.library.root] as const, ...this.library.named].map(([name, graph]) => [
        versionOf(name),
        graph,
      ]),
    )
    this.wid = dice.uuid()
    this.runId = runIdOf(this.wid)
    this.roughUntil = beginning + dice.whole(20, 240) * 1000
    this.rates = {
      crash: dice.pick([0, 0.003, 0.01, 0.03]),
      refuse: dice.pick([0, 0.005, 0.02]),
      pause: dice.pick([0, 0.003, 0.02]),
      drain: dice.pick([0, 0, 0.02]),
    }
    this.stage = {
      dice,
      schedule: this.schedule,
      worldOf: (runId) => this.castOf(runId as RunId).world,
      rough: () => this.isRough,
      effectCalled: (process, action, effects) =>
        this.guard(() => this.checkEffect(process, action, effects)),
      prepareCalled: (effects, checkpoint) => this.guard(() => this.checkPrepare(effects, checkpoint)),
      undoCalled: (action, effects, checkpoint) =>
        this.guard(() => this.checkUndo(action, effects, checkpoint)),
    }
    this.around = {
      stage: this.stage,
      store: this.store,
      graphOf: async (version) => this.graphOf(version),
      load: (workflow) => this.load(workflow),
      commit: (commit) => this.commit(commit),
      leased: ({ runId, epoch }) => {
        this.castOf(runId).epoch = epoch
      },
      broken: (sentence) => this.break(sentence),
    }
    this.cast(this.runId, this.wid, versionOf(rootName), {
      cancels: dice.pick([0, 0, 0.03]),
      pauses: dice.pick([0, 0.05]),
      ...(this.sort === 'drawn with agents'
        ? { rollsBack: 0.5, patient: dice.chance(0.8) }
        : { rollsBack: dice.pick([0, 0.1, 0.3, 0.6]) }),
      ...(this.sort.endsWith('with children') && { agentAsks: 0.6 }),
    })
    this.schedule.fateOf = (process, what) => this.fateOf(process, what)
    this.schedule.onCrash = (process) => this.restart(process)
  }

  async tell(): Promise<void> {
    this.raise()
    const begun = this.server.book.execute(
      this.runId,
      {
        type: 'start',
        version: versionOf(rootName),
        input: jsonValue(storyInput).hash,
        by: 'person:ada',
        dryRun: this.dice.chance(0.05),
      },
      {
        create: {
          runId: this.runId,
          wid: this.wid,
          version: versionOf(rootName),
          workflowName: 'story',
          startedBy: 'person:ada',
        },
        values: [jsonValue(storyInput)],
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
      for (const { truth, people } of this.casts.values()) {
        truth.checkRollbacks()
        truth.checkPrefixes(this.seed % 16 < storySorts.length)
        people.checkRemembered()
      }
    })
  }

  end(): StoryEnd {
    const { state } = this.root.truth.run
    const casts = [...this.casts.values()]
    return {
      seed: this.seed,
      sort: this.sort,
      runs: casts.length,
      steps: this.schedule.steps,
      tokens: casts.reduce((sum, { truth }) => sum + truth.run.seq, 0),
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

  private get root(): Cast {
    return this.castOf(this.runId)
  }

  private castOf(runId: RunId): Cast {
    const cast = this.casts.get(runId)
    if (!cast) throw new Error(`Nobody plays ${runId}`)
    return cast
  }

  private graphOf(version: string): GraphIndex {
    const graph = this.versions.get(version)
    if (!graph) throw new Problem('not_found', `No workflow is ${version}`)
    return graph
  }

  private load(workflow: string) {
    const graph = this.library.named.get(workflow)
    if (!graph) throw new Error(`planned: there is no workflow ${workflow}`)
    const harmless = graph.graph.nodes.every(({ kind }) => ['pure', 'terminate', 'fail'].includes(kind))
    return Promise.resolve({
      version: versionOf(workflow),
      consequence: harmless ? ('read_only' as const) : ('reversible' as const),
    })
  }

  /** Gives a run its world, its truth and its people. */
  private cast(runId: RunId, wid: string, version: string, temper: Temper): void {
    const graph = this.graphOf(version)
    const world = new World()
    const truth = new Truth(graph, world, runId, wid, {
      hasToken: (jti) => [...this.casts.values()].some(({ truth }) => truth.holds(jti)),
      check: (fact) => this.children.check(runId, fact),
    })
    const { stage } = this
    const broken = (sentence: string) => this.break(sentence)
    const people = new People({ stage, runId, truth, server: () => this.server, broken }, temper)
    this.casts.set(runId, { runId, graph, world, truth, people, epoch: 0 })
  }

  /** The process people talk to: it has a worker in it too. */
  private get server(): House {
    return this.houses[0] as House
  }

  private isOver(): boolean {
    const over = this.begun && [...this.casts.values()].every(({ truth }) => truth.ended)
    return this.broken !== undefined || (over && (this.left || !this.isRough))
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
        if (this.root.truth.ended && this.dice.chance(0.4)) this.left = true
        else for (let acts = this.dice.chance(0.3) ? 3 : 1; acts > 0; acts--) this.somebody().act()
        if (this.dice.chance(this.rates.drain)) this.drain()
      } else for (const { people } of [...this.casts.values()]) people.settle()
      this.peopleGoOn()
    })
  }

  /** People of the story's own run, or of one its steps began. */
  private somebody(): People {
    const casts = [...this.casts.values()]
    const alive = casts.filter(({ truth }) => !truth.ended || this.dice.chance(0.1))
    return (this.dice.chance(0.5) ? this.root : this.dice.pick([this.root, ...alive])).people
  }

  /** A worker is stopped in good order, and another one is started in its place. */
  private drain(): void {
    const at = this.dice.whole(0, this.houses.length - 1)
    const house = this.houses[at]
    if (!house?.worker || !house.process.alive || house.process.held) return
    this.schedule.note(`${house.process.name} is to stop`)
    void house.worker.stop().then(() => {
      if (this.houses[at] !== house || !house.process.alive || this.closing) return
      house.process.alive = false
      this.houses[at] = startHouse(this.around, `${house.process.name}*`, true)
    })
  }

  private agentsGoOn(): void {
    this.schedule.at(this.schedule.now() + this.dice.whole(500, 8000), 'agents look', () => {
      for (const { people } of [...this.casts.values()]) people.work()
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
        const { lease, create } = commit
        if (create?.parent) this.castChild(commit, create.parent)
        const { truth } = this.castOf(commit.runId)
        const { epoch } = this.castOf(lease?.runId ?? commit.runId)
        must(!lease || lease.epoch === epoch, () => `${lease?.owner} wrote under a lease that is another's`)
        truth.append(commit, this.schedule.now())
        const [start] = truth.facts
        if (create?.parent) this.children.begin(commit, create.parent, start as FactOf<'workflow_start'>)
      })
      const added = this.casts.get(commit.runId)?.truth.facts.slice(-commit.rows.length) ?? []
      if (added.some(({ type }) => type === 'rollback_result')) this.takeNotice(commit.runId)
      for (const fact of added) this.schedule.note(`  ${fact.type} ${'node' in fact ? fact.node : ''}`)
    }
    return done
  }

  /** Somebody who was waiting for the rollback of a child run chooses before anything else can happen to it. */
  private takeNotice(runId: RunId): void {
    const { people, truth } = this.castOf(runId)
    if (truth.run.start?.parentWid === undefined || !this.isRough || !this.dice.chance(0.3)) return
    this.schedule.at(this.schedule.now() + this.dice.whole(0, 40), 'people are quick', () => people.choose())
  }

  private castChild({ runId, create }: Commit, parent: ParentPlace): void {
    must(!this.casts.has(runId), () => `${runId} was begun a second time`)
    must(this.casts.has(parent.runId), () => `${runId} was begun by a run that there is not`)
    const temper = this.dice.chance(0.7)
      ? { cancels: 0, pauses: 0, rollsBack: 0 }
      : { cancels: 0.03, pauses: 0.05, rollsBack: 0.2 }
    this.cast(runId, create?.wid ?? '', create?.version ?? '', temper)
  }

  /** An effect may begin only when the ledger says that exactly this attempt is at work, with all it needs. */
  private checkEffect(process: Process, action: Action, effects: Effects): void {
    const { truth, world, graph, runId } = this.castOf(effects.runId as RunId)
    const { run } = truth
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
    const key = expectedKey(runId, action.node, action.visit, visit.attempt)
    must(effects.idempotencyKey === key, () => `${process.name} performs an attempt of ${what} that is over`)
    must(visit.action === jsonValue(action).hash, () => `${process.name} performs another action for ${what}`)
    must(visit.checkpoint !== undefined, () => `${process.name} performs ${what} without a checkpoint`)
    const landed = world.target(action.node).landings.filter((landing) => landing.key === key).length
    const canTell = action.kind === 'file' || action.kind === 'keyed'
    must(landed === 0 || canTell, () => `${process.name} performs ${what} a second time in one attempt`)
    must(
      landed === 0 || action.kind === 'keyed',
      () => `${process.name} performs ${what} although looking would have told`,
    )
    const node = graph.nodes.get(action.node)
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

  private checkUndo(action: Action, effects: Effects, checkpoint: string): void {
    const { run } = this.castOf(effects.runId as RunId).truth
    // What a rollback has under way when a broader one takes it over comes to its end.
    const isUnderWay = run.state.status === 'rolling_back'
    const begun = [...run.rollbacks.values()].some(({ acts }) => {
      const act = acts.get(checkpoint)
      return act !== undefined && act.status === undefined
    })
    must(isUnderWay && begun, () => `${action.node} is undone while no rollback asks for it`)
  }

  /** Nobody is asked twice who has voted. */
  private checkPrepare(effects: Effects, checkpoint: string): void {
    const { run } = this.castOf(effects.runId as RunId).truth
    const rollback = run.state.status === 'rolling_back' ? run.rollbacks.get(run.state.rollback) : undefined
    must(
      rollback !== undefined && rollback.decided === undefined && !rollback.votes.has(checkpoint),
      () => `The holder of ${checkpoint} is asked again, or for nothing`,
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
    const open = [...this.casts.values()].filter(({ truth }) => !truth.ended)
    return open.map(({ runId, truth }) => `${runId}: ${inWords(truth.run)}`).join(' | ')
  }
}

function inWords({ state, visits, openApprovals }: Run): string {
  const steps = [...visits.values()].map(({ node, visit, state }) => `${node}/${visit} ${state.status}`)
  return `${state.status}; ${steps.join(', ')}; open ${openApprovals.size}`
}
