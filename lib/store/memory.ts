/*
 * The store in memory, for tests and the simulation: the same refusals in the same words, no disk, no clock and no
 * chance of its own, so a story told twice goes the same way. A commit is applied within one turn of the event loop,
 * which makes it as atomic as a transaction. The contract suite holds it to what SQLite does.
 */
import type { Clock } from '@/lib/base/clock'
import type { RunId } from '@/lib/base/ids'
import type {
  ApprovalProjection,
  Commit,
  Keeper,
  LeaseRef,
  LeaseStore,
  LedgerStore,
  RunHeader,
  StoredRow,
  StoredValue,
} from '@/lib/engine/ports'
import { memoryCheckpoints } from './checkpoints-memory'
import { keepReported, memoryCircuits } from './circuits-memory'
import { keepLeft, keptLeft, leftKeptMs } from './left-states'
import { memoryApprovals, memoryRuns, memoryWorkflows } from './memory-queries'
import type { StoredRun, Tables } from './memory-tables'
import { memoryRates } from './rates'
import * as refusals from './refusals'
import { memorySignals } from './signals-memory'
import { type AppendEvent, answerKeptMs, maxValueBytes, type Store } from './store'

/** A fresh, empty store. The clock dates remembered answers; it stands still when none is given. */
export function memoryStore(clock: Clock = { now: () => 0 }): Store {
  const tables: Tables = {
    runs: new Map(),
    ledger: [],
    values: new Map(),
    checkpoints: new Map(),
    approvals: new Map(),
    workflows: new Map(),
    answers: new Map(),
    seenJtis: new Map(),
    signals: new Map(),
    reportedCircuits: new Map(),
    leftStates: new Map(),
  }
  const listeners = new Set<(event: AppendEvent) => void>()
  const appended = (event: AppendEvent): void => {
    for (const listener of listeners) listener(event)
  }
  return {
    ledger: memoryLedger(tables, clock, appended),
    leases: memoryLeases(tables),
    workflows: memoryWorkflows(tables),
    runs: memoryRuns(tables),
    approvals: memoryApprovals(tables),
    signals: memorySignals(tables.signals),
    checkpoints: memoryCheckpoints(tables.checkpoints),
    rates: memoryRates(),
    circuits: memoryCircuits(() => waitsOf(tables), tables.reportedCircuits),
    onAppend(listener) {
      const own = (event: AppendEvent) => listener(event)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
    async forget(now) {
      const answers = dropWhere(tables.answers, (answer) => answer.answeredAt < now - answerKeptMs)
      const left = dropWhere(tables.leftStates, ({ at }) => at < now - leftKeptMs)
      return answers + left + dropWhere(tables.seenJtis, (expiresAt) => expiresAt < now)
    },
    async close() {
      listeners.clear()
    },
  }
}

function* waitsOf({ runs }: Tables): Iterable<[RunId, readonly string[]]> {
  for (const [runId, { projection }] of runs) yield [runId, projection.waitsOn ?? []]
}

function memoryLedger(tables: Tables, clock: Clock, appended: (event: AppendEvent) => void): LedgerStore {
  return {
    async commit(commit) {
      refusals.checkCommit(commit)
      const positions = applyCommit(tables, commit, clock.now())
      if (positions.length > 0) appended({ runId: commit.runId, positions })
    },
    header: async (runId) => tables.runs.get(runId)?.header,
    async rows(runId, after, limit) {
      const from = Math.max(0, after)
      return tables.runs.get(runId)?.rows.slice(from, from + limit) ?? []
    },
    row: async (runId, jti) => tables.runs.get(runId)?.rows.find((row) => row.jti === jti),
    heads: async (runId) => [...(tables.runs.get(runId)?.heads ?? [])],
    async since(after, limit, runId) {
      if (runId === undefined) return tables.ledger.slice(Math.max(0, after), Math.max(0, after) + limit)
      const rows = tables.runs.get(runId)?.rows ?? []
      return rows.filter((row) => row.position > after).slice(0, limit)
    },
    lastPosition: async () => tables.ledger.length,
    value: async (hash) => tables.values.get(hash),
    async putValue(value) {
      if (value.bytes.byteLength > maxValueBytes) throw refusals.valueTooLarge(value.bytes.byteLength)
      keepValue(tables, value)
    },
    checkpoint: async (jti) => tables.checkpoints.get(jti),
    async leftBy(target, since, except) {
      const left = keptLeft(tables.leftStates, target, since, except)
      const header = left && tables.runs.get(left.runId)?.header
      return header && { ...left, workflowName: header.workflowName }
    },
    async answer(scope, key) {
      const found = tables.answers.get(answerKey(scope, key))
      if (!found) return undefined
      const { answeredAt: _, ...answer } = found
      return answer
    },
    async rememberJti(jti, expiresAt) {
      if (tables.seenJtis.has(jti)) return false
      tables.seenJtis.set(jti, expiresAt)
      return true
    },
  }
}

/** Judges first, then writes: nothing is written by a commit that throws. */
function applyCommit(tables: Tables, commit: Commit, now: number): number[] {
  const { runId, answer } = commit
  const remembered = answer && tables.answers.get(answerKey(answer.scope, answer.key))
  if (answer && remembered) throw refusals.keyReused(answer, remembered)
  const run = judged(tables, commit)

  // Said by the first commit for good, as in SQLite.
  const { startedAt } = run.projection
  run.projection = { ...commit.projection, startedAt }
  const positions = commit.rows.map((row) => {
    const stored: StoredRow = { ...row, position: tables.ledger.length + 1 }
    tables.ledger.push(stored)
    run.rows.push(stored)
    run.jtis.add(row.jti)
    return stored.position
  })
  run.heads.push(...commit.heads)
  tables.runs.set(runId, run)
  for (const value of commit.values) keepValue(tables, value)
  for (const point of commit.checkpoints) tables.checkpoints.set(point.jti, { ...point })
  for (const approval of commit.approvals) keepApproval(tables, runId, approval)
  for (const circuit of commit.reportedCircuits ?? []) keepReported(tables.reportedCircuits, circuit)
  for (const left of commit.leftStates ?? []) keepLeft(tables.leftStates, left)
  for (const signal of commit.signals ?? []) {
    const waiting = { runId, attempts: 0, nextAt: signal.createdAt, state: 'waiting', answer: '' } as const
    if (!tables.signals.has(signal.id)) tables.signals.set(signal.id, { ...signal, ...waiting })
  }
  if (answer) tables.answers.set(answerKey(answer.scope, answer.key), { ...answer, answeredAt: now })
  return positions
}

/** The run that the commit holds for, not yet changed. */
function judged(tables: Tables, commit: Commit): StoredRun {
  const { runId, expectedSeq, create } = commit
  const found = tables.runs.get(runId)
  if (create) {
    if (found) throw refusals.sequenceTaken(commit, found.rows.length)
    checkLease(tables, commit)
  } else {
    if (!found) throw refusals.runUnknown(runId)
    checkLease(tables, commit)
    if (found.rows.length !== expectedSeq) throw refusals.sequenceTaken(commit, found.rows.length)
  }
  const fresh = new Set<string>()
  for (const { jti } of commit.rows) {
    if (fresh.has(jti) || found?.jtis.has(jti)) throw refusals.duplicateJti(commit, jti)
    fresh.add(jti)
  }
  if (found) return found
  return {
    header: { ...(create as RunHeader) },
    projection: commit.projection,
    rows: [],
    jtis: new Set(),
    heads: [],
    lease: undefined,
    epoch: 0,
  }
}

function checkLease(tables: Tables, commit: Commit): void {
  const { lease } = commit
  const held = lease && tables.runs.get(lease.runId)
  if (!lease || (held?.lease?.owner === lease.owner && held.epoch === lease.epoch)) return
  throw refusals.leaseLost(commit, { owner: held?.lease?.owner ?? null, epoch: held?.epoch ?? 0 })
}

function keepValue(tables: Tables, value: StoredValue): void {
  if (!tables.values.has(value.hash)) tables.values.set(value.hash, { ...value, bytes: value.bytes.slice() })
}

function keepApproval(tables: Tables, runId: RunId, approval: ApprovalProjection): void {
  const asked = tables.approvals.get(approval.id)
  if (!asked) {
    tables.approvals.set(approval.id, { ...approval, runId })
  } else if (asked.runId === runId) {
    const { state, verdict, role, deadlineAt, by, decidedAt } = approval
    tables.approvals.set(approval.id, { ...asked, state, verdict, role, deadlineAt, by, decidedAt })
  }
}

function memoryLeases(tables: Tables): LeaseStore {
  /** When the run's lease, or its time for another owner, is over; 0 when this owner may have it now. */
  const freeAt = ({ lease, header: { keptFor } }: StoredRun, owner: string, now: number): number => {
    const kept = keptFor && keptFor.owner !== owner ? keptFor.until : 0
    const at = Math.max(lease?.until ?? 0, kept)
    return at > now ? at : 0
  }
  const isFree = (run: StoredRun, owner: string, now: number) => freeAt(run, owner, now) === 0
  const keepFor = (run: StoredRun, keptFor: Keeper | undefined): void => {
    const { keptFor: _, ...header } = run.header
    run.header = keptFor ? { ...header, keptFor } : header
  }
  const keptFor = (owner: string) =>
    [...tables.runs.values()].filter((run) => run.header.keptFor?.owner === owner)
  const under = (run: StoredRun): StoredRun[] => [
    run,
    ...[...tables.runs.values()]
      .filter((one) => one.header.parent?.runId === run.header.runId)
      .flatMap(under),
  ]
  const isHeld = (lease: LeaseRef): StoredRun | undefined => {
    const run = tables.runs.get(lease.runId)
    return run?.lease?.owner === lease.owner && run.epoch === lease.epoch ? run : undefined
  }
  const take = (run: StoredRun, owner: string, until: number): LeaseRef => {
    run.lease = { owner, until }
    run.epoch++
    if (run.header.keptFor?.owner !== owner) keepFor(run, undefined)
    return { runId: run.header.runId, owner, epoch: run.epoch }
  }
  return {
    async claimDue(owner, limit, now, leaseMs) {
      const due = [...tables.runs.values()].filter(
        (run) => run.projection.dueAt !== null && run.projection.dueAt <= now && isFree(run, owner, now),
      )
      due.sort(
        (a, b) =>
          (a.projection.dueAt ?? 0) - (b.projection.dueAt ?? 0) || (a.header.runId < b.header.runId ? -1 : 1),
      )
      return due.slice(0, limit).map((run) => take(run, owner, now + leaseMs))
    },
    async claim(owner, runId, now, leaseMs) {
      const run = tables.runs.get(runId)
      return run && isFree(run, owner, now) ? take(run, owner, now + leaseMs) : undefined
    },
    async heartbeat(leases, now, leaseMs) {
      return leases.filter((lease) => {
        const run = isHeld(lease)
        if (run) run.lease = { owner: lease.owner, until: now + leaseMs }
        return run !== undefined
      })
    },
    async release(lease) {
      const run = isHeld(lease)
      if (run) run.lease = undefined
    },
    async keep(owner, runId, now, keepMs) {
      const top = tables.runs.get(runId)
      for (const run of top ? under(top) : []) {
        const { keptFor } = run.header
        if (keptFor && keptFor.owner !== owner && keptFor.until > now) continue
        keepFor(run, { owner, until: now + keepMs })
      }
    },
    async keepOn(owner, until) {
      for (const run of keptFor(owner)) keepFor(run, { owner, until })
    },
    async keepNothing(owner) {
      for (const run of keptFor(owner)) keepFor(run, undefined)
    },
    async releaseAllOf(owner) {
      for (const run of tables.runs.values()) if (run.lease?.owner === owner) run.lease = undefined
      for (const run of keptFor(owner)) keepFor(run, undefined)
    },
    async nextDue(owner, now) {
      let next: number | undefined
      for (const run of tables.runs.values()) {
        const { dueAt } = run.projection
        if (dueAt === null) continue
        const at = Math.max(dueAt, freeAt(run, owner, now))
        if (next === undefined || at < next) next = at
      }
      return next
    },
  }
}

/** Scope and key as one map key; a NUL parts them, which neither can hold in a header. */
function answerKey(scope: string, key: string): string {
  return `${scope}\0${key}`
}

function dropWhere<K, V>(map: Map<K, V>, isOver: (value: V) => boolean): number {
  let dropped = 0
  for (const [key, value] of map) {
    if (!isOver(value)) continue
    map.delete(key)
    dropped++
  }
  return dropped
}
