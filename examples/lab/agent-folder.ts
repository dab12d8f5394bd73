/*
 * What an agent keeps on disk. Each agent has a folder of its own:
 *
 *   running-config            its state, an ordinary file that people may look at and change
 *   keys/                     its signing key and its sealing key (mode 0600)
 *   checkpoints/<id>.json     who may ask for it back, the hash, and the sealed state (AES-256-GCM)
 *   answers/<hash>.json       answers given, by idempotency key or by rollback request: the same question, the same answer
 *   seen/<jti>                tokens that were used; made exclusively, so that of two at once one is refused
 *
 * Whatever is answered for is on disk before the answer: written beside, synced, renamed into place, the folder synced.
 */
import { mkdir, open as openFile, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises'
import path from 'node:path'
import { systemRandom } from '@/lib/base/chance'
import { type Hash, hashJson, sha256 } from '@/lib/base/hash'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { open, seal } from '@/lib/checkpoint/seal'
import type { KeyRing } from '@/lib/ect/keys-file'

/** A checkpoint as it lies on disk. Only `sealed` holds contents, and only this agent's key opens it. */
export interface StoredCheckpoint {
  checkpoint_id: string
  /** The run that may ask for it back. */
  wid: string
  iss: string
  run: string
  node: string
  visit: number
  operation: string
  reversible: boolean
  target: string
  description: string
  out_hash: Hash
  /** Milliseconds since the epoch. */
  expires_at: number
  /** base64 */
  sealed: string
}

export interface StoredAnswer {
  request: Hash
  status: number
  body: Json
}

/** A file's exact state: `{ file, bytes, mode }`, or `{ file, absent: true }`. */
export type FileState = JsonObject

export class AgentFolder {
  readonly #folder: string
  readonly #keys: KeyRing

  /** `prepare` it before use. */
  constructor(folder: string, keys: KeyRing) {
    this.#folder = folder
    this.#keys = keys
  }

  /** Makes what is missing; files that exist are left as they are. */
  async prepare(files: Readonly<Record<string, string>>): Promise<void> {
    for (const part of ['checkpoints', 'answers', 'seen'])
      await mkdir(path.join(this.#folder, part), { recursive: true, mode: 0o700 })
    for (const [name, text] of Object.entries(files)) {
      if (await exists(path.join(this.#folder, name))) continue
      await this.write(name, text)
    }
  }

  async text(file: string): Promise<string> {
    return (await readOrNothing(path.join(this.#folder, file)))?.toString('utf8') ?? ''
  }

  /** Replaces a file in one piece; its mode stays. */
  async write(file: string, text: string): Promise<void> {
    const target = path.join(this.#folder, file)
    const mode = (await exists(target)) ? (await stat(target)).mode & 0o777 : 0o644
    await writeDurably(target, Buffer.from(text, 'utf8'), mode)
  }

  /** The state a checkpoint seals: bytes and mode, or absence. Its hash is the checkpoint's `out_hash`. */
  async stateOf(file: string | undefined): Promise<FileState> {
    if (file === undefined) return {}
    const target = path.join(this.#folder, file)
    const bytes = await readOrNothing(target)
    if (bytes === undefined) return { file, absent: true }
    return { file, bytes: bytes.toString('base64'), mode: (await stat(target)).mode & 0o777 }
  }

  /** Puts a file back exactly as the state says. */
  async restore(state: FileState): Promise<void> {
    if (typeof state.file !== 'string') return
    const target = path.join(this.#folder, state.file)
    if (state.absent === true) {
      await rm(target, { force: true })
      await syncFolder(path.dirname(target))
    } else if (typeof state.bytes === 'string' && typeof state.mode === 'number')
      await writeDurably(target, Buffer.from(state.bytes, 'base64'), state.mode)
  }

  /** Seals and keeps a state; on disk when this resolves. */
  async keepCheckpoint(
    about: Omit<StoredCheckpoint, 'sealed' | 'out_hash'>,
    state: FileState,
  ): Promise<StoredCheckpoint> {
    const place = { jti: about.checkpoint_id, runId: about.run, node: about.node, visit: about.visit }
    const { sealed } = seal(state, place, this.#keys.sealing, systemRandom)
    const kept = { ...about, out_hash: hashJson(state), sealed: Buffer.from(sealed).toString('base64') }
    await this.#put('checkpoints', about.checkpoint_id, kept)
    return kept
  }

  async checkpoint(id: string): Promise<StoredCheckpoint | undefined> {
    return (await this.#get('checkpoints', id)) as StoredCheckpoint | undefined
  }

  /** Opens a checkpoint's state. Throws Problem `checkpoint_tampered` when it is not what was sealed. */
  openCheckpoint(kept: StoredCheckpoint): FileState {
    const place = { jti: kept.checkpoint_id, runId: kept.run, node: kept.node, visit: kept.visit }
    const state = open(Buffer.from(kept.sealed, 'base64'), place, this.#keys.sealing)
    if (hashJson(state) !== kept.out_hash)
      throw new Problem('checkpoint_tampered', 'The checkpoint does not have the hash it was given.')
    return state
  }

  async answer(key: string): Promise<StoredAnswer | undefined> {
    return (await this.#get('answers', sha256(key))) as StoredAnswer | undefined
  }

  async keepAnswer(key: string, answer: StoredAnswer): Promise<void> {
    await this.#put('answers', sha256(key), { ...answer })
  }

  /** True the first time a token's id is seen, also across a restart; `until` is when it may be forgotten (ms). */
  async firstUse(jti: string, until: number): Promise<boolean> {
    try {
      const file = await openFile(path.join(this.#folder, 'seen', jti), 'wx', 0o600)
      await file.writeFile(String(until))
      await file.sync()
      await file.close()
      return true
    } catch (error) {
      if (isErrno(error, 'EEXIST')) return false
      throw error
    }
  }

  /** Forgets used tokens and checkpoints past their time. */
  async purge(now: number): Promise<void> {
    for (const name of await readdir(path.join(this.#folder, 'seen'))) {
      const file = path.join(this.#folder, 'seen', name)
      const until = Number((await readOrNothing(file))?.toString('utf8') ?? Number.NaN)
      if (until < now) await unlink(file).catch(() => undefined)
    }
    for (const name of await readdir(path.join(this.#folder, 'checkpoints'))) {
      const kept = await this.checkpoint(path.basename(name, '.json'))
      if (kept && kept.expires_at < now)
        await unlink(path.join(this.#folder, 'checkpoints', name)).catch(() => undefined)
    }
  }

  async #put(part: string, name: string, value: object): Promise<void> {
    const file = path.join(this.#folder, part, `${name}.json`)
    await writeDurably(file, Buffer.from(JSON.stringify(value), 'utf8'), 0o600)
  }

  async #get(part: string, name: string): Promise<unknown> {
    const bytes = await readOrNothing(path.join(this.#folder, part, `${name}.json`))
    if (bytes === undefined) return undefined
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return isJsonObject(value) ? value : undefined
  }
}

async function writeDurably(target: string, bytes: Uint8Array, mode: number): Promise<void> {
  const beside = `${target}.${Buffer.from(systemRandom(6)).toString('hex')}.part`
  const file = await openFile(beside, 'wx', mode)
  try {
    await file.writeFile(bytes)
    await file.chmod(mode)
    await file.sync()
    await file.close()
    await rename(beside, target)
  } catch (error) {
    await file.close().catch(() => undefined)
    await rm(beside, { force: true })
    throw error
  }
  await syncFolder(path.dirname(target))
}

/** A rename is on disk once its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await openFile(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined
}

async function readOrNothing(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  }
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
