import { type Hash, sha256 } from '@/lib/base/hash'
import { chainText } from './chain'

/** The `prevHash` of a run's first entry. */
export function firstPrevHashSync(wid: string): Hash {
  return sha256(wid)
}

/** An entry's hash (chain.ts). */
export function chainHashSync(prevHash: Hash, token: string): Hash {
  return sha256(chainText(prevHash, token))
}
