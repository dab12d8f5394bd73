import path from 'node:path'

/** The folders an installation is told of in its environment; what is no absolute path is left out. */
export function foldersInEnv(): { roots?: string[]; authoredFolders?: string[] } {
  const { HOLDPOINT_ROOTS, HOLDPOINT_AUTHORED } = process.env
  return { roots: foldersFrom(HOLDPOINT_ROOTS), authoredFolders: foldersFrom(HOLDPOINT_AUTHORED) }
}

function foldersFrom(text: string | undefined): string[] | undefined {
  const folders = text?.split(path.delimiter).filter((folder) => path.isAbsolute(folder))
  return folders && folders.length > 0 ? folders : undefined
}
