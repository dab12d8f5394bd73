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
  /** One change at a time: what was just put is not forgotten for what stood there before. */
  #changes: Promise<unknown> = Promise.resolve()
  #change<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#changes.then(act)
    this.#changes = done.catch(() => {})
    return done
  }

  put = (kind: string, name: string, it: object) =>
    this.#change(() => writeDurably(this.#file(kind, name), JSON.stringify(it)))

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
    const forget = async (kind: string, name: string) => {
      const { until = now } = (await this.get<{ until?: number }>(kind, name)) ?? {}
      if (until < now) await rm(this.#file(kind, name), { force: true })
    }
    for (const kind of await readdir(this.folder).catch(() => []))
      for (const name of await this.names(kind)) await this.#change(() => forget(kind, name))
  }
}
