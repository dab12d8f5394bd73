/*
 * A Chromium for the browser tests: the one this machine has, else Debian's own package (as root on Debian), else the
 * one Playwright keeps for itself.
 */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { must, run, StageFailed, stage } from './stages.mjs'

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']

/** The path of an installed Chromium; undefined when there is none, or when Playwright's own is to be used. */
function installedChromium() {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/bin']
  const places = names.flatMap((name) => folders.map((folder) => path.join(folder, name)))
  return [process.env.HOLDPOINT_CHROMIUM, ...places].find((file) => file && existsSync(file))
}

function isRootOnDebian() {
  if (process.getuid?.() !== 0 || !existsSync('/etc/os-release')) return false
  return /^ID(_LIKE)?=.*(debian|ubuntu)/m.test(readFileSync('/etc/os-release', 'utf8'))
}

/** The path of a Chromium, installed if need be; undefined stands for Playwright's own. Throws StageFailed. */
export async function chromium() {
  const found = installedChromium()
  if (found) return found
  if (isRootOnDebian()) {
    await stage('Installing Chromium for the browser tests (apt-get)', async () => {
      const quiet = { env: { DEBIAN_FRONTEND: 'noninteractive' } }
      await run('apt-get', ['update', '-q'], quiet)
      await run('apt-get', ['install', '-qy', '--no-install-recommends', 'chromium'], quiet)
    })
    const installed = installedChromium()
    if (installed) return installed
  }
  await stage("Installing Playwright's own Chromium for the browser tests", () =>
    must(
      'No Chromium could be installed. Install one yourself (on Debian: apt-get install chromium) or name it in HOLDPOINT_CHROMIUM',
      process.execPath,
      ['node_modules/@playwright/test/cli.js', 'install', 'chromium'],
    ),
  )
  return undefined
}

/** Throws StageFailed when HOLDPOINT_CHROMIUM names nothing. */
export function checkNamedChromium() {
  const named = process.env.HOLDPOINT_CHROMIUM
  if (named && !existsSync(named)) {
    throw new StageFailed(`HOLDPOINT_CHROMIUM names ${named}, and there is no such file.`)
  }
}
