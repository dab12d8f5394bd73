import type { Resources } from '@/lib/workflow/graph'

/** What steps may ask for: cores, megabytes, devices, megabits per second. */
export const resourceNames = ['cpu', 'memoryMb', 'gpu', 'networkMbps'] as const

/** A thousandth of a core is the smallest difference there is: sums of tenths must not refuse what fits. */
const grain = 1e-3

export function plus(one: Resources, other: Resources): Resources {
  return each((name) => (one[name] ?? 0) + (other[name] ?? 0))
}

export function minus(one: Resources, other: Resources): Resources {
  return each((name) => (one[name] ?? 0) - (other[name] ?? 0))
}

/** As much of `wanted` as `free` has; never less than nothing. */
export function atMost(wanted: Resources, free: Resources): Resources {
  return each((name) => Math.max(0, Math.min(wanted[name] ?? 0, free[name] ?? 0)))
}

/** What nobody asks for always fits. */
export function fitsIn(wanted: Resources, free: Resources): boolean {
  return resourceNames.every(
    (name) => (wanted[name] ?? 0) === 0 || (wanted[name] ?? 0) <= (free[name] ?? 0) + grain,
  )
}

/** The largest part of the capacity that is taken, 0 to 1: what shares are compared by when there are several resources. */
export function dominantShare(taken: Resources, capacity: Resources): number {
  return Math.max(
    ...resourceNames.map((name) => (capacity[name] ? (taken[name] ?? 0) / (capacity[name] as number) : 0)),
  )
}

function each(amount: (name: keyof Resources) => number): Resources {
  const sums: Resources = {}
  for (const name of resourceNames) {
    const value = amount(name)
    if (value !== 0) sums[name] = value
  }
  return sums
}
