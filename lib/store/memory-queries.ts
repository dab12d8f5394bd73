import { derivedMediaType, type WorkflowRecord } from '@/lib/engine/ports'
import { pageRows, readCursor, type SortKey, writeCursor } from './cursor'
import type { StoredRun, Tables } from './memory-tables'
import {
  type ApprovalFilter,
  type ApprovalQueries,
  type ApprovalRecord,
  noRuns,
  type PageAsk,
  type RunFilter,
  type RunQueries,
  type RunRecord,
  type Slice,
  type WorkflowQueries,
} from './store'

/** Lists over the tables in memory; the whole list is sorted for each page, which tests can afford. */
export function memoryRuns(tables: Tables): RunQueries {
  const matching = (filter: RunFilter) => [...tables.runs.values()].map(toRun).filter(runFilter(filter))
  return {
    async get(runId) {
      const run = tables.runs.get(runId)
      return run && toRun(run)
    },
    async list(filter, page) {
      return pageOf(
        'runs',
        matching(filter),
        page,
        ['n', 's'],
        (run) => [run.startedAt, run.runId],
        newestFirst,
      )
    },
    count: async (filter) => matching(filter).length,
    childCounts: async (runId) =>
      matching({ parent: runId }).map(({ parent, status, terminal, stopped }) => ({
        node: parent?.node ?? '',
        visit: parent?.visit ?? 1,
        n: 1,
        status,
        ...(terminal !== undefined && { terminal }),
        ...(stopped !== undefined && { stopped }),
      })),
    async counts(endedSince) {
      const byStatus = noRuns()
      let failing = 0
      let ended = 0
      for (const run of matching({ parent: 'none' })) {
        byStatus[run.status]++
        const isLate = run.status === 'ended' && (run.endedAt ?? Number.NEGATIVE_INFINITY) >= endedSince
        if (isLate) ended++
        if (isFailing(run)) failing++
      }
      return { byStatus, failing, endedSince: ended }
    },
  }
}

export function memoryApprovals(tables: Tables): ApprovalQueries {
  const all = (): ApprovalRecord[] =>
    [...tables.approvals.values()].map((approval) => {
      const header = tables.runs.get(approval.runId)?.header
      const { workflowName = '', startedBy = '' } = header ?? {}
      return defined({ ...approval, workflowName, runStartedBy: startedBy })
    })
  const matching = (filter: ApprovalFilter, isOpen: boolean) =>
    all().filter(
      (approval) =>
        (approval.state === 'open') === isOpen &&
        (!filter.roles || filter.roles.includes(approval.role)) &&
        (filter.runId === undefined || approval.runId === filter.runId),
    )
  return {
    get: async (id) => all().find((approval) => approval.id === id),
    async open(filter, page) {
      const key = (approval: ApprovalRecord) => [approval.deadlineAt, approval.askedAt, approval.id]
      return pageOf('open', matching(filter, true), page, ['n?', 'n', 's'], key, mostUrgentFirst)
    },
    async closed(filter, page) {
      const key = (approval: ApprovalRecord) => [approval.askedAt, approval.id]
      return pageOf('closed', matching(filter, false), page, ['n', 's'], key, newestFirst)
    },
    async ofRun(runId) {
      const key = (approval: ApprovalRecord) => [null, approval.askedAt, approval.id]
      return all()
        .filter((approval) => approval.runId === runId)
        .sort((a, b) => mostUrgentFirst(key(a), key(b)))
    },
    async openByRole() {
      const open = new Map<string, number>()
      for (const { role } of matching({}, true)) open.set(role, (open.get(role) ?? 0) + 1)
      return [...open]
        .map(([role, count]) => ({ role, open: count }))
        .sort((a, b) => (a.role < b.role ? -1 : 1))
    },
  }
}

export function memoryWorkflows(tables: Tables): WorkflowQueries {
  const newestOf = (name?: string): WorkflowRecord[] =>
    [...tables.workflows.values()]
      .filter((record) => record.mediaType !== derivedMediaType)
      .filter((record) => name === undefined || record.name === name)
      .sort((a, b) => b.importedAt - a.importedAt || (a.version < b.version ? 1 : -1))
  const latest = (): WorkflowRecord[] => {
    const byName = new Map<string, WorkflowRecord>()
    for (const record of newestOf()) if (!byName.has(record.name)) byName.set(record.name, record)
    return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }
  return {
    async put(record) {
      if (tables.workflows.has(record.version)) return false
      tables.workflows.set(record.version, { ...record })
      return true
    },
    get: async (version) => tables.workflows.get(version),
    latest: async () => latest(),
    versions: async (name) => newestOf(name),
    async summaries() {
      return latest().map(({ source: _, ...summary }) => ({
        ...summary,
        versions: newestOf(summary.name).length,
      }))
    },
  }
}

/** One page of a list that is sorted by `order` over `keyOf`. */
function pageOf<T>(
  list: string,
  items: T[],
  page: PageAsk,
  shape: ('s' | 'n' | 'n?')[],
  keyOf: (item: T) => SortKey,
  order: (a: SortKey, b: SortKey) => number,
): Slice<T> {
  const limit = pageRows(page)
  const after = page.cursor === undefined ? undefined : readCursor(list, shape, page.cursor)
  const sorted = items
    .map((item) => ({ item, key: keyOf(item) }))
    .filter(({ key }) => after === undefined || order(key, after) > 0)
    .sort((a, b) => order(a.key, b.key))
  const shown = sorted.slice(0, limit)
  const last = shown.at(-1)
  const result: Slice<T> = { items: shown.map(({ item }) => item) }
  if (last && sorted.length > limit) result.next = writeCursor(list, last.key)
  return result
}

function newestFirst(a: SortKey, b: SortKey): number {
  return -mostUrgentFirst([null, ...a], [null, ...b])
}

/** Part by part, smallest first; null (no deadline) after every number. */
function mostUrgentFirst(a: SortKey, b: SortKey): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? null
    if (left === right) continue
    if (left === null) return 1
    if (right === null) return -1
    return left < right ? -1 : 1
  }
  return 0
}

function runFilter(filter: RunFilter): (run: RunRecord) => boolean {
  const { status, terminal, stopped, workflow, version, startedBy, text, since, until, failing, parent } =
    filter
  const part = likePart(text ?? '')
  return (run) =>
    (!status || status.includes(run.status)) &&
    (!terminal || (run.terminal !== undefined && terminal.includes(run.terminal))) &&
    (stopped === undefined || (run.stopped ?? 'none') === stopped) &&
    (workflow === undefined || run.workflowName === workflow) &&
    (version === undefined || run.version === version) &&
    (startedBy === undefined || run.startedBy === startedBy) &&
    (parent === undefined || (run.parent?.runId ?? 'none') === parent) &&
    (!filter.parentStep ||
      (run.parent?.node === filter.parentStep.node && run.parent.visit === filter.parentStep.visit)) &&
    (!filter.parents || (run.parent !== undefined && filter.parents.includes(run.parent.runId))) &&
    (!filter.forksOf || (run.forkOf !== undefined && filter.forksOf.includes(run.forkOf))) &&
    (filter.asking === undefined || run.openApprovals > 0 === filter.asking) &&
    (since === undefined || run.startedAt >= since) &&
    (until === undefined || run.startedAt < until) &&
    (failing === undefined || isFailing(run) === failing) &&
    [run.workflowName, run.runId, run.startedBy].some((word) => part.test(word))
}

/** SQL's `LIKE '%text%'`. */
function likePart(text: string): RegExp {
  const literal = text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return new RegExp(literal.replaceAll('%', '.*').replaceAll('_', '.'), 'is')
}

function isFailing(run: RunRecord): boolean {
  if (run.status !== 'ended') return run.status !== 'rolled_back' && run.failedCount + run.escalatedCount > 0
  if (run.stopped !== undefined) return run.stopped === 'flagged'
  return run.terminal !== undefined && ['failed', 'partial', 'escalated'].includes(run.terminal)
}

function toRun(run: StoredRun): RunRecord {
  const { lease, epoch } = run
  const { keptFor: _, ...header } = run.header
  return defined({
    ...header,
    ...run.projection,
    seq: run.rows.length,
    lease: lease && { owner: lease.owner, epoch, until: lease.until },
  })
}

/** Without the members that are undefined: what is absent in a row is absent here. */
function defined<T extends object>(record: T): T {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as T
}
