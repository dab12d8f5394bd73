/*
 * Checkpoints: the state before a change, sealed (JWE, AES-256-GCM) and bound to its id, on disk before it is answered for;
 * its hash stands in a token that this agent signed. A group names others; taking it back takes them back, latest first. A
 * state that does not open is not repaired, guessed or partly returned.
 */
import * as jose from 'jose'
import type { Shelf } from './disk'
import { type Agent, must, Refusal, type Values } from './terms'
import { type Keys, sha256, uuidIn } from './tokens'

/** `wid`, `iss`: whose it is. `children`: what it is the group of. */
export type Checkpoint = Record<'id' | 'wid' | 'iss' | 'operation' | 'out_hash' | 'ect' | 'sealed', string> &
  Record<'until', number> & { children: string[]; reversible: boolean }
type Of = Pick<Checkpoint, 'operation'> & Partial<Checkpoint>
type Hashes = { before: string; after: string }

const maxCount = 10_000
const hash = (value: unknown) => sha256(JSON.stringify(value))
const jsonOf = (octets: Uint8Array) => JSON.parse(Buffer.from(octets).toString())

export class Checkpoints {
  constructor(readonly own: { agent: Agent; shelf: Shelf; keys: Keys }) {}

  async get(id: unknown) {
    const name = uuidIn(id)
    return name ? this.own.shelf.get<Checkpoint>('checkpoints', name) : undefined
  }

  /** What a checkpoint of this operation would hold now, and its hash. A group holds the hashes of its children. */
  async now(of: Of) {
    const group = (await this.#group(of)).map((child) => child.out_hash)
    const state = group.length > 0 ? group : ((await this.own.agent.operations[of.operation]?.state?.()) ?? {})
    return { state, out_hash: hash(state) }
  }

  /** Seals the state; durable when it resolves. */
  async keep(about: Omit<Checkpoint, 'sealed'>, state: unknown): Promise<void> {
    const count = (await this.own.shelf.names('checkpoints')).length
    must(count < maxCount, 429, 'checkpoint_limit', `There are ${count} checkpoints; no more are kept.`)
    const jwe = new jose.CompactEncrypt(Buffer.from(JSON.stringify(state)))
    const bound = jwe.setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: about.id })
    const sealed = await bound.encrypt(this.own.keys.sealing)
    await this.own.shelf.put('checkpoints', about.id, { ...about, sealed })
  }

  /** The sealed state, once its token and its hash are verified. Throws Refusal 409 `checkpoint_tampered`. */
  async open({ id, wid, out_hash, ect, sealed }: Checkpoint): Promise<Values> {
    try {
      const claims = jsonOf((await jose.compactVerify(ect, this.own.keys.jwk)).payload)
      const { plaintext, protectedHeader } = await jose.compactDecrypt(sealed, this.own.keys.sealing)
      const state = jsonOf(plaintext)
      const isOwn = claims.jti === id && protectedHeader.kid === id && claims.wid === wid
      if (isOwn && claims.out_hash === out_hash && hash(state) === out_hash) return state
    } catch {} // Told below; what did not open is not told.
    throw new Refusal(409, 'checkpoint_tampered', 'The checkpoint is not what was sealed.')
  }

  /** Puts the state back. */
  async restore(kept: Checkpoint): Promise<Hashes> {
    const [state, done] = [await this.open(kept), [] as Hashes[]]
    for (const child of (await this.#group(kept)).toReversed()) done.unshift(await this.restore(child))
    const all = (which: keyof Hashes) => hash(done.map((one) => one[which]))
    if (done.length > 0) return { before: all('before'), after: all('after') }
    const before = (await this.now(kept)).out_hash
    await this.own.agent.operations[kept.operation]?.restore?.(state)
    return { before, after: (await this.now(kept)).out_hash }
  }

  /** The children, which belong to the same run. */
  async #group({ wid, children = [] }: Of): Promise<Checkpoint[]> {
    const kept = await Promise.all(children.map((id) => this.get(id)))
    const found = kept.filter((child) => child !== undefined && child.wid === wid) as Checkpoint[]
    must(found.length === children.length, 404, 'checkpoint_missing', 'A checkpoint of the group is gone.')
    return found
  }
}
