/* Signs a token with key.pem: `node token.mjs jwks` or `node token.mjs ACT AUDIENCE RUN [BODY] [PARENT]`. Node alone. */
import { createHash, createPrivateKey, createPublicKey, randomUUID, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'

const key = createPrivateKey(readFileSync('key.pem'))
const head = { alg: 'ES256', typ: 'wimse-exec+jwt', kid: 'key-1' }
const [act, aud, wid, body = '', par] = process.argv.slice(2)
const iat = Math.floor(Date.now() / 1000)
const ext = { 'hp.body_hash': createHash('sha256').update(body).digest('base64url') }
const claims = { iss: 'spiffe://example.com/caller', aud, iat, exp: iat + 600, jti: randomUUID(), wid }
const whole = { ...claims, exec_act: act, par: par ? [par] : [], ext }
const input = [head, whole].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')
const jwk = { ...createPublicKey(key).export({ format: 'jwk' }), kid: 'key-1', alg: 'ES256', use: 'sig' }
console.log(act === 'jwks' ? JSON.stringify({ keys: [jwk] }) : `${input}.${signature}`)
