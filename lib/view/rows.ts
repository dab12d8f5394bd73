import type { RunHeader, RunProjection } from '@/lib/engine/ports'
import type { RunRow } from './run-wire'

/** A run's row as it travels. */
export function runRowOf(run: RunHeader & RunProjection): RunRow {
  return {
    id: run.runId,
    workflow: run.workflowName,
    version: run.version,
    status: run.status,
    terminal: run.terminal,
    stopped: run.stopped,
    startedBy: run.startedBy,
    startedAt: run.startedAt,
    endedAt: run.endedAt,
    updatedAt: run.updatedAt,
    nodeCount: run.nodeCount,
    doneCount: run.doneCount,
    failedCount: run.failedCount,
    escalatedCount: run.escalatedCount,
    openApprovals: run.openApprovals,
    parent: run.parent && {
      run: run.parent.runId,
      node: run.parent.node,
      visit: run.parent.visit,
      index: run.parent.index,
    },
    forkOf: run.forkOf,
  }
}
