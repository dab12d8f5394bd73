import type { RunId } from '@/lib/base/ids'
import type { ApprovalProjection } from '@/lib/engine/ports'
import type { ApprovalKind } from '@/lib/hitl/terms'
import type { Consequence } from '@/lib/nodes/node-kind'
import type { Control } from './control'
import { pageRows, readCursor, writeCursor } from './cursor'
import type { Approval, Prisma } from './generated/sqlite/client'
import type { ApprovalFilter, ApprovalQueries, ApprovalRecord, Slice } from './store'

type Row = Approval & { run: { workflowName: string; startedBy: string } }

const withRun = { run: { select: { workflowName: true, startedBy: true } } } as const

/** The inbox over Prisma. */
export function sqliteApprovals(control: Control): ApprovalQueries {
  return {
    async get(id) {
      const row = await control.read((prisma) =>
        prisma.approval.findUnique({ where: { id }, include: withRun }),
      )
      return row ? toRecord(row) : undefined
    },
    async open(filter, page) {
      const limit = pageRows(page)
      const where = [{ state: 'open' }, ...conditions(filter), ...lessUrgentThan(page.cursor)]
      const rows = await control.read((prisma) =>
        prisma.approval.findMany({
          where: { AND: where },
          include: withRun,
          orderBy: [{ deadlineAt: { sort: 'asc', nulls: 'last' } }, { askedAt: 'asc' }, { id: 'asc' }],
          take: limit + 1,
        }),
      )
      return slice(rows, limit, (last) => writeCursor('open', [last.deadlineAt, last.askedAt, last.id]))
    },
    async closed(filter, page) {
      const limit = pageRows(page)
      const where = [{ state: { not: 'open' } }, ...conditions(filter), ...askedBefore(page.cursor)]
      const rows = await control.read((prisma) =>
        prisma.approval.findMany({
          where: { AND: where },
          include: withRun,
          orderBy: [{ askedAt: 'desc' }, { id: 'desc' }],
          take: limit + 1,
        }),
      )
      return slice(rows, limit, (last) => writeCursor('closed', [last.askedAt, last.id]))
    },
    async ofRun(runId) {
      const rows = await control.read((prisma) =>
        prisma.approval.findMany({
          where: { runId },
          include: withRun,
          orderBy: [{ askedAt: 'asc' }, { id: 'asc' }],
        }),
      )
      return rows.map(toRecord)
    },
    async openByRole() {
      const groups = await control.read((prisma) =>
        prisma.approval.groupBy({
          by: ['role'],
          where: { state: 'open' },
          _count: true,
          orderBy: { role: 'asc' },
        }),
      )
      return groups.map((group) => ({ role: group.role, open: group._count }))
    },
  }
}

function slice(
  rows: Row[],
  limit: number,
  cursorOf: (last: ApprovalRecord) => string,
): Slice<ApprovalRecord> {
  const items = rows.slice(0, limit).map(toRecord)
  const last = items.at(-1)
  return rows.length > limit && last ? { items, next: cursorOf(last) } : { items }
}

function conditions(filter: ApprovalFilter): Prisma.ApprovalWhereInput[] {
  const where: Prisma.ApprovalWhereInput[] = []
  if (filter.roles) where.push({ role: { in: filter.roles } })
  if (filter.runId !== undefined) where.push({ runId: filter.runId })
  return where
}

function lessUrgentThan(cursor: string | undefined): Prisma.ApprovalWhereInput[] {
  if (cursor === undefined) return []
  const key = readCursor('open', ['n?', 'n', 's'], cursor) as [number | null, number, string]
  const deadlineAt = key[0] === null ? null : BigInt(key[0])
  const askedAt = BigInt(key[1])
  const later = { deadlineAt, OR: [{ askedAt: { gt: askedAt } }, { askedAt, id: { gt: key[2] } }] }
  // Without a deadline they come last.
  if (deadlineAt === null) return [later]
  return [{ OR: [{ deadlineAt: { gt: deadlineAt } }, { deadlineAt: null }, later] }]
}

function askedBefore(cursor: string | undefined): Prisma.ApprovalWhereInput[] {
  if (cursor === undefined) return []
  const [at, id] = readCursor('closed', ['n', 's'], cursor) as [number, string]
  const askedAt = BigInt(at)
  return [{ OR: [{ askedAt: { lt: askedAt } }, { askedAt, id: { lt: id } }] }]
}

function toRecord(row: Row): ApprovalRecord {
  return {
    id: row.id,
    runId: row.runId as RunId,
    workflowName: row.run.workflowName,
    runStartedBy: row.run.startedBy,
    node: row.node,
    visit: row.visit,
    kind: row.kind as ApprovalKind,
    role: row.role,
    sentence: row.sentence,
    consequence: row.consequence as Consequence,
    action: row.action,
    askedAt: Number(row.askedAt),
    deadlineAt: row.deadlineAt === null ? null : Number(row.deadlineAt),
    state: row.state as ApprovalProjection['state'],
    ...(row.verdict !== null && { verdict: row.verdict }),
    ...(row.decidedBy !== null && { by: row.decidedBy }),
    ...(row.decidedAt !== null && { decidedAt: Number(row.decidedAt) }),
  }
}
