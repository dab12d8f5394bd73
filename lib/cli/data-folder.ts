import path from 'node:path'

/** Where an installation keeps what it must not lose. */
export interface DataFolder {
  path: string
  /** Signing and sealing keys (lib/ect/keys-file.ts). */
  keys: string
  /** Where the server leaves the link of the first sign-in, readable by its owner alone, until it is used. */
  firstLink: string
  /** The example agents' own state. */
  lab: string
}

/** The data folder that was asked for: `--data`, else HOLDPOINT_DATA, else `data` in the working directory. */
export function dataFolder(asked: string | undefined): DataFolder {
  const folder = path.resolve(asked ?? process.env.HOLDPOINT_DATA ?? 'data')
  return {
    path: folder,
    keys: path.join(folder, 'keys'),
    firstLink: path.join(folder, 'first-sign-in.txt'),
    lab: path.join(folder, 'lab'),
  }
}
