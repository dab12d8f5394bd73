/*
 * The state of one path, in the form a checkpoint seals it: what stood there, byte for byte, or which folders did not
 * exist yet. Reading the state again after it was put back gives the same canonical text, so the same hash.
 *
 * Files change in one step: a new file beside the old one, synced, renamed over it, and the folder synced. A crash
 * leaves the old bytes or the new ones, never half of either.
 */
import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { lstat, open, rename, rmdir, unlink } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { type Hash, hashJson, sha256 } from '@/lib/base/hash'
import type { JsonObject } from '@/lib/base/json'
import { liesIn } from '@/lib/policy/roots'
import { Folder } from './folder'
import { errnoOf, fsFailure } from './fs-failure'
import { locate, makeFolder, makeParent, openParent, type Place } from './place'
import { refusal } from './resolved'
import {
  EffectFailed,
  type Effects,
  type SeenState,
  type Snapshot,
  type Undone,
  type UndoRequest,
} from './runner'
import { bytesInWords } from './words'

/** Largest file that is written, or kept in a checkpoint. */
export const maxFileBytes = 16_777_216

const octal = z.string().regex(/^[0-7]{4}$/)
const absent = z.array(z.string())

const stateSchema = z.discriminatedUnion('stood', [
  z.strictObject({ stood: z.literal('file'), path: z.string(), bytes: z.base64(), mode: octal }),
  /** Only that it is there: nothing here ever changes an existing folder. */
  z.strictObject({ stood: z.literal('folder'), path: z.string() }),
  /** `missing`: folders above that did not exist, outermost first. */
  z.strictObject({ stood: z.literal('nothing'), path: z.string(), missing: absent }),
])

/** What stands at a path. Canonical: the same state has one text. */
export type PathState = z.infer<typeof stateSchema>

interface FoundFile {
  bytes: Buffer
  /** Permission bits. */
  mode: number
  uid: number
  gid: number
}

/** `0644`. */
export function modeText(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0')
}

/**
 * The file at a place, or undefined when nothing stands there. Throws EffectFailed `not_a_file` for folders, devices,
 * pipes and sockets (which are never opened), `path_is_symlink`, and `too_large` past `maxBytes`.
 */
export async function findFile(place: Place, maxBytes: number): Promise<FoundFile | undefined> {
  const folder = await openParent(place)
  if (!folder) return undefined
  try {
    return await readInside(folder, place, maxBytes)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw fsFailure(error, place.name, 'read')
  } finally {
    await folder.close()
  }
}

async function readInside(folder: Folder, place: Place, maxBytes: number): Promise<FoundFile> {
  const seen = await lstat(folder.at(place.leaf))
  if (!seen.isFile()) throw notAFile(seen, place)
  // Non-blocking: a pipe put there in between would otherwise hold the run for ever.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const handle = await open(folder.at(place.leaf), flags)
  try {
    const opened = await handle.stat()
    if (!opened.isFile()) throw notAFile(opened, place)
    if (opened.size > maxBytes) throw tooLarge(place, maxBytes)
    const buffer = Buffer.alloc(opened.size + 1)
    let length = 0
    // One byte more than its size is asked for, so that a file that grows meanwhile is noticed.
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length)
      length += bytesRead
      if (bytesRead === 0) break
      if (length > opened.size) throw changedMeanwhile(place)
    }
    return { bytes: buffer.subarray(0, length), mode: opened.mode & 0o7777, uid: opened.uid, gid: opened.gid }
  } finally {
    await handle.close()
  }
}

function notAFile(stats: Stats, place: Place) {
  if (stats.isSymbolicLink()) {
    return refusal(
      'path_is_symlink',
      `"${place.name}" was replaced by a symlink while it was used; nothing was done.`,
    )
  }
  const found = stats.isDirectory() ? 'a folder' : 'a device, pipe or socket'
  return refusal('not_a_file', `"${place.name}" is ${found}; a file was expected.`)
}

function tooLarge(place: Place, maxBytes: number) {
  return refusal(
    'too_large',
    `"${place.name}" is larger than ${bytesInWords(maxBytes)}, the most that is handled.`,
  )
}

/** The attempt ran out of time, or was cancelled, before anything had changed. */
export function givenUp(name: string): EffectFailed {
  return new EffectFailed(
    'effect_timeout',
    `"${name}" was given up before it was changed; nothing was done.`,
    {
      errorType: 'timeout',
      retriable: true,
    },
  )
}

function changedMeanwhile(place: Place) {
  return refusal(
    'changed_meanwhile',
    `"${place.name}" changed while it was looked at; try again when nobody writes to it.`,
  )
}

/** The state of a place, as a checkpoint seals it. Reads only. */
export async function stateOf(place: Place): Promise<PathState> {
  const folder = await openParent(place)
  if (!folder) return nothing(place)
  try {
    const seen = await lstat(folder.at(place.leaf))
    if (seen.isDirectory()) return { stood: 'folder', path: place.path }
    const file = await readInside(folder, place, maxFileBytes)
    return fileState(place, file.bytes, file.mode)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return nothing(place)
    throw fsFailure(error, place.name, 'read')
  } finally {
    await folder.close()
  }
}

function fileState({ path }: Place, bytes: Uint8Array, mode: number): PathState {
  return { stood: 'file', path, bytes: Buffer.from(bytes).toString('base64'), mode: modeText(mode) }
}

function nothing(place: Place): PathState {
  const missing = place.missing.map((_, at) => path.join(place.existing, ...place.missing.slice(0, at + 1)))
  return { stood: 'nothing', path: place.path, missing }
}

/** The snapshot of a path's state. */
export function sealable(state: PathState): Snapshot {
  return { state: state as unknown as JsonObject, hash: hashJson(state), undo: 'restore' }
}

/**
 * Does a path stand as the snapshot has it, or is at most a part of the folders there that are made for it first? Then
 * the step itself was not done, and doing it again takes up where a crash left it.
 */
export function isNotBegun(now: PathState, snapshot: Snapshot): boolean {
  if (hashJson(now) === snapshot.hash) return true
  const before = sealedState(snapshot)
  if (now.stood !== 'nothing' || before.stood !== 'nothing' || now.path !== before.path) return false
  const made = before.missing.length - now.missing.length
  return made > 0 && now.missing.every((folder, at) => folder === before.missing[at + made])
}

/** A path's state by its hash. What is as little there as before counts as before: its folders are not what is looked at. */
export async function seenState(place: Place, snapshot: Snapshot): Promise<SeenState> {
  const state = await stateOf(place)
  const hash = isNotBegun(state, snapshot) ? snapshot.hash : hashJson(state)
  return { hash, raw: hash }
}

/** The state inside a snapshot. Throws EffectFailed `checkpoint_tampered` when it has another shape. */
export function sealedState(snapshot: Snapshot): PathState {
  const parsed = stateSchema.safeParse(snapshot.state)
  if (parsed.success) return parsed.data
  throw refusal(
    'checkpoint_tampered',
    'The checkpoint does not hold the state of a path; it cannot be put back.',
  )
}

/** Whose a temporary file is: one step of one run, in all its attempts and in its undo. */
export function stagerOf(effects: Pick<Effects, 'runId'>, node: string): string {
  return `${effects.runId ?? ''}/${node}`
}

/**
 * A process that is killed between staging and renaming leaves its temporary file behind. Names begin with the stager
 * and the target, so whoever comes next for both removes what is there; and they end with chance, so that a process
 * that only stood still finds its own file gone instead of renaming one that another is still writing.
 */
function stagedPrefix(stager: string, place: Place): string {
  return `.holdpoint-${sha256(JSON.stringify([stager, place.path])).slice(0, 24)}.`
}

/** A folder of more names is not searched to its end: a leftover costs some bytes, the search would cost seconds. */
const maxNamesLookedAt = 100_000

/** Removes what attempts of this stager on this target left in the folder. */
async function removeStaged(folder: Folder, prefix: string): Promise<void> {
  for await (const name of folder.names(maxNamesLookedAt)) {
    // Gone already is as good; what cannot be removed stops no step.
    if (name.startsWith(prefix)) await unlink(folder.at(name)).catch(() => undefined)
  }
}

/**
 * Writes a file in one step and durably, making missing folders. `mode` absent: as it was, or 0644. What a killed
 * attempt of the same `stager` (`stagerOf`) left beside the file is removed. Returns the state that the file was left in.
 */
export async function writeWhole(
  place: Place,
  bytes: Uint8Array,
  mode: number | undefined,
  stager: string,
  signal: AbortSignal,
): Promise<PathState> {
  const folder = await makeParent(place)
  const prefix = stagedPrefix(stager, place)
  const temporary = `${prefix}${randomUUID().slice(0, 8)}.tmp`
  try {
    await removeStaged(folder, prefix)
    const old = await lstat(folder.at(place.leaf)).catch((error: unknown) => {
      if (errnoOf(error) === 'ENOENT') return undefined
      throw error
    })
    if (old && !old.isFile()) throw notAFile(old, place)
    const wanted = mode ?? (old ? old.mode & 0o7777 : 0o644)
    const given = await writeTemporary(folder.at(temporary), bytes, wanted, old)
    await folder.verify()
    if (signal.aborted) throw givenUp(place.name)
    await rename(folder.at(temporary), folder.at(place.leaf))
    await folder.sync()
    return fileState(place, bytes, given)
  } catch (error) {
    await unlink(folder.at(temporary)).catch(() => undefined) // Nothing there in most cases.
    throw fsFailure(error, place.name, 'write')
  } finally {
    await folder.close()
  }
}

/** Returns the mode that it got: the system may drop bits of the one that was asked for. */
async function writeTemporary(at: string, bytes: Uint8Array, mode: number, old?: Stats): Promise<number> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const handle = await open(at, flags, 0o600)
  try {
    await handle.writeFile(bytes)
    const made = await handle.stat()
    // A file of another account keeps its owner where we may give files away; else it becomes ours.
    if (old && (old.uid !== made.uid || old.gid !== made.gid)) {
      await handle.chown(old.uid, old.gid).catch(() => undefined)
    }
    await handle.chmod(mode) // After the owner: changing that drops bits. And the umask shall not matter.
    await handle.sync()
    return (await handle.stat()).mode & 0o7777
  } finally {
    await handle.close()
  }
}

/** Makes the folder of a place and all above it. Returns whether it was made now. */
export async function makeWhole(place: Place): Promise<boolean> {
  const parent = await makeParent(place)
  try {
    const stood = await lstat(parent.at(place.leaf)).catch(() => undefined)
    if (stood && !stood.isDirectory()) {
      throw refusal('not_a_folder', `"${place.name}" is there already and is no folder; choose another path.`)
    }
    const made = await makeFolder(parent, place.leaf, place.name)
    await made.close()
    return stood === undefined
  } finally {
    await parent.close()
  }
}

/**
 * Puts a path back to its sealed state: bytes and mode, or absence. Folders that were made for it go as long as they
 * are empty, and so does what a killed attempt of the same `stager` left. Doing it twice changes nothing more. Throws
 * EffectFailed `path_moved` when the name leads elsewhere now, `hash_mismatch` when what stands there must not be lost.
 */
export async function putBack(
  name: string,
  snapshot: Snapshot,
  effects: Effects,
  stager: string,
  { whyNot }: Pick<UndoRequest, 'whyNot'>,
): Promise<Undone> {
  const state = sealedState(snapshot)
  const place = await sealedPlace(name, state, effects)
  const before = whyNot ? await lookedAt(place, snapshot, whyNot) : hashJson(await stateOf(place))
  await clearStaged(place, stager)
  const left = before === snapshot.hash ? [] : await restore(state, place, effects, stager)
  const after = hashJson(await stateOf(await locate(name, 'write', effects)))
  return { stateHashBefore: before, stateHashAfter: after, description: spoken(state, name, left) }
}

/** Where a sealed path lies. Throws EffectFailed `path_moved` when its name leads elsewhere now. */
export async function sealedPlace(name: string, { path }: PathState, effects: Effects): Promise<Place> {
  const place = await locate(name, 'write', effects)
  if (place.path === path) return place
  throw refusal(
    'path_moved',
    `"${name}" led to another place when the checkpoint was made; put that one back by hand.`,
  )
}

/** How often a path that changes while it is asked about is asked about again. */
const mostLooks = 5

/**
 * The hash of what stands there, once that may be put back and was the same before and after asking. Throws EffectFailed
 * `hash_mismatch` when it may not, `changed_meanwhile` when it does not come to rest.
 */
async function lookedAt(
  place: Place,
  snapshot: Snapshot,
  whyNot: NonNullable<UndoRequest['whyNot']>,
): Promise<Hash> {
  let found = await stateOf(place)
  for (let look = 1; look <= mostLooks; look++) {
    const hash = hashJson(found)
    const why = isNotBegun(found, snapshot) ? undefined : await whyNot({ hash, raw: hash })
    if (why !== undefined) throw refusal('hash_mismatch', why)
    found = await stateOf(place)
    if (hashJson(found) === hash) return hash
  }
  throw changedMeanwhile(place)
}

async function clearStaged(place: Place, stager: string): Promise<void> {
  const folder = await openParent(place)
  if (!folder) return
  try {
    await removeStaged(folder, stagedPrefix(stager, place))
  } catch (error) {
    throw fsFailure(error, place.name, 'clean up beside')
  } finally {
    await folder.close()
  }
}

async function restore(state: PathState, place: Place, effects: Effects, stager: string): Promise<string[]> {
  switch (state.stood) {
    case 'file':
      await writeWhole(
        place,
        Buffer.from(state.bytes, 'base64'),
        Number.parseInt(state.mode, 8),
        stager,
        effects.signal,
      )
      return []
    case 'folder':
      await makeWhole(place)
      return []
    case 'nothing':
      await removeLeaf(place)
      return removeEmpty(state, place)
    default:
      return state satisfies never
  }
}

async function removeLeaf(place: Place): Promise<void> {
  const folder = await openParent(place)
  if (!folder) return
  try {
    const stood = await lstat(folder.at(place.leaf))
    if (stood.isDirectory()) await rmdir(folder.at(place.leaf))
    else if (stood.isFile()) await unlink(folder.at(place.leaf))
    else throw notAFile(stood, place)
    await folder.sync()
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return
    if (isNotEmpty(error)) {
      throw refusal('folder_not_empty', `"${place.name}" holds something by now; it was not removed.`)
    }
    throw fsFailure(error, place.name, 'remove')
  } finally {
    await folder.close()
  }
}

/** Removes the folders made for the path, innermost first, while they are empty. Returns the names of those left. */
async function removeEmpty(state: Extract<PathState, { stood: 'nothing' }>, place: Place): Promise<string[]> {
  for (const [at, made] of [...state.missing.entries()].reverse()) {
    if (!liesIn(place.path, made)) continue
    const parent = await Folder.open(path.dirname(made)).catch(() => undefined)
    if (!parent) continue // It is gone with all that was in it.
    try {
      await rmdir(parent.at(path.basename(made)))
      await parent.sync()
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') continue
      if (isNotEmpty(error)) return state.missing.slice(0, at + 1).map((left) => path.basename(left))
      throw fsFailure(error, place.name, 'remove a folder made for')
    } finally {
      await parent.close()
    }
  }
  return []
}

function isNotEmpty(error: unknown): boolean {
  const errno = errnoOf(error)
  return errno === 'ENOTEMPTY' || errno === 'EEXIST'
}

function spoken(state: PathState, name: string, left: string[]): string {
  switch (state.stood) {
    case 'file':
      return `Put back ${name} with its ${bytesInWords(Buffer.byteLength(state.bytes, 'base64'))} and mode ${state.mode}`
    case 'folder':
      return `Left the folder ${name}, which was there before`
    case 'nothing':
      return left.length === 0
        ? `Removed ${name}, which did not exist before`
        : `Removed ${name}; left ${left.length === 1 ? 'a folder' : `${left.length} folders`} made for it because something else is in there`
    default:
      return state satisfies never
  }
}
