import type { RunId } from '@/lib/base/ids'
import type { TerminalStatus } from '@/lib/engine/facts'
import type { RunProjection } from '@/lib/engine/ports'
import type { Control } from './control'
import { pageRows, readCursor, writeCursor } from './cursor'
import type { Prisma, Run } from './generated/sqlite/client'
import { parentOf } from './ledger-sqlite'
import {
  type ChildCount,
  noRuns,
  type RunCounts,
  type RunFilter,
  type RunQueries,
  type RunRecord,
} from './store'

const list = 'runs'

/** The run list over Prisma. */
export function sqliteRuns(control: Control): RunQueries {
  return {
    async get(runId) {
      const row = await control.read((prisma) => prisma.run.findUnique({ where: { id: runId } }))
      return row ? toRecord(row) : undefined
    },
    async list(filter, page) {
      const limit = pageRows(page)
      const where = [...conditions(filter), ...after(page.cursor)]
      const rows = await control.read((prisma) =>
        prisma.run.findMany({
          where: { AND: where },
          orderBy: [{ startedAt: 'desc' }, { id: 'desc' }],
          take: limit + 1,
        }),
      )
      const items = rows.slice(0, limit).map(toRecord)
      const last = items.at(-1)
      const next = rows.length > limit && last ? writeCursor(list, [last.startedAt, last.runId]) : undefined
      return next ? { items, next } : { items }
    },
    count: (filter) => control.read((prisma) => prisma.run.count({ where: { AND: conditions(filter) } })),
    childCounts: (runId) => childCounts(control, runId),
    counts: (endedSince) => countAll(control, endedSince),
  }
}

/** Runs that no step of another run began: those a person counts. */
const ownRuns = { parentRun: null } as const

async function countAll(control: Control, endedSince: number): Promise<RunCounts> {
  const ended = { ...ownRuns, status: 'ended', endedAt: { gte: BigInt(endedSince) } }
  const [groups, failing, endedCount] = await control.read((prisma) =>
    Promise.all([
      prisma.run.groupBy({ by: ['status'], where: ownRuns, _count: true }),
      prisma.run.count({ where: { AND: [ownRuns, isFailing] } }),
      prisma.run.count({ where: ended }),
    ]),
  )
  const byStatus = noRuns()
  for (const group of groups) byStatus[group.status as RunProjection['status']] = group._count
  return { byStatus, failing, endedSince: endedCount }
}

async function childCounts(control: Control, parentRun: RunId): Promise<ChildCount[]> {
  const groups = await control.read((prisma) =>
    prisma.run.groupBy({
      by: ['parentNode', 'parentVisit', 'status', 'terminal', 'stopped'],
      where: { parentRun },
      _count: true,
    }),
  )
  return groups.map(({ parentNode, parentVisit, status, terminal, stopped, _count }) => ({
    node: parentNode ?? '',
    visit: parentVisit ?? 1,
    n: _count,
    status: status as RunProjection['status'],
    ...(terminal !== null && { terminal: terminal as TerminalStatus }),
    ...(stopped !== null && { stopped: stopped as RunProjection['stopped'] }),
  }))
}

/** The runs that come after the cursor's, newest first. */
function after(cursor: string | undefined): Prisma.RunWhereInput[] {
  if (cursor === undefined) return []
  const [at, id] = readCursor(list, ['n', 's'], cursor) as [number, string]
  const startedAt = BigInt(at)
  return [{ OR: [{ startedAt: { lt: startedAt } }, { startedAt, id: { lt: id } }] }]
}

/** Went wrong and nobody has dealt with it: under way with failed or escalated steps, or ended in anything but success, a cancellation or a rollback, or flagged since. */
const isFailing: Prisma.RunWhereInput = {
  OR: [
    {
      status: { notIn: ['ended', 'rolled_back'] },
      OR: [{ failedCount: { gt: 0 } }, { escalatedCount: { gt: 0 } }],
    },
    { status: 'ended', terminal: { in: ['failed', 'partial', 'escalated'] }, stopped: null },
    // Without the first of these its negation would be unknown, not true, of a run that was never stopped.
    { status: 'ended', AND: [{ stopped: { not: null } }, { stopped: 'flagged' }] },
  ],
}

function conditions(filter: RunFilter): Prisma.RunWhereInput[] {
  const { status, terminal, stopped, workflow, version, startedBy, text, since, until, failing, parent } =
    filter
  const { parentStep, parents, asking } = filter
  const where: Prisma.RunWhereInput[] = []
  if (status) where.push({ status: { in: status } })
  if (terminal) where.push({ terminal: { in: terminal } })
  if (stopped !== undefined) where.push({ stopped: stopped === 'none' ? null : stopped })
  if (workflow !== undefined) where.push({ workflowName: workflow })
  if (version !== undefined) where.push({ version })
  if (startedBy !== undefined) where.push({ startedBy })
  if (parent === 'none') where.push({ parentRun: null })
  else if (parent !== undefined) where.push({ parentRun: parent })
  if (parentStep) where.push({ parentNode: parentStep.node, parentVisit: parentStep.visit })
  if (parents) where.push({ parentRun: { in: parents } })
  if (filter.forksOf) where.push({ forkOf: { in: filter.forksOf } })
  if (asking !== undefined) where.push({ openApprovals: asking ? { gt: 0 } : 0 })
  if (since !== undefined) where.push({ startedAt: { gte: BigInt(since) } })
  if (until !== undefined) where.push({ startedAt: { lt: BigInt(until) } })
  if (text !== undefined && text !== '') {
    const part = { contains: text }
    where.push({ OR: [{ workflowName: part }, { id: part }, { startedBy: part }] })
  }
  if (failing !== undefined) {
    where.push(failing ? isFailing : { NOT: isFailing })
  }
  return where
}

function toRecord(row: Run): RunRecord {
  const { leaseOwner, leaseEpoch, leaseUntil } = row
  const parent = parentOf(row)
  return {
    runId: row.id as RunId,
    wid: row.wid,
    version: row.version,
    workflowName: row.workflowName,
    startedBy: row.startedBy,
    ...(parent && { parent }),
    ...(row.forkOf !== null && { forkOf: row.forkOf as RunId }),
    seq: row.seq,
    status: row.status as RunProjection['status'],
    ...(row.terminal !== null && { terminal: row.terminal as TerminalStatus }),
    ...(row.stopped !== null && { stopped: row.stopped as RunProjection['stopped'] }),
    startedAt: Number(row.startedAt),
    ...(row.endedAt !== null && { endedAt: Number(row.endedAt) }),
    updatedAt: Number(row.updatedAt),
    nodeCount: row.nodeCount,
    doneCount: row.doneCount,
    failedCount: row.failedCount,
    escalatedCount: row.escalatedCount,
    openApprovals: row.openApprovals,
    dueAt: row.dueAt === null ? null : Number(row.dueAt),
    ...(leaseOwner !== null && {
      lease: { owner: leaseOwner, epoch: leaseEpoch, until: Number(leaseUntil) },
    }),
  }
}
