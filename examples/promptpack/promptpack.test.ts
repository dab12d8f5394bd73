import { afterAll, beforeAll, expect, it } from 'vitest'
import { PackHouse } from './pack-house'

let at: PackHouse
beforeAll(async () => {
  at = await PackHouse.open()
})
afterAll(() => at.close())

it.each([
  ['data-explorer.pack.yaml', { dataset_description: 'Orders' }],
  ['self-correcting.pack.json', {}],
  ['intake.pack.yaml', { request: 'x' }],
])('%s', async (file, input) => {
  const run = await at.begin(file, input)
  console.log(await at.settled(run))
  console.log(await at.trace(run))
  console.log(JSON.stringify(await at.turns(run), null, 1).slice(0, 6000))
})
