/*
 * A pool under any load, on a clock of its own. The checks know nothing of how the scheduler decides: they replay what it
 * did, start by start, and count for themselves.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Priority, Resources } from '@/lib/workflow/graph'
import { fitsIn, minus, plus } from './amounts'
import { priorities } from './queues'
import { minuteMs, usualRules } from './schedule'
import { Seats } from './seats'
import type { PoolAsk, PoolLimits } from './terms'

interface Job {
  workflow: string
  priority: Priority
  resources: Resources
  at: number
  /** Until its effect begins, and then until it is over. */
  sealMs: number
  workMs: number
  /** What it takes to let go of a place that was taken from it. */
  leaveMs: number
}

interface World {
  limits: PoolLimits
  capacity?: Resources
  jobs: Job[]
}

const starveMs = usualRules.starveAfterS * 1000

/** Runs a world to its end, checking every decision. Throws what is broken. */
class Simulation {
  readonly seats: Seats
  readonly waited = new Map<string, number>()
  readonly degraded = new Set<string>()
  preemptions = 0
  private readonly jobs = new Map<string, Job>()
  private readonly events: { at: number; do: () => void }[] = []
  private readonly exhausted = new Map<string, number>()
  private readonly effects = new Set<string>()
  private readonly began = new Map<string, number[]>()
  private readonly done = new Set<string>()
  private readonly oldWent = new Map<string, number>()
  now = 0

  constructor(private readonly world: World) {
    this.seats = new Seats(world.limits, world.capacity)
    for (const [at, job] of world.jobs.entries()) {
      const id = `job${at}`
      this.jobs.set(id, job)
      this.plan(job.at, () => this.seats.join(this.ask(id)))
    }
  }

  run(onDecision: () => void = () => undefined): this {
    for (let steps = 0; this.events.length > 0; steps++) {
      if (steps > 400_000) throw new Error('The simulation does not end')
      this.now = this.events.at(-1)?.at as number
      while (this.events.at(-1)?.at === this.now) this.events.pop()?.do()
      this.decide()
      onDecision()
    }
    expect(this.done.size).toBe(this.jobs.size)
    return this
  }

  private ask(id: string): PoolAsk {
    const { workflow, priority, resources, at } = this.jobs.get(id) as Job
    return { id, pool: 'here', workflow, priority, resources, since: at }
  }

  private plan(at: number, act: () => void): void {
    // The next one last; those of the same moment in the order they were planned.
    let low = 0
    let high = this.events.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.events[middle] as { at: number }).at > at) low = middle + 1
      else high = middle
    }
    this.events.splice(low, 0, { at, do: act })
  }

  private decide(): void {
    const { seats, now } = this
    const waiting = this.waiting()
    const working = [...seats.working.values()].map((work) => ({ ...work }))
    const decision = seats.schedule(now)
    let taken = working.map(({ ask, gets }) => ({ ask, gets }))
    for (const ask of decision.start) {
      this.checkStart(ask, waiting, taken)
      const gets = decision.degraded.get(ask.id) ?? ask.resources
      taken = [...taken, { ask, gets }]
      waiting.splice(waiting.indexOf(waiting.find(({ id }) => id === ask.id) as PoolAsk), 1)
      this.began.set(ask.workflow, [...(this.began.get(ask.workflow) ?? []), now])
      this.waited.set(ask.id, now - ask.since)
      if (decision.degraded.has(ask.id)) this.degraded.add(ask.id)
      this.start(ask)
    }
    this.checkBounds()
    this.checkConserving(waiting, taken)
    for (const id of decision.preempt) this.lose(id, waiting, working)
    for (const ask of decision.exhausted) {
      expect(ask.priority).toBe('critical')
      expect(now - ask.since).toBeGreaterThanOrEqual(60_000)
      expect(this.exhausted.has(ask.id), `${ask.id} is told once`).toBe(false)
      this.exhausted.set(ask.id, now)
    }
    for (const ask of waiting) {
      if (ask.priority === 'critical' && now - ask.since >= 60_000) {
        expect(this.exhausted.has(ask.id), `${ask.id} is told`).toBe(true)
      }
    }
    if (decision.nextAt !== undefined) {
      expect(decision.nextAt).toBeGreaterThan(now)
      this.plan(decision.nextAt, () => undefined)
    }
  }

  private start(ask: PoolAsk): void {
    const job = this.jobs.get(ask.id) as Job
    this.plan(this.now + job.sealMs, () => {
      if (!this.seats.effectBegins(ask.id)) return
      this.effects.add(ask.id)
      this.plan(this.now + job.workMs, () => {
        this.done.add(ask.id)
        this.seats.leave(ask)
      })
    })
  }

  private lose(id: string, waiting: PoolAsk[], working: { ask: PoolAsk }[]): void {
    const { ask } = working.find((work) => work.ask.id === id) as { ask: PoolAsk }
    this.preemptions++
    expect(this.effects.has(id), `${id} had not begun its effect`).toBe(false)
    expect(ask.priority).not.toBe('critical')
    expect(this.now - ask.since, `${id} had not waited too long itself`).toBeLessThan(starveMs)
    expect(waiting.some(({ priority }) => priority === 'critical')).toBe(true)
    this.plan(this.now + (this.jobs.get(id) as Job).leaveMs, () => {
      expect(this.seats.effectBegins(id)).toBe(false)
      this.seats.leave(ask)
      this.seats.join(ask)
    })
  }

  private waiting(): PoolAsk[] {
    return [...this.seats.queues.lines.values()].flatMap((lines) => priorities.flatMap((name) => lines[name]))
  }

  /** Those whose workflow may begin one more. */
  private mayBegin(waiting: PoolAsk[], taken: { ask: PoolAsk }[]): PoolAsk[] {
    const {
      connections,
      connectionsPerWorkflow,
      requestsPerMinute = Number.POSITIVE_INFINITY,
    } = this.world.limits
    if (taken.length >= connections) return []
    const may = new Map<string, boolean>()
    for (const { workflow } of waiting) {
      if (may.has(workflow)) continue
      const has = runningOf(workflow, taken) < connectionsPerWorkflow
      may.set(workflow, has && this.inLastMinute(workflow) < requestsPerMinute)
    }
    return waiting.filter(({ workflow }) => may.get(workflow))
  }

  private inLastMinute(workflow: string): number {
    return (this.began.get(workflow) ?? []).filter((at) => at > this.now - minuteMs).length
  }

  private free(taken: { gets: Resources }[]): Resources {
    return taken.reduce((left, { gets }) => minus(left, gets), this.world.capacity ?? {})
  }

  /** Nobody who may go first is passed over. */
  private checkStart(ask: PoolAsk, waiting: PoolAsk[], taken: { ask: PoolAsk; gets: Resources }[]): void {
    const { now } = this
    const may = this.mayBegin(waiting, taken)
    expect(may).toContain(ask)
    const isOld = (other: PoolAsk) => now - other.since >= starveMs
    const older = may.filter(
      (other) => other.workflow === ask.workflow && isOld(other) && other.since < ask.since,
    )
    if (older.length > 0) {
      expect(ask.priority, 'only critical work passes what has waited too long').toBe('critical')
      expect(this.oldWent.get(ask.workflow), 'and takes turns with it').toBeGreaterThan(0)
    }
    if (isOld(ask)) this.oldWent.set(ask.workflow, 1)
    else if (ask.priority === 'critical') this.oldWent.delete(ask.workflow)
    if (this.world.capacity) return
    const top = Math.min(...may.map(({ priority }) => priorities.indexOf(priority)))
    if (!isOld(ask)) expect(priorities.indexOf(ask.priority), 'higher work goes first').toBe(top)
    for (const other of may) {
      if (!isOld(other) && priorities.indexOf(other.priority) > top) continue
      expect(runningOf(ask.workflow, taken), 'who has least goes first').toBeLessThanOrEqual(
        runningOf(other.workflow, taken),
      )
    }
  }

  private checkBounds(): void {
    const { limits, capacity } = this.world
    const working = [...this.seats.working.values()]
    expect(working.length).toBeLessThanOrEqual(limits.connections)
    for (const workflow of new Set(working.map(({ ask }) => ask.workflow))) {
      expect(runningOf(workflow, working), workflow).toBeLessThanOrEqual(limits.connectionsPerWorkflow)
      if (limits.requestsPerMinute !== undefined) {
        expect(this.inLastMinute(workflow)).toBeLessThanOrEqual(limits.requestsPerMinute)
      }
    }
    if (!capacity) return
    const sum = working.reduce((all, { gets }) => plus(all, gets), {} as Resources)
    expect(fitsIn(sum, capacity), `${JSON.stringify(sum)} of ${JSON.stringify(capacity)}`).toBe(true)
  }

  /** Nothing that could be used is left unused, but what is kept for a critical step that is too large for it. */
  private checkConserving(waiting: PoolAsk[], taken: { ask: PoolAsk; gets: Resources }[]): void {
    const { capacity } = this.world
    const free = this.free(taken)
    const may = this.mayBegin(waiting, taken)
    if (may.length === 0) return
    const idle = may.filter(({ resources }) => !capacity || fitsIn(resources, free))
    if (idle.length === 0) return
    const kept = may.some(
      ({ priority, resources }) =>
        priority === 'critical' && capacity && fitsIn(resources, capacity) && !fitsIn(resources, free),
    )
    expect(kept, `${idle[0]?.id} could begin`).toBe(true)
  }
}

function runningOf(workflow: string, taken: { ask: PoolAsk }[]): number {
  return taken.filter(({ ask }) => ask.workflow === workflow).length
}

const workflows = ['ant', 'bee', 'cat', 'dog']
const second = fc.integer({ min: 0, max: 60 }).map((s) => s * 1000)

function worlds(capacity: fc.Arbitrary<Resources | undefined>): fc.Arbitrary<World> {
  return fc
    .record({
      connections: fc.integer({ min: 1, max: 6 }),
      connectionsPerWorkflow: fc.integer({ min: 1, max: 4 }),
      requestsPerMinute: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
      capacity,
      jobs: fc.array(
        fc.record({
          workflow: fc.constantFrom(...workflows),
          priority: fc.constantFrom(...priorities),
          cpu: fc.integer({ min: 0, max: 5 }),
          memoryMb: fc.integer({ min: 0, max: 5 }),
          at: fc.integer({ min: 0, max: 200 }).map((s) => s * 1000),
          sealMs: second,
          workMs: second.map((ms) => ms + 1000),
          leaveMs: fc.constantFrom(0, 500, 3000),
        }),
        { minLength: 1, maxLength: 60 },
      ),
    })
    .map(({ jobs, capacity: all, ...limits }) => ({
      limits: { ...limits, queuePerWorkflow: 1000 },
      capacity: all,
      jobs: jobs.map(({ cpu, memoryMb, ...job }) => ({ ...job, resources: all ? { cpu, memoryMb } : {} })),
    }))
}

const job = (over: Partial<Job>): Job => ({
  workflow: 'ant',
  priority: 'normal',
  resources: {},
  at: 0,
  sealMs: 0,
  workMs: 10_000,
  leaveMs: 0,
  ...over,
})

describe('whatever comes, a pool', () => {
  it('that counts steps holds every bound, and leaves no place unused', () => {
    fc.assert(
      fc.property(worlds(fc.constant(undefined)), (world) => void new Simulation(world).run()),
      { numRuns: 200 },
    )
  })

  it('that hands out processor and memory holds every bound too', () => {
    const capacity = fc.record({
      cpu: fc.integer({ min: 2, max: 8 }),
      memoryMb: fc.integer({ min: 2, max: 8 }),
    })
    fc.assert(
      fc.property(worlds(capacity), (world) => void new Simulation(world).run()),
      { numRuns: 200 },
    )
  })
})

describe('nothing waits for ever', () => {
  /** For a quarter of an hour more higher work comes than there are places for; one low step wants in. */
  const flooded = (connections: number, longestMs: number, floods: Priority[]): World => ({
    limits: { connections, connectionsPerWorkflow: connections, queuePerWorkflow: 100_000 },
    jobs: [
      ...floods.flatMap((priority, at) =>
        Array.from({ length: Math.ceil((900_000 * connections) / longestMs) }, (_, n) =>
          job({ workflow: workflows[at], priority, at: (n * longestMs) / connections, workMs: longestMs }),
        ),
      ),
      job({ workflow: 'low', priority: 'low', at: 20_000 }),
    ],
  })

  it.each([
    [1, 7_000, ['high', 'normal']],
    [3, 45_000, ['critical', 'high']],
    [1, 20_000, ['critical', 'critical']],
    [4, 61_000, ['critical', 'critical', 'high']],
  ] as const)('%i places, steps of %i ms, a flood of %j', (connections, longestMs, floods) => {
    const world = flooded(connections, longestMs, [...floods])
    const { waited } = new Simulation(world).run()
    const low = waited.get(`job${world.jobs.length - 1}`) as number
    expect(low).toBeGreaterThanOrEqual(starveMs)
    expect(low).toBeLessThanOrEqual(starveMs + longestMs)
  })

  it('nor does critical work behind a backlog that has waited too long', () => {
    const old = Array.from({ length: 200 }, () => job({ priority: 'low' }))
    const urgent = Array.from({ length: 20 }, () => job({ priority: 'critical', at: 600_000 }))
    const world = {
      limits: { connections: 2, connectionsPerWorkflow: 2, queuePerWorkflow: 1000 },
      jobs: [...old, ...urgent],
    }
    const { waited } = new Simulation(world).run()
    // Every other place is theirs: 20 of them take 20 turns of 10 s on two places.
    for (let at = 200; at < 220; at++) expect(waited.get(`job${at}`)).toBeLessThanOrEqual(210_000)
  })
})

describe('fair shares', () => {
  it.each([1, 3, 7])('of %i places are within one of each other while all have work', (connections) => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 30, maxLength: 30 }), (lengths) => {
        const names = workflows.slice(0, 3)
        const jobs = names.flatMap((workflow, at) =>
          // The first one has been here for a while, and has a hundred times as much.
          Array.from({ length: at === 0 ? 200 : 40 }, (_, n) =>
            job({ workflow, at: at === 0 ? 0 : 100_000, workMs: (lengths[n % 30] as number) * 1000 }),
          ),
        )
        const world = {
          limits: { connections, connectionsPerWorkflow: connections, queuePerWorkflow: 1000 },
          jobs,
        }
        const simulation = new Simulation(world)
        simulation.run(() => {
          // By then every step that began before the others came is over.
          if (simulation.now < 131_000) return
          const { queues, working } = simulation.seats
          if (!names.every((name) => queues.waiting(name) > 0)) return
          const counts = names.map((name) => runningOf(name, [...working.values()]))
          expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
        })
      }),
      { numRuns: 4 },
    )
  })

  it('leave what one does not want to the others at once', () => {
    const jobs = Array.from({ length: 40 }, () => job({}))
    const limits = { connections: 8, connectionsPerWorkflow: 8, queuePerWorkflow: 1000 }
    const simulation = new Simulation({ limits, jobs }).run()
    expect(simulation.now).toBe(50_000)
    expect(Math.max(...simulation.waited.values())).toBe(40_000)
  })
})

describe('critical work', () => {
  it('takes as few places as will do', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 7 })
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 12 }), (holders, wanted) => {
        const cpu = holders.reduce((sum, one) => sum + one, 0)
        const seats = new Seats(
          { connections: 64, connectionsPerWorkflow: 64, queuePerWorkflow: 64 },
          { cpu },
        )
        for (const [at, one] of holders.entries()) seats.join(askFor(`low${at}`, 'low', one))
        seats.schedule(1)
        expect(seats.working.size).toBe(holders.length)
        seats.join(askFor('urgent', 'critical', wanted))
        const { preempt } = seats.schedule(2)
        const largest = [...holders].sort((a, b) => b - a)
        let fewest = 0
        for (let freed = 0; freed < wanted && fewest < holders.length; fewest++)
          freed += largest[fewest] as number
        expect(preempt.length).toBe(wanted > cpu ? 0 : fewest)
        expect(seats.schedule(3).preempt, 'not again while they leave').toEqual([])
      }),
    )
  })

  it('takes the lowest and latest first, never what has begun its effect', () => {
    const seats = new Seats({ connections: 4, connectionsPerWorkflow: 4, queuePerWorkflow: 64 })
    for (const [id, priority] of [
      ['a', 'high'],
      ['b', 'low'],
      ['c', 'low'],
      ['d', 'low'],
    ] as const) {
      seats.join(askFor(id, priority, 0))
      seats.schedule(seats.turn + 1)
    }
    seats.effectBegins('d')
    const order = ['c', 'b', 'a', undefined].map((_, at) => {
      seats.join(askFor(`urgent${at}`, 'critical', 0))
      return seats.schedule(10 + at).preempt[0]
    })
    expect(order).toEqual(['c', 'b', 'a', undefined])
    expect(seats.effectBegins('c')).toBe(false)
  })

  it('leaves in peace what has waited too long itself', () => {
    const seats = new Seats({ connections: 1, connectionsPerWorkflow: 1, queuePerWorkflow: 64 })
    seats.join(askFor('old', 'low', 0))
    seats.schedule(starveMs)
    seats.join(askFor('urgent', 'critical', 0))
    expect(seats.schedule(starveMs).preempt).toEqual([])
  })

  it('sends nobody away who turned out not to be in its way', () => {
    const seats = new Seats(
      { connections: 64, connectionsPerWorkflow: 64, queuePerWorkflow: 64 },
      { cpu: 9, memoryMb: 9 },
    )
    // The largest part alone is `a`; `b` and `c` together make both parts without it.
    const holders = { a: { cpu: 3, memoryMb: 3 }, b: { cpu: 5, memoryMb: 1 }, c: { cpu: 1, memoryMb: 5 } }
    for (const [id, resources] of Object.entries(holders)) {
      seats.join({ ...askFor(id, 'low', 0), resources })
    }
    seats.schedule(1)
    seats.join({ ...askFor('urgent', 'critical', 0), resources: { cpu: 6, memoryMb: 6 } })
    expect(new Set(seats.schedule(2).preempt)).toEqual(new Set(['b', 'c']))
  })

  it('that is large is not passed by for ever by small steps', () => {
    const cpu = (amount: number, priority: Priority, at: number) =>
      job({ workflow: priority, priority, resources: { cpu: amount }, at, workMs: 7_000 })
    const small = Array.from({ length: 200 }, (_, n) => cpu(1, 'high', n * 1_000))
    const world = {
      limits: { connections: 64, connectionsPerWorkflow: 64, queuePerWorkflow: 1000 },
      capacity: { cpu: 4 },
      jobs: [...small, cpu(4, 'critical', 20_000)],
    }
    const { waited, degraded } = new Simulation(world).run()
    expect(waited.get('job200')).toBeLessThanOrEqual(7_000)
    expect(degraded.has('job200')).toBe(false)
  })

  it('is told after 60 s, and goes on with what there is when there will never be enough', () => {
    const seats = new Seats({ connections: 4, connectionsPerWorkflow: 4, queuePerWorkflow: 64 }, { cpu: 2 })
    seats.join(askFor('huge', 'critical', 16))
    expect(seats.schedule(0)).toMatchObject({ start: [], exhausted: [], nextAt: 60_000 })
    expect(seats.schedule(60_000)).toMatchObject({ start: [], exhausted: [{ id: 'huge' }], nextAt: 300_000 })
    expect(seats.schedule(60_001).exhausted).toEqual([])
    const last = seats.schedule(300_000)
    expect(last.start.map(({ id }) => id)).toEqual(['huge'])
    expect(last.degraded.get('huge')).toEqual({ cpu: 2 })
  })
})

it('keeps nothing free for a large critical step whose workflow has all the places it may', () => {
  const seats = new Seats(
    { connections: 3, connectionsPerWorkflow: 1, queuePerWorkflow: 8 },
    { cpu: 4, memoryMb: 4 },
  )
  const critical = (id: string, workflow: string, memoryMb: number, since: number) =>
    seats.join({ ...askFor(id, 'critical', 0), workflow, resources: { memoryMb }, since })
  critical('large', 'ant', 3, 2)
  critical('small', 'cat', 1, 3)
  critical('other', 'bee', 2, 4)
  critical('none', 'ant', 0, 5)
  seats.servedAt.set('ant', 1).set('cat', 2)
  // `other` leaves too little for `large`; then `none` takes the only place its workflow has.
  expect(seats.schedule(10).start.map(({ id }) => id)).toEqual(['other', 'none', 'small'])
})

it('lets other work that can never have all it asks for go on with all there is', () => {
  const seats = new Seats({ connections: 4, connectionsPerWorkflow: 4, queuePerWorkflow: 64 }, { cpu: 2 })
  seats.join(askFor('large', 'normal', 8))
  const { start, degraded } = seats.schedule(0)
  expect(start.map(({ id }) => id)).toEqual(['large'])
  expect(degraded.get('large')).toEqual({ cpu: 2 })
})

it('serves every one of 10,000 that wait', () => {
  const seats = new Seats({ connections: 64, connectionsPerWorkflow: 32, queuePerWorkflow: 10_000 })
  for (let at = 0; at < 10_000; at++) {
    const priority = priorities[at % 4] as Priority
    seats.join({ ...askFor(`a${at}`, priority, 0), workflow: `w${at % 50}`, since: at })
  }
  seats.schedule(10_000)
  let served = 0
  while (seats.working.size > 0) {
    const [first] = seats.working.values()
    if (!first) break
    seats.leave(first.ask)
    served++
    seats.schedule(10_000 + served)
  }
  expect(served).toBe(10_000)
})

function askFor(id: string, priority: Priority, cpu: number): PoolAsk {
  return { id, pool: 'here', workflow: 'w', priority, resources: cpu > 0 ? { cpu } : {}, since: 0 }
}
