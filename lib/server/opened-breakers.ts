import { parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import { meaningOf } from '@/lib/ect/vocabulary'
import type { CircuitRecord, CircuitStore } from '@/lib/engine/circuit-ports'

/** Newest tokens of a circuit that are looked at: one that opens and closes every minute all day has fewer that matter. */
const tokensRead = 500
const dayMs = 86_400_000

type Store = Pick<CircuitStore, 'tokens'>

/** When each circuit opened lately, as of its mark: its tokens are read again only when it changed. */
const known = new WeakMap<Store, Map<string, { mark: number; opened: number[] }>>()

/** How often circuits opened within the 24 hours before `at`, by their own tokens. */
export async function openedWithinDay(
  store: Store,
  records: readonly Pick<CircuitRecord, 'id' | 'mark' | 'updatedAt'>[],
  at: number,
): Promise<number> {
  const cache = known.get(store) ?? new Map<string, { mark: number; opened: number[] }>()
  known.set(store, cache)
  let count = 0
  for (const { id, mark, updatedAt } of records) {
    if (updatedAt < at - dayMs) {
      cache.delete(id)
      continue
    }
    let seen = cache.get(id)
    if (seen?.mark !== mark) {
      seen = { mark, opened: await openings(store, id, at - dayMs) }
      cache.set(id, seen)
    }
    count += seen.opened.filter((openedAt) => openedAt >= at - dayMs).length
  }
  return count
}

async function openings(store: Store, id: string, since: number): Promise<number[]> {
  const tokens = await store.tokens(id, { limit: tokensRead })
  return tokens
    .filter(
      ({ token, at }) =>
        at >= since && meaningOf(parseClaims(unverifiedPayload(token)).exec_act) === 'circuit_open',
    )
    .map(({ at }) => at)
}
