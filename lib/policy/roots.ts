/*
 * Folders a workflow may work in. The installation names its own folders; a workflow declares roots inside them
 * (`policy.roots`), each to read or to write. Without a declaration there is no folder at all.
 *
 * Paths here are texts: absolute, with `/`, without `.` and `..`. Symlinks are the file runner's to resolve before it
 * asks, and it asks twice: about the path as written, and about where it really leads.
 */
import type { Root } from '@/lib/workflow/graph'
import type { Allowed, Refused } from './answer'

/** A declared root and where it lies. */
export interface RootFolder {
  /** As the workflow names it. */
  name: string
  /** Absolute and normal. */
  path: string
  access: Root['access']
  /** The installation's folder that it lies in. */
  within: string
}

/** A path made absolute and normal: `.` and `..` are worked off, a relative path starts in `base`. */
export function absolutePath(path: string, base: string): string {
  const kept: string[] = []
  for (const segment of (path.startsWith('/') ? path : `${base}/${path}`).split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment === '..') kept.pop()
    else kept.push(segment)
  }
  return `/${kept.join('/')}`
}

/** True when the path is the folder or lies under it. Both absolute and normal. */
export function liesIn(path: string, folder: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`)
}

/**
 * Where the declared roots lie. A relative one starts in the installation's first folder; each must lie in one of the
 * installation's folders, and those that do not come back as refusals.
 */
export function rootFolders(
  declared: readonly Root[],
  installationRoots: readonly string[],
): { folders: RootFolder[]; refused: Refused[] } {
  const folders: RootFolder[] = []
  const refused: Refused[] = []
  const installed = installationRoots.map((root) => absolutePath(root, '/'))
  for (const root of declared) {
    const path = absolutePath(root.path, installed[0] ?? '/')
    const within = installed.find((folder) => liesIn(path, folder))
    if (within) folders.push({ name: root.path, path, access: root.access, within })
    else refused.push(outsideInstallation(root.path))
  }
  return { folders, refused }
}

function outsideInstallation(name: string): Refused {
  return {
    allowed: false,
    rule: 'installation folders',
    code: 'path_outside_roots',
    sentence: `The declared folder "${brief(name)}" lies outside this installation’s folders; declare one inside them, or have an administrator add it.`,
  }
}

/** Whether the path may be used so, and by which folder; of several, the innermost. `name` is the path as written. */
export function rootFor(
  path: string,
  access: Root['access'],
  folders: readonly RootFolder[],
  name = path,
): (Allowed & { folder: RootFolder }) | Refused {
  const holding = folders
    .filter((folder) => liesIn(path, folder.path))
    .sort((a, b) => b.path.length - a.path.length)
  const folder = holding.find((candidate) => access === 'read' || candidate.access === 'write')
  if (folder) return { allowed: true, rule: `folder ${folder.name} (${folder.access})`, folder }
  const readOnly = holding[0]
  if (readOnly) {
    return {
      allowed: false,
      rule: `folder ${readOnly.name} (read)`,
      code: 'path_outside_roots',
      sentence: `"${brief(name)}" lies in "${brief(readOnly.name)}", which the workflow declares for reading only; declare it with access "write".`,
    }
  }
  return {
    allowed: false,
    rule: folders.length === 0 ? 'no folder is declared' : 'declared folders',
    code: 'path_outside_roots',
    sentence:
      folders.length === 0
        ? `"${brief(name)}" cannot be used because the workflow declares no folder; declare one under "policy.roots".`
        : `"${brief(name)}" leads outside the folders the workflow declares; use a path inside them or declare its folder under "policy.roots".`,
  }
}

function brief(text: string): string {
  return text.length > 200 ? `${text.slice(0, 199)}…` : text
}
