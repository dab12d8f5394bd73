/*
 * Checkpoints: the state before a change, sealed (JWE, AES-256-GCM) and bound to its id, on disk before it is answered for;
 * its hash stands in a token that this agent signed. A group names others; taking it back takes them back, latest first. A
 * state that does not open is not repaired, guessed or partly returned.
 */
import * as jose from 'jose'
import type { Shelf } from './disk'
import { type Agent, must, Refusal, type Values } from './terms'
import { type Keys, sha256 } from './tokens'

/** `wid`, `iss`: whose it is. `said`: what the answer to `checkpoint` was. `children`: what it is the group of. */
export type Checkpoint = Record<'id' | 'wid' | 'iss' | 'operation' | 'out_hash' | 'ect' | 'sealed', string> &
  Record<'until', number> & { children: string[]; reversible: boolean; said: Values }
type Hashes = { before: string; after: string }

const maxCount = 10_000
const hash = (value: unknown) => sha256(JSON.stringify(value))
const jsonOf = (octets: Uint8Array) => JSON.parse(Buffer.from(octets).toString())

export class Checkpoints {
  constructor(
    readonly agent: Agent,
    readonly shelf: Shelf,
    readonly keys: Keys,
  ) {}
  get = (id: string) => this.shelf.get<Checkpoint>('checkpoints', id)
  #state = async (operation: string) => (await this.agent.operations[operation]?.state?.()) ?? {}

  /** The hash of what a checkpoint of this operation, or group, would hold now. */
  async hashNow(operation: string, children: string[] = []): Promise<string> {
    const group = (await this.#all(children)).map((child) => child.out_hash)
    return hash(group.length > 0 ? group : await this.#state(operation))
  }

  /** Seals the present state; durable when it resolves. */
  async keep(about: Omit<Checkpoint, 'sealed'>): Promise<void> {
    const count = (await this.shelf.names('checkpoints')).length
    must(count < maxCount, 429, 'checkpoint_limit', `There are ${count} checkpoints; no more are kept.`)
    const state = about.children.length > 0 ? {} : await this.#state(about.operation)
    const jwe = new jose.CompactEncrypt(Buffer.from(JSON.stringify(state)))
    const bound = jwe.setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: about.id })
    await this.shelf.put('checkpoints', about.id, { ...about, sealed: await bound.encrypt(this.keys.sealing) })
  }

  /** The sealed state, once its token and its hash are verified. Throws Refusal 409 `checkpoint_tampered`. */
  async open({ id, wid, children, out_hash, ect, sealed }: Checkpoint): Promise<Values> {
    try {
      const claims = jsonOf((await jose.compactVerify(ect, this.keys.verifying)).payload)
      const { plaintext, protectedHeader } = await jose.compactDecrypt(sealed, this.keys.sealing)
      const state = jsonOf(plaintext)
      const isOwn = claims.jti === id && protectedHeader.kid === id && claims.wid === wid
      if (isOwn && claims.out_hash === out_hash && (children.length > 0 || hash(state) === out_hash)) return state
    } catch {} // Told below; what did not open is not told.
    throw new Refusal(409, 'checkpoint_tampered', 'The checkpoint is not what was sealed.')
  }

  /** Puts the state back. */
  async restore(kept: Checkpoint): Promise<Hashes> {
    const [state, done] = [await this.open(kept), [] as Hashes[]]
    for (const child of (await this.#all(kept.children)).toReversed()) done.unshift(await this.restore(child))
    const all = (which: keyof Hashes) => hash(done.map((one) => one[which]))
    if (done.length > 0) return { before: all('before'), after: all('after') }
    const before = await this.hashNow(kept.operation)
    await this.agent.operations[kept.operation]?.restore?.(state)
    return { before, after: await this.hashNow(kept.operation) }
  }

  async #all(ids: string[]): Promise<Checkpoint[]> {
    const found = (await Promise.all(ids.map(this.get))).filter((kept) => kept !== undefined)
    must(found.length === ids.length, 404, 'checkpoint_missing', 'A checkpoint of the group is gone.')
    return found
  }
}
