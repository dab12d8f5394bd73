import fs from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { type Clock, systemClock } from '@/lib/base/clock'
import { Problem } from '@/lib/base/problem'
import { makeDataFolder } from './data-folder'
import { asStoreProblem, storageCode } from './sqlite-problem'

/*
 * One server on one data folder. Node has no file lock, and a file with a process id in it outlives a killed process;
 * SQLite's locks are the system's own and die with their process. So the lock is a transaction that is held open on a
 * small database of its own:
 *
 *   server.lock.db     BEGIN EXCLUSIVE, held while the server lives
 *   server.lock.json   who holds it, written by the holder: for the sentence, decides nothing
 *
 * Workers do not take it: any number of them share the folder.
 */
export interface ServerLock {
  /** Lets the next server in. */
  release(): void
}

interface Holder {
  pid: number
  startedAt: string
}

/**
 * Takes the data folder for this server; makes the folder when it is missing. Throws Problem `data_folder_taken` naming
 * the process id and start time of the server that has it, `store_read_only`, `store_full`.
 */
export function lockForServer(dataDir: string, clock: Clock = systemClock): ServerLock {
  const folder = path.resolve(dataDir)
  const file = path.join(folder, 'server.lock.db')
  const note = path.join(folder, 'server.lock.json')
  let db: Database.Database | undefined
  try {
    makeDataFolder(folder)
    // Without waiting: a server that holds it will not let go in the next seconds.
    db = new Database(file, { timeout: 0 })
    db.exec('BEGIN EXCLUSIVE')
    writeNote(note, { pid: process.pid, startedAt: new Date(clock.now()).toISOString() })
  } catch (error) {
    db?.close()
    const code = storageCode(error)
    if (code?.startsWith('SQLITE_BUSY')) throw taken(folder, readNote(note))
    if (code?.startsWith('SQLITE_CANTOPEN')) {
      throw asStoreProblem(Object.assign(new Error(), { code: 'EACCES' }), file)
    }
    throw asStoreProblem(error, file)
  }
  const held = db
  return {
    release() {
      if (!held.open) return
      fs.rmSync(note, { force: true })
      held.close()
    },
  }
}

function taken(folder: string, holder: Holder | undefined): Problem {
  const who = holder
    ? `process ${holder.pid}, started ${holder.startedAt.replace('T', ' ').slice(0, 19)} UTC`
    : 'another process'
  return new Problem(
    'data_folder_taken',
    `A Holdpoint server already runs on ${folder}: ${who}; stop it, or give this one a data folder of its own`,
    { folder, ...holder },
  )
}

/** Renamed into place, so that it is never read half written. */
function writeNote(note: string, holder: Holder): void {
  const fresh = `${note}.${holder.pid}`
  fs.writeFileSync(fresh, JSON.stringify(holder), { mode: 0o600 })
  fs.renameSync(fresh, note)
}

function readNote(note: string): Holder | undefined {
  try {
    const { pid, startedAt } = JSON.parse(fs.readFileSync(note, 'utf8')) as Partial<Holder>
    return Number.isInteger(pid) && typeof startedAt === 'string'
      ? { pid: pid as number, startedAt }
      : undefined
  } catch {
    // Between the lock and the note, or removed by a person: the lock alone decides.
    return undefined
  }
}
