import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkAncestry, DagChecker } from './dag'
import { refusal, WID } from './testing/ledgers'

const token = (jti: string, par: string[] = [], iat = 1000, wid: string | undefined = WID) => ({
  jti,
  par,
  iat,
  wid,
})
const [A, B, C] = [randomUUID(), randomUUID(), randomUUID()] as const
const OTHER = randomUUID()

function ledger(...tokens: ReturnType<typeof token>[]): DagChecker {
  const dag = new DagChecker()
  for (const one of tokens) dag.add(one)
  return dag
}

describe('the DAG', () => {
  it('takes tokens whose parents stand before them', () => {
    expect(ledger(token(A), token(B, [A]), token(C, [A, B])).has(C, WID)).toBe(true)
  })

  it('tolerates a parent 30 s later than its child, and no more', async () => {
    ledger(token(A, [], 1030), token(B, [A], 1000))
    const refused = await refusal(() => ledger(token(A, [], 1031), token(B, [A], 1000)))
    expect(refused.code).toBe('ect_parent_later')
    expect(refused.words).toContain('was issued 31 s after its child')
  })

  it('refuses a jti twice in a run', async () => {
    const refused = await refusal(() => ledger(token(A), token(A)))
    expect(refused).toEqual({
      code: 'ect_duplicate_jti',
      words: `A token with the jti ${A} is already in the ledger`,
    })
  })

  it('lets two runs use one jti, but not where there is no run', async () => {
    ledger(token(A), token(A, [], 1000, OTHER))
    const nowhere = { jti: A, par: [], iat: 1000 }
    expect((await refusal(() => ledger(token(A)).add(nowhere))).code).toBe('ect_duplicate_jti')
    const dag = new DagChecker()
    dag.add(nowhere)
    expect((await refusal(() => dag.add(token(A)))).code).toBe('ect_duplicate_jti')
  })

  it('refuses an unknown parent, and does not keep the token', async () => {
    const dag = ledger(token(A))
    const refused = await refusal(() => dag.add(token(B, [C])))
    expect(refused.code).toBe('ect_parent_unknown')
    expect(refused.words).toContain(`The parent ${C} of token ${B}`)
    expect(dag.has(B, WID)).toBe(false)
  })

  it('refuses a token that is its own parent', async () => {
    expect((await refusal(() => ledger(token(A, [A])))).code).toBe('ect_cycle')
  })

  it('takes a parent of another run only over a recorded link', async () => {
    const dag = ledger(token(A, [], 1000, OTHER))
    expect((await refusal(() => dag.add(token(B, [A])))).code).toBe('ect_parent_foreign')
    dag.recordLink(B, A)
    dag.add(token(B, [A]))
    expect((await refusal(() => dag.add(token(C, [A])))).code).toBe('ect_parent_foreign')
  })

  it('names the duplicate before the unknown parent, and that before the late one', async () => {
    const dag = ledger(token(A, [], 5000))
    expect((await refusal(() => dag.add(token(A, [C])))).code).toBe('ect_duplicate_jti')
    expect((await refusal(() => dag.add(token(B, [C, A])))).code).toBe('ect_parent_unknown')
  })

  it('takes any order that has parents first, and no other', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 30 }),
        fc.nat(),
        (shape, cut) => {
          const tokens = shape.map((_, at) => token(randomUUID(), [], at))
          for (const [at, picks] of shape.entries()) {
            if (at > 0)
              (tokens[at] as { par: string[] }).par = picks.map(
                (pick) => (tokens[pick % at] as { jti: string }).jti,
              )
          }
          expect(() => ledger(...tokens)).not.toThrow()
          const missing = tokens[cut % tokens.length] as { jti: string }
          const rest = tokens.filter((one) => one !== missing)
          const isNeeded = rest.some((one) => one.par.includes(missing.jti))
          if (isNeeded) expect(() => ledger(...rest)).toThrow('is not in the ledger')
          else expect(() => ledger(...rest)).not.toThrow()
        },
      ),
    )
  })
})

describe('tokens from outside, in any order', () => {
  it('may not be their own ancestors', async () => {
    const parents = new Map<string, string[]>([
      [A, [B]],
      [B, [C]],
      [C, [A]],
    ])
    expect((await refusal(() => checkAncestry({ jti: A, par: [B] }, (jti) => parents.get(jti)))).code).toBe(
      'ect_cycle',
    )
    checkAncestry({ jti: A, par: [B] }, (jti) => (jti === B ? [C] : undefined))
  })

  it('are walked for 10,000 ancestors and then refused', async () => {
    const walk = (ancestors: number) =>
      checkAncestry({ jti: A, par: ['1'] }, (jti) =>
        Number(jti) < ancestors ? [String(Number(jti) + 1)] : undefined,
      )
    walk(10_000)
    const refused = await refusal(() => walk(10_001))
    expect(refused).toMatchObject({
      code: 'ect_too_many_ancestors',
      words: expect.stringContaining('more than 10000'),
    })
  })
})
