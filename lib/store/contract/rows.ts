import type { StoredRow } from '@/lib/engine/ports'
import type { Store } from '../store'

/** A text as it is stored. */
export const bytes = (text: string) => new TextEncoder().encode(text)

/** All rows of the ledger. */
export async function everything(store: Store): Promise<StoredRow[]> {
  return store.ledger.since(0, 1_000_000)
}
