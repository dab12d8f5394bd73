/* What the screens of forks are told: what a fork would do, and which runs come from which. */
import type { Json } from '@/lib/base/json'
import type { Consequence } from '@/lib/nodes/node-kind'
import type { RunRow } from './run-wire'

/**
 * `POST /api/v1/runs/{run}/fork-plans {at, version?}`: what a fork at token `at` would take as done, where it would go on
 * and what would happen again. Changes nothing.
 */
export interface ForkPlanView {
  run: string
  workflow: string
  /** The token, and when it was written. */
  at: number
  time: number
  /** Milliseconds from the run's first token. */
  elapsedMs: number
  /** Tokens the run has now. */
  seq: number
  /** Send it back to fork exactly this. */
  digest: string
  version: string
  /** Steps that are taken as done and not done again. */
  carried: number
  /** Of those, the ones whose effects were taken back since: what the fork takes as given is not there any more. */
  takenBack: ForkStep[]
  /** The carried step after which it goes on, with its event; of a walk. */
  after?: ForkStep & { event?: string }
  /** The steps that begin first; none: the fork ends at once, as the original did. At most 20. */
  next: ForkStep[]
  /** How many steps begin first. */
  nextCount: number
  /** The original goes on with this step, and the chosen version does not. */
  insteadOf?: ForkStep
  artifacts: ForkArtifact[]
  /** `restsOn`: the decision that a fork for real would carry onto an edited input; absent: it may be edited. */
  input: { hash: string; json?: Json; size: number; restsOn?: ForkDecision }
  /** Why no fork for real may begin here whatever is edited: an edit of a dry run, with a decision made before it. */
  held?: string
  /** The original's version and newer ones of the same workflow, newest first. `refusal`: why it cannot be chosen. */
  versions: { version: string; importedAt: number; original: boolean; refusal?: string }[]
  /** What the original did after this position that changes something, child runs included; oldest first. A dry run does none of it. */
  effects: ForkEffect[]
  /** There are more than are listed. */
  moreEffects: boolean
  /** The original is a dry run: nothing of the list happened. */
  originalIsDry: boolean
}

export interface ForkStep {
  node: string
  label: string
  visit: number
}

/** What somebody decided at a step that is taken over. */
export interface ForkDecision extends ForkStep {
  /** Absent: they approved. */
  event?: string
  /** Who, as tokens name them. */
  by: string
  /** The token to fork at so that it is asked again. */
  at: number
}

/** A declared slot as it is at the position. */
export interface ForkArtifact {
  name: string
  mediaType: string
  mode: 'replace' | 'append'
  description: string
  /** Absent while nothing was written. `entries`: of an `append` slot. */
  hash?: string
  entries: number
  size?: number
  /** All of it: a text, or JSON; absent when it is neither, longer than 256 KiB, or not written. */
  value?: Json
  /** The decision that a fork for real would carry onto an edited value; absent: it may be edited. */
  restsOn?: ForkDecision
}

/** A step that changed something and may do so again. */
export interface ForkEffect {
  /** The run that did it: the original, or one below it. */
  run: string
  workflow: string
  node: string
  label: string
  visit: number
  consequence: Exclude<Consequence, 'read_only'>
  /** What it did, and to what. */
  sentence: string
  target: string
  /** `unclear`: it failed or is at work, and may have taken effect. `none`: it was a dry run. */
  happened: 'done' | 'unclear' | 'rolled_back' | 'none'
}

/**
 * `GET /api/v1/runs/{run}/forks`: the original, its forks, and theirs. `nodes` begin with the root and go down before they
 * go on; `of` is the run it was forked from, `at` the token.
 */
export interface ForkTreeView {
  /** The run that was asked for. */
  run: string
  nodes: (ForkTreeNode & { depth: number })[]
  /** More forks than are listed. */
  more: boolean
}

export interface ForkTreeNode {
  row: RunRow
  of?: string
  at?: number
  dryRun: boolean
  reason?: string
}
