import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'

/*
 * Secrets on disk as numbered files, `signing-1.json`, `signing-2.json`, …: the highest number is current. A number is
 * taken by linking a finished, synced file to its name, which the file system lets happen once. So there is no lock to
 * leave behind, no half-written file to be read, and of two processes that start at once one makes the key and both
 * use it.
 */

/** Others on the machine may neither read nor write a secret, nor swap the files in its folder. */
const OTHERS_MAY_READ_OR_WRITE = 0o077
const OTHERS_MAY_WRITE = 0o022
const FILE_MAX_BYTES = 64 * 1024

export interface Generation {
  number: number
  content: JsonObject
}

/** Makes the folder (mode 0700) if it is missing. Throws Problem `key_unusable` when others may write in it. */
export function openSecretFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { mode } = statSync(folder)
  if (process.platform !== 'win32' && (mode & OTHERS_MAY_WRITE) !== 0) {
    throw unusable(
      `The key folder ${folder} may be written by others (mode ${octal(mode)}); run: chmod 700 ${folder}`,
    )
  }
}

/** All generations, oldest first. Throws Problem `key_unusable` for a file others may read, or that is damaged. */
export function readGenerations(folder: string, name: string): Generation[] {
  const pattern = new RegExp(`^${name}-([1-9][0-9]{0,8})\\.json$`)
  return readdirSync(folder)
    .map((file) => pattern.exec(file))
    .filter((match) => match !== null)
    .map((match) => ({ number: Number(match[1]), content: readSecret(join(folder, match[0])) }))
    .sort((a, b) => a.number - b.number)
}

/** Writes a new generation durably, mode 0600. False when another process took the number first. */
export function addGeneration(folder: string, name: string, number: number, content: JsonObject): boolean {
  return withNewFile(folder, content, (file) => {
    try {
      linkSync(file, join(folder, `${name}-${number}.json`))
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw error
    }
  })
}

/** Replaces what a generation holds, atomically and durably. */
export function replaceGeneration(folder: string, name: string, number: number, content: JsonObject): void {
  withNewFile(folder, content, (file) => renameSync(file, join(folder, `${name}-${number}.json`)))
}

/** Reads one secret file. The mode is asked of the open file, so that it cannot be swapped in between. */
function readSecret(path: string): JsonObject {
  const file = openSync(path, 'r')
  try {
    const { mode, size } = fstatSync(file)
    if (process.platform !== 'win32' && (mode & OTHERS_MAY_READ_OR_WRITE) !== 0) {
      throw unusable(
        `The key file ${path} may be read by others (mode ${octal(mode)}); run: chmod 600 ${path}, and rotate the key if somebody may have read it`,
      )
    }
    if (size > FILE_MAX_BYTES)
      throw unusable(`The key file ${path} is ${size} bytes long; it was not written here`)
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (!isJsonObject(content)) throw unusable(`The key file ${path} does not hold a JSON object`)
    return content
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw unusable(`The key file ${path} is not JSON; restore it from a backup`)
  } finally {
    closeSync(file)
  }
}

/** A synced file beside its place, then `place` puts it there, then the folder is synced. */
function withNewFile<T>(folder: string, content: JsonObject, place: (file: string) => T): T {
  const scratch = mkdtempSync(join(folder, '.new-'))
  try {
    const path = join(scratch, 'secret.json')
    const file = openSync(path, 'wx', 0o600)
    try {
      writeSync(file, `${JSON.stringify(content, null, 2)}\n`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    const placed = place(path)
    syncFolder(folder)
    return placed
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0')
}

function unusable(sentence: string): Problem {
  return new Problem('key_unusable', sentence)
}
