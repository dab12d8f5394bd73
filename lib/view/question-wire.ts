/*
 * What a question is about, where that is not a step's own act: a rollback that cannot go on, a cascade, a downstream
 * that keeps failing, an agent's error, work without room. Part of the decision card (`ApprovalCard.about`).
 */
import type { CascadePattern, CircuitStatus } from '@/lib/breaker/terms'
import type { ErrorType, Severity } from '@/lib/engine/facts'
import type {
  CannotPrepare,
  RollbackOnly,
  RollbackScope,
  RollbackStatus,
  RunBelow,
  RunsBelow,
} from '@/lib/rollback/terms'
import type { CircuitParty } from './circuit-wire'

export type QuestionAbout = AboutRollback | AboutCascade | AboutCircuit | AboutError

/** Of `rollback_unprepared` and `rollback_critical`. */
export interface AboutRollback {
  what: 'rollback'
  rollback: string
  scope: RollbackScope
  only?: RollbackOnly
  node: string
  label: string
  by: string
  reason: string
  askedAt: number
  /** Whoever cannot take its part back. */
  cannot: {
    node: string
    visit: number
    label: string
    /** SPIFFE id of whoever holds it. */
    agent: string
    /** This installation holds it itself; `runs`: or the runs that the step began do. */
    here: boolean
    runs?: RunsBelow
    why?: CannotPrepare
    description: string
    /** The rollback that has it. */
    conflict?: string
    /** Somebody else changed it since; and the step of another run that did, where one says so. */
    changed?: true
    /** The checkpoint that it would be put back to all the same. */
    checkpoint?: string
    changedBy?: { run: string; node: string }
  }[]
  /** How many steps can be taken back, and how many were asked about. */
  can: number
  of: number
  /** Critical steps it would reach, with the SPIFFE id of the agent that did each; `run`: those of a run below. */
  critical: { node: string; label: string; agent?: string; run?: string; workflow?: string }[]
  /** Who holds what it would take back: agents by their SPIFFE ids, runs below, and this installation. */
  holders?: { agents: string[]; runs: RunBelow[]; here: boolean }
  /** The run had ended before the rollback; called off, it stays so. */
  hadEnded?: true
  /** How far the rollback is now, whatever this question came to; `question`: the approval it waits for. */
  now: {
    phase: 'preparing' | 'asking' | 'executing' | 'over'
    status: 'executing' | 'superseded' | RollbackStatus
    question?: string
  }
}

/** Of `cascade`. */
export interface AboutCascade {
  what: 'cascade'
  pattern: CascadePattern
  /** How many, and the first of them by id or name. */
  affected: number
  agents: string[]
  /** Where it seems to come from. */
  origin: { node: string; label: string; visit: number }
  description: string
  seenAt: number
  /** The token that says so. */
  token: string
}

/** Of `circuit`: every breaker on the downstream, those with the most runs behind them first. */
export interface AboutCircuit {
  what: 'circuit'
  downstream: CircuitParty
  circuits: {
    id: string
    caller: CircuitParty
    status: CircuitStatus
    errorRate: number
    calls?: number
    failures?: number
    /** Open: when one probe may go, if none is held. */
    until?: number
    reopened?: number
    /** Runs that wait behind it. */
    waiting: number
  }[]
  /** There are more than are listed. */
  more: boolean
  /** Probes are held while this is asked. */
  held: boolean
}

/** Of `agent_error`. */
export interface AboutError {
  what: 'error'
  errorId: string
  agent: string
  severity: Severity
  errorType: ErrorType
  checkpoint: { token: string; node: string; label: string; visit: number; target: string }
  description: string
  /** Errors that it says it follows from, by their ids. */
  upstream: string[]
  at: number
}
