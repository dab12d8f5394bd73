/*
 * An incident bundle: a run, the runs below it, and all that proves what they did, in one file for someone who does not
 * trust us.
 *
 * It is a plain tar file, so that anyone can look inside with what they have; not compressed, because a compressed file
 * has bytes that no signature reaches. Entries, in this order:
 *
 *   manifest.jws                   a signed statement (typ hp-bundle+jwt) with the hash of the next entry
 *   manifest.json                  whose run it is, the runs and workflow versions in it, what was left out and why, and
 *                                  each following entry's name, size and SHA-256, in order
 *   report.html                    what happened, for people: no scripts, nothing fetched
 *   report.json                    what the report claims, for programs: counts, ends, artifacts by their hashes
 *   decisions.json                 what people decided: who, what, when, why, and the token that says so
 *   keys.json                      the installation's public keys, present and former, as a JWK set
 *   agents.json                    public keys of the agents whose own tokens are in it; absent where there are none
 *   workflows/<version>/graph.json the graph of each version that was run; the hash of its bytes is the version
 *   workflows/<version>/text.txt   its text as it was imported; absent where nobody wrote it (an agent's loop)
 *   runs/<run>/ledger.jsonl        one line a ledger row: seq, jti, prevHash, hash, token
 *   runs/<run>/heads.jsonl         one line a signed head: seq, jws; the last one is of the last token there was
 *   values/<hash>                  each stored value that a token names: inputs, actions, outputs, artifacts, plans
 *
 * The statement covers the manifest, the manifest every entry, and the tar's one spelling (tar.ts) the rest: no byte
 * can be changed, added, moved or cut off unnoticed. The same state gives the same bytes, whoever asks and whenever: no
 * entry names the moment of the export, and the signature is deterministic (steady-signature.ts). So the file's hash
 * can be quoted. What checkpoints sealed is not in it, ever; their hashes are. Nor is any secret: none is kept anywhere.
 *
 * Bundles of the first edition (one run, no report) are still verified and opened: first-edition.ts.
 */
import type { Hash } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import type { ParentPlace } from '@/lib/engine/ports'

export const bundleType = 'hp-bundle+jwt'
export const bundleEdition = 2
export const bundleMediaType = 'application/x-tar'

/** A bundle that is larger is refused before it is read: whoever verifies it holds it in memory, once. */
export const bundleMaxBytes = 1024 ** 3
/** Runs of one bundle: an export that would have more is refused. */
export const bundledRunsMax = 20_000
/** Values of one bundle; what is past it is left out and listed. */
export const bundledValuesMax = 150_000

/** Names of the entries that there is one of. */
export const entryName = {
  statement: 'manifest.jws',
  manifest: 'manifest.json',
  report: 'report.html',
  claims: 'report.json',
  decisions: 'decisions.json',
  keys: 'keys.json',
} as const

/** Follows the keys, where agents signed something in it. */
export const agentsEntry = 'agents.json'

/** The entries that every bundle begins with, in their order. */
export const firstEntries: readonly string[] = Object.values(entryName)

/** The entry of a value. */
export function valueEntry(hash: Hash): string {
  return `values/${hash}`
}

/** The entries of one run. */
export function runEntries(run: string): { ledger: string; heads: string } {
  return { ledger: `runs/${run}/ledger.jsonl`, heads: `runs/${run}/heads.jsonl` }
}

/** The entries of one workflow version. */
export function workflowEntries(version: Hash): { graph: string; text: string } {
  return { graph: `workflows/${version}/graph.json`, text: `workflows/${version}/text.txt` }
}

export interface ManifestEntry {
  name: string
  /** Bytes. */
  size: number
  sha256: Hash
  /** Of a value. */
  mediaType?: string
}

/** Why a run is in the bundle: it was asked for, a step of one that is began it, or one that is was forked from it. */
export type Relation = 'exported' | 'child' | 'original'

export interface BundledRun {
  run: RunId
  wid: string
  relation: Relation
  version: Hash
  workflow: string
  startedBy: string
  parent?: ParentPlace
  tokens: number
  heads: number
  /** Hash of its last ledger row. */
  lastHash: Hash
}

export interface BundledWorkflow {
  version: Hash
  name: string
  description: string
  format: string
  mediaType: string
  importedAt: number
  importedBy: string
  nodeCount: number
}

/**
 * Something that a token names and that is not here. `sealed`: a checkpoint's state, which only its installation may
 * open. `too_large`: more bytes than were asked for, or than a bundle holds. `not_stored`: the installation has no such value.
 */
export interface LeftOut {
  hash: Hash
  why: 'sealed' | 'too_large' | 'not_stored'
  /** Bytes, where they are known. */
  size?: number
  /** The first token that names it. */
  run: RunId
  seq: number
}

/** Whence the exported run was forked, or which run began it, when that one is not in the bundle. */
export interface Reference {
  run: RunId
  wid: string
  /** How many tokens of it were taken as given; of a run that began this one, absent. */
  seq?: number
  /** The token that the exported run follows. */
  jti: string
  /** True when its ledger is in the bundle. */
  included: boolean
}

export interface Manifest {
  bundle: typeof bundleEdition
  /** The version of Holdpoint that wrote it. */
  program: string
  run: RunId
  wid: string
  workflow: { name: string; version: Hash; mediaType: string }
  /** The state it shows: the time of the newest token in it, ms since the epoch. */
  at: number
  /** Of all runs. */
  tokens: number
  runs: BundledRun[]
  workflows: BundledWorkflow[]
  forkedFrom?: Reference
  begunBy?: Reference
  leftOut: LeftOut[]
  entries: ManifestEntry[]
}

/** What the signed statement says. */
export interface Statement {
  wid: string
  /** SHA-256 of manifest.json. */
  manifest: Hash
  /** Whole seconds since the epoch: the state's time. */
  iat: number
}
