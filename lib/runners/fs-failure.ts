import path from 'node:path'
import { isJsonObject } from '@/lib/base/json'
import { EffectFailed } from './runner'
import { oneLine } from './words'

/** The system's error code (`ENOENT`), or undefined. */
export function errnoOf(error: unknown): string | undefined {
  return isJsonObject(error) && typeof error.code === 'string' ? error.code : undefined
}

const words: Readonly<Record<string, { code: string; why: string; mend: string }>> = {
  ENOENT: { code: 'file_not_found', why: 'it does not exist', mend: 'check the path' },
  EACCES: {
    code: 'not_permitted',
    why: 'permission is denied',
    mend: 'give the account Holdpoint runs as permission there',
  },
  EPERM: {
    code: 'not_permitted',
    why: 'permission is denied',
    mend: 'give the account Holdpoint runs as permission there',
  },
  EROFS: {
    code: 'read_only',
    why: 'the file system is read-only',
    mend: 'mount it for writing or use another folder',
  },
  ENOSPC: { code: 'disk_full', why: 'the disk is full', mend: 'free some space' },
  EDQUOT: { code: 'disk_full', why: 'the disk quota is used up', mend: 'free some space' },
  EMFILE: { code: 'too_many_files', why: 'too many files are open', mend: 'raise the limit of open files' },
  ENFILE: { code: 'too_many_files', why: 'too many files are open', mend: 'raise the limit of open files' },
  ELOOP: { code: 'path_is_symlink', why: 'a symlink stands in the way', mend: 'use a path without symlinks' },
  ENOTDIR: { code: 'not_a_folder', why: 'something on the way is no folder', mend: 'check the path' },
  EISDIR: { code: 'not_a_file', why: 'a folder stands there', mend: 'name a file' },
  ENAMETOOLONG: {
    code: 'name_too_long',
    why: 'a name in it is too long',
    mend: 'use names of at most 255 bytes',
  },
}

const exhausted = new Set(['disk_full', 'too_many_files'])

/** A file system's error as a failure of the effect. `name` is the path as people know it; `doing` a verb and object. */
export function fsFailure(error: unknown, name: string, doing: string): EffectFailed {
  if (error instanceof EffectFailed) return error
  const errno = errnoOf(error)
  const known = errno === undefined ? undefined : words[errno]
  if (!known) {
    return new EffectFailed(
      'effect_failed',
      `Could not ${doing} "${brief(name)}": ${errno ?? 'an unknown error'}.`,
    )
  }
  return new EffectFailed(known.code, `Could not ${doing} "${brief(name)}": ${known.why}; ${known.mend}.`, {
    errorType: exhausted.has(known.code) ? 'resource_exhausted' : 'action_failed',
    retriable: exhausted.has(known.code),
  })
}

/** A path short enough for a sentence; its end says most. */
function brief(name: string): string {
  const line = oneLine(name, 4_096)
  return line.length > 160 ? `…/${path.basename(line).slice(-150)}` : line
}
