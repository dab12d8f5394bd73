import { derivedMediaType, type WorkflowRecord } from '@/lib/engine/ports'
import { type Control, isUniqueViolation } from './control'
import type { Workflow } from './generated/sqlite/client'
import type { WorkflowQueries, WorkflowSummary } from './store'

interface SummaryRow extends Omit<Workflow, 'source'> {
  versions: bigint
}

/** Workflow versions over Prisma. */
export function sqliteWorkflows(control: Control): WorkflowQueries {
  return {
    async put(record) {
      try {
        await control.write((prisma) =>
          prisma.workflow.create({ data: { ...record, importedAt: BigInt(record.importedAt) } }),
        )
        return true
      } catch (error) {
        if (isUniqueViolation(error)) return false
        throw error
      }
    },
    async get(version) {
      const row = await control.read((prisma) => prisma.workflow.findUnique({ where: { version } }))
      return row ? toRecord(row) : undefined
    },
    async latest() {
      const names = await newest(control)
      const versions = names.map((row) => row.version)
      const rows = await control.read((prisma) =>
        prisma.workflow.findMany({ where: { version: { in: versions } }, orderBy: { name: 'asc' } }),
      )
      return rows.map(toRecord)
    },
    async versions(name) {
      const rows = await control.read((prisma) =>
        prisma.workflow.findMany({
          where: { name, mediaType: { not: derivedMediaType } },
          orderBy: [{ importedAt: 'desc' }, { version: 'desc' }],
        }),
      )
      return rows.map(toRecord)
    },
    async summaries() {
      const rows = await newest(control)
      return rows.map(
        (row): WorkflowSummary => ({
          ...row,
          importedAt: Number(row.importedAt),
          nodeCount: Number(row.nodeCount),
          versions: Number(row.versions),
        }),
      )
    },
  }
}

/** Newest version of each name. The texts, up to megabytes each, stay where they are. */
function newest(control: Control): Promise<SummaryRow[]> {
  return control.read(
    (prisma) =>
      prisma.$queryRaw<SummaryRow[]>`
      SELECT version, name, description, format, media_type AS mediaType, imported_at AS importedAt,
        imported_by AS importedBy, node_count AS nodeCount, versions
      FROM (
        SELECT version, name, description, format, media_type, imported_at, imported_by, node_count,
          count(*) OVER (PARTITION BY name) AS versions,
          row_number() OVER (PARTITION BY name ORDER BY imported_at DESC, version DESC) AS age
        FROM workflows WHERE media_type <> ${derivedMediaType}
      ) WHERE age = 1 ORDER BY name`,
  )
}

function toRecord(row: Workflow): WorkflowRecord {
  return { ...row, importedAt: Number(row.importedAt) }
}
