/*
 * `npm run soak -- [--rounds N] [--seed S] [files …]`: runs the property tests N times over, each round with a new seed,
 * and prints the seeds that fail. `npm test` draws the same inputs every time; this is where new trouble is looked for.
 */
import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { generateClient } from './generate.mjs'
import { installMissing } from './install.mjs'
import { explain, root, run, StageFailed, say, took } from './stages.mjs'

/** Test files that draw inputs, or use a helper that does. */
function propertyTests() {
  return ['lib', 'components', 'examples']
    .flatMap((room) =>
      readdirSync(path.join(root, room), { recursive: true }).map((file) => `${room}/${file}`),
    )
    .filter((file) => /\.test\.tsx?$/.test(file) && !file.includes('node_modules'))
    .filter((file) => /'fast-check'|random-history/.test(readFileSync(path.join(root, file), 'utf8')))
}

function options() {
  const { values, positionals } = parseArgs({
    options: { rounds: { type: 'string', default: '10' }, seed: { type: 'string' } },
    allowPositionals: true,
  })
  for (const [name, value] of Object.entries(values)) {
    if (!/^\d{1,9}$/.test(value))
      throw new StageFailed(`--${name} is "${value}"; a whole number was expected`)
  }
  const seed = values.seed === undefined ? undefined : Number(values.seed)
  const files = positionals.length > 0 ? positionals : propertyTests()
  return { rounds: seed === undefined ? Number(values.rounds) : 1, seed, files }
}

async function main() {
  const { rounds, seed: named, files } = options()
  await installMissing()
  await generateClient()
  const failed = []
  for (let round = 1; round <= rounds; round++) {
    const begun = Date.now()
    const seed = named ?? randomInt(1e9)
    const args = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=dot', ...files]
    const { code, tail } = await run(process.execPath, args, {
      env: { NO_COLOR: '1', HOLDPOINT_SEED: String(seed) },
    })
    if (code !== 0) {
      failed.push(seed)
      for (const line of tail) say(`  │ ${line}`)
    }
    say(`round ${round} of ${rounds}, seed ${seed}: ${code === 0 ? 'passed' : 'failed'} in ${took(begun)}`)
  }
  if (failed.length > 0) say(`Failing seeds: ${failed.join(' ')}`)
  say(`${rounds - failed.length} passed, ${failed.length} failed`)
  process.exitCode = failed.length > 0 ? 1 : 0
}

try {
  await main()
} catch (error) {
  explain(error)
  process.exitCode = 2
}
