/*
 * `npm run simulate -- --seeds N [--from S]`: tells N stories (lib/worker/simulation), prints the seeds that fail and
 * keeps them in simulate-failures/. `-- --seed X --verbose` tells one of them with everything that happened.
 */
import { parseArgs } from 'node:util'
import { keepFailure } from '@/lib/worker/simulation/keep-failure'
import { type StoryEnd, tellStory } from '@/lib/worker/simulation/story'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '2000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
})
const whole = (name: string, text: string) => {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  console.error(`--${name} is "${text}"; a whole number was expected`)
  process.exit(2)
}
const first = whole('from', values.seed ?? values.from)
const count = values.seed === undefined ? whole('seeds', values.seeds) : 1
const startedAt = performance.now()
const totals = { steps: 0, runs: 0, tokens: 0, crashes: 0 }
/** Stories, runs and milliseconds of each sort. */
const sorts = new Map<string, { stories: number; runs: number; tokens: number; ms: number }>()
const terminals = new Map<string, number>()
const failed: number[] = []
for (let at = 0; at < count; at++) {
  const from = performance.now()
  const end = await tellStory(first + at)
  noteSort(end, performance.now() - from)
  for (const name of ['steps', 'runs', 'tokens', 'crashes'] as const) totals[name] += end[name]
  if (end.terminal) terminals.set(end.terminal, (terminals.get(end.terminal) ?? 0) + 1)
  if (values.verbose) console.log(end.lines.join('\n'))
  if (end.broken !== undefined) report(end)
  if ((at + 1) % 500 === 0)
    console.error(`${at + 1} of ${count} stories, ${failed.length} failed, ${elapsedS()} s`)
}
const ends = [...terminals].map(([terminal, stories]) => `${stories} ${terminal}`).join(', ')
console.log(
  `${count - failed.length} passed, ${failed.length} failed: ${totals.steps} events, ${totals.runs} runs, ${totals.tokens} tokens, ${totals.crashes} crashes in ${elapsedS()} s (${ends})`,
)
for (const [sort, { stories, runs, tokens, ms }] of sorts) {
  const each = (total: number) => (total / stories).toFixed(1)
  console.log(
    `  ${sort}: ${stories} stories, each ${each(runs)} runs, ${each(tokens)} tokens, ${each(ms)} ms`,
  )
}
if (failed.length > 0) console.log(`Failing seeds: ${failed.join(' ')}`)
process.exitCode = failed.length > 0 ? 1 : 0

function noteSort({ sort, runs, tokens }: StoryEnd, ms: number): void {
  const noted = sorts.get(sort) ?? { stories: 0, runs: 0, tokens: 0, ms: 0 }
  sorts.set(sort, {
    stories: noted.stories + 1,
    runs: noted.runs + runs,
    tokens: noted.tokens + tokens,
    ms: noted.ms + ms,
  })
}

function report(end: StoryEnd): void {
  failed.push(end.seed)
  console.error(`Seed ${end.seed}: ${end.broken}\n  kept in ${keepFailure(end)}`)
}

function elapsedS(): string {
  return ((performance.now() - startedAt) / 1000).toFixed(1)
}
