import type { PoolUse } from '@/lib/pool/terms'
import { type Control, controlOf } from './control'
import type { Store } from './store'

/** What was told longer ago is of a process that is dead: three times it would have told again. */
export const useKeptMs = 15_000
/** More workflows in more pools than one installation has. */
const maxRows = 10_000

/** How full pools are, of a store made by `openStore`: each process tells of itself (lib/worker/pool-book.ts). */
export function openPoolUse(store: Store): PoolUseStore {
  return new PoolUseStore(controlOf(store))
}

export class PoolUseStore {
  readonly #control: Control

  /** Use `openPoolUse`. */
  constructor(control: Control) {
    this.#control = control
  }

  /** What one process has, in place of what it told before; the dead are forgotten. */
  async tell(owner: string, use: readonly PoolUse[], now: number): Promise<void> {
    const rows = use.slice(0, maxRows).map((one) => ({ ...one, owner, at: now }))
    await this.#control.write((prisma) =>
      prisma.$transaction([
        prisma.poolUse.deleteMany({ where: { OR: [{ owner }, { at: { lt: now - 4 * useKeptMs } }] } }),
        prisma.poolUse.createMany({ data: rows }),
      ]),
    )
  }

  /** What the others told and is not too old, a row for each process, pool and workflow. */
  async others(owner: string, now: number): Promise<PoolUse[]> {
    const rows = await this.#control.read((prisma) =>
      prisma.poolUse.findMany({
        where: { owner: { not: owner }, at: { gte: now - useKeptMs } },
        take: maxRows,
      }),
    )
    return rows.map(({ pool, workflow, running, queued, requests, oldestAt }) => ({
      pool,
      workflow,
      running,
      queued,
      requests,
      ...(oldestAt !== null && { oldestAt: Number(oldestAt) }),
    }))
  }

  /** All processes together, a row for each pool and workflow, in order of their names. */
  async all(now: number): Promise<PoolUse[]> {
    const sums = new Map<string, PoolUse>()
    for (const use of await this.others('', now)) {
      const key = JSON.stringify([use.pool, use.workflow])
      const sum = sums.get(key)
      if (!sum) sums.set(key, { ...use })
      else {
        sum.running += use.running
        sum.queued += use.queued
        sum.requests += use.requests
        const oldest = Math.min(
          sum.oldestAt ?? Number.POSITIVE_INFINITY,
          use.oldestAt ?? Number.POSITIVE_INFINITY,
        )
        if (Number.isFinite(oldest)) sum.oldestAt = oldest
      }
    }
    return [...sums.values()].sort((one, other) =>
      one.pool === other.pool ? (one.workflow < other.workflow ? -1 : 1) : one.pool < other.pool ? -1 : 1,
    )
  }
}
