import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { canonicalJson } from './canonical-json'
import { systemRandom } from './chance'
import { hashJson, isHash, sha256 } from './hash'
import { mintUuid, prefixed, runIdOf, widOf } from './ids'
import { isJsonObject } from './json'
import { isProblem, Problem, problemStatus } from './problem'

describe('canonical JSON (RFC 8785)', () => {
  it.each<[string, unknown, string]>([
    [
      'sorts members by UTF-16 code units',
      { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, ö: 6 },
      '{"\\r":2,"1":4,"ö":6,"€":1,"😀":5,"\ufb33":3}',
    ],
    [
      'sorts at every depth, and keeps lists in order',
      { b: [{ d: 1, c: 2 }, 0], a: {} },
      '{"a":{},"b":[{"c":2,"d":1},0]}',
    ],
    [
      'writes numbers as JavaScript does',
      [1 / 3, 1e30, 4.5, 2e-3, 1e-27, -0, 1e21, 100],
      '[0.3333333333333333,1e+30,4.5,0.002,1e-27,0,1e+21,100]',
    ],
    ['escapes only what must be', '\u20ac$\u000f\nA\'B"\\\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'],
    ['writes literals', [null, true, false], '[null,true,false]'],
  ])('%s', (_what, value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })

  it('gives one text to one value, whatever the order of its members', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse())
        expect(canonicalJson(reversed)).toBe(canonicalJson(value))
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(JSON.parse(canonicalJson(value)))).toBe(canonicalJson(value))
      }),
    )
  })

  it('refuses what JSON cannot say', () => {
    for (const value of [undefined, Number.NaN, Number.POSITIVE_INFINITY, [1, Number.NaN]]) {
      expect(() => canonicalJson(value)).toThrow()
    }
  })
})

describe('hashes', () => {
  it('are SHA-256 of raw octets in base64url', () => {
    expect(sha256('test')).toBe('n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg')
    expect(sha256(new TextEncoder().encode('test'))).toBe(sha256('test'))
    expect(hashJson({ b: 1, a: 2 })).toBe(sha256('{"a":2,"b":1}'))
    expect(isHash(sha256(''))).toBe(true)
    for (const other of ['', 'x'.repeat(44), '='.repeat(43), 7, undefined]) expect(isHash(other)).toBe(false)
  })
})

describe('ids', () => {
  it('turn into run ids and back', () => {
    expect(runIdOf('7f3a0c1e-5b1d-4c1e-9d2a-0c1e5b1dc2e1')).toBe('run_7f3a0c1e5b1d4c1e9d2a0c1e5b1dc2e1')
    fc.assert(
      fc.property(fc.uuid(), (wid) => {
        expect(widOf(runIdOf(wid))).toBe(wid)
      }),
    )
    expect(widOf(runIdOf(mintUuid()))).toMatch(/^[0-9a-f-]{36}$/)
    expect(prefixed('rb', '7f3a0c1e-5b1d-4c1e-9d2a-0c1e5b1dc2e1')).toBe('rb_7f3a0c1e5b1d4c1e9d2a0c1e5b1dc2e1')
  })

  it.each([
    '',
    'run_',
    'run_7F3A0C1E5B1D4C1E9D2A0C1E5B1DC2E1',
    'appr_7f3a0c1e5b1d4c1e9d2a0c1e5b1dc2e1',
    `run_${'a'.repeat(33)}`,
  ])('refuse %j as a run id', (text) => {
    expect(() => widOf(text)).toThrow('is not a run id; expected run_ and 32 hex digits')
  })

  it('are never drawn twice', () => {
    expect(systemRandom(12)).toHaveLength(12)
    expect(systemRandom(12)).not.toEqual(systemRandom(12))
  })
})

describe('problems', () => {
  it('carry their code, status, sentence and data', () => {
    const problem = new Problem('checkpoint_expired', 'The checkpoint expired 4 s ago', { jti: 'x' })
    expect(problem).toMatchObject({
      status: 409,
      message: 'The checkpoint expired 4 s ago',
      data: { jti: 'x' },
    })
    expect(isProblem(problem)).toBe(true)
    expect(isProblem(problem, 'checkpoint_missing')).toBe(false)
    expect(isProblem(new Error('x'))).toBe(false)
    for (const status of Object.values(problemStatus)) expect(status).toBeGreaterThanOrEqual(400)
  })

  it('is known across bundles that each have a copy of the class', async () => {
    vi.resetModules()
    const elsewhere = await import('./problem')
    expect(elsewhere.Problem).not.toBe(Problem)
    expect(isProblem(new elsewhere.Problem('not_found', 'x'), 'not_found')).toBe(true)
  })
})

it('an object is neither null nor a list', () => {
  expect([{}, [], null, 'a', undefined].map(isJsonObject)).toEqual([true, false, false, false, false])
})
