/*
 * A folder held open, and names used inside it. Between checking a path and using it, somebody may swap a folder on
 * the way for a symlink that leads out of the allowed folders. So the folder is opened once, its place is compared
 * with the place that was checked, and from then on every name is looked up inside that open folder:
 *
 *   check /srv/lab/configs ──▶ open it (not through a symlink) ──▶ is it still /srv/lab/configs? ──▶ use fd/NAME
 *
 * On Linux `/proc/self/fd/N/NAME` is such a look-up, and the kernel tells where an open folder lies. Elsewhere there
 * is no such path in Node: names are looked up by the folder's path, and its identity is compared before and after.
 */
import { constants, existsSync } from 'node:fs'
import { type FileHandle, lstat, open, opendir, readlink, realpath } from 'node:fs/promises'
import path from 'node:path'
import { fsFailure } from './fs-failure'
import { refusal } from './resolved'

const hasProc = existsSync('/proc/self/fd')
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

export class Folder {
  /** Where it lies, without symlinks. */
  readonly path: string
  readonly #handle: FileHandle

  private constructor(path: string, handle: FileHandle) {
    this.path = path
    this.#handle = handle
  }

  /** Opens a folder by its real path. Throws EffectFailed `path_is_symlink` when it no longer lies there. */
  static async open(realPath: string): Promise<Folder> {
    return Folder.#openAs(realPath, realPath)
  }

  static async #openAs(openPath: string, realPath: string): Promise<Folder> {
    const handle = await open(openPath, folderFlags).catch((error: unknown) => {
      throw fsFailure(error, realPath, 'open the folder')
    })
    const folder = new Folder(realPath, handle)
    try {
      await folder.verify()
      return folder
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** Opens the folder of that name inside this one. */
  async child(name: string): Promise<Folder> {
    return Folder.#openAs(this.at(name), path.join(this.path, name))
  }

  /** The path by which a name inside this folder is used. */
  at(name: string): string {
    return hasProc ? `/proc/self/fd/${this.#handle.fd}/${name}` : path.join(this.path, name)
  }

  /** The names in it, at most `limit` of them, as they come. */
  async *names(limit: number): AsyncGenerator<string> {
    let count = 0
    for await (const { name } of await opendir(this.at('.'), { bufferSize: 1024 })) {
      yield name
      count += 1
      if (count === limit) return
    }
  }

  /** Throws EffectFailed `path_is_symlink` when the open folder no longer lies where it was checked. */
  async verify(): Promise<void> {
    if (!(await this.#liesWhereChecked())) {
      throw refusal(
        'path_is_symlink',
        `The folder "${path.basename(this.path)}" was moved or replaced by a symlink while it was used; nothing was done in it.`,
      )
    }
  }

  async #liesWhereChecked(): Promise<boolean> {
    try {
      if (hasProc) return (await readlink(`/proc/self/fd/${this.#handle.fd}`)) === this.path
      const [opened, named, real] = await Promise.all([
        this.#handle.stat(),
        lstat(this.path),
        realpath(this.path),
      ])
      return real === this.path && opened.dev === named.dev && opened.ino === named.ino
    } catch {
      return false
    }
  }

  /** Makes changed names durable. */
  async sync(): Promise<void> {
    await this.#handle.sync()
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }
}
