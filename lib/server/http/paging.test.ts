import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { isProblem, type Problem } from '@/lib/base/problem'
import { depthOf } from './body'
import { cursorFor, pageOf, placeOf, queryOf } from './paging'

function problemOf(work: () => unknown): Problem {
  try {
    work()
  } catch (error) {
    if (isProblem(error)) return error
    throw error
  }
  throw new Error('Nothing was refused')
}

describe('pages', () => {
  it('takes a limit from 1 to 200, and 50 unless said', () => {
    expect(pageOf(new URL('http://h/?limit=200&cursor=abc'))).toEqual({ limit: 200, cursor: 'abc' })
    expect(pageOf(new URL('http://h/'))).toEqual({ limit: 50 })
    for (const bad of ['0', '201', '1.5', 'x', '']) {
      const problem = problemOf(() => pageOf(new URL(`http://h/?limit=${bad}`)))
      expect(problem.code).toBe('bad_request')
      expect(problem.message).toContain('from 1 to 200')
    }
  })

  it('gives back the place a cursor was made of', () => {
    const place = z.strictObject({ at: z.number(), id: z.string() })
    fc.assert(
      fc.property(fc.integer(), fc.string(), (at, id) => {
        expect(placeOf(cursorFor({ at, id }), place)).toEqual({ at, id })
      }),
    )
  })

  it('refuses a cursor that it did not give out', () => {
    for (const cursor of ['', '!!', 'AAAA', cursorFor({ at: 'x' }), 'e'.repeat(2_000)]) {
      const problem = problemOf(() => placeOf(cursor, z.strictObject({ at: z.number() })))
      expect(problem.code).toBe('cursor_invalid')
      expect(problem.message).toContain('begin again without it')
    }
  })

  it('refuses a parameter that is given twice', () => {
    const schema = z.object({ state: z.string().optional() })
    expect(queryOf(new URL('http://h/?state=open'), schema)).toEqual({ state: 'open' })
    const problem = problemOf(() => queryOf(new URL('http://h/?state=a&state=b'), schema))
    expect(problem.message).toContain('"state" twice')
  })
})

describe('nesting', () => {
  it('is what a parser would find, whatever strings hold', () => {
    const depth = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(depthOf(text)).toBe(depth(JSON.parse(text)))
      }),
    )
  })
})
