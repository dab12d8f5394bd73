/** What a benchmark gives: figures, some with a goal. */
export interface Figure {
  name: string
  value: number
  unit: string
  /** What it must be, in words: `at most 2`. Empty when it is there for comparison. */
  goal: string
  /** Absent where there is no goal. */
  holds?: boolean
}

/** A group of figures that are measured together. */
export interface Benchmark {
  group: string
  /**
   * Medians, each from enough rounds to be worth printing. `say` tells how far it is; `quick` asks for smaller sizes,
   * whose figures say whether it works and little more.
   */
  measure(say: (line: string) => void, quick: boolean): Promise<Figure[]>
}

/** The middle one; of an even number, the upper of the two in the middle. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

/** A figure without a goal. */
export function shown(name: string, value: number, unit: string): Figure {
  return { name, value, unit, goal: '' }
}

export function atMost(most: number, name: string, value: number, unit: string): Figure {
  return { name, value, unit, goal: `at most ${most.toLocaleString('en')}`, holds: value <= most }
}

export function atLeast(least: number, name: string, value: number, unit: string): Figure {
  return { name, value, unit, goal: `at least ${least.toLocaleString('en')}`, holds: value >= least }
}

export interface Took {
  ms: number
  /** CPU of all threads of this process; what else the machine does is not in it. */
  cpuMs: number
}

/** How long the work takes. */
export async function took(work: () => unknown): Promise<Took> {
  const cpu = process.cpuUsage()
  const from = performance.now()
  await work()
  const ms = performance.now() - from
  const { user, system } = process.cpuUsage(cpu)
  return { ms, cpuMs: (user + system) / 1000 }
}
