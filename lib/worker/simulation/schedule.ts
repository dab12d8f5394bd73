/*
 * The simulated machine: one clock, and every message between a process and the world as an event on one list. A call
 * is two events, its arrival and its answer; the dice decide how long each takes, so calls overtake one another.
 *
 *   process ──arrive──▶ world (it happens here, in one turn) ──answer──▶ process
 *        ╰ crash here: it may have left (and happens) or not     ╰ crash here: it happened and nobody heard
 *
 * A crashed process hears nothing any more and its promises never settle: that is what a crash is. A paused one (a
 * long garbage collection, a suspended laptop) hears everything later, when its lease is somebody else's.
 */
import type { Timer } from '../timer'
import type { Dice } from './dice'

export interface Process {
  readonly name: string
  alive: boolean
  /** Events that wait for a paused process to wake; undefined while it runs. */
  held?: Event[]
}

interface Event {
  at: number
  what: string
  /** Whom it reaches. Absent: the world. */
  into?: Process
  /** Whose message to the world it is. */
  from?: Process
  run(): void
}

/** What becomes of one call, beyond arriving and being answered. */
export type Fate = 'crash_before' | 'crash_after' | { refused: Error } | { pauseMs: number }

export interface CallOptions {
  /** Milliseconds, at most, that the way there and the way back take each. */
  slowMs?: number
}

const linesKept = 600

export class Schedule implements Pick<Timer, 'now'> {
  private time: number
  private readonly events: Event[] = []
  private readonly dice: Dice
  /** The last things that happened, for whoever reads a failing story. */
  readonly lines: string[] = []
  steps = 0
  /** Decides about crashes and refusals; nothing happens to calls without it. */
  fateOf: (process: Process, what: string) => Fate | undefined = () => undefined
  onCrash: (process: Process) => void = () => undefined
  /** Nothing goes wrong any more, not even what was going to. */
  peace = false

  constructor(dice: Dice, startAt: number) {
    this.dice = dice
    this.time = startAt
  }

  now(): number {
    return this.time
  }

  note(line: string): void {
    this.lines.push(`${String(this.time).slice(-7)} ${line}`)
    if (this.lines.length > 2 * linesKept) this.lines.splice(0, linesKept)
  }

  /** Does something in the world at that time. */
  at(time: number, what: string, run: () => void): () => void {
    return this.add({ at: time, what, run })
  }

  /** Lets a process hear of something. */
  tell(process: Process, at: number, what: string, run: () => void): () => void {
    return this.add({ at, what, into: process, run })
  }

  /** A call of a process to the world. `work` happens in one turn, when the call arrives. */
  call<T>(process: Process, what: string, work: () => T | Promise<T>, options: CallOptions = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!process.alive) return
      const drawn = this.fateOf(process, what)
      const { slowMs = 20 } = options
      const arrive = () => {
        const fate = this.peace ? undefined : drawn
        if (fate === 'crash_before') return this.crash(process)
        if (typeof fate === 'object' && 'refused' in fate)
          return this.answer(process, what, slowMs, () => reject(fate.refused))
        const done = attempt(work)
        if (fate === 'crash_after') this.crash(process)
        if (typeof fate === 'object' && 'pauseMs' in fate) this.pause(process, fate.pauseMs)
        done.then(
          (value) => this.answer(process, what, slowMs, () => resolve(value)),
          (error) => this.answer(process, what, slowMs, () => reject(error)),
        )
      }
      this.add({ at: this.time + this.delay(slowMs), what, from: process, run: arrive })
    })
  }

  /** The clock as a process sees it. */
  timerOf(process: Process): Timer {
    return {
      now: () => this.time,
      waitUntil: (until, signal) =>
        new Promise((resolve) => {
          if (!process.alive) return
          if (signal.aborted) return resolve()
          const cancel = this.tell(process, Math.max(until, this.time), 'timer', done)
          signal.addEventListener('abort', done, { once: true })
          function done() {
            cancel()
            signal.removeEventListener('abort', done)
            resolve()
          }
        }),
    }
  }

  crash(process: Process): void {
    if (!process.alive) return
    process.alive = false
    this.note(`${process.name} CRASHED`)
    this.remove((event) => event.into === process)
    // What had left may still arrive, or may have been in its buffers only.
    this.remove((event) => event.from === process && this.dice.chance(0.5))
    process.held = undefined
    this.onCrash(process)
  }

  /** The process stands still for a while and does not notice. */
  pause(process: Process, forMs: number): void {
    if (!process.alive || process.held) return
    this.note(`${process.name} stands still for ${forMs} ms`)
    process.held = []
    this.at(this.time + forMs, `${process.name} wakes`, () => {
      const { held } = process
      process.held = undefined
      if (!process.alive) return
      for (const event of held ?? []) {
        event.at = this.time
        this.events.push(event)
      }
    })
  }

  /** Lets the next event happen. False when there is none. */
  next(): boolean {
    const event = this.take()
    if (!event) return false
    this.steps += 1
    if (event.into) {
      if (!event.into.alive) return true
      if (event.into.held) {
        event.into.held.push(event)
        return true
      }
    }
    if (event.what !== 'timer') this.note(`${event.from?.name ?? event.into?.name ?? 'world'}: ${event.what}`)
    event.run()
    return true
  }

  /** What is due now in any order; else the clock jumps to what comes first. */
  private take(): Event | undefined {
    if (this.events.length === 0) return undefined
    let first = Number.POSITIVE_INFINITY
    let due = 0
    for (const event of this.events) {
      if (event.at <= this.time) due += 1
      if (event.at < first) first = event.at
    }
    if (due === 0) {
      this.time = first
      return this.take()
    }
    let nth = this.dice.whole(0, due - 1)
    const index = this.events.findIndex((event) => event.at <= this.time && nth-- === 0)
    return this.events.splice(index, 1)[0]
  }

  private answer(process: Process, what: string, slowMs: number, run: () => void): void {
    if (!process.alive) return
    this.tell(process, this.time + this.delay(slowMs), `← ${what}`, run)
  }

  /** Most messages are quick; one in twenty takes up to a hundred times as long. */
  private delay(slowMs: number): number {
    return this.dice.whole(0, this.dice.chance(0.05) ? slowMs * 100 : slowMs)
  }

  private add(event: Event): () => void {
    this.events.push(event)
    return () => {
      const index = this.events.indexOf(event)
      if (index >= 0) this.events.splice(index, 1)
      else {
        const held = event.into?.held
        const at = held?.indexOf(event) ?? -1
        if (at >= 0) held?.splice(at, 1)
      }
    }
  }

  private remove(which: (event: Event) => boolean): void {
    for (let at = this.events.length - 1; at >= 0; at--) {
      if (which(this.events[at] as Event)) this.events.splice(at, 1)
    }
  }
}

function attempt<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return Promise.resolve(work())
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Lets every promise that can go on go on: nothing in a simulated story waits for anything real. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
