/**
 * The results of `work` for each item, in the items' order, with at most `atOnce` under way. When one fails nothing more
 * is begun, and what is under way is waited for before this throws.
 */
export async function boundedMap<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length)
  let next = 0
  let failed = false
  async function lane(): Promise<void> {
    while (next < items.length && !failed) {
      const at = next++
      try {
        results[at] = await work(items[at] as T)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  const lanes = Array.from({ length: Math.min(atOnce, items.length) }, lane)
  const ended = await Promise.allSettled(lanes)
  for (const lane of ended) if (lane.status === 'rejected') throw lane.reason
  return results
}
