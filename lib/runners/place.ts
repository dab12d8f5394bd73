/*
 * Where a path really leads. A path is asked about twice: as written, and with every symlink on the way resolved. Both
 * must lie in a folder the workflow declares, and each declared folder must itself really lie in a folder of the
 * installation, so that no symlink anywhere lends a workflow more than it was given.
 *
 * A workflow that states an allowlist is given by it what declared folders give others: both paths must be named by its
 * patterns, and both lie in a folder of the installation. Patterns are compared with the real path as they stand: a
 * pattern that itself passes a symlink names nothing.
 */
import { lstat, mkdir, realpath } from 'node:fs/promises'
import path from 'node:path'
import { allowlistAnswer } from '@/lib/policy/allowlist'
import { denial } from '@/lib/policy/denial'
import { absolutePath, liesIn, type RootFolder, rootFolders, rootFor } from '@/lib/policy/roots'
import type { ToolCall } from '@/lib/policy/tool-call'
import type { Allowlist, Root } from '@/lib/workflow/graph'
import { Folder } from './folder'
import { errnoOf, fsFailure } from './fs-failure'
import { refusal } from './resolved'
import type { Effects } from './runner'

export interface Place {
  /** As written in the workflow. */
  name: string
  /** Absolute, without symlinks. */
  path: string
  /** The deepest folder above it that exists, without symlinks. */
  existing: string
  /** Names of the folders between `existing` and the leaf that do not exist, outermost first. */
  missing: string[]
  leaf: string
}

type Bounds = Pick<Effects, 'policy' | 'installationRoots'>
type FileTool = Extract<ToolCall, { path: string }>['tool']

/**
 * Resolves a path inside the folders the workflow is given; a relative one starts in the installation's first folder.
 * Changes nothing. Throws EffectFailed `path_outside_roots`, `path_is_symlink` or `policy_denied`.
 */
export async function locate(name: string, access: Root['access'], bounds: Bounds): Promise<Place> {
  const { allow } = bounds.policy
  if (!allow) return locateDeclared(name, access, bounds)
  return locateAllowed(name, access === 'read' ? 'fs.read' : 'fs.write', bounds, allow)
}

/** Where a person's or an author's path leads, whatever may be done there. Throws EffectFailed `path_is_symlink`. */
export async function realPath(name: string, firstFolder: string): Promise<string> {
  return (await realPlace(absolutePath(name, firstFolder), name)).path
}

/** As `locate`, by what the allowlist says of one tool. */
export async function locateAllowed(
  name: string,
  tool: FileTool,
  { installationRoots }: Pick<Bounds, 'installationRoots'>,
  allow: Allowlist,
): Promise<Place> {
  const call = { tool, path: absolutePath(name, installationRoots[0] ?? '/') }
  const asWritten = allowlistAnswer(allow, call)
  if (!asWritten.allowed) throw refusal(asWritten.code, asWritten.sentence)
  mustLieIn(
    installationRoots.map((root) => absolutePath(root, '/')),
    call.path,
    call,
  )
  const real = await realPlace(call.path, name)
  const inReality = allowlistAnswer(allow, { tool, path: real.path })
  if (!inReality.allowed) {
    const { code, sentence } = denial(
      call,
      inReality.rule,
      `it leads to another place, and no rule of policy.${tool} names that`,
    )
    throw refusal(code, sentence)
  }
  mustLieIn(await realInstallation(installationRoots), real.path, call)
  return real
}

/** The installation's folders where they really lie; those that do not stand are left out. */
async function realInstallation(roots: readonly string[]): Promise<string[]> {
  const real = await Promise.all(roots.map((root) => realpath(root).catch(() => undefined)))
  return real.filter((root) => root !== undefined)
}

function mustLieIn(folders: readonly string[], path: string, call: Parameters<typeof denial>[0]): void {
  if (folders.some((folder) => liesIn(path, folder))) return
  const { sentence } = denial(
    call,
    'installation folders',
    'the policy names it, and it lies outside this installation’s folders; have an administrator add its folder (HOLDPOINT_ROOTS)',
  )
  throw refusal('path_outside_roots', sentence)
}

async function locateDeclared(name: string, access: Root['access'], bounds: Bounds): Promise<Place> {
  const { folders, refused } = rootFolders(bounds.policy.roots, bounds.installationRoots)
  const written = absolutePath(name, bounds.installationRoots[0] ?? '/')
  const asWritten = rootFor(written, access, folders, name)
  if (!asWritten.allowed) {
    const answer = folders.length === 0 ? (refused[0] ?? asWritten) : asWritten
    throw refusal(answer.code, answer.sentence)
  }
  const real = await realPlace(written, name)
  const inReality = rootFor(real.path, access, await realFolders(folders), name)
  if (!inReality.allowed) throw refusal(inReality.code, inReality.sentence)
  return real
}

/** The declared folders where they really lie; those that a symlink leads out of the installation are left out. */
async function realFolders(folders: readonly RootFolder[]): Promise<RootFolder[]> {
  const real: RootFolder[] = []
  for (const folder of folders) {
    const within = await realpath(folder.within).catch(() => undefined)
    if (within === undefined) continue
    const place = await realPlace(folder.path, folder.name).catch(() => undefined)
    if (place && liesIn(place.path, within)) real.push({ ...folder, path: place.path, within })
  }
  return real
}

async function realPlace(written: string, name: string): Promise<Place> {
  const whole = await realIfExists(written, name)
  if (whole !== undefined) {
    return { name, path: whole, existing: path.dirname(whole), missing: [], leaf: path.basename(whole) }
  }
  const missing: string[] = []
  let folder = path.dirname(written)
  let existing = await realIfExists(folder, name)
  // Not in the head of a `for`: Next's bundler loses an import that is used there.
  while (existing === undefined) {
    missing.unshift(path.basename(folder))
    folder = path.dirname(folder)
    existing = await realIfExists(folder, name)
  }
  const leaf = path.basename(written)
  return { name, path: path.join(existing, ...missing, leaf), existing, missing, leaf }
}

/** Looks at one path: more than a few are needed only where somebody keeps making and removing it. */
const maxLooks = 16

/** The real path, or undefined when nothing stands there. A symlink to nothing is refused: it could lead anywhere. */
async function realIfExists(written: string, name: string): Promise<string | undefined> {
  for (let looks = 1; ; looks++) {
    try {
      return await realpath(written)
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw fsFailure(error, name, 'find')
      const found = await lstat(written).catch(() => undefined)
      if (!found) return undefined
      if (found.isSymbolicLink()) {
        throw refusal(
          'path_is_symlink',
          `"${name.slice(0, 200)}" passes a symlink that leads to nothing; use a path without it.`,
        )
      }
      // No link, so it was made by somebody else between the two questions: it is asked about again.
      if (looks >= maxLooks) throw fsFailure(error, name, 'find')
    }
  }
}

/** Opens the folder that holds the leaf. Undefined when it does not exist. */
export async function openParent(place: Place): Promise<Folder | undefined> {
  return place.missing.length > 0 ? undefined : Folder.open(place.existing)
}

/** Opens the folder that holds the leaf and makes the missing ones (0755), one by one, each inside the one before. */
export async function makeParent(place: Place): Promise<Folder> {
  let folder = await Folder.open(place.existing)
  for (const name of place.missing) {
    const child = await makeFolder(folder, name, place.name).finally(() => folder.close())
    folder = child
  }
  return folder
}

/** Makes a folder inside an open one, or opens the one that is there already. */
export async function makeFolder(parent: Folder, name: string, spoken: string): Promise<Folder> {
  try {
    await mkdir(parent.at(name), 0o755)
    await parent.sync()
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw fsFailure(error, spoken, 'make a folder for')
  }
  return parent.child(name)
}
