/*
 * The installation's keys: one folder, mode 0700, one file a key, mode 0600. Three families that know nothing of each
 * other, so that losing one does not open the others:
 *
 *   signing-N.json       signs tokens and heads. Only the newest keeps its private half; the older ones go on verifying.
 *   sealing-N.json       AES-256, seals checkpoints. Old ones are kept whole, or old checkpoints could not be opened.
 *   secret-NAME-N.json   32 octets for something else that must be kept secret, such as sessions.
 *
 * Keys are made when first asked for. Nothing in here is ever logged, and no refusal quotes a file's content.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  generateKeySync,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto'
import { canonicalJson } from '@/lib/base/canonical-json'
import type { JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import {
  addGeneration,
  type Generation,
  openSecretFolder,
  readGenerations,
  replaceGeneration,
} from './generations'
import type { TokenAlg } from './jws'
import { type Jwks, jwksOf, keySetOf, parseKeySet, type VerificationKey, type VerificationKeys } from './keys'
import type { SigningKey } from './sign'

const SECRET_BYTES = 32

/** A key that seals checkpoints, with the id its envelopes carry. */
export interface SealingKey {
  keyId: string
  key: KeyObject
}

/** Current and former sealing keys; lib/checkpoint opens with the one an envelope names. */
export interface SealingKeys {
  current: SealingKey
  find(keyId: string): SealingKey | undefined
}

/**
 * Opens the keys in `folder`, making what is missing. `now` (ms) dates a new key. Two processes may do this at once.
 * Throws Problem `key_unusable` when a file is readable by others or damaged.
 */
export function openKeyRing(folder: string, now: number, alg: TokenAlg = 'ES256'): KeyRing {
  openSecretFolder(folder)
  return new KeyRing(folder, now, alg)
}

export class KeyRing {
  readonly #folder: string
  readonly #alg: TokenAlg
  #current: SigningKey
  #keys: VerificationKeys
  #sealing: SealingKeys

  /** Use `openKeyRing`. */
  constructor(folder: string, now: number, alg: TokenAlg) {
    this.#folder = folder
    this.#alg = alg
    const signing = atLeastOne(folder, 'signing', () => newSigningKey(alg, now))
    this.#current = currentSigningKey(signing)
    this.#keys = verificationKeys(signing)
    this.#sealing = sealingKeys(atLeastOne(folder, 'sealing', () => newSecret(now)))
  }

  /** Signs from now on. */
  get current(): SigningKey {
    return this.#current
  }

  /** Current and former public keys, to verify with. */
  get keys(): VerificationKeys {
    return this.#keys
  }

  get sealing(): SealingKeys {
    return this.#sealing
  }

  /** The public keys as RFC 7517 writes them: for bundles, agents and `/.well-known`. */
  jwks(): Jwks {
    return jwksOf(this.#keys)
  }

  /** A secret of 32 octets for one purpose, made when first asked for. `name`: lower case, digits, dashes. */
  secret(name: string, now: number): Buffer {
    if (!/^[a-z][a-z0-9-]{0,40}$/.test(name)) throw new RangeError(`"${name}" cannot name a secret`)
    const generations = atLeastOne(this.#folder, `secret-${name}`, () => newSecret(now))
    return secretOf(generations.at(-1) as Generation)
  }

  /**
   * Makes a new signing key current. Former keys go on verifying; their private halves are erased. Other processes
   * learn of it when they `reload`, and what they sign until then verifies.
   */
  rotate(now: number): void {
    const before = readGenerations(this.#folder, 'signing')
    const next = (before.at(-1)?.number ?? 0) + 1
    // When another process took the number, it has just rotated: one rotation is what both asked for.
    addGeneration(this.#folder, 'signing', next, newSigningKey(this.#alg, now))
    for (const { number, content } of before) {
      if (content.private !== undefined) {
        const { private: _erased, ...rest } = content
        replaceGeneration(this.#folder, 'signing', number, rest)
      }
    }
    this.reload()
  }

  /** Makes a new sealing key current; former ones go on opening. */
  rotateSealing(now: number): void {
    const before = readGenerations(this.#folder, 'sealing')
    addGeneration(this.#folder, 'sealing', (before.at(-1)?.number ?? 0) + 1, newSecret(now))
    this.reload()
  }

  /** Reads the folder again, after another process may have rotated. */
  reload(): void {
    const signing = readGenerations(this.#folder, 'signing')
    this.#current = currentSigningKey(signing)
    this.#keys = verificationKeys(signing)
    this.#sealing = sealingKeys(readGenerations(this.#folder, 'sealing'))
  }
}

function atLeastOne(folder: string, name: string, make: () => JsonObject): Generation[] {
  const found = readGenerations(folder, name)
  if (found.length > 0) return found
  addGeneration(folder, name, 1, make())
  return readGenerations(folder, name)
}

/** `2026-11-21-Jq3xkP0d`: when it was made, and the start of its RFC 7638 thumbprint. */
function newSigningKey(alg: TokenAlg, now: number): JsonObject {
  const pair =
    alg === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519')
  const jwk = pair.publicKey.export({ format: 'jwk' }) as JsonObject
  const thumbprint = createHash('sha256').update(canonicalJson(jwk)).digest('base64url')
  const kid = `${dateOf(now)}-${thumbprint.slice(0, 8)}`
  return {
    kid,
    alg,
    madeAt: now,
    public: jwk,
    private: pair.privateKey.export({ format: 'jwk' }) as JsonObject,
  }
}

function newSecret(now: number): JsonObject {
  const secret = generateKeySync('aes', { length: 256 }).export()
  // The id is drawn apart from the secret, so that an envelope's key id says nothing of its key.
  const mark = generateKeySync('aes', { length: 128 }).export().toString('base64url').slice(0, 8)
  return { id: `${dateOf(now)}-${mark}`, madeAt: now, secret: secret.toString('base64url') }
}

function dateOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10)
}

function currentSigningKey(generations: Generation[]): SigningKey {
  const newest = generations.at(-1)
  const { kid, alg, private: jwk } = newest?.content ?? {}
  if (typeof kid !== 'string' || (alg !== 'ES256' && alg !== 'EdDSA')) throw damaged('signing', newest)
  try {
    return { kid, alg, privateKey: createPrivateKey({ key: jwk as unknown as JsonWebKey, format: 'jwk' }) }
  } catch {
    throw damaged('signing', newest)
  }
}

function verificationKeys(generations: Generation[]): VerificationKeys {
  return keySetOf(generations.map(verificationKey))
}

function verificationKey(generation: Generation): VerificationKey {
  const { kid, alg, public: jwk } = generation.content
  try {
    createPublicKey({ key: jwk as unknown as JsonWebKey, format: 'jwk' })
    const [key] = parseKeySet({ keys: [{ ...(jwk as JsonObject), kid, alg }] }).values()
    if (key !== undefined) return key
  } catch {
    // Told below: which file it is matters more than what the parser said.
  }
  throw damaged('signing', generation)
}

function sealingKeys(generations: Generation[]): SealingKeys {
  const keys = generations.map((generation): SealingKey => {
    const { id } = generation.content
    if (typeof id !== 'string') throw damaged('sealing', generation)
    return { keyId: id, key: createSecretKey(secretOf(generation)) }
  })
  const current = keys.at(-1)
  if (current === undefined) throw damaged('sealing', undefined)
  const byId = new Map(keys.map((key) => [key.keyId, key]))
  return { current, find: (keyId) => byId.get(keyId) }
}

function secretOf(generation: Generation): Buffer {
  const { secret } = generation.content
  const octets = Buffer.from(typeof secret === 'string' ? secret : '', 'base64url')
  if (octets.length !== SECRET_BYTES) throw damaged('secret', generation)
  return octets
}

function damaged(family: string, generation: Generation | undefined): Problem {
  const which = generation === undefined ? 'is missing' : `(generation ${generation.number}) cannot be used`
  return new Problem('key_unusable', `The ${family} key ${which}; restore the key folder from a backup`)
}
