/*
 * A signature that is the same whenever the same is signed with the same key: what makes a bundle's bytes, and so its
 * hash, follow from what it says. Ed25519 is so by itself. ECDSA draws a number for each signature; here it is derived
 * from key and message (RFC 6979), which anyone verifies as usual.
 *
 * The curve's work is the crypto library's: the point k·G comes from ECDH with k as the private key. What is left is
 * arithmetic modulo the group's order, and it is blinded with a fresh random factor that cancels out, because JavaScript's
 * whole numbers take longer the larger they are. The result is verified before it leaves: a fault must not give k away.
 */
import {
  createECDH,
  createHmac,
  createPublicKey,
  hash,
  type KeyObject,
  randomBytes,
  verify,
} from 'node:crypto'
import type { JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { type SigningKey, signJson } from '@/lib/ect/sign'

const bytesOf = { scalar: 32 }
/** Order of the group of P-256 (FIPS 186-5). */
const order = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551')

/** As `signJson`, with a signature that follows from payload and key. Throws Problem `key_unusable`. */
export function signSteadily(typ: string, payload: JsonObject, key: SigningKey): string {
  if (key.alg === 'EdDSA') return signJson(typ, payload, key)
  const header = JSON.stringify({ typ, alg: key.alg, kid: key.kid })
  const input = `${base64url(header)}.${base64url(JSON.stringify(payload))}`
  return `${input}.${signP256(Buffer.from(input, 'latin1'), key.privateKey).toString('base64url')}`
}

/** r and s of RFC 6979 with SHA-256, 64 bytes. Throws Problem `key_unusable`. */
export function signP256(message: Uint8Array, privateKey: KeyObject): Buffer {
  const { d: secret, crv } = privateKey.export({ format: 'jwk' })
  if (crv !== 'P-256' || typeof secret !== 'string') {
    throw new Problem('key_unusable', 'The signing key is not a P-256 key; check the key folder')
  }
  const d = number(Buffer.from(secret, 'base64url'))
  const digest = hash('sha256', message, 'buffer')
  const z = mod(number(digest))
  for (const k of candidates(bytes(d), bytes(z))) {
    const curve = createECDH('prime256v1')
    curve.setPrivateKey(k)
    // 04 ‖ x ‖ y
    const r = mod(number(curve.getPublicKey().subarray(1, 1 + bytesOf.scalar)))
    const blind = 1n + mod(number(randomBytes(bytesOf.scalar)))
    const inverse = power(mod(number(k) * blind), order - 2n)
    const s = mod(inverse * mod(mod(blind * z) + mod(mod(blind * r) * d)))
    if (r === 0n || s === 0n) continue
    const signature = Buffer.concat([bytes(r), bytes(s)])
    const publicKey = { key: createPublicKey(privateKey), dsaEncoding: 'ieee-p1363' as const }
    if (verify('sha256', message, publicKey, signature)) return signature
    break
  }
  throw new Problem('key_unusable', 'The signing key cannot sign a bundle; check the key folder')
}

/** RFC 6979, section 3.2: what is tried as k, in order. The first is good but for one case in 2^32 or so. */
function* candidates(d: Buffer, z: Buffer): Generator<Buffer> {
  const hmac = (key: Buffer, ...parts: Uint8Array[]): Buffer => {
    const mac = createHmac('sha256', key)
    for (const part of parts) mac.update(part)
    return mac.digest()
  }
  const [zero, one] = [Buffer.of(0), Buffer.of(1)]
  let v: Buffer = Buffer.alloc(bytesOf.scalar, 1)
  let key: Buffer = Buffer.alloc(bytesOf.scalar, 0)
  for (const mark of [zero, one]) {
    key = hmac(key, v, mark, d, z)
    v = hmac(key, v)
  }
  for (;;) {
    v = hmac(key, v)
    const k = number(v)
    if (k > 0n && k < order) yield v
    key = hmac(key, v, zero)
    v = hmac(key, v)
  }
}

function number(octets: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(octets).toString('hex')}`)
}

function bytes(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(2 * bytesOf.scalar, '0'), 'hex')
}

function mod(value: bigint): bigint {
  return value % order
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  let square = base
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = mod(result * square)
    square = mod(square * square)
  }
  return result
}

function base64url(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64url')
}
