import { type Hash, hashJson, isHash } from '@/lib/base/hash'
import type { WorkflowGraph } from './graph'

/**
 * The name of a workflow version: the hash of the graph's canonical text. The same graph has the same version
 * wherever and whenever it is imported, and white space in its text does not make a new one.
 * Throws a TypeError for what has no canonical text (a lone surrogate in a string; the formats refuse those).
 */
export function versionOf(graph: WorkflowGraph): Hash {
  return hashJson(graph)
}

/** The first 8 characters of a version, for people. */
export function shortVersion(version: Hash): string {
  if (!isHash(version)) throw new RangeError(`"${String(version).slice(0, 60)}" is not a workflow version`)
  return version.slice(0, 8)
}
