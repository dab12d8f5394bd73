import { Problem } from '@/lib/base/problem'

/**
 * SQLite's and the file system's own codes in the words of Holdpoint's one table of refusals. Errors that are nobody's
 * fault but ours (a broken constraint, bad SQL) are given back as they came.
 *
 * @param file the database, named in the sentence
 */
export function asStoreProblem(error: unknown, file: string): unknown {
  const code = storageCode(error)
  if (code === undefined || error instanceof Problem) return error
  if (code.startsWith('SQLITE_FULL') || code === 'ENOSPC' || code === 'EDQUOT') {
    return new Problem(
      'store_full',
      `The disk that holds ${file} is full, so nothing was written; free some space and try again`,
      { file },
    )
  }
  if (code.startsWith('SQLITE_READONLY') || code === 'EROFS' || code === 'EACCES' || code === 'EPERM') {
    return new Problem(
      'store_read_only',
      `${file} cannot be written to by this user, so nothing was written; make the data folder writable for the user that runs Holdpoint`,
      { file },
    )
  }
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
    return new Problem(
      'store_busy',
      `Another process has kept ${file} locked for too long, so nothing was written; try again, and see which program holds the file open`,
      { file },
    )
  }
  if (code.startsWith('SQLITE_NOTADB')) {
    return new Problem(
      'store_not_a_database',
      `${file} is not a SQLite database; put the right file in its place, or name another data folder`,
      { file },
    )
  }
  if (code.startsWith('SQLITE_CORRUPT') || code.startsWith('SQLITE_IOERR')) {
    return new Problem(
      'internal',
      `The disk answered with an error while ${file} was in use (${code}); check the disk and restore a backup if the file is damaged`,
      { file, sqlite: code },
    )
  }
  return error
}

/** The code of SQLite or the system behind an error, looked for in what Prisma wraps around it as well. */
export function storageCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { code, cause, meta } = error as { code?: unknown; cause?: unknown; meta?: unknown }
  if (code === 'P1008') return 'SQLITE_BUSY'
  if (typeof code === 'string' && /^(SQLITE_|E[A-Z]+$)/.test(code)) return code
  const adapter = (meta as { driverAdapterError?: unknown } | undefined)?.driverAdapterError
  const original = (cause as { originalCode?: unknown } | undefined)?.originalCode
  if (typeof original === 'string') return original
  return storageCode(adapter) ?? storageCode(cause)
}

/** True when every write would fail alike: no use in trying a group's commits one by one. */
export function failsEveryWrite(error: unknown): boolean {
  return /^SQLITE_(FULL|READONLY|BUSY|LOCKED|IOERR|CORRUPT|NOTADB|CANTOPEN)/.test(storageCode(error) ?? '')
}
