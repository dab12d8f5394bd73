/*
 * How AERR writes what the others write otherwise: agents and tokens as `urn:uuid:…`, hashes as `sha256:` and hex. The
 * agents of this installation have SPIFFE ids. One that ends in a UUID is that UUID at AERR, so an AERR agent keeps its
 * name by being registered as spiffe://example.com/agent/<its uuid>; any other id has one UUID that is made from it.
 */

import type { Hash } from '@/lib/base/hash'
import { uuidOfText } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i
const endsInUuid = new RegExp(`/(${uuid.source})$`, 'i')
const urn = new RegExp(`^(?:urn:uuid:)?(${uuid.source})$`, 'i')

/** `urn:uuid:…` of an agent by its SPIFFE id; what is no agent (a backend, a host) keeps its name. */
export function aerrAgentId(id: string): string {
  if (!id.startsWith('spiffe://')) return id
  return `urn:uuid:${(endsInUuid.exec(id)?.[1] ?? uuidOfText(id)).toLowerCase()}`
}

/** The UUID of `urn:uuid:…`, in lower case; any other text as it is. */
export function bareId(text: string): string {
  return urn.exec(text)?.[1]?.toLowerCase() ?? text
}

/** `urn:uuid:…` of a token's id. */
export function urnOf(id: string): string {
  return `urn:uuid:${id}`
}

/** `sha256:` and hex. */
export function hexHash(hash: Hash): string {
  return `sha256:${Buffer.from(hash, 'base64url').toString('hex')}`
}

/** Refuses a body that names somebody else than who sent it, under `member`. Throws Problem `agent_mismatch`. */
export function mustBeSender(named: string | undefined, sender: string, member: string): void {
  if (named === undefined || named === sender || named.toLowerCase() === aerrAgentId(sender)) return
  throw new Problem(
    'agent_mismatch',
    `"${member}" names ${JSON.stringify(named.slice(0, 120))}; this request is from ${sender}, which is ${aerrAgentId(sender)} at AERR.`,
  )
}
