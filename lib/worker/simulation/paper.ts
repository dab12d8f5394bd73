import type { JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { parseClaims } from '@/lib/ect/claims'
import type { CheckpointPlace, Vault } from '../ports'
import type { Signer } from '../run-book'

const header = Buffer.from(
  JSON.stringify({ typ: 'wimse-exec+jwt', alg: 'EdDSA', kid: 'simulated' }),
).toString('base64url')
const signature = Buffer.alloc(64).toString('base64url')

/** Tokens of the right shape with a signature of zeros: chains are checked by their hashes, signing costs a third of a story. */
export const signer: Signer = {
  iss: 'spiffe://simulated.example/holdpoint',
  aud: 'spiffe://simulated.example/holdpoint',
  sign: (claims) =>
    `${header}.${Buffer.from(JSON.stringify(parseClaims(claims))).toString('base64url')}.${signature}`,
  signHead: ({ seq, hash }) => `head ${seq} ${hash}`,
}

/** Seals nothing away: it only remembers which checkpoint the state belongs to. */
export const vault: Vault = {
  seal: (place, state, expiresAt) => ({
    ...place,
    keyId: 'simulated',
    sealed: Buffer.from(JSON.stringify({ place: placeWords(place), state })),
    expiresAt,
  }),
  open(sealed) {
    const { place, state } = JSON.parse(Buffer.from(sealed.sealed).toString()) as {
      place: string
      state: JsonObject
    }
    if (place !== placeWords(sealed))
      throw new Problem('checkpoint_tampered', 'It belongs to another checkpoint')
    return state
  },
}

function placeWords({ jti, runId, node, visit }: CheckpointPlace): string {
  return `${jti} ${runId} ${node} ${visit}`
}
