/*
 * `npm run dev`: the console with Next's development server, which builds each page when it is asked for. Options as
 * `npm start`.
 */
import { buildPrograms } from './build.mjs'
import { generateClient } from './generate.mjs'
import { installMissing } from './install.mjs'
import { explain } from './stages.mjs'

const args = process.argv.slice(2)

try {
  await installMissing()
  await generateClient()
  await buildPrograms()
  const { main } = await import('../../dist/holdpoint.js')
  const lab = args.includes('--no-lab') ? [] : ['--lab']
  process.exitCode = await main(['serve', '--dev', ...lab, ...args.filter((arg) => arg !== '--no-lab')])
} catch (error) {
  explain(error)
  process.exitCode = 1
}
