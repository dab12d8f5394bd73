/*
 * Builds what runs: the console (Next's build, in .next) and the programs beside it (one esbuild bundle each, in
 * dist). Both are made once and again only when their sources changed.
 */
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { setStamp, stampHolds, stampOf } from './content-stamp.mjs'
import { must, root, stage } from './stages.mjs'

/** Programs outside the console: the bundle's name, and where its source begins. Those not there are left out. */
const programs = {
  holdpoint: 'lib/cli/holdpoint.ts',
  lab: 'examples/lab/main.ts',
}

const settings = ['package.json', 'package-lock.json', 'tsconfig.json']

/** What the console is built from: everything but the command line. */
function consoleSources() {
  const rooms = readdirSync(path.join(root, 'lib')).filter((room) => room !== 'cli')
  return [
    ...rooms.map((room) => `lib/${room}`),
    ...['app', 'components', 'prisma', 'public', 'instrumentation.ts', 'proxy.ts'],
    ...['next.config.mjs', 'postcss.config.mjs'],
    ...settings,
  ]
}

/** Where the console is built: `.next`, or the folder HOLDPOINT_DIST names. */
export function consoleFolder() {
  return process.env.HOLDPOINT_DIST ?? '.next'
}

/** Builds the console when its sources changed. Throws StageFailed. */
export async function buildConsole() {
  const folder = path.join(root, consoleFolder())
  const stampFile = path.join(folder, 'holdpoint.stamp')
  const stamp = stampOf(consoleSources())
  if (stampHolds(stampFile, stamp) && existsSync(path.join(folder, 'BUILD_ID'))) return
  await stage('Building the console (once; a minute or two)', () =>
    must('The console could not be built', process.execPath, ['node_modules/next/dist/bin/next', 'build'], {
      env: { NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production', NO_COLOR: '1' },
    }),
  )
  setStamp(stampFile, stamp)
}

const programsStampFile = path.join(root, 'dist/.stamp')
const programsStamp = () => stampOf(['lib', 'examples/lab', 'examples/agents', ...settings])

/** True when the bundled programs are those of the sources as they are now. */
export function programsAreBuilt() {
  return existsSync(path.join(root, 'dist/holdpoint.js')) && stampHolds(programsStampFile, programsStamp())
}

/** Bundles the command line, and the lab, when their sources changed. Throws what esbuild throws. */
export async function buildPrograms() {
  if (programsAreBuilt()) return
  await stage('Bundling the command line', async () => {
    const { build, stop } = await import('esbuild')
    await build({
      absWorkingDir: root,
      entryPoints: Object.fromEntries(
        Object.entries(programs).filter(([, source]) => existsSync(path.join(root, source))),
      ),
      outdir: 'dist',
      bundle: true,
      // Weight is loaded by the command that needs it: each dynamic import becomes a file of its own.
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      packages: 'external',
      sourcemap: true,
      logLevel: 'error',
    })
    // Its helper process would stay as long as this one, and this one may go on to serve.
    await stop()
  })
  setStamp(programsStampFile, programsStamp())
}
