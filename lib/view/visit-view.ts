import type { Fact } from '@/lib/engine/facts'
import type { Approval, CheckpointRef, Run, Visit, VisitError, VisitState } from '@/lib/engine/run'
import { actorOf, actWords } from './act-words'
import { type StateEntry, stateEntry } from './state-entry'

/** One token of the ledger as tables show it; the fact behind it is there when its act is known. */
export interface LedgerRow {
  seq: number
  /** `exec_act`, as the token spells it. */
  act: string
  /** The act in words; absent for acts this version does not know. */
  words?: string
  /** Who did it, as tokens name actors: `person:ada`, `spiffe://…`, `silence`, `engine`. */
  who: string
  node?: string
  visit?: number
  /** Milliseconds since the epoch. */
  at: number
  jti: string
  par: string[]
  /** Hash of the ledger entry. */
  hash: string
}

/**
 * The row of a token. `fact` is absent for acts this version does not know; such a token is its issuer's. `agent` is
 * the SPIFFE id of the agent that does the visit, when one does; `run` is as it is before the token.
 */
export function ledgerRow(
  entry: { seq: number; hash: string },
  claims: { exec_act: string; jti: string; par: string[]; iat: number; iss?: string },
  fact: Fact | undefined,
  agent?: string,
  run?: Run,
): LedgerRow {
  return {
    seq: entry.seq,
    act: claims.exec_act,
    words: fact && actWords(fact, run),
    who: fact ? actorOf(fact, agent) : (claims.iss ?? 'engine'),
    node: fact && 'node' in fact ? fact.node : undefined,
    visit: fact && 'visit' in fact ? fact.visit : undefined,
    at: fact?.at ?? claims.iat * 1000,
    jti: claims.jti,
    par: claims.par,
    hash: entry.hash,
  }
}

/** What the inspector shows of one visit of a node. */
export interface VisitView {
  node: string
  visit: number
  /** How many visits the node has had. */
  visits: number
  current: boolean
  state: VisitState
  /** It was done in the run this one was forked from: the token that says so there. */
  carriedFrom?: string
  /** Hash of the action that was, or would be, done. */
  action?: string
  output?: string
  error?: VisitError
  checkpoint?: CheckpointRef
  /** Questions asked about this visit, oldest first. */
  approvals: Approval[]
  /** The one that waits for a person now. */
  open?: Approval
  /** Its tokens, in ledger order. */
  tokens: LedgerRow[]
  /** Of a step of a walk. */
  entry?: StateEntry
}

/** The inspector's view of a node, at its latest visit or an earlier one. Undefined when there is no such visit. */
export function visitView(
  run: Run,
  rows: readonly LedgerRow[],
  node: string,
  which?: number,
): VisitView | undefined {
  const current = run.visits.get(node)
  if (!current) return undefined
  const visit = [...(run.past.get(node) ?? []), current].find((one) => one.visit === (which ?? current.visit))
  if (!visit) return undefined
  const approvals = [...run.approvals.values()].filter(
    (approval) => approval.node === node && approval.visit === visit.visit,
  )
  return {
    node,
    visit: visit.visit,
    visits: current.visit,
    current: visit === current,
    state: visit.state,
    ...(visit.carriedFrom !== undefined && { carriedFrom: visit.carriedFrom }),
    action: visit.action,
    output: visit.state.status === 'done' ? visit.state.output : undefined,
    error: errorOf(visit.state),
    checkpoint: checkpointOf(run, visit),
    approvals,
    open: approvals.find((approval) => approval.state.status === 'open'),
    tokens: rows.filter((row) => row.node === node && row.visit === visit.visit),
    ...(run.walk && { entry: stateEntry(run, node, visit.visit) }),
  }
}

function errorOf(state: VisitState): VisitError | undefined {
  if (state.status === 'failed' || state.status === 'escalated') return state.error
  return state.status === 'waiting' && state.for === 'retry' ? state.error : undefined
}

/** The checkpoint of the visit's latest attempt, or of an earlier one that a rollback would use. */
function checkpointOf(run: Run, visit: Visit): CheckpointRef | undefined {
  const own = visit.checkpoint ? run.checkpoints.get(visit.checkpoint) : undefined
  if (own) return own
  return [...run.checkpoints.values()].findLast(
    (checkpoint) => checkpoint.node === visit.node && checkpoint.visit === visit.visit,
  )
}
