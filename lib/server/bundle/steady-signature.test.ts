import { createPrivateKey, generateKeyPairSync, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { signP256, signSteadily } from './steady-signature'

/** RFC 6979, appendix A.2.5. */
const published = createPrivateKey({
  format: 'jwk',
  key: {
    kty: 'EC',
    crv: 'P-256',
    d: base64url('C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721'),
    x: base64url('60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6'),
    y: base64url('7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299'),
  },
})

function base64url(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64url')
}

describe('a steady signature', () => {
  it.each([
    [
      'sample',
      'EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716',
      'F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8',
    ],
    [
      'test',
      'F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367',
      '019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083',
    ],
  ])('is the published one of "%s"', (message, r, s) => {
    expect(signP256(Buffer.from(message), published).toString('hex').toUpperCase()).toBe(r + s)
  })

  it('verifies like any other, and is the same each time', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    for (let at = 0; at < 50; at++) {
      const message = Buffer.from(`message ${at}`)
      const signature = signP256(message, privateKey)
      expect(signature).toEqual(signP256(message, privateKey))
      expect(verify('sha256', message, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true)
    }
  })

  it('signs statements with either algorithm', () => {
    for (const [alg, pair] of [
      ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
      ['EdDSA', generateKeyPairSync('ed25519')],
    ] as const) {
      const key = { kid: 'k', alg, privateKey: pair.privateKey }
      expect(signSteadily('x', { a: 1 }, key)).toBe(signSteadily('x', { a: 1 }, key))
    }
  })

  it('refuses a key of another curve', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' })
    expect(() => signP256(Buffer.from('x'), privateKey)).toThrow(/The signing key is not a P-256 key/)
  })
})
