/* What the screens of runs are told: a row, a page, its ledger and values, and the runs below it. */
import type { Json } from '@/lib/base/json'
import type { TerminalStatus } from '@/lib/engine/facts'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import type { ShownState } from './shown-state'

/**
 * `GET /api/v1/runs?status=&workflow=&text=&cursor=&limit=`, newest first. `status` is one of these or, of ended runs, a
 * terminal status, `cancelled`, `exhausted` or `flagged` (`failed` and `success` leave those out); `workflow` is a name; `text` is part of a name or of an id.
 */
export interface RunRow {
  id: string
  workflow: string
  version: string
  status: 'running' | 'waiting' | 'paused' | 'cancelling' | 'rolling_back' | 'rolled_back' | 'ended'
  terminal?: TerminalStatus
  /**
   * Somebody asked for its end, or a limit of the workflow was reached (budget-exhausted); `terminal` is `failed` then, as ATD
   * has no other word. `flagged`: `terminal` is `success`, and a person found afterwards that a step of it is wrong.
   */
  stopped?: 'cancelled' | 'exhausted' | 'flagged'
  startedBy: string
  startedAt: number
  endedAt?: number
  updatedAt: number
  nodeCount: number
  doneCount: number
  /** Steps that stand as failed, and those that were handed to a person; what was taken back is neither. */
  failedCount: number
  escalatedCount: number
  openApprovals: number
  /** The step of another run that began it. */
  parent?: { run: string; node: string; visit: number; index: number }
  /** The run it was forked from. */
  forkOf?: string
  /** It waits for nothing but a person who has to decide in a run below it. */
  waitsIn?: WaitsIn
  /** Of the overview, where nothing moves in it and nobody is asked: "behind the breaker of traffic-monitor". */
  waitsFor?: string
}

/** A question that a run below another one asks. */
export interface WaitsIn {
  run: string
  workflow: string
  approval: string
  role: string
  askedAt: number
}

/** How the runs stand that one visit of a step began. */
export interface ChildCounts {
  node: string
  visit: number
  total: number
  states: Partial<Record<ShownState, number>>
  /** The run itself, when there is one and no more. */
  only?: RunRow
}

/** `GET /api/v1/runs/{run}/children`: of every step that began runs. The runs are `GET …/runs?parent={run}&node=&visit=`. */
export interface ChildSummary {
  steps: ChildCounts[]
  waitsIn?: WaitsIn
}

/** `GET /api/v1/runs/{run}`: what a page needs before the ledger arrives; states are folded in the browser. */
export interface RunDetail {
  row: RunRow
  graph: WorkflowGraph
  /** Tokens in the ledger now, and the position to resume the live stream from. */
  seq: number
  position: number
  /** What the signed-in person may do here. */
  may: { operate: boolean; rollBack: boolean; rollBackAll: boolean; exports?: boolean }
  /** The run and the step that began it, and how many runs that step began. */
  parent?: {
    run: string
    workflow: string
    node: string
    label: string
    visit: number
    index: number
    siblings: number
  }
}

/** `GET /api/v1/runs/{run}/ledger?after=&limit=`. Compact tokens; the browser verifies, decodes and folds them. */
export interface LedgerPage {
  rows: { seq: number; position: number; token: string; prevHash: string; hash: string }[]
  heads: { seq: number; jws: string }[]
  next?: number
}

/** `GET /api/v1/runs/{run}/values/{hash}`: JSON values as `json`, other bytes as base64, long ones cut with `truncated`. */
export interface ValueView {
  hash: string
  mediaType: string
  size: number
  json?: Json
  base64?: string
  truncated: boolean
}
