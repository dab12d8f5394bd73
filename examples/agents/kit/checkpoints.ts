/*
 * Checkpoints: the state before a change, sealed (AES-256-GCM) and bound to its id and run, on disk before it is answered
 * for. A group names others; taking it back takes them back, latest first. A state that does not open is not repaired,
 * guessed or partly returned.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Shelf } from './disk'
import { type Agent, must, Refusal, type Values } from './terms'
import { type Keys, sha256 } from './tokens'

export interface Checkpoint {
  id: string
  /** The run, the caller and the operation it belongs to. */
  wid: string
  iss: string
  operation: string
  /** Checkpoints that this one is the group of; empty for one that holds a state. */
  children: string[]
  reversible: boolean
  out_hash: string
  /** Its token, signed by this agent. */
  ect: string
  /** What the answer to `checkpoint` said. */
  said: Values
  /** base64: nonce, tag, sealed state. */
  sealed: string
  /** Milliseconds since the epoch. */
  until: number
}

export class Checkpoints {
  constructor(
    readonly shelf: Shelf,
    readonly keys: Keys,
    readonly agent: Agent,
    readonly maxCount = 10_000,
  ) {}

  get(id: string): Promise<Checkpoint | undefined> {
    return this.shelf.get('checkpoints', id)
  }

  /** The hash of what a checkpoint of this operation, or group, would hold now. */
  async hashNow(operation: string, children: string[] = []): Promise<string> {
    const hashes = await Promise.all(children.map(async (child) => (await this.#found(child)).out_hash))
    return hash(children.length > 0 ? hashes : await this.#stateOf(operation))
  }

  /** Seals the present state; durable when it resolves. */
  async keep(about: Omit<Checkpoint, 'sealed'>): Promise<void> {
    const count = (await this.shelf.names('checkpoints')).length
    must(count < this.maxCount, 429, 'checkpoint_limit', `There are ${count} checkpoints; no more are kept.`)
    const state = about.children.length > 0 ? {} : await this.#stateOf(about.operation)
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.keys.sealing, nonce).setAAD(place(about))
    const hidden = Buffer.concat([cipher.update(JSON.stringify(state)), cipher.final()])
    const sealed = Buffer.concat([nonce, cipher.getAuthTag(), hidden]).toString('base64')
    await this.shelf.put('checkpoints', about.id, { ...about, sealed })
  }

  /** The sealed state. Throws Refusal 409 `checkpoint_tampered`. */
  open(kept: Checkpoint): Values {
    try {
      const sealed = Buffer.from(kept.sealed, 'base64')
      const tag = sealed.subarray(12, 28)
      const cipher = createDecipheriv('aes-256-gcm', this.keys.sealing, sealed.subarray(0, 12), {
        authTagLength: 16,
      })
      cipher.setAAD(place(kept)).setAuthTag(tag)
      return JSON.parse(Buffer.concat([cipher.update(sealed.subarray(28)), cipher.final()]).toString())
    } catch {
      throw new Refusal(
        409,
        'checkpoint_tampered',
        'The checkpoint is not what was sealed; nothing was changed.',
      )
    }
  }

  /** Puts the state back. Gives the hashes before and after. */
  async restore(kept: Checkpoint): Promise<{ before: string; after: string }> {
    const parts = await Promise.all(kept.children.map((child) => this.#found(child)))
    const done: { before: string; after: string }[] = []
    for (const child of parts.toReversed()) done.unshift(await this.restore(child))
    if (parts.length > 0)
      return { before: hash(done.map((one) => one.before)), after: hash(done.map((one) => one.after)) }
    const state = this.open(kept)
    const before = await this.hashNow(kept.operation)
    await this.agent.operations[kept.operation]?.restore?.(state)
    return { before, after: await this.hashNow(kept.operation) }
  }

  async #found(id: string): Promise<Checkpoint> {
    const kept = await this.get(id)
    must(kept, 404, 'checkpoint_missing', `${this.agent.name} has no checkpoint ${id}.`)
    return kept
  }

  async #stateOf(operation: string): Promise<Values> {
    return (await this.agent.operations[operation]?.state?.()) ?? {}
  }
}

function hash(value: unknown): string {
  return sha256(JSON.stringify(value))
}

function place({ id, wid, operation, out_hash }: Omit<Checkpoint, 'sealed'>): Buffer {
  return Buffer.from(JSON.stringify([id, wid, operation, out_hash]))
}
