/* What verifying a bundle ends in. */
import type { VerificationKeys } from '@/lib/ect/keys'
import type { BundleContents } from './contents'
import type { BundleFailure } from './doubt'

/** A key, and how people compare it: RFC 7638, base64url of SHA-256. */
export interface NamedKey {
  kid: string
  thumbprint: string
}

export type BundleVerdict =
  | {
      holds: true
      edition: number
      run: string
      workflow: string
      /** Of all runs. */
      tokens: number
      runs: number
      heads: number
      values: number
      /** Values that a token names and that are not in it. */
      leftOut: number
      /** The state it shows; of the first edition, when it was made. Ms since the epoch. */
      at: number
      signedBy: NamedKey
      /** True when the keys were given by the one who asks; else they came in the bundle. */
      keysGiven: boolean
      keys: NamedKey[]
      /** What is worth knowing and no fault. */
      /** Signatures of agents that were checked with their own keys: answers to rollbacks, and tokens they reported. */
      signedByAgents: number
      notes: string[]
    }
  /** `failure` is the first of `failures`. */
  | { holds: false; failure: BundleFailure; failures: BundleFailure[] }

export interface VerifyBundleOptions {
  /** Keys the reader trusts. Without them the bundle's own are used, which proves that it is whole, not whose it is. */
  keys?: VerificationKeys
  onProgress?: (done: number, total: number) => void
}

export interface Examined {
  verdict: BundleVerdict
  /** Absent when nothing in it can be made sense of. */
  contents?: BundleContents
}
