import type { Action, Effects } from '@/lib/runners/runner'
import type { Dice } from './dice'
import type { Process, Schedule } from './schedule'
import type { World } from './world'

/** What the kinds need of the story they are in. */
export interface Stage {
  dice: Dice
  schedule: Schedule
  /** Targets of different runs are different targets. */
  worldOf(runId: string | undefined): World
  /** True while things may go wrong. */
  rough(): boolean
  /** Told of each call of an effect in the turn it is made; throws what it has against it. */
  effectCalled(process: Process, action: Action, effects: Effects): void
  undoCalled(action: Action, effects: Effects, checkpoint: string): void
  prepareCalled(effects: Effects, checkpoint: string): void
}
