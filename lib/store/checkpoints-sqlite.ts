/*
 * Sealed states as rows. Each carries its run's workflow by name and when it was sealed: caps and rates are counted by
 * that, in the transaction that would seal one more, so that no number of processes gets past them together.
 */
import type { Database } from 'better-sqlite3'
import type { RunId } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import type { CheckpointLimits, CheckpointStore } from '@/lib/engine/checkpoint-ports'
import type { Commit, SealedCheckpoint } from '@/lib/engine/ports'
import type { GroupWriter } from './group-writer'
import { readOnly } from './refusals'

const minuteMs = 60_000
const columns = 'jti, run_id AS runId, node, visit, key_id AS keyId, sealed, expires_at AS expiresAt'

/** Writes the sealed states of a commit, within its transaction. */
export function checkpointWriter(db: Database) {
  const insert = db.prepare(
    `INSERT INTO checkpoints (jti, run_id, node, visit, key_id, sealed, expires_at, created_at, workflow)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, (SELECT workflow_name FROM runs WHERE id = ?))`,
  )
  return (runId: RunId, point: SealedCheckpoint, now: number): void => {
    const { jti, node, visit, keyId, sealed, expiresAt } = point
    insert.run(jti, runId, node, visit, keyId, sealed, expiresAt, now, runId)
  }
}

/** Refuses a commit whose workflow has no room for its checkpoints; before anything of it is written. Throws Problem `checkpoint_limit`. */
export function checkpointRoom(db: Database, limits: CheckpointLimits | undefined) {
  const nameOf = db.prepare<[string], { name: string }>('SELECT workflow_name AS name FROM runs WHERE id = ?')
  const counted = db
    .prepare<[string, number, number], number>(
      'SELECT count(*) FROM (SELECT 1 FROM checkpoints WHERE workflow = ? AND created_at > ? LIMIT ?)',
    )
    .pluck()
  return ({ runId, create, checkpoints }: Commit, now: number): void => {
    if (!limits || checkpoints.length === 0) return
    const workflow = create?.workflowName ?? nameOf.get(runId)?.name ?? ''
    const more = checkpoints.length
    const lately = counted.get(workflow, now - minuteMs, limits.perMinute) ?? 0
    if (lately + more > limits.perMinute) throw tooMany(workflow, 'perMinute', limits.perMinute)
    const live = counted.get(workflow, Number.MIN_SAFE_INTEGER, limits.live) ?? 0
    if (live + more > limits.live) throw tooMany(workflow, 'live', limits.live)
  }
}

function tooMany(workflow: string, bound: keyof CheckpointLimits, max: number): Problem {
  const name = JSON.stringify(workflow.slice(0, 80))
  return bound === 'live'
    ? new Problem(
        'checkpoint_limit',
        `The workflow ${name} has ${max} live checkpoints, the most it may have; wait until some expire, give its steps a shorter ttl, or raise HOLDPOINT_MAX_CHECKPOINTS`,
        { workflow, max },
      )
    : new Problem(
        'checkpoint_limit',
        `The workflow ${name} took ${max} checkpoints within a minute, the most it may; look for a loop, slow it down, or raise HOLDPOINT_CHECKPOINTS_PER_MINUTE`,
        { workflow, max, retryAfterS: 60 },
      )
}

export function sqliteCheckpoints(db: Database, writer: GroupWriter | undefined): CheckpointStore {
  const expired = db.prepare<[number, number], { jti: string; runId: RunId }>(
    'SELECT jti, run_id AS runId FROM checkpoints WHERE expires_at < ? ORDER BY expires_at LIMIT ?',
  )
  const drop = db.prepare('DELETE FROM checkpoints WHERE jti = ?')
  const notUnder = db.prepare<[string, string, number], SealedCheckpoint>(
    `SELECT ${columns} FROM checkpoints WHERE key_id <> ? AND jti > ? ORDER BY jti LIMIT ?`,
  )
  const replace = db.prepare('UPDATE checkpoints SET sealed = ?, key_id = ? WHERE jti = ? AND key_id = ?')
  const writing = (): GroupWriter => {
    if (!writer) throw readOnly(db.name)
    return writer
  }
  const sum = (changes: number[]) => changes.reduce((total, one) => total + one, 0)
  return {
    expired: async (now, limit) => expired.all(now, limit),
    drop: async (jtis) => writing().submit(0, () => sum(jtis.map((jti) => drop.run(jti).changes))),
    notUnder: async (keyId, after, limit) => notUnder.all(keyId, after, limit),
    replace: async (resealed) =>
      writing().submit(sum(resealed.map(({ sealed }) => sealed.sealed.byteLength)), () =>
        sum(
          resealed.map(
            ({ before, sealed }) => replace.run(sealed.sealed, sealed.keyId, sealed.jti, before).changes,
          ),
        ),
      ),
  }
}
