import { agentdParse } from './bench/agentd-parse'
import { breaker } from './bench/breaker'
import { consoleAtSize } from './bench/console'
import { diff } from './bench/diff'
import { durableSteps } from './bench/durable-steps'
import type { Benchmark } from './bench/figures'
import { large } from './bench/large'
import { longLedger } from './bench/long-ledger'
import { mapItems } from './bench/map'
import { memory } from './bench/memory'
import { rollback } from './bench/rollback'
import { scrub } from './bench/scrub'
import { stepHistory } from './bench/step-history'
import { stepwise } from './bench/stepwise'

/** Every benchmark there is, in the order they are measured. */
export const benchmarks: readonly Benchmark[] = [
  durableSteps,
  stepwise,
  mapItems,
  stepHistory,
  longLedger,
  scrub,
  diff,
  rollback,
  memory,
  consoleAtSize,
  large,
  agentdParse,
  breaker,
]
