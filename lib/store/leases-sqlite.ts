import type { Database } from 'better-sqlite3'
import type { RunId } from '@/lib/base/ids'
import type { LeaseStore } from '@/lib/engine/ports'
import type { GroupWriter } from './group-writer'
import { readOnly } from './refusals'

/*
 * Leases live on the run's row. A lease is a right to append: each one has a new epoch, and a commit names the epoch it
 * was leased under, so a worker that slept through its lease is refused however late it wakes. A lease past its time
 * that nobody took is still its holder's: the fence is the epoch, not the clock.
 *
 * A run may be kept for one worker, which alone has what it needs (a person's own command line, with its environment).
 * That says who may lease it, also while nobody does, and ends when that worker falls silent: whoever leases it then
 * keeps it for nobody.
 */
interface LeasedRow {
  id: RunId
  epoch: number
  due: number | null
  keptFor: string | null
}

const free = '(lease_owner IS NULL OR lease_until <= @now)'
const open = '(kept_for IS NULL OR kept_for = @owner OR kept_until <= @now)'

interface Asking {
  owner: string
  now: number
}

export function sqliteLeases(db: Database, writer: GroupWriter | undefined): LeaseStore {
  const take = 'UPDATE runs SET lease_owner = @owner, lease_epoch = lease_epoch + 1, lease_until = @until'
  const taken = 'id, lease_epoch AS epoch, due_at AS due, kept_for AS keptFor'
  const claimDue = db.prepare<Asking & { until: number; limit: number }, LeasedRow>(
    `${take} WHERE id IN (SELECT id FROM runs WHERE due_at <= @now AND ${free} AND ${open}
       ORDER BY due_at, id LIMIT @limit)
     RETURNING ${taken}`,
  )
  const claim = db.prepare<Asking & { until: number; runId: string }, LeasedRow>(
    `${take} WHERE id = @runId AND ${free} AND ${open} RETURNING ${taken}`,
  )
  const freed = db.prepare('UPDATE runs SET kept_for = NULL, kept_until = NULL WHERE id = ?')
  // A statement of its own: one that names the column rewrites its index, and hardly any run is kept for anybody.
  const leased = (owner: string, row: LeasedRow): LeasedRow => {
    if (row.keptFor !== null && row.keptFor !== owner) freed.run(row.id)
    return row
  }
  const holder = ' WHERE id = ? AND lease_owner = ? AND lease_epoch = ?'
  const prolong = db.prepare(`UPDATE runs SET lease_until = ?${holder}`)
  const release = db.prepare(`UPDATE runs SET lease_owner = NULL, lease_until = NULL${holder}`)
  const releaseAll = db.prepare(
    'UPDATE runs SET lease_owner = NULL, lease_until = NULL WHERE lease_owner = ?',
  )
  const keep = db.prepare<Asking & { until: number; runId: string }>(
    `WITH RECURSIVE below (id) AS (
       SELECT @runId UNION SELECT runs.id FROM runs JOIN below ON runs.parent_run = below.id
     )
     UPDATE runs SET kept_for = @owner, kept_until = @until WHERE id IN (SELECT id FROM below) AND ${open}`,
  )
  const keepsAny = db.prepare<[string]>('SELECT 1 FROM runs WHERE kept_for = ? LIMIT 1')
  const keepOn = db.prepare('UPDATE runs SET kept_until = ? WHERE kept_for = ?')
  const keepNothing = db.prepare('UPDATE runs SET kept_for = NULL, kept_until = NULL WHERE kept_for = ?')
  const nextFree = db.prepare<Asking, { at: number | null }>(
    `SELECT min(due_at) AS at FROM runs WHERE due_at IS NOT NULL AND ${free} AND ${open}`,
  )
  // A time that is over moves nothing: the greatest of them is never before `now` then.
  const nextLapse = db.prepare<Asking, { at: number | null }>(
    `SELECT min(max(due_at, coalesce(lease_until, 0), CASE WHEN ${open} THEN 0 ELSE kept_until END)) AS at
     FROM runs WHERE due_at IS NOT NULL AND NOT (${free} AND ${open})`,
  )
  const writing = (): GroupWriter => {
    if (!writer) throw readOnly(db.name)
    return writer
  }

  return {
    async claimDue(owner, limit, now, leaseMs) {
      const rows = await writing().submit(0, () =>
        claimDue.all({ owner, until: now + leaseMs, now, limit }).map((row) => leased(owner, row)),
      )
      // RETURNING keeps no order.
      rows.sort((a, b) => (a.due ?? 0) - (b.due ?? 0) || (a.id < b.id ? -1 : 1))
      return rows.map((row) => ({ runId: row.id, owner, epoch: row.epoch }))
    },
    async claim(owner, runId, now, leaseMs) {
      const row = await writing().submit(0, () => {
        const found = claim.get({ owner, until: now + leaseMs, runId, now })
        return found && leased(owner, found)
      })
      return row && { runId: row.id, owner, epoch: row.epoch }
    },
    async heartbeat(leases, now, leaseMs) {
      return writing().submit(0, () =>
        leases.filter(
          (lease) => prolong.run(now + leaseMs, lease.runId, lease.owner, lease.epoch).changes === 1,
        ),
      )
    },
    async release(lease) {
      await writing().submit(0, () => {
        release.run(lease.runId, lease.owner, lease.epoch)
      })
    },
    async keep(owner, runId, now, keepMs) {
      await writing().submit(0, () => {
        keep.run({ owner, runId, now, until: now + keepMs })
      })
    },
    async keepOn(owner, until) {
      if (!keepsAny.get(owner)) return
      await writing().submit(0, () => {
        keepOn.run(until, owner)
      })
    },
    async keepNothing(owner) {
      if (!keepsAny.get(owner)) return
      await writing().submit(0, () => {
        keepNothing.run(owner)
      })
    },
    async releaseAllOf(owner) {
      await writing().submit(0, () => {
        releaseAll.run(owner)
        keepNothing.run(owner)
      })
    },
    async nextDue(owner, now) {
      const times = [nextFree.get({ owner, now })?.at, nextLapse.get({ owner, now })?.at].filter(
        (at) => at != null,
      )
      return times.length > 0 ? Math.min(...times) : undefined
    },
  }
}
