import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ReverseIndex } from './blast-radius'

describe('the blast radius', () => {
  it('is what follows from a token, and the agents that acted in it', () => {
    const index = new ReverseIndex()
    index.add('start', [])
    index.add('update', ['start'], 'spiffe://example.com/router')
    index.add('monitor', ['update'], 'spiffe://example.com/monitor')
    index.add('aside', ['start'], 'spiffe://example.com/other')
    expect(index.blastRadius('update')).toEqual({
      tokens: ['monitor'],
      agents: ['spiffe://example.com/router', 'spiffe://example.com/monitor'],
    })
    expect(index.blastRadius('monitor').tokens).toEqual([])
    expect(index.blastRadius('stranger')).toEqual({ tokens: [], agents: [] })
  })

  it('is the same whatever order tokens arrive in', () => {
    const index = new ReverseIndex()
    index.add('c', ['b'])
    index.add('b', ['a'])
    index.add('a', [])
    expect(index.blastRadius('a').tokens).toEqual(['b', 'c'])
  })

  it('agrees with a walk over every token', () => {
    const dags = fc.array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(dags, fc.nat(), (shape, pick) => {
        const tokens = shape.map((picks, at) => ({
          jti: `t${at}`,
          par: at === 0 ? [] : picks.map((p) => `t${p % at}`),
        }))
        const index = new ReverseIndex()
        for (const { jti, par } of tokens) index.add(jti, par)
        const start = `t${pick % tokens.length}`
        const reached = new Set([start])
        for (const { jti, par } of tokens) if (par.some((parent) => reached.has(parent))) reached.add(jti)
        reached.delete(start)
        expect(new Set(index.blastRadius(start).tokens)).toEqual(reached)
      }),
    )
  })
})
