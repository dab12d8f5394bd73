import { expect, it } from 'vitest'
import { keepFailure } from './keep-failure'
import { tellStory } from './story'

/** `npm run simulate -- --seeds N` tells any number. */
const seeds = 2000

it(`keeps every promise in ${seeds} stories of crashes, lost leases, late answers and people`, async () => {
  const broken: string[] = []
  for (let seed = 1; seed <= seeds && broken.length < 10; seed++) {
    const end = await tellStory(seed)
    if (end.broken !== undefined) broken.push(`seed ${seed}: ${end.broken} (${keepFailure(end)})`)
  }
  expect(broken).toEqual([])
})

it('tells the same story for the same seed', async () => {
  for (const seed of [6, 7, 124, 1005]) {
    const { lines, ...first } = await tellStory(seed)
    expect(await tellStory(seed)).toEqual({ ...first, lines })
  }
})
