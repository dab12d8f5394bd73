import type { Benchmark } from './bench'

/** Every benchmark there is, in the order they are measured. */
export const benchmarks: readonly Benchmark[] = []
