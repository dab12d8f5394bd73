import { durableSteps } from './bench/durable-steps'
import type { Benchmark } from './bench/figures'

/** Every benchmark there is, in the order they are measured. */
export const benchmarks: readonly Benchmark[] = [durableSteps]
