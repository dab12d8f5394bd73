/*
 * `npm run bench`: bundles the benchmarks as the programs of an installation are bundled, so that what is measured is
 * what is shipped, and runs them (bench.ts).
 */
import path from 'node:path'
import { generateClient } from './generate.mjs'
import { installMissing } from './install.mjs'
import { explain, root } from './stages.mjs'

const outdir = path.join(root, 'dist/bench')

async function bundle() {
  const { build, stop } = await import('esbuild')
  await build({
    absWorkingDir: root,
    entryPoints: { bench: 'lib/cli/bench.ts', 'memory-child': 'lib/cli/bench/memory-child.ts' },
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
  })
  await stop()
}

try {
  await installMissing()
  await generateClient()
  await bundle()
  await import(path.join(outdir, 'bench.js'))
} catch (error) {
  explain(error)
  process.exitCode = 1
}
