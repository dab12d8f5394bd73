import type { Hash } from '@/lib/base/hash'

/** How far a rollback reaches: one step, the step and all that followed it, or the whole run (cascade section 6.4, NOTES 3.7). */
export type RollbackScope = 'single' | 'sub_dag' | 'full_workflow'
/** Of a sub-DAG only the step and what was made from its output, not what merely followed. */
export type RollbackOnly = 'dependents'
/** ATD section 7, `atd.status`. */
export type RollbackStatus = 'completed' | 'partial' | 'escalated' | 'failed'
/** What was decided between the two phases. */
export type RollbackDecision = 'execute' | 'partial' | 'abort' | 'escalate'
/** The state a step found at its target and the one it left there, as the target itself hashes them. */
export interface StateChange {
  found: Hash
  left: Hash
}
/** A critical step of a run below, which is taken back with the step that began that run. */
export interface StepBelow {
  run: string
  node: string
  visit: number
  label: string
  /** The run's workflow by its name, and the SPIFFE id of the agent that did the step. */
  workflow?: string
  agent?: string
}
/** A run that a step began, and the SPIFFE ids of the agents that hold what goes back with it, there and further below. */
export interface RunBelow {
  run: string
  workflow: string
  agents: string[]
}
/** The runs that a step began: how many, and the first of them. */
export interface RunsBelow {
  count: number
  first: RunBelow[]
}
/** The step of another run that changed a target since, as that run's ledger says. */
export interface ChangedBy {
  run: string
  workflow: string
  node: string
  visit: number
  /** The step's name for people. */
  label: string
  /** When it was done with that, ms since the epoch. */
  at: number
  /** By taking the step back. */
  undid?: true
}
/** What happens to one node in a plan. */
export type PlanFate =
  /** Its snapshot is put back, here or by the agent that holds it. */
  | 'restored'
  | 'compensated'
  /** Cannot be undone: a person is told. */
  | 'irreversible'
  /** Could have been undone, but its checkpoint expired or does not verify. */
  | 'refused'
  /** Had no effect on the world; it is only reset. */
  | 'reset'
  | 'untouched'
  /** A finished step outside the plan used its output. */
  | 'locked'
/** Cascade section 6.5, phase 1. */
export type Vote = 'prepared' | 'cannot_prepare'
/** What stands at a path, without its contents. */
export type PathStand =
  | { stands: 'nothing' }
  | { stands: 'folder' }
  /** `mode`: octal, `0644`. */
  | { stands: 'file'; sizeBytes: number; hash: Hash; mode: string }
/** A file of more than that is told of by its size and hash alone, 256 KiB. */
export const putBackTextMaxBytes = 262_144
/** What putting a step's target back would make of it as it is now, for people. */
export type PutBack =
  /** `text`: both sides line by line; absent, `withheld` says why size and hash are all there is. */
  | {
      of: 'path'
      target: string
      now: PathStand
      after: PathStand
      text?: { now: string; after: string }
      withheld?: 'binary' | 'too_large'
    }
  /** An agent keeps the state itself, and the checkpoint here is the receipt for it. `preview`: as it tells it, where it does. */
  | { of: 'agent'; agent: string; preview?: { title: string; now: string; after: string } }
/** Why a checkpoint cannot be taken back (NOTES 4); `unreachable` is ours: its agent gave no answer in time. */
export type CannotPrepare =
  | 'expired'
  | 'irreversible'
  | 'hash_mismatch'
  | 'unknown_checkpoint'
  | 'conflict'
  | 'unreachable'
