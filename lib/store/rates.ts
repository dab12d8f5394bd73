import type { Database } from 'better-sqlite3'
import type { GroupWriter } from './group-writer'
import type { RateStore } from './rate-store'
import * as refusals from './refusals'

/** What comes back evenly may miss one by a hair. */
const one = 0.999_999

interface Left {
  unspent: number
  refused: number
}

/** One statement that looks, refills, takes and tells; it shares its transaction with whatever commits go on. */
export function sqliteRates(db: Database, writer: GroupWriter | undefined): RateStore {
  const refilled = 'min(@perMinute, unspent + max(0, @now - at) * @perMinute / 60000.0)'
  const take = db.prepare<{ who: string; what: string; perMinute: number; now: number }, Left>(
    `INSERT INTO rates (who, what, unspent, refused, at) VALUES (@who, @what, @perMinute - 1, 0, @now)
     ON CONFLICT (who, what) DO UPDATE SET refused = ${refilled} < ${one},
       unspent = ${refilled} - (${refilled} >= ${one}), at = max(at, @now)
     RETURNING unspent, refused`,
  )
  const owe = db.prepare('UPDATE rates SET unspent = unspent - ? WHERE who = ? AND what = ?')
  const writing = (): GroupWriter => {
    if (!writer) throw refusals.readOnly(db.name)
    return writer
  }
  return {
    async take(who, what, perMinute, now) {
      const left = await writing().submit(0, () => take.get({ who, what, perMinute, now }) as Left)
      return waitMs(left, perMinute)
    },
    async owe(who, what, count) {
      await writing().submit(0, () => owe.run(count, who, what))
    },
  }
}

export function memoryRates(): RateStore {
  const rates = new Map<string, Left & { at: number }>()
  return {
    async take(who, what, perMinute, now) {
      const key = `${what} ${who}`
      const { unspent, at } = rates.get(key) ?? { unspent: perMinute, at: now }
      const refilled = Math.min(perMinute, unspent + (Math.max(0, now - at) * perMinute) / 60_000)
      const refused = refilled < one ? 1 : 0
      const left = { unspent: refilled - (1 - refused), refused, at: Math.max(at, now) }
      rates.set(key, left)
      return waitMs(left, perMinute)
    },
    async owe(who, what, count) {
      const left = rates.get(`${what} ${who}`)
      if (left) left.unspent -= count
    },
  }
}

function waitMs({ unspent, refused }: Left, perMinute: number): number {
  return refused ? Math.max(1, Math.ceil(((one - unspent) / perMinute) * 60_000)) : 0
}
