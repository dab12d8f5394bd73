/*
 * Installs what is missing, and nothing else. "Missing" is asked of what stands in node_modules, not remembered:
 * npm notes there what it installed (node_modules/.package-lock.json), and the native SQLite driver is opened once.
 * So an interrupted install, a new lock file, another Node version and a copied folder are all noticed.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { prismaEnv } from './generate.mjs'
import { must, root, run, StageFailed, stage } from './stages.mjs'

/** The oldest Node that works; package.json `engines` says the same. */
const oldestNode = [20, 19]

/** The browser is Debian's or Playwright's (browser.mjs), never a download inside the package install. */
const npmEnv = { ...prismaEnv(), PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1' }
const npmFlags = ['--no-audit', '--no-fund', '--loglevel=error']
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'

/** Throws StageFailed when this Node is older than the oldest that works. */
export function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return
  throw new StageFailed(
    `Holdpoint needs Node ${oldestNode.join('.')} or newer, and this is ${process.versions.node}. Install a newer Node and try again.`,
  )
}

/** Brings node_modules to what package-lock.json says. Throws StageFailed. */
export async function installMissing() {
  checkNode()
  const why = whatIsMissing()
  if (why) {
    await stage(`Installing packages (${why}; the first time takes one to three minutes)`, installPackages)
  }
  if (!(await driverOpens())) await stage('Compiling the SQLite driver for this Node', rebuildDriver)
  linkCommand()
}

/** Why packages must be installed, in words; undefined when everything the lock file names is there. */
function whatIsMissing() {
  const installed = packagesIn('node_modules/.package-lock.json')
  if (!installed) return 'none are installed yet'
  const wanted = packagesIn('package-lock.json')
  if (!wanted)
    throw new StageFailed('package-lock.json is missing: this is not a whole checkout of Holdpoint.')
  for (const [place, wish] of Object.entries(wanted)) {
    if (place === '') continue
    const has = installed[place]
    if (!has && wish.optional) continue
    if (has?.version !== wish.version || !existsSync(path.join(root, place))) {
      const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
      return `${name} ${wish.version} is missing`
    }
  }
  return undefined
}

function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(path.join(root, file), 'utf8')).packages
  } catch {
    return undefined
  }
}

async function installPackages() {
  // Beside what is there already, npm adds what the lock file has more: seconds, and the driver stays compiled.
  if (existsSync(path.join(root, 'node_modules/.package-lock.json'))) {
    const added = await run(npm, ['install', '--no-save', ...npmFlags], { env: npmEnv })
    if (added.code === 0 && !whatIsMissing()) return
  }
  const clean = await run(npm, ['ci', ...npmFlags], { env: npmEnv })
  if (clean.code === 0) return
  // `npm ci` also refuses a lock file that leaves out an optional package of another platform; `npm install` takes
  // the same versions from the same lock file without that check.
  if (clean.tail.some((line) => /^npm error Missing: \S+@ from lock file/.test(line))) {
    await must('npm could not install the packages', npm, ['install', '--no-save', ...npmFlags], {
      env: npmEnv,
    })
    return
  }
  throw new StageFailed(
    `npm could not install the packages (exit code ${clean.code}); its last words follow. Mend that and try again.`,
    clean.tail.slice(-20),
  )
}

/** Does the native driver load in this Node and answer a query? */
async function driverOpens() {
  const probe =
    "const D = require('better-sqlite3'); if (new D(':memory:').prepare('select 1 a').get().a !== 1) process.exit(1)"
  return (await run(process.execPath, ['-e', probe])).code === 0
}

async function rebuildDriver() {
  await must(
    'The SQLite driver (better-sqlite3) could not be built. It needs a C++ compiler, make and Python 3 (on Debian: apt-get install build-essential python3)',
    npm,
    ['rebuild', 'better-sqlite3', '--foreground-scripts', ...npmFlags],
    { env: npmEnv },
  )
  if (!(await driverOpens())) {
    throw new StageFailed(
      `The SQLite driver was built and still does not load in Node ${process.versions.node}. Remove node_modules and try again.`,
    )
  }
}

/** Lets `npx holdpoint` find the command of this checkout without asking a registry. */
function linkCommand() {
  const link = path.join(root, 'node_modules/.bin/holdpoint')
  if (process.platform === 'win32' || existsSync(link)) return
  mkdirSync(path.dirname(link), { recursive: true })
  rmSync(link, { force: true })
  symlinkSync('../../lib/cli/holdpoint.mjs', link)
}
