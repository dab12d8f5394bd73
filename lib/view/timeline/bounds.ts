/** Binary searches in lists that never decrease. */

/** Index of the last number that is at most `limit`; -1 where none is. */
export function lastAtMost(values: readonly number[], limit: number): number {
  return lastWhere(values, (value) => value <= limit)
}

/** Index of the last item that holds, of a list in which all that hold stand before all that do not; -1 where none does. */
export function lastWhere<T>(items: readonly T[], holds: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(items[middle] as T)) low = middle + 1
    else high = middle
  }
  return low - 1
}
