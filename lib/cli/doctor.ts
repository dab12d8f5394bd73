/*
 * `holdpoint doctor`: looks at this machine and at an installation's data folder, changes nothing, and says of each
 * thing whether it is as it must be and, if not, how to mend it.
 */
import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { type DataFolder, dataFolder } from './data-folder'
import { exitCode } from './exit-codes'

interface Finding {
  what: string
  state: 'good' | 'note' | 'bad'
  sentence: string
}

/** Less free space than this is worth a word: SQLite needs room for its log beside the database. */
const roomToWorkBytes = 1024 ** 3
const roomToStartBytes = 64 * 1024 ** 2

/** Exit 0 when nothing is bad, else 5. */
export async function doctor(options: { data?: string; port?: number; json?: boolean }): Promise<number> {
  const data = dataFolder(options.data)
  const findings = [
    node(),
    await driver(),
    folder(data),
    space(data),
    keys(data),
    await database(data),
    await portFree(options.port ?? (Number(process.env.PORT) || 3000)),
  ]
  const isWell = findings.every(({ state }) => state !== 'bad')
  if (options.json) console.log(JSON.stringify({ well: isWell, findings }))
  else {
    const sign = { good: '✓', note: '·', bad: '✗' }
    for (const { what, state, sentence } of findings) console.log(`${sign[state]} ${what}: ${sentence}`)
    console.log(isWell ? 'Nothing stands in the way.' : 'Mend what is marked ✗ and look again.')
  }
  return isWell ? exitCode.ok : exitCode.failed
}

function node(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isNewEnough = major > 20 || (major === 20 && minor >= 19)
  return isNewEnough
    ? { what: 'Node', state: 'good', sentence: process.versions.node }
    : { what: 'Node', state: 'bad', sentence: `${process.versions.node}; 20.19 or newer is needed` }
}

/** In a process of its own: a driver built for another Node may end the one that loads it. */
function driver(): Promise<Finding> {
  const what = 'SQLite driver'
  const probe =
    "const D=require('better-sqlite3');process.stdout.write(new D(':memory:').prepare('select sqlite_version()').pluck().get())"
  return new Promise((resolve) => {
    execFile(process.execPath, ['-e', probe], { cwd: import.meta.dirname }, (error, version) =>
      resolve(
        error
          ? { what, state: 'bad', sentence: 'does not load in this Node; run: npm rebuild better-sqlite3' }
          : { what, state: 'good', sentence: `SQLite ${version}` },
      ),
    )
  })
}

function folder(data: DataFolder): Finding {
  const what = 'Data folder'
  if (!existsSync(data.path)) {
    const parent = nearestThatExists(data.path)
    return canWrite(parent)
      ? { what, state: 'note', sentence: `${data.path} is not there yet; the first start makes it` }
      : { what, state: 'bad', sentence: `${data.path} cannot be made: ${parent} may not be written` }
  }
  const stats = statSync(data.path)
  if (!stats.isDirectory())
    return { what, state: 'bad', sentence: `${data.path} is a file; name a folder with --data` }
  if (!canWrite(data.path))
    return { what, state: 'bad', sentence: `${data.path} may not be written by this user` }
  if (isOpenToOthers(stats.mode)) {
    return { what, state: 'bad', sentence: `${data.path} may be read by others; run: chmod 700 ${data.path}` }
  }
  return { what, state: 'good', sentence: data.path }
}

function space(data: DataFolder): Finding {
  const { bavail, bsize } = statfsSync(nearestThatExists(data.path))
  const free = bavail * bsize
  const sentence = `${(free / 1024 ** 3).toFixed(1)} GiB free`
  if (free < roomToStartBytes)
    return { what: 'Disk', state: 'bad', sentence: `${sentence}; make room, nothing can be recorded` }
  if (free < roomToWorkBytes) return { what: 'Disk', state: 'note', sentence: `${sentence}; that is little` }
  return { what: 'Disk', state: 'good', sentence }
}

function keys(data: DataFolder): Finding {
  const what = 'Keys'
  if (!existsSync(data.keys)) return { what, state: 'note', sentence: 'none yet; the first start makes them' }
  const open = readdirSync(data.keys).find((name) =>
    isOpenToOthers(statSync(path.join(data.keys, name)).mode),
  )
  if (open) {
    const file = path.join(data.keys, open)
    return { what, state: 'bad', sentence: `${file} may be read by others; run: chmod 600 ${file}` }
  }
  return { what, state: 'good', sentence: `${data.keys}, readable by their owner alone` }
}

async function database(data: DataFolder): Promise<Finding> {
  const what = 'Database'
  try {
    const { databaseName, openStore } = await import('@/lib/store/open')
    if (!existsSync(path.join(data.path, databaseName))) {
      return { what, state: 'note', sentence: 'none yet; the first start makes it' }
    }
    const store = await openStore(data.path, { readOnly: true })
    const { byStatus } = await store.runs.counts(0)
    await store.close()
    const runs = Object.values(byStatus).reduce((sum, count) => sum + count, 0)
    return { what, state: 'good', sentence: `opens; ${runs} ${runs === 1 ? 'run' : 'runs'}` }
  } catch (error) {
    return { what, state: 'bad', sentence: (error as Error).message }
  }
}

function portFree(port: number): Promise<Finding> {
  const what = `Port ${port}`
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () =>
      resolve({ what, state: 'note', sentence: 'taken (by a console that runs?); --port chooses another' }),
    )
    probe.listen({ host: '127.0.0.1', port, exclusive: true }, () =>
      probe.close(() => resolve({ what, state: 'good', sentence: 'free' })),
    )
  })
}

function nearestThatExists(place: string): string {
  return existsSync(place) ? place : nearestThatExists(path.dirname(place))
}

function canWrite(place: string): boolean {
  try {
    accessSync(place, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

function isOpenToOthers(mode: number): boolean {
  return process.platform !== 'win32' && (mode & 0o077) !== 0
}
