import { readFile } from 'node:fs/promises'
import { Problem } from '@/lib/base/problem'
import { parseKeySet, type VerificationKeys } from '@/lib/ect/keys'

/** Where the console's public keys are: a URL, a file, or a function that gives the JWK set. */
export type ConsoleJwks = string | (() => unknown | Promise<unknown>)

const askAgainMs = 2_000
const maxBytes = 262_144

/**
 * The console's keys, fetched when first needed: the lab may start before the console. A token with a `kid` that is
 * not among them makes it ask again, at most every 2 s, so that a rotated key is learnt and a flood of strange tokens
 * asks nobody.
 */
export class ConsoleKeys {
  readonly #source: ConsoleJwks
  readonly #now: () => number
  #keys: VerificationKeys = new Map()
  #askedAt = Number.NEGATIVE_INFINITY
  #asking: Promise<void> | undefined

  constructor(source: ConsoleJwks, now: () => number) {
    this.#source = source
    this.#now = now
  }

  /** The keys, with that `kid` among them if the console has it. Throws Problem `ect_key_unknown` when it cannot be asked. */
  async knowing(kid: string | undefined): Promise<VerificationKeys> {
    if (kid !== undefined && this.#keys.has(kid)) return this.#keys
    // Who comes while an answer is under way waits for it; only a fresh answer keeps anyone from asking again.
    if (!this.#asking && this.#now() - this.#askedAt < askAgainMs) return this.#keys
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    await this.#asking
    return this.#keys
  }

  async #ask(): Promise<void> {
    try {
      this.#keys = parseKeySet(await this.#fetch())
      this.#askedAt = this.#now()
    } catch {
      if (this.#keys.size === 0)
        throw new Problem(
          'ect_key_unknown',
          "The console's keys could not be fetched, so its tokens cannot be verified; start the console, or name its keys with --console-jwks.",
        )
    }
  }

  async #fetch(): Promise<unknown> {
    if (typeof this.#source !== 'string') return this.#source()
    if (!/^https?:\/\//.test(this.#source)) return JSON.parse(await readFile(this.#source, 'utf8'))
    const answer = await fetch(this.#source, { redirect: 'error', signal: AbortSignal.timeout(5_000) })
    const text = await answer.text()
    if (!answer.ok || text.length > maxBytes) throw new Error('The console did not answer with its keys')
    return JSON.parse(text)
  }
}
