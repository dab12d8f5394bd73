/* What the store in memory holds. */

import type { RunId } from '@/lib/base/ids'
import type { ReportedCircuit } from '@/lib/engine/circuit-ports'
import type {
  ApprovalProjection,
  IdempotentAnswer,
  LeftState,
  RunHeader,
  RunProjection,
  SealedCheckpoint,
  SignedHead,
  StoredRow,
  StoredValue,
  WorkflowRecord,
} from '@/lib/engine/ports'
import type { SignalRecord } from '@/lib/engine/signal-ports'

export interface StoredRun {
  header: RunHeader
  projection: RunProjection
  /** Its rows; the installation-wide list holds the same objects. */
  rows: StoredRow[]
  jtis: Set<string>
  heads: SignedHead[]
  lease: { owner: string; until: number } | undefined
  epoch: number
}

/** Everything in it, in the order it came. */
export interface Tables {
  runs: Map<RunId, StoredRun>
  ledger: StoredRow[]
  values: Map<string, StoredValue>
  checkpoints: Map<string, SealedCheckpoint>
  approvals: Map<string, ApprovalProjection & { runId: RunId }>
  workflows: Map<string, WorkflowRecord>
  answers: Map<string, IdempotentAnswer & { answeredAt: number }>
  seenJtis: Map<string, number>
  signals: Map<string, SignalRecord>
  reportedCircuits: Map<string, ReportedCircuit>
  leftStates: Map<string, LeftState>
}
