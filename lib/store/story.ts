import { sha256 } from '@/lib/base/hash'
import { mintUuid, type RunId, runIdOf } from '@/lib/base/ids'
import type { ApprovalProjection, Commit, LedgerRow, RunProjection } from '@/lib/engine/ports'

/*
 * Words that tests and benchmarks of the store make histories from: `firstCommit(run)`, `nextCommit(run, 1, 2)`. The
 * rows look like rows and are signed by nobody: a store never reads tokens.
 */
export interface TestRun {
  wid: string
  runId: RunId
}

export const aRun = (): TestRun => {
  const wid = mintUuid()
  return { wid, runId: runIdOf(wid) }
}

export const running: RunProjection = {
  status: 'running',
  startedAt: 1_000,
  updatedAt: 1_000,
  nodeCount: 3,
  doneCount: 0,
  failedCount: 0,
  escalatedCount: 0,
  openApprovals: 0,
  dueAt: 1_000,
}

export function aRow(runId: RunId, seq: number, jti = mintUuid()): LedgerRow {
  const token = `eyJ.${jti}.${'s'.repeat(86)}`
  return { runId, seq, jti, token, prevHash: sha256(`${runId} ${seq - 1}`), hash: sha256(`${runId} ${seq}`) }
}

/** A commit of `count` rows on a run that has `expectedSeq`. */
export function nextCommit(
  run: TestRun,
  expectedSeq: number,
  count: number,
  more: Partial<Commit> = {},
): Commit {
  const rows = Array.from({ length: count }, (_, index) => aRow(run.runId, expectedSeq + index + 1))
  const empty = { heads: [], values: [], checkpoints: [], approvals: [] }
  return { runId: run.runId, expectedSeq, rows, ...empty, projection: running, ...more }
}

export function firstCommit(run: TestRun, more: Partial<Commit> = {}): Commit {
  const { wid, runId } = run
  const header = { wid, runId, version: sha256('version'), workflowName: 'deploy', startedBy: 'person:ada' }
  return nextCommit(run, 0, 1, { ...more, create: { ...header, ...more.create } })
}

export function anApproval(id: string, more: Partial<ApprovalProjection> = {}): ApprovalProjection {
  return {
    id,
    node: 'apply',
    visit: 1,
    kind: 'approval',
    role: 'operator',
    sentence: 'Write 12 lines to /etc/router.conf',
    consequence: 'reversible',
    action: sha256('action'),
    askedAt: 1_000,
    deadlineAt: null,
    state: 'open',
    ...more,
  }
}
