/*
 * Checkpoints: the state before a change, sealed (JWE, AES-256-GCM) and bound to its id, on disk before it is answered for;
 * its hash stands in a token that this agent signed. A group names others; taking it back takes them back, latest first. A
 * state that does not open is not repaired, guessed or partly returned.
 */
import * as jose from 'jose'
import { must, Refusal, type Values } from './answers'
import type { Claims, Parts } from './terms'
import { sha256, spelled, uuidIn } from './tokens'

/** `wid`, `iss`: whose it is. `operation`: the name of the state. `children`: what it is the group of. */
export type Checkpoint = Record<'id' | 'wid' | 'iss' | 'operation' | 'out_hash' | 'ect' | 'sealed', string> &
  Record<'until', number> & { children: string[]; reversible: boolean }
type Of = Pick<Checkpoint, 'wid' | 'operation' | 'children'>

const [maxCount, dayS] = [10_000, 86_400]
const hash = (value: unknown) => sha256(JSON.stringify(value))
const jsonOf = (octets: Uint8Array) => JSON.parse(Buffer.from(octets).toString())

export async function checkpointOf({ store }: Parts, id: unknown) {
  const name = uuidIn(id)
  return name ? store.get<Checkpoint>('checkpoints', name) : undefined
}

/** Takes one before a change, of a state or of a group; durable when it resolves. `told` stands in its token. */
export async function take(parts: Parts, claims: Claims, id: string, of: Omit<Of, 'wid'>, told: Values = {}) {
  const { agent, store, keys, baseUrl, answering, now } = parts
  const count = (await store.names('checkpoints')).length
  must(count < maxCount, 429, 'checkpoint_limit', `There are ${count} checkpoints; no more are kept.`)
  const { wid, iss, par } = claims
  const { state, out_hash } = await stateNow(parts, { wid, ...of })
  const reversible = agent.states[of.operation]?.restore !== undefined
  const shown = { reversible, rollback_uri: `${baseUrl}/.well-known/atd/rollback`, ttl: dayS, ...told }
  const more = { jti: id, par: [...par, ...of.children], ext: spelled('atd', shown) }
  const ect = await answering(claims, 'atd:checkpoint', out_hash, more)
  const jwe = new jose.CompactEncrypt(Buffer.from(JSON.stringify(state)))
  const sealed = await jwe.setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: id }).encrypt(keys.sealing)
  const kept: Checkpoint = { id, wid, iss, ...of, reversible, out_hash, ect, sealed, until: now() + dayS * 1000 }
  await store.put('checkpoints', id, kept)
  return { checkpoint_id: id, out_hash, ...shown }
}

/** What a checkpoint would hold now, and its hash. A group holds the hashes of its children. */
export async function stateNow(parts: Parts, of: Of) {
  const group = (await childrenOf(parts, of)).map((child) => child.out_hash)
  const state = group.length > 0 ? group : ((await parts.agent.states[of.operation]?.now()) ?? {})
  return { state, out_hash: hash(state) }
}

/** The sealed state, once its token and its hash are verified. Throws Refusal 409 `checkpoint_tampered`. */
export async function opened({ keys }: Parts, { id, wid, out_hash, ect, sealed }: Checkpoint): Promise<Values> {
  try {
    const claims = jsonOf((await jose.compactVerify(ect, keys.jwk)).payload)
    const { plaintext, protectedHeader } = await jose.compactDecrypt(sealed, keys.sealing)
    const state = jsonOf(plaintext)
    const isOwn = claims.jti === id && protectedHeader.kid === id && claims.wid === wid
    if (isOwn && claims.out_hash === out_hash && hash(state) === out_hash) return state
  } catch {} // Told below; what did not open is not told.
  throw new Refusal(409, 'checkpoint_tampered', 'The checkpoint is not what was sealed.')
}

/** Puts the state back. Gives its hashes before and after. */
export async function restore(parts: Parts, kept: Checkpoint): Promise<[string, string]> {
  const [state, done] = [await opened(parts, kept), [] as [string, string][]]
  for (const child of (await childrenOf(parts, kept)).toReversed()) done.unshift(await restore(parts, child))
  if (done.length > 0) return [hash(done.map(([before]) => before)), hash(done.map(([, after]) => after))]
  const before = (await stateNow(parts, kept)).out_hash
  await parts.agent.states[kept.operation]?.restore?.(state)
  return [before, (await stateNow(parts, kept)).out_hash]
}

/** The children, which belong to the same run. */
async function childrenOf(parts: Parts, { wid, children }: Of): Promise<Checkpoint[]> {
  const kept = await Promise.all(children.map((id) => checkpointOf(parts, id)))
  const found = kept.filter((child) => child !== undefined && child.wid === wid) as Checkpoint[]
  must(found.length === children.length, 404, 'checkpoint_missing', 'A checkpoint of the group is gone.')
  return found
}
