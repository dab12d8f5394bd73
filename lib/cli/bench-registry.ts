import { agentdParse } from './bench/agentd-parse'
import { consoleAtSize } from './bench/console'
import { durableSteps } from './bench/durable-steps'
import type { Benchmark } from './bench/figures'
import { longLedger } from './bench/long-ledger'
import { memory } from './bench/memory'
import { stepHistory } from './bench/step-history'

/** Every benchmark there is, in the order they are measured. */
export const benchmarks: readonly Benchmark[] = [
  durableSteps,
  stepHistory,
  longLedger,
  memory,
  consoleAtSize,
  agentdParse,
]
