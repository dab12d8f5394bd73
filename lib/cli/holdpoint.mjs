#!/usr/bin/env node
/*
 * What `npx holdpoint` runs: the bundled command line, built first when it is missing or its sources changed. What
 * that says goes to standard error, because a command's standard output may be data.
 */
import { buildConsole, buildPrograms, programsAreBuilt } from './build.mjs'
import { generateClient } from './generate.mjs'
import { installMissing } from './install.mjs'
import { explain, speakOn } from './stages.mjs'

speakOn(process.stderr)
try {
  if (!programsAreBuilt()) {
    await installMissing()
    await generateClient()
    await buildPrograms()
  }
  // The one command that shows pages, and that somebody may begin with who never started a console.
  if (process.argv[2] === 'open' && !process.argv.includes('--help')) await buildConsole()
  const { main } = await import('../../dist/holdpoint.js')
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  explain(error)
  process.exitCode = 1
}
