import type { Database } from 'better-sqlite3'
import type { RunId } from '@/lib/base/ids'
import type { LeaseStore } from '@/lib/engine/ports'
import type { GroupWriter } from './group-writer'
import { readOnly } from './refusals'

/*
 * Leases live on the run's row. A lease is a right to append: each one has a new epoch, and a commit names the epoch it
 * was leased under, so a worker that slept through its lease is refused however late it wakes. A lease past its time
 * that nobody took is still its holder's: the fence is the epoch, not the clock.
 */
interface LeasedRow {
  id: RunId
  epoch: number
  due: number | null
}

const free = '(lease_owner IS NULL OR lease_until <= ?)'

export function sqliteLeases(db: Database, writer: GroupWriter | undefined): LeaseStore {
  const take = 'UPDATE runs SET lease_owner = ?, lease_epoch = lease_epoch + 1, lease_until = ?'
  const claimDue = db.prepare<[string, number, number, number, number], LeasedRow>(
    `${take} WHERE id IN (SELECT id FROM runs WHERE due_at <= ? AND ${free} ORDER BY due_at, id LIMIT ?)
     RETURNING id, lease_epoch AS epoch, due_at AS due`,
  )
  const claim = db.prepare<[string, number, string, number], LeasedRow>(
    `${take} WHERE id = ? AND ${free} RETURNING id, lease_epoch AS epoch, due_at AS due`,
  )
  const holder = ' WHERE id = ? AND lease_owner = ? AND lease_epoch = ?'
  const prolong = db.prepare(`UPDATE runs SET lease_until = ?${holder}`)
  const release = db.prepare(`UPDATE runs SET lease_owner = NULL, lease_until = NULL${holder}`)
  const releaseAll = db.prepare(
    'UPDATE runs SET lease_owner = NULL, lease_until = NULL WHERE lease_owner = ?',
  )
  const nextFree = db.prepare<[number], { at: number | null }>(
    `SELECT min(due_at) AS at FROM runs WHERE due_at IS NOT NULL AND ${free}`,
  )
  const nextLapse = db.prepare<[number], { at: number | null }>(
    'SELECT min(max(due_at, lease_until)) AS at FROM runs WHERE due_at IS NOT NULL AND lease_until > ?',
  )
  const writing = (): GroupWriter => {
    if (!writer) throw readOnly(db.name)
    return writer
  }

  return {
    async claimDue(owner, limit, now, leaseMs) {
      const rows = await writing().submit(0, () => claimDue.all(owner, now + leaseMs, now, now, limit))
      // RETURNING keeps no order.
      rows.sort((a, b) => (a.due ?? 0) - (b.due ?? 0) || (a.id < b.id ? -1 : 1))
      return rows.map((row) => ({ runId: row.id, owner, epoch: row.epoch }))
    },
    async claim(owner, runId, now, leaseMs) {
      const row = await writing().submit(0, () => claim.get(owner, now + leaseMs, runId, now))
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
    async releaseAllOf(owner) {
      await writing().submit(0, () => {
        releaseAll.run(owner)
      })
    },
    async nextDue(now) {
      const times = [nextFree.get(now)?.at, nextLapse.get(now)?.at].filter((at) => at != null)
      return times.length > 0 ? Math.min(...times) : undefined
    },
  }
}
