import type { Database } from 'better-sqlite3'
import { type Clock, systemClock } from '@/lib/base/clock'
import type { Hash } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import type { CheckpointLimits } from '@/lib/engine/checkpoint-ports'
import type {
  Commit,
  IdempotentAnswer,
  LedgerStore,
  ParentPlace,
  RunHeader,
  SealedCheckpoint,
  SignedHead,
  StoredRow,
  StoredValue,
} from '@/lib/engine/ports'
import { checkpointRoom, checkpointWriter } from './checkpoints-sqlite'
import { reportedCircuitWriter } from './circuits-reported'
import type { GroupWriter } from './group-writer'
import { leftKeptMs, leftStateReader, leftStateWriter } from './left-states'
import * as refusals from './refusals'
import { signalWriter } from './signals-sqlite'
import { type AppendEvent, maxValueBytes } from './store'

/*
 * The ledger over SQLite. A commit is judged by one statement: the run's row carries how many tokens it has, and is
 * compared and set. Only when that took does anything else of the commit get written:
 *
 *   UPDATE runs SET seq = 7, status = … WHERE id = 'run_41' AND seq = 5 [AND lease_owner = … AND lease_epoch = …]
 *     1 row changed    the commit holds: its two tokens, values, checkpoints follow in the same transaction
 *     0 rows changed   somebody was quicker, or the lease went: refused, nothing written
 *
 * The unique indexes on (run, seq) and (run, jti) say the same once more, whatever the code above them does.
 *
 * Reads use the same connection: it is never inside a transaction when another piece of code runs, since a group is
 * written without a turn of the event loop.
 */
interface FenceRow {
  seq: number
  lease_owner: string | null
  lease_epoch: number
}

/** The columns that say which step of another run began this one. */
export interface ParentColumns {
  parentRun: string | null
  parentNode: string | null
  parentVisit: number | null
  parentIndex: number | null
}

type HeaderRow = Omit<RunHeader, 'parent' | 'forkOf' | 'keptFor'> &
  ParentColumns & { forkOf: RunId | null; keptOwner: string | null; keptUntil: number | null }

/** The step that began a run, or undefined for a run of its own. */
export function parentOf(row: ParentColumns): ParentPlace | undefined {
  const { parentRun, parentNode, parentVisit, parentIndex } = row
  if (parentRun === null || parentNode === null) return undefined
  return { runId: parentRun as RunId, node: parentNode, visit: parentVisit ?? 1, index: parentIndex ?? 0 }
}

export function sqliteLedger(
  db: Database,
  writer: GroupWriter | undefined,
  appended: (event: AppendEvent) => void,
  clock: Clock = systemClock,
  limits?: CheckpointLimits,
): LedgerStore {
  const write = writeStatements(db, limits)
  const read = readStatements(db)
  const leftBy = leftStateReader(db)
  const writing = (): GroupWriter => {
    if (!writer) throw refusals.readOnly(db.name)
    return writer
  }

  return {
    async commit(commit) {
      refusals.checkCommit(commit)
      const { runId } = commit
      const told = (positions: number[]) => {
        if (positions.length > 0) appended({ runId, positions })
      }
      try {
        await writing().submit(sizeOf(commit), () => applyCommit(write, commit, clock.now()), told)
      } catch (error) {
        throw isDuplicateJti(error) ? refusals.duplicateJti(commit, repeatedJti(read, commit)) : error
      }
    },
    async header(runId) {
      const row = read.header.get(runId)
      if (!row) return undefined
      const { parentRun, parentNode, parentVisit, parentIndex, forkOf, keptOwner, keptUntil, ...header } = row
      const parent = parentOf({ parentRun, parentNode, parentVisit, parentIndex })
      const keptFor = keptOwner !== null && { owner: keptOwner, until: keptUntil ?? 0 }
      return {
        ...header,
        ...(parent && { parent }),
        ...(forkOf !== null && { forkOf }),
        ...(keptFor && { keptFor }),
      }
    },
    rows: async (runId, after, limit) => read.rows.all(runId, after, limit),
    row: async (runId, jti) => read.row.get(runId, jti),
    heads: async (runId) => read.heads.all(runId),
    async since(after, limit, runId) {
      if (runId === undefined) return read.since.all(after, limit)
      return read.rows.all(runId, seqAt(read, runId, after), limit)
    },
    lastPosition: async () => read.lastPosition.get()?.position ?? 0,
    othersWrote: () => read.version.get() as number,
    async value(hash) {
      const row = read.value.get(hash)
      return row && { ...row, bytes: plainBytes(row.bytes) }
    },
    async putValue(value) {
      const size = value.bytes.byteLength
      if (size > maxValueBytes) throw refusals.valueTooLarge(size)
      await writing().submit(size, () => {
        write.value.run(value.hash, value.mediaType, size, value.bytes)
      })
    },
    async checkpoint(jti) {
      const row = read.checkpoint.get(jti)
      return row && { ...row, sealed: plainBytes(row.sealed) }
    },
    leftBy: async (target, since, except) => leftBy(target, since, except),
    answer: async (scope, key) => read.answer.get(scope, key),
    async rememberJti(jti, expiresAt) {
      return writing().submit(0, () => write.seenJti.run(jti, expiresAt).changes === 1)
    },
  }
}

/** Forgets answers given before `answeredBefore` and token ids that expired before `expiredBefore` (ms since the epoch). */
export function sqliteForget(db: Database, writer: GroupWriter | undefined) {
  const answers = db.prepare('DELETE FROM answers WHERE answered_at < ?')
  const jtis = db.prepare('DELETE FROM seen_jtis WHERE expires_at < ?')
  const left = db.prepare('DELETE FROM left_states WHERE at < ?')
  return async (answeredBefore: number, expiredBefore: number): Promise<number> => {
    if (!writer) throw refusals.readOnly(db.name)
    return writer.submit(
      0,
      () =>
        answers.run(answeredBefore).changes +
        jtis.run(expiredBefore).changes +
        left.run(expiredBefore - leftKeptMs).changes,
    )
  }
}

type Write = ReturnType<typeof writeStatements>
type Read = ReturnType<typeof readStatements>

/** Runs inside the group's transaction. Gives back the positions of the rows. */
function applyCommit(write: Write, commit: Commit, now: number): number[] {
  if (commit.answer) {
    const remembered = write.answered.get(commit.answer.scope, commit.answer.key)
    if (remembered) throw refusals.keyReused(commit.answer, remembered)
  }
  write.checkpointRoom(commit, now)
  fence(write, commit)
  const { runId } = commit
  const positions = commit.rows.map((row) =>
    Number(write.row.run(runId, row.seq, row.jti, row.token, row.prevHash, row.hash).lastInsertRowid),
  )
  for (const head of commit.heads) write.head.run(runId, head.seq, head.jws)
  for (const value of commit.values) {
    write.value.run(value.hash, value.mediaType, value.bytes.byteLength, value.bytes)
  }
  for (const point of commit.checkpoints) write.checkpoint(runId, point, now)
  for (const approval of commit.approvals) writeApproval(write, runId, approval)
  for (const signal of commit.signals ?? []) write.signal(runId, signal)
  for (const circuit of commit.reportedCircuits ?? []) write.reportedCircuit(circuit)
  for (const left of commit.leftStates ?? []) write.leftState(left)
  if (!commit.create) write.noWaits.run(runId)
  for (const circuit of commit.projection.waitsOn ?? []) write.wait.run(runId, circuit)
  if (commit.answer) {
    const { scope, key, requestHash, status, body } = commit.answer
    write.answer.run(scope, key, requestHash, status, body, now)
  }
  return positions
}

/** Compares and sets the run's number of tokens. Throws the Problem of the commit that does not hold; wrote nothing then. */
function fence(write: Write, commit: Commit): void {
  const { runId, expectedSeq, lease, create, projection: p } = commit
  const seq = expectedSeq + commit.rows.length
  const times = [p.endedAt ?? null, p.updatedAt, p.dueAt] as const
  const counts = [p.nodeCount, p.doneCount, p.failedCount, p.escalatedCount, p.openApprovals] as const
  const moving = [seq, p.status, p.terminal ?? null, p.stopped ?? null, ...times, ...counts] as const
  const isOfAnother = lease !== undefined && lease.runId !== runId
  if (isOfAnother) {
    const holder = write.fenceRow.get(lease.runId)
    if (holder?.lease_owner !== lease.owner || holder.lease_epoch !== lease.epoch) throw whyNot(write, commit)
  }
  let changes: number
  if (create) {
    const { wid, version, workflowName, startedBy, parent, forkOf, keptFor } = create
    const fixed = [runId, wid, version, workflowName, startedBy, p.startedAt] as const
    const above = [
      parent?.runId ?? null,
      parent?.node ?? null,
      parent?.visit ?? null,
      parent?.index ?? null,
      forkOf ?? null,
    ] as const
    const kept = [keptFor?.owner ?? null, keptFor?.until ?? null] as const
    changes = write.create.run(...fixed, ...above, ...kept, ...moving).changes
  } else if (lease && !isOfAnother) {
    changes = write.moveLeased.run(...moving, runId, expectedSeq, lease.owner, lease.epoch).changes
  } else {
    changes = write.move.run(...moving, runId, expectedSeq).changes
  }
  if (changes !== 1) throw whyNot(write, commit)
}

function whyNot(write: Write, commit: Commit): Error {
  const row = write.fenceRow.get(commit.runId)
  const { lease, create } = commit
  if (!row && !create) return refusals.runUnknown(commit.runId)
  if (row && create) return refusals.sequenceTaken(commit, row.seq)
  const held = lease && write.fenceRow.get(lease.runId)
  if (lease && (held?.lease_owner !== lease.owner || held.lease_epoch !== lease.epoch)) {
    return refusals.leaseLost(commit, { owner: held?.lease_owner ?? null, epoch: held?.lease_epoch ?? 0 })
  }
  if (!row) return refusals.sequenceTaken(commit, undefined)
  return refusals.sequenceTaken(commit, row.seq)
}

/**
 * The number of tokens of a run at a position of the installation. Positions rise with numbers within a run, so it is
 * looked for by halves: 17 look-ups in the index for 100,000 tokens, where a scan would read them all.
 */
function seqAt(read: Read, runId: RunId, position: number): number {
  let low = 0
  let high = read.seq.get(runId)?.seq ?? 0
  if (high > 0 && (read.positionOf.get(runId, high)?.position ?? 0) <= position) return high
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((read.positionOf.get(runId, middle)?.position ?? 0) <= position) low = middle
    else high = middle - 1
  }
  return low
}

function isDuplicateJti(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return code === 'SQLITE_CONSTRAINT_UNIQUE' && String(message).includes('ledger.jti')
}

function repeatedJti(read: Read, commit: Commit): string {
  const seen = new Set<string>()
  for (const { jti } of commit.rows) {
    if (seen.has(jti) || read.hasJti.get(commit.runId, jti)) return jti
    seen.add(jti)
  }
  return commit.rows[0]?.jti ?? ''
}

/** About the bytes a commit writes; tokens are ASCII. */
function sizeOf(commit: Commit): number {
  let bytes = 500
  for (const row of commit.rows) bytes += row.token.length + 300
  for (const value of commit.values) bytes += value.bytes.byteLength
  for (const point of commit.checkpoints) bytes += point.sealed.byteLength
  return bytes
}

/** The driver answers with Buffers; past this room bytes are bytes. The memory is shared, not copied. */
function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function writeApproval(write: Write, runId: RunId, approval: Commit['approvals'][number]): void {
  const { id, node, visit, kind, role, sentence, consequence, action, askedAt, deadlineAt, state } = approval
  const decision = [state, approval.verdict ?? null, approval.by ?? null, approval.decidedAt ?? null] as const
  const question = [
    id,
    runId,
    node,
    visit,
    kind,
    role,
    sentence,
    consequence,
    action,
    askedAt,
    deadlineAt,
  ] as const
  write.approval.run(...question, ...decision)
}

/**
 * What a commit may change of its run's row. When the run started is said by its first commit: SQLite rewrites every index that a named column is in, changed or not, and `started_at` is in three.
 */
const movingColumns = [
  ...['seq', 'status', 'terminal', 'stopped', 'ended_at', 'updated_at', 'due_at'],
  ...['node_count', 'done_count', 'failed_count', 'escalated_count', 'open_approvals'],
]

function writeStatements(db: Database, limits: CheckpointLimits | undefined) {
  const assigned = movingColumns.map((column) => `${column} = ?`).join(', ')
  return {
    create: db.prepare(
      `INSERT INTO runs (id, wid, version, workflow_name, started_by, started_at,
         parent_run, parent_node, parent_visit, parent_index, fork_of, kept_for, kept_until,
         ${movingColumns.join(', ')})
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${movingColumns.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`,
    ),
    move: db.prepare(`UPDATE runs SET ${assigned} WHERE id = ? AND seq = ?`),
    moveLeased: db.prepare(
      `UPDATE runs SET ${assigned} WHERE id = ? AND seq = ? AND lease_owner = ? AND lease_epoch = ?`,
    ),
    fenceRow: db.prepare<[string], FenceRow>('SELECT seq, lease_owner, lease_epoch FROM runs WHERE id = ?'),
    row: db.prepare(
      'INSERT INTO ledger (run_id, seq, jti, token, prev_hash, hash) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    head: db.prepare('INSERT INTO heads (run_id, seq, jws) VALUES (?, ?, ?)'),
    value: db.prepare(
      'INSERT INTO stored_values (hash, media_type, size, bytes) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    ),
    checkpointRoom: checkpointRoom(db, limits),
    checkpoint: checkpointWriter(db),
    // Only what a decision changes is taken from a later row; the question stands as it was asked.
    approval: db.prepare(
      `INSERT INTO approvals (id, run_id, node, visit, kind, role, sentence, consequence, action, asked_at, deadline_at,
         state, verdict, decided_by, decided_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET state = excluded.state, verdict = excluded.verdict, role = excluded.role,
         deadline_at = excluded.deadline_at, decided_by = excluded.decided_by, decided_at = excluded.decided_at
       WHERE run_id = excluded.run_id`,
    ),
    noWaits: db.prepare('DELETE FROM run_waits WHERE run_id = ?'),
    wait: db.prepare('INSERT INTO run_waits (run_id, circuit) VALUES (?, ?) ON CONFLICT DO NOTHING'),
    signal: signalWriter(db),
    reportedCircuit: reportedCircuitWriter(db),
    leftState: leftStateWriter(db),
    answered: db.prepare<[string, string], { requestHash: Hash }>(
      'SELECT request_hash AS requestHash FROM answers WHERE scope = ? AND key = ?',
    ),
    answer: db.prepare(
      'INSERT INTO answers (scope, key, request_hash, status, body, answered_at) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    seenJti: db.prepare('INSERT INTO seen_jtis (jti, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING'),
  }
}

const ledgerColumns = 'run_id AS runId, seq, jti, token, prev_hash AS prevHash, hash, position'

function readStatements(db: Database) {
  return {
    header: db.prepare<[string], HeaderRow>(
      `SELECT id AS runId, wid, version, workflow_name AS workflowName, started_by AS startedBy, parent_run AS parentRun,
         parent_node AS parentNode, parent_visit AS parentVisit, parent_index AS parentIndex, fork_of AS forkOf,
         kept_for AS keptOwner, kept_until AS keptUntil FROM runs WHERE id = ?`,
    ),
    seq: db.prepare<[string], { seq: number }>('SELECT seq FROM runs WHERE id = ?'),
    positionOf: db.prepare<[string, number], { position: number }>(
      'SELECT position FROM ledger WHERE run_id = ? AND seq = ?',
    ),
    hasJti: db.prepare<[string, string]>('SELECT 1 FROM ledger WHERE run_id = ? AND jti = ?'),
    rows: db.prepare<[string, number, number], StoredRow>(
      `SELECT ${ledgerColumns} FROM ledger WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
    ),
    row: db.prepare<[string, string], StoredRow>(
      `SELECT ${ledgerColumns} FROM ledger WHERE run_id = ? AND jti = ?`,
    ),
    heads: db.prepare<[string], SignedHead>('SELECT seq, jws FROM heads WHERE run_id = ? ORDER BY seq'),
    since: db.prepare<[number, number], StoredRow>(
      `SELECT ${ledgerColumns} FROM ledger WHERE position > ? ORDER BY position LIMIT ?`,
    ),
    lastPosition: db.prepare<[], { position: number | null }>('SELECT max(position) AS position FROM ledger'),
    version: db.prepare('PRAGMA data_version').pluck(),
    value: db.prepare<[string], StoredValue>(
      'SELECT hash, media_type AS mediaType, bytes FROM stored_values WHERE hash = ?',
    ),
    checkpoint: db.prepare<[string], SealedCheckpoint>(
      `SELECT jti, run_id AS runId, node, visit, key_id AS keyId, sealed, expires_at AS expiresAt
       FROM checkpoints WHERE jti = ?`,
    ),
    answer: db.prepare<[string, string], IdempotentAnswer>(
      'SELECT scope, key, request_hash AS requestHash, status, body FROM answers WHERE scope = ? AND key = ?',
    ),
  }
}
