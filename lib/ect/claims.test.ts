import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '@/lib/base/json'
import { parseClaims } from './claims'
import { claims, refusal } from './testing/ledgers'

const nested = (levels: number): JsonObject => (levels <= 1 ? {} : { a: nested(levels - 1) })
const json = (over: Record<string, unknown>): unknown => ({ ...claims(), ...over })

describe('claims', () => {
  it('come out as they went in', () => {
    const given = claims({
      par: [claims().jti],
      out_hash: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
      ext: { 'atd.ttl': 1 },
    })
    expect(parseClaims(JSON.parse(JSON.stringify(given)))).toEqual(given)
  })

  it('are read in the newer spelling and come out in ours', () => {
    const { par, ...rest } = claims()
    const read = parseClaims({ ...rest, pred: par, ect_ext: { 'atd.ttl': 60 } })
    expect(read.par).toEqual([])
    expect(read.ext).toEqual({ 'atd.ttl': 60 })
    expect(read).not.toHaveProperty('pred')
  })

  it('have one spelling of a UUID', () => {
    const jti = '7F3A0C1E-5B1D-4C1E-9D2A-0C1E5B1DC2E1'
    expect(parseClaims(json({ jti })).jti).toBe(jti.toLowerCase())
  })

  it.each([
    ['both spellings of parents', json({ pred: [] }), 'ect_claim_invalid', 'both "par" and "pred"'],
    [
      'both spellings of ext',
      json({ ext: {}, ect_ext: {} }),
      'ect_claim_invalid',
      'both "ext" and "ect_ext"',
    ],
    ['no parents', json({ par: undefined }), 'ect_claim_invalid', '"par" is nothing; expected a list'],
    ['parents that are no list', json({ par: 'x' }), 'ect_claim_invalid', '"par" is "x"'],
    [
      'a parent that is no UUID',
      json({ par: ['x'] }),
      'ect_claim_invalid',
      '"par[0]" is "x"; expected a UUID',
    ],
    ['a bad jti', json({ jti: 'run-1' }), 'ect_claim_invalid', '"jti" is "run-1"; expected a UUID'],
    ['a bad wid', json({ wid: 7 }), 'ect_claim_invalid', '"wid" is 7'],
    [
      'an iss that is no URI',
      json({ iss: 'agent' }),
      'ect_claim_invalid',
      '"iss" is "agent"; expected a SPIFFE id',
    ],
    ['an empty audience', json({ aud: [] }), 'ect_claim_invalid', '"aud" is a list'],
    ['an iat that is text', json({ iat: '5' }), 'ect_claim_invalid', '"iat" is "5"; expected whole seconds'],
    ['an iat with a fraction', json({ iat: 1.5 }), 'ect_claim_invalid', '"iat" is 1.5'],
    ['a negative exp', json({ exp: -1 }), 'ect_claim_invalid', '"exp" is -1'],
    ['an exp that is null', json({ exp: null }), 'ect_claim_invalid', '"exp" is null'],
    ['an empty act', json({ exec_act: '' }), 'ect_claim_invalid', '"exec_act" is ""'],
    ['a prefixed hash', json({ out_hash: 'sha256:00' }), 'ect_claim_invalid', '43 characters of base64url'],
    [
      'a hash with spare bits',
      json({ inp_hash: `${'A'.repeat(42)}B` }),
      'ect_claim_invalid',
      '"inp_hash" is',
    ],
    [
      'an ext that is a list',
      json({ ext: [] }),
      'ect_claim_invalid',
      '"ext" is a list; expected a JSON object',
    ],
    ['an ext that is null', json({ ext: null }), 'ect_claim_invalid', '"ext" is null'],
    ['six levels', json({ ext: nested(6) }), 'ect_ext_too_deep', 'more than 5 levels deep'],
    ['two thousand levels', json({ ext: nested(2000) }), 'ect_ext_too_deep', 'more than 5 levels'],
    [
      'a long ext',
      json({ ext: { a: 'x'.repeat(4089) } }),
      'ect_ext_too_long',
      '4097 bytes long; at most 4096',
    ],
    ['a wide ext', json({ ext: { a: 'é'.repeat(2045) } }), 'ect_ext_too_long', '4098 bytes'],
    [
      '101 parents',
      json({ par: Array(101).fill(claims().jti) }),
      'ect_too_many_parents',
      'names 101 parents; at most 100',
    ],
    ['a list', [], 'ect_claim_invalid', 'The payload is a list'],
    ['nothing', undefined, 'ect_claim_invalid', 'The payload is nothing'],
  ])('refuse %s', async (_what, given, code, words) => {
    const refused = await refusal(() => parseClaims(given))
    expect(refused.code).toBe(code)
    expect(refused.words).toContain(words)
  })

  it('may have five levels, 4,096 bytes and 100 parents', () => {
    expect(parseClaims(json({ ext: nested(5) })).ext).toEqual(nested(5))
    expect(() => parseClaims(json({ ext: { a: 'x'.repeat(4088) } }))).not.toThrow()
    expect(() => parseClaims(json({ par: Array(100).fill(claims().jti) }))).not.toThrow()
  })

  it('are parsed or refused with a short sentence, whatever comes', () => {
    fc.assert(
      fc.property(
        fc.record({ iss: fc.anything(), aud: fc.anything(), par: fc.anything(), ext: fc.anything() }),
        (odd) => {
          try {
            parseClaims({ ...claims(), ...odd })
          } catch (error) {
            expect(error).toMatchObject({ name: 'Problem' })
            expect((error as Error).message.length).toBeLessThan(300)
          }
        },
      ),
    )
  })
})
