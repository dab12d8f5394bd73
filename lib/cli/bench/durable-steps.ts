/* Durable signed steps a second, for one run and for many at once, beside the raw cost (raw-rounds.ts). */
import type { Benchmark } from './figures'
import { chain } from './house'
import { figuresOf, rounds, type Size } from './raw-rounds'

export const durableSteps: Benchmark = {
  group: 'durable steps',
  async measure(say, quick) {
    const measured = (size: Size) =>
      rounds(size, say, ({ version }) => version(chain('bench-chain', size.steps)))
    // Many first: it compiles what both run through, as in a server that has been up for a minute.
    const many = await measured({ runs: 200, steps: quick ? 5 : 25, rounds: quick ? 3 : 9 })
    const one = await measured({ runs: 1, steps: quick ? 100 : 300, rounds: quick ? 3 : 9 })
    return [...figuresOf('1 run', one), ...figuresOf('200 runs', many)]
  },
}
