/*
 * Verifying a whole ledger: that every token is signed and within its limits, that each belongs to this run, that the
 * chain has no gap and no change, that the DAG holds, and that nothing was cut off the end. The first entry that does
 * not hold is named, and nothing after it is believed.
 *
 * The first token says whose run it is. What anybody else signed joined it as it was signed, and verifies with that
 * signer's own keys alone: nobody's key speaks for another, and only the run's own tokens end it or link it to others.
 *
 * Entries are taken in batches: signatures and hashes of a batch are under way together (WebCrypto and the thread pool
 * work beside each other), then its entries are judged one by one in their order, while the next batch is under way.
 */
import { Problem, type ProblemCode } from '@/lib/base/problem'
import { chainText } from './chain'
import { checkedClaims, checkKeyEnd, signatureInvalid } from './checks'
import type { Claims } from './claims'
import { DagChecker } from './dag'
import { type HeadClaims, parseHeadClaims } from './head'
import { type DecodedJws, decodeJws, HEAD_TYPES, payloadOf, TOKEN_TYPES } from './jws'
import { keyFor, type VerificationKey, type VerificationKeys } from './keys'
import { quote } from './quote'
import { type CryptoBackend, webCrypto } from './verify'
import { meaningOf, readClaim } from './vocabulary'

/** One row of a ledger, as stored, sent and exported. */
export interface LedgerEntry {
  /** From 1, without gaps. */
  seq: number
  token: string
  prevHash: string
  hash: string
  /** When the row carries its token's id beside it, the two must agree. */
  jti?: string
}

export interface LedgerHead {
  seq: number
  jws: string
}

/** The first token or entry that does not hold. */
export interface LedgerFailure {
  /** The entry's place; for a head, the place it speaks of. */
  seq: number
  /** The token's id, when it could be read. */
  jti?: string
  code: ProblemCode
  sentence: string
}

export type LedgerVerdict =
  | { holds: true; tokens: number; heads: number; lastHash: string }
  /** `tokens` is how many held before the failure. */
  | { holds: false; tokens: number; heads: number; failure: LedgerFailure }

export interface LedgerVerifyOptions {
  onProgress?: (done: number, total: number) => void
  crypto?: CryptoBackend
  /** Milliseconds since the epoch; when given, tokens from the future are refused. */
  nowMs?: number
  /** The tokens of other runs that tokens of this one may follow: child `jti`, parent `jti`. */
  links?: readonly (readonly [child: string, parent: string])[]
  /** The keys of agents whose own tokens may have joined the run, by their `iss`. */
  agents?: ReadonlyMap<string, VerificationKeys>
}

/** Entries whose signatures are checked together: enough for every core, little enough to show progress. */
const BATCH_ENTRIES = 256

/**
 * Verifies a complete ledger with its heads. An ended run must have a head at or past its last
 * `workflow_complete`, for a head is written in the same transaction. Never throws for what the ledger says.
 */
export async function verifyLedger(
  ledger: {
    wid: string
    rows: readonly LedgerEntry[]
    heads: readonly LedgerHead[]
    keys: VerificationKeys
  },
  options: LedgerVerifyOptions = {},
): Promise<LedgerVerdict> {
  const verifier = new LedgerVerifier(ledger.wid, ledger.keys, options)
  const failure = await verifier.add(ledger.rows, (tokens) =>
    options.onProgress?.(tokens, ledger.rows.length),
  )
  if (failure !== undefined) return { holds: false, tokens: verifier.tokens, heads: 0, failure }
  return verifier.finish(ledger.heads)
}

/** Verifies a ledger as it arrives, page by page. After a failure it takes no more. */
export class LedgerVerifier {
  readonly #wid: string
  readonly #keys: VerificationKeys
  readonly #crypto: CryptoBackend
  readonly #nowMs: number | undefined
  readonly #agents: ReadonlyMap<string, VerificationKeys>
  /** Whose run it is: the `iss` of the first token. */
  #home: string | undefined
  readonly #dag = new DagChecker()
  readonly #hashes: string[] = []
  #endedAtSeq = 0

  constructor(wid: string, keys: VerificationKeys, options: Omit<LedgerVerifyOptions, 'onProgress'> = {}) {
    this.#wid = wid
    this.#keys = keys
    this.#crypto = options.crypto ?? webCrypto
    this.#nowMs = options.nowMs
    this.#agents = options.agents ?? new Map()
    for (const [child, parent] of options.links ?? []) this.#dag.recordLink(child, parent)
  }

  /** How many tokens hold so far. */
  get tokens(): number {
    return this.#hashes.length
  }

  /**
   * Takes the next entries, in order. Returns the first that does not hold; those before it are kept. `onHeld` is told
   * from time to time how many tokens hold so far.
   */
  async add(
    entries: readonly LedgerEntry[],
    onHeld?: (tokens: number) => void,
  ): Promise<LedgerFailure | undefined> {
    const first = this.#hashes.length === 0 ? await this.#crypto.sha256(this.#wid) : this.#hashes.at(-1)
    let expectedPrev = first as string
    let ahead = this.#examineBatch(entries, 0)
    for (let at = 0; at < entries.length; at += BATCH_ENTRIES) {
      const batch = entries.slice(at, at + BATCH_ENTRIES)
      const examined = await ahead
      ahead = this.#examineBatch(entries, at + BATCH_ENTRIES)
      for (const [i, entry] of batch.entries()) {
        const failure = this.#judge(entry, examined[i] as Examined, expectedPrev)
        if (failure !== undefined) return failure
        this.#hashes.push(entry.hash)
        expectedPrev = entry.hash
      }
      onHeld?.(this.tokens)
    }
    return undefined
  }

  /** Compares the heads with the chain, once all entries are in. */
  async finish(heads: readonly LedgerHead[]): Promise<LedgerVerdict> {
    const sorted = [...heads].sort((a, b) => a.seq - b.seq)
    let held = 0
    for (const head of sorted) {
      const failure = await this.#judgeHead(head)
      if (failure !== undefined) return { holds: false, tokens: this.tokens, heads: held, failure }
      held++
    }
    if (this.#endedAtSeq > (sorted.at(-1)?.seq ?? 0)) {
      const sentence = `The run ended at entry ${this.#endedAtSeq}, but no signed head covers it: heads were removed`
      const failure = { seq: this.#endedAtSeq, code: 'ledger_tail_cut' as const, sentence }
      return { holds: false, tokens: this.tokens, heads: held, failure }
    }
    return { holds: true, tokens: this.tokens, heads: held, lastHash: this.#hashes.at(-1) ?? '' }
  }

  /** Begins a batch; what becomes of it is asked for when the one before it was judged, or never. */
  #examineBatch(entries: readonly LedgerEntry[], at: number): Promise<Examined[]> {
    const batch = entries.slice(at, at + BATCH_ENTRIES)
    const examined = Promise.all(batch.map((entry) => this.#examine(entry)))
    examined.catch(() => undefined)
    return examined
  }

  /** Everything about an entry that does not need the ones before it. */
  async #examine(entry: LedgerEntry): Promise<Examined> {
    try {
      const hash = this.#crypto.sha256(chainText(entry.prevHash, entry.token))
      const jws = decodeJws(entry.token, TOKEN_TYPES)
      const key = keyFor(jws.header, this.#keysFor(jws))
      const holds = this.#crypto.checkSignature(jws, key)
      return { jws, key, signatureHolds: await holds, hash: await hash }
    } catch (error) {
      if (error instanceof Problem)
        return { problem: error, hash: await this.#crypto.sha256(chainText(entry.prevHash, entry.token)) }
      throw error
    }
  }

  /** Which keys to try; that they are the signer's own is judged with the claims. */
  #keysFor(jws: DecodedJws): VerificationKeys {
    if (this.#agents.size === 0) return this.#keys
    const { iss } = payloadOf(jws)
    return (typeof iss === 'string' ? this.#agents.get(iss) : undefined) ?? this.#keys
  }

  /** That the key is the issuer's own: the installation's for the run's own tokens, else that agent's. */
  #checkIssuer({ iss, jti }: Claims, key: VerificationKey): void {
    this.#home ??= iss
    const own = iss === this.#home ? this.#keys : this.#agents.get(iss)
    if (own?.get(key.kid) === key) return
    throw new Problem(
      'ect_key_unknown',
      own === undefined
        ? `The token is issued by ${quote(iss)}, whose keys are not known here`
        : `The token is issued by ${quote(iss)}, but the key ${quote(key.kid)} that signed it is somebody else’s`,
      { jti },
    )
  }

  #judge(entry: LedgerEntry, examined: Examined, expectedPrev: string): LedgerFailure | undefined {
    const seq = this.#hashes.length + 1
    let claims: Claims | undefined
    try {
      if (entry.seq !== seq) broken(`Entry ${seq} is missing; the ledger goes on with entry ${entry.seq}`)
      // The token first: a flipped octet breaks its signature and the chain alike, and the signature says more.
      if (examined.problem !== undefined) throw examined.problem
      if (!examined.signatureHolds) throw signatureInvalid(examined.jws)
      const moment = { mode: 'ledger', nowMs: this.#nowMs } as const
      claims = checkedClaims(examined.jws, moment)
      this.#checkIssuer(claims, examined.key)
      checkKeyEnd(examined.key, claims, moment)
      if (entry.prevHash !== expectedPrev) {
        broken(`Entry ${seq} does not follow entry ${seq - 1}: its "prevHash" is not that entry's hash`)
      }
      if (entry.hash !== examined.hash) broken(`The hash of entry ${seq} is not the hash of its token`)
      if (claims.wid !== this.#wid) broken(`The token of entry ${seq} belongs to the run ${claims.wid}`)
      if (entry.jti !== undefined && entry.jti !== claims.jti) {
        broken(`Entry ${seq} is filed under the jti ${entry.jti.slice(0, 40)}, but its token has another`)
      }
      const isOwn = claims.iss === this.#home
      for (const [child, parent] of isOwn ? linksOf(claims) : []) this.#dag.recordLink(child, parent)
      this.#dag.add(claims)
    } catch (error) {
      return failureOf(error, seq, claims?.jti ?? entry.jti)
    }
    if (claims.iss === this.#home && meaningOf(claims.exec_act) === 'workflow_complete')
      this.#endedAtSeq = seq
    return undefined
  }

  async #judgeHead(head: LedgerHead): Promise<LedgerFailure | undefined> {
    try {
      const claims = await verifyHead(head.jws, this.#keys, this.#crypto)
      if (claims.wid !== this.#wid)
        broken(`The signed head at entry ${head.seq} belongs to the run ${claims.wid}`)
      if (claims.seq !== head.seq)
        broken(`The head filed at entry ${head.seq} was signed for entry ${claims.seq}`)
      if (claims.seq > this.tokens) {
        throw new Problem(
          'ledger_tail_cut',
          `A signed head covers ${claims.seq} entries, but the ledger ends at entry ${this.tokens}: its tail was cut off`,
        )
      }
      if (claims.hash !== this.#hashes[claims.seq - 1]) {
        broken(
          `The signed head at entry ${claims.seq} names another hash than the chain: entries before it were replaced`,
        )
      }
      return undefined
    } catch (error) {
      return failureOf(error, head.seq, undefined)
    }
  }
}

/** Verifies a signed head on its own. Throws Problem `ect_…` or `ledger_broken`. */
export async function verifyHead(
  jws: string,
  keys: VerificationKeys,
  crypto: CryptoBackend = webCrypto,
): Promise<HeadClaims> {
  const decoded = decodeJws(jws, HEAD_TYPES)
  if (!(await crypto.checkSignature(decoded, keyFor(decoded.header, keys)))) throw signatureInvalid(decoded)
  return parseHeadClaims(payloadOf(decoded))
}

type Examined =
  | { problem: Problem; hash: string }
  | { problem?: undefined; jws: DecodedJws; key: VerificationKey; signatureHolds: boolean; hash: string }

function broken(sentence: string): never {
  throw new Problem('ledger_broken', sentence)
}

function failureOf(error: unknown, seq: number, jti: string | undefined): LedgerFailure {
  if (!(error instanceof Problem)) throw error
  return { seq, ...(jti === undefined ? {} : { jti }), code: error.code, sentence: error.message }
}

/**
 * The links between runs that a token of the run's own records (NOTES 1): to the step that began this run, the token it
 * was forked from, and the ends of runs that a step of this one began; or, of a token from outside that comes next, to
 * its parents in other runs. The token is signed, so the record is.
 */
function linksOf({ jti, par, ext }: Claims): [child: string, parent: string][] {
  const linked = readClaim(ext, 'linked')
  const texts = Array.isArray(linked) ? linked.filter((one) => typeof one === 'string') : []
  const child = readClaim(ext, 'link_of')
  const isBegunElsewhere =
    readClaim(ext, 'parent_wid') !== undefined || readClaim(ext, 'fork_wid') !== undefined
  const parents = isBegunElsewhere ? [...texts, ...par] : texts
  return parents.map((parent) => [typeof child === 'string' ? child : jti, parent])
}
