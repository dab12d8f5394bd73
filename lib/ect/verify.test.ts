import { createHash, createHmac, sign } from 'node:crypto'
import fc from 'fast-check'
import * as jose from 'jose'
import { describe, expect, it } from 'vitest'
import { sha256 } from '@/lib/base/hash'
import { decodeBase64url, encodeBase64url } from './base64url'
import type { TokenAlg } from './jws'
import { jwksOf, keySetOf, parseKeySet } from './keys'
import { signClaims, signHead } from './sign'
import { claims, NOW_MS, NOW_S, refusal, type TestKey, testKey } from './testing/ledgers'
import { verifyToken, webCrypto } from './verify'
import { verifyTokenSync } from './verify-node'

const LIVE = { mode: 'live', nowMs: NOW_MS, audience: 'https://holdpoint.example' } as const
const LEDGER = { mode: 'ledger' } as const
const b64 = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** Signs whatever header and payload are given, as an attacker would. */
function forge(header: unknown, payload: unknown, key: TestKey): string {
  const input = `${b64(header)}.${b64(payload)}`
  const algorithm = key.signing.alg === 'ES256' ? 'sha256' : null
  const signature = sign(algorithm, Buffer.from(input), {
    key: key.signing.privateKey,
    dsaEncoding: 'ieee-p1363',
  })
  return `${input}.${signature.toString('base64url')}`
}

const key = testKey()
const header = { typ: 'wimse-exec+jwt', alg: 'ES256', kid: key.signing.kid }

/** Both back ends must say the same. */
async function refusedBy(token: unknown, moment: Parameters<typeof verifyToken>[2] = LIVE, keys = key.keys) {
  const sync = await refusal(() => verifyTokenSync(token, keys, moment))
  expect(await refusal(() => verifyToken(token, keys, moment))).toEqual(sync)
  return sync
}

describe('a token', () => {
  it('hashes as the specification says', async () => {
    expect(sha256('test')).toBe('n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg')
    expect(await webCrypto.sha256('test')).toBe('n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg')
  })

  describe.each<TokenAlg>(['ES256', 'EdDSA'])('signed with %s', (alg) => {
    const own = testKey(alg)
    const given = claims({ ext: { 'hp.node': 'müller' } })

    it('verifies in the browser and on the server', async () => {
      const token = signClaims(given, own.signing)
      const expected = { kid: own.signing.kid, alg, claims: given }
      expect(verifyTokenSync(token, own.keys, LIVE)).toEqual(expected)
      expect(await verifyToken(token, own.keys, LIVE)).toEqual(expected)
    })

    it('verifies with jose', async () => {
      const keys = jose.createLocalJWKSet(jwksOf(own.keys) as jose.JSONWebKeySet)
      const { payload, protectedHeader } = await jose.jwtVerify(signClaims(given, own.signing), keys, {
        audience: 'https://holdpoint.example',
        currentDate: new Date(NOW_MS),
        typ: 'wimse-exec+jwt',
      })
      expect(payload).toEqual(given)
      expect(protectedHeader).toEqual({ typ: 'wimse-exec+jwt', alg, kid: own.signing.kid })
    })

    it('may be made by jose', async () => {
      const token = await new jose.SignJWT({ ...given } as jose.JWTPayload)
        .setProtectedHeader({ typ: 'exec+jwt', alg, kid: own.signing.kid })
        .sign(own.signing.privateKey)
      expect(verifyTokenSync(token, own.keys, LIVE).claims).toEqual(given)
      expect((await verifyToken(token, own.keys, LIVE)).claims).toEqual(given)
    })

    it('does not survive the change of one character', async () => {
      const token = signClaims(given, own.signing)
      await fc.assert(
        fc.asyncProperty(
          fc.nat(token.length - 1),
          fc.constantFrom(...'AZaz09-_.=%'),
          async (at, character) => {
            fc.pre(token[at] !== character)
            const changed = token.slice(0, at) + character + token.slice(at + 1)
            expect((await refusedBy(changed, LEDGER, own.keys)).code).toMatch(/^ect_/)
          },
        ),
        { numRuns: 300 },
      )
    })
  })

  it.each([
    ['none', { ...header, alg: 'none' }],
    ['an algorithm nobody named', { ...header, alg: undefined }],
    ['RS256', { ...header, alg: 'RS256' }],
    ['a list of algorithms', { ...header, alg: ['ES256'] }],
  ])('with alg %s is refused, signature or not', async (_what, bad) => {
    const forged = forge(bad, claims(), key)
    const refused = await refusedBy(forged)
    expect(refused).toMatchObject({
      code: 'ect_alg_refused',
      words: expect.stringContaining('only ES256 and EdDSA'),
    })
    expect((await refusedBy(`${forged.slice(0, forged.lastIndexOf('.'))}.`)).code).toBe('ect_alg_refused')
  })

  it.each(['HS256', 'HS384', 'HS512'])('with %s under the public key as secret is refused', async (alg) => {
    const input = `${b64({ ...header, alg })}.${b64(claims())}`
    for (const secret of [
      JSON.stringify(key.verification.jwk),
      Buffer.from(key.verification.jwk.x, 'base64url'),
    ]) {
      const mac = createHmac(`sha${alg.slice(2)}`, secret)
        .update(input)
        .digest('base64url')
      expect(await refusedBy(`${input}.${mac}`)).toMatchObject({
        code: 'ect_alg_refused',
        words: `"alg" is "${alg}"; only ES256 and EdDSA signatures are accepted`,
      })
    }
  })

  it('signed by another key under our kid is refused', async () => {
    const other = testKey('ES256', key.signing.kid)
    const refused = await refusedBy(signClaims(claims(), other.signing))
    expect(refused.code).toBe('ect_signature_invalid')
    expect(refused.words).toContain('another key signed it')
  })

  it('whose alg is not its key’s is refused before the signature', async () => {
    const ed = testKey('EdDSA', key.signing.kid)
    const refused = await refusedBy(signClaims(claims(), ed.signing))
    expect(refused).toMatchObject({
      code: 'ect_alg_refused',
      words: expect.stringContaining('is for ES256 only'),
    })
  })

  it('of an unknown or absent key is refused', async () => {
    expect(await refusedBy(forge({ ...header, kid: 'stranger' }, claims(), key))).toMatchObject({
      code: 'ect_key_unknown',
      words: 'No key is known under the kid "stranger" that the token names',
    })
    expect(await refusedBy(forge({ ...header, kid: undefined }, claims(), key))).toMatchObject({
      code: 'ect_key_unknown',
      words: expect.stringContaining('must name the key'),
    })
  })

  it('never brings its own key', async () => {
    const other = testKey('ES256', 'mine')
    const forged = forge({ ...header, kid: 'mine', jwk: other.verification.jwk }, claims(), other)
    expect((await refusedBy(forged)).code).toBe('ect_key_unknown')
  })

  it('of another type is refused', async () => {
    for (const typ of ['JWT', undefined, 'hp-head+jwt', 'WIMSE-EXEC+JWT']) {
      expect((await refusedBy(forge({ ...header, typ }, claims(), key))).code).toBe('ect_typ_refused')
    }
    const head = signHead({ wid: claims().wid, seq: 1, hash: sha256('x'), iat: NOW_S }, key.signing)
    expect((await refusedBy(head)).code).toBe('ect_typ_refused')
  })

  it('with a critical header is refused', async () => {
    expect((await refusedBy(forge({ ...header, crit: ['b64'], b64: false }, claims(), key))).words).toContain(
      '"crit"',
    )
  })

  const good = signClaims(claims(), key.signing)
  const [first, second, third] = good.split('.') as [string, string, string]
  it.each([
    ['nothing', undefined, 'expected compact JWS text'],
    ['an object', {}, 'The token is an object'],
    ['empty text', '', 'three parts'],
    ['two parts', `${first}.${second}`, 'three parts'],
    ['four parts', `${good}.${third}`, 'three parts'],
    ['a dot more', `${good}.`, 'three parts'],
    ['dots alone', '..', 'three parts'],
    ['a cut signature', good.slice(0, -2), 'The signature is 63 bytes long; ES256 signatures have 64'],
    ['padding', `${good}==`, 'not canonical base64url'],
    ['plain base64', `${first}.${second}.+/${third.slice(2)}`, 'The signature is not canonical'],
    ['white space', `${first}.${second}.${third} `, 'The signature is not canonical'],
    ['a header that is no JSON', `${b64('{')}.${second}.${third}`, 'The header is not JSON'],
    ['a header that is a list', `${b64('[]')}.${second}.${third}`, 'The header is a list'],
    [
      'a header in Latin-1',
      `${Buffer.from('{"a":"\xe9"}', 'latin1').toString('base64url')}.${second}.${third}`,
      'UTF-8',
    ],
    ['a megabyte', 'a'.repeat(1_000_000), '1000000 characters long; at most 32768'],
  ])('that is %s is malformed', async (_what, token, words) => {
    const refused = await refusedBy(token)
    expect(refused.code).toBe('ect_malformed')
    expect(refused.words).toContain(words)
  })

  it('has one spelling: spare bits of the signature must be zero', async () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const twin = good.slice(0, -1) + alphabet[alphabet.indexOf(good.at(-1) as string) + 1]
    expect(Buffer.from(twin.split('.')[2] as string, 'base64url')).toEqual(Buffer.from(third, 'base64url'))
    expect((await refusedBy(twin)).code).toBe('ect_malformed')
  })

  it('with a payload that is no JSON object is malformed once its signature holds', async () => {
    expect(await refusedBy(forge(header, 'text', key))).toMatchObject({ code: 'ect_malformed' })
    expect((await refusedBy(forge(header, [1], key))).words).toBe(
      'The payload is a list; expected a JSON object',
    )
  })

  describe('for a live request', () => {
    it.each([
      ['too far in the future', { iat: NOW_S + 31 }, 'ect_from_future', '31 s in the future'],
      ['too old', { iat: NOW_S - 901 }, 'ect_too_old', 'issued 901 s ago'],
      ['past its exp', { exp: NOW_S - 4 }, 'ect_expired', '"exp" passed 4 s ago'],
      ['at its exp', { exp: NOW_S }, 'ect_expired', '"exp" passed 0 s ago'],
      [
        'for somebody else',
        { aud: ['a', 'b'] },
        'ect_audience',
        'meant for "a" and 1 more; expected "https://holdpoint.example"',
      ],
    ])('is refused when it is %s', async (_what, over, code, words) => {
      const refused = await refusedBy(signClaims(claims(over), key.signing))
      expect(refused.code).toBe(code)
      expect(refused.words).toContain(words)
    })

    it('may be 30 s ahead, 15 min old, and for several', () => {
      for (const over of [
        { iat: NOW_S + 30 },
        { iat: NOW_S - 900 },
        { aud: ['a', 'https://holdpoint.example'] },
      ]) {
        expect(() => verifyTokenSync(signClaims(claims(over), key.signing), key.keys, LIVE)).not.toThrow()
      }
    })
  })

  it('from the ledger verifies long after its exp, and may still not come from the future', async () => {
    const old = signClaims(claims(), key.signing)
    const inTenYears = { mode: 'ledger', nowMs: NOW_MS + 3.2e11 } as const
    expect(verifyTokenSync(old, key.keys, inTenYears).claims.iat).toBe(NOW_S)
    expect((await refusedBy(old, { mode: 'ledger', nowMs: NOW_MS - 60_000 })).code).toBe('ect_from_future')
  })

  it('that nobody would accept is not signed', async () => {
    expect((await refusal(() => signClaims(claims({ jti: 'x' }), key.signing))).code).toBe(
      'ect_claim_invalid',
    )
    const mixed = { ...key.signing, alg: 'EdDSA' as const }
    expect((await refusal(() => signClaims(claims(), mixed))).code).toBe('key_unusable')
  })
})

describe('a key set', () => {
  it('drops private members and keys of other kinds', () => {
    const jwk = key.signing.privateKey.export({ format: 'jwk' })
    const set = parseKeySet({
      keys: [
        { ...jwk, kid: 'a' },
        { kty: 'RSA', kid: 'b' },
        { kty: 'oct', kid: 'c', k: 'AA' },
      ],
    })
    expect([...set.keys()]).toEqual(['a'])
    expect(JSON.stringify([...set.values()])).not.toContain(jwk.d)
  })

  it('is refused when it is none, or when two keys share a kid', async () => {
    expect((await refusal(() => parseKeySet([]))).words).toContain('no "keys" list')
    const twice = await refusal(() => keySetOf([key.verification, key.verification]))
    expect(twice).toMatchObject({
      code: 'key_unusable',
      words: expect.stringContaining('Two keys share the kid'),
    })
  })

  it('with a point off the curve verifies nothing', async () => {
    const bad = { ...key.verification, jwk: { ...key.verification.jwk, x: 'A'.repeat(43) } }
    const keys = keySetOf([bad as typeof key.verification])
    expect((await refusedBy(signClaims(claims(), key.signing), LEDGER, keys)).code).toBe(
      'ect_signature_invalid',
    )
  })
})

describe('base64url', () => {
  it('round-trips, as node:crypto spells it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (octets) => {
        const text = encodeBase64url(octets)
        expect(text).toBe(Buffer.from(octets).toString('base64url'))
        expect(decodeBase64url(text)).toEqual(new Uint8Array(octets))
      }),
    )
  })

  it('accepts a text only when it is the canonical one', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'AQgwBZaz09-_=+/ é'), maxLength: 12 }), (text) => {
        const decoded = decodeBase64url(text)
        if (decoded !== undefined) expect(encodeBase64url(decoded)).toBe(text)
        else expect(Buffer.from(text, 'base64url').toString('base64url')).not.toBe(text)
      }),
    )
    expect(createHash('sha256').update('').digest('base64url')).toHaveLength(43)
  })
})
