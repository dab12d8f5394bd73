/*
 * A bundle: one run with all its evidence in one file, for someone who does not trust us.
 *
 * It is a plain tar file, so that anyone can look inside with what they have; not compressed, because a compressed file
 * has bytes that no signature reaches. Entries, in this order:
 *
 *   manifest.jws     a signed statement (typ hp-bundle+jwt) with the hash of the next entry
 *   manifest.json    whose run it is, and each following entry's name, size and SHA-256, in order
 *   keys.json        the installation's public keys, present and former, as a JWK set
 *   workflow.txt     the workflow version's text, as it was imported
 *   graph.json       the graph it was read into; the hash of its bytes is the version the run is pinned to
 *   ledger.jsonl     one line a ledger row: seq, jti, prevHash, hash, token
 *   heads.jsonl      one line a signed head: seq, jws
 *   values/<hash>    each stored value that a token names, by its hash: inputs, actions, outputs, plans
 *
 * The statement covers the manifest, the manifest every entry, and the tar's one spelling (tar.ts) the rest: no byte
 * can be changed, added, moved or cut off unnoticed. It is deterministic: the same run, key and moment give the same
 * manifest, and only signatures differ, as ECDSA's do. Checkpoints' sealed states are not in it; their hashes are.
 */
import type { Hash } from '@/lib/base/hash'

export const bundleType = 'hp-bundle+jwt'
export const bundleVersion = 1
export const bundleMediaType = 'application/x-tar'

/** A bundle that is larger is refused before it is read: it is held in memory whole. */
export const bundleMaxBytes = 1024 ** 3

/** Names of the entries that every bundle has. */
export const entryName = {
  statement: 'manifest.jws',
  manifest: 'manifest.json',
  keys: 'keys.json',
  workflow: 'workflow.txt',
  graph: 'graph.json',
  ledger: 'ledger.jsonl',
  heads: 'heads.jsonl',
} as const

/** Entries before the values, in their order. */
export const fixedEntries: readonly string[] = Object.values(entryName)

export interface ManifestEntry {
  name: string
  /** Bytes. */
  size: number
  sha256: Hash
}

export interface Manifest {
  bundle: typeof bundleVersion
  run: string
  wid: string
  workflow: { name: string; version: Hash; mediaType: string }
  tokens: number
  /** Whole seconds since the epoch. */
  madeAt: number
  entries: ManifestEntry[]
}

/** What the signed statement says. */
export interface Statement {
  wid: string
  /** SHA-256 of manifest.json. */
  manifest: Hash
  /** Whole seconds since the epoch. */
  iat: number
}

/** The entry of a value. */
export function valueEntry(hash: Hash): string {
  return `values/${hash}`
}
