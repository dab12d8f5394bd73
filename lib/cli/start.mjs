/*
 * `npm start`: from a fresh clone to a console that answers, with no other command first.
 *
 *   check Node ─▶ install ─▶ generate ─▶ build ─▶ serve (lib/cli/serve.ts): console, engine, lab
 *
 * Each step is skipped when nothing changed since the last time, so the second start takes seconds. Options are those
 * of `holdpoint serve` (--port, --host, --data), and `--no-lab` leaves the example agents out.
 */
import { buildConsole, buildPrograms } from './build.mjs'
import { generateClient } from './generate.mjs'
import { installMissing } from './install.mjs'
import { explain, say, took } from './stages.mjs'

const begun = Date.now()
const args = process.argv.slice(2)

async function prepare() {
  await installMissing()
  await generateClient()
  await buildPrograms()
  await buildConsole()
  say(`Everything is in place (${took(begun)}).`)
}

async function start() {
  const { main } = await import('../../dist/holdpoint.js')
  const lab = args.includes('--no-lab') ? [] : ['--lab']
  return main(['serve', ...lab, ...args.filter((arg) => arg !== '--no-lab')])
}

try {
  if (!args.includes('--help') && !args.includes('-h')) say('Holdpoint: getting ready.')
  await prepare()
  process.exitCode = await start()
} catch (error) {
  explain(error)
  process.exitCode = 1
}
