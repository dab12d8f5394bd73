/* Files that are there after a power cut: written beside, synced, renamed into place, the folder synced. */
import { existsSync } from 'node:fs'
import { chmod, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'

export async function writeDurably(file: string, bytes: string | Uint8Array, mode = 0o600): Promise<void> {
  const [folder, beside] = [path.dirname(file), `${file}.part`]
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(beside, bytes, { mode, flush: true })
  await chmod(beside, mode) // The umask may have narrowed it.
  await rename(beside, file)
  const handle = await open(folder)
  await handle.sync().finally(() => handle.close())
}

/** Small JSON documents by kind and name. Of most, `until` (ms) says when they may be forgotten. */
export class Shelf {
  constructor(readonly folder: string) {}
  #file = (kind: string, name: string) => path.join(this.folder, kind, `${name}.json`)
  put = (kind: string, name: string, it: object) => writeDurably(this.#file(kind, name), JSON.stringify(it))
  drop = (kind: string, name: string) => rm(this.#file(kind, name), { force: true })

  async get<T>(kind: string, name: string): Promise<T | undefined> {
    const file = this.#file(kind, name)
    return existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : undefined
  }

  async names(kind: string): Promise<string[]> {
    const files = await readdir(path.join(this.folder, kind)).catch(() => [])
    return files.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -5))
  }

  /** Forgets what may be forgotten. */
  async purge(now: number): Promise<void> {
    for (const kind of await readdir(this.folder).catch(() => []))
      for (const name of await this.names(kind))
        if (((await this.get<{ until?: number }>(kind, name))?.until ?? now) < now)
          await this.drop(kind, name)
  }
}
