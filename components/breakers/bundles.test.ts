import { describe, expect, it } from 'vitest'
import type { CircuitRow } from '@/lib/view/circuit-wire'
import { bundleWords, type Line, offeredOf, rowsAt, sharedParty } from './bundles'

function row(caller: string, downstream: string): CircuitRow {
  const party = (name: string, kind: 'workflow' | 'agent') => ({ id: `${kind}:${name}`, kind, name })
  return {
    id: `${caller} ${downstream}`,
    caller: party(caller, 'workflow'),
    downstream: party(downstream, 'agent'),
  } as CircuitRow
}

/** Each goes right from its caller to x = 100, down or up to the called one's height, and right into it. */
const line = (caller: string, y: number, called = 'router', to = 50): Line => ({
  row: row(caller, called),
  points: [
    { x: 0, y },
    { x: 100, y },
    { x: 100, y: to },
    { x: 200, y: to },
  ],
  words: { x: 50, y },
})
const lines = [line('a', 0), line('b', 100), line('c', 200), line('a', 0, 'mailer', 300)]
const names = (x: number, y: number) => rowsAt(lines, { x, y }).map(({ id }) => id)

describe('lines that are drawn as one', () => {
  it('are all meant where they run together, and one where it runs alone', () => {
    expect(names(150, 52)).toEqual(['a router', 'b router', 'c router'])
    expect(names(100, 150)).toEqual(['c router'])
    expect(names(50, 104)).toEqual(['b router'])
    expect(names(50, 150)).toEqual([])
  })

  it('are those of one caller where its ways begin', () => {
    expect(names(20, 3)).toEqual(['a router', 'a mailer'])
  })

  it('offer those of the line that was clicked, also where their agent has more and others', () => {
    const party = { id: 'agent:router', name: 'router' }
    const all = lines.slice(0, 3).map((one) => one.row)
    const offered = (rows: CircuitRow[], isStretch: boolean) => {
      const { label, items } = offeredOf(party, rows, isStretch)
      return [label, ...items.map(({ name }) => name)]
    }
    expect(offered(all, false)).toEqual(['Breakers to router, by caller', 'a', 'b', 'c'])
    expect(offered(all.slice(1), true)).toEqual(['Breakers on this line to router, by caller', 'b', 'c'])
    const calls = [row('router', 'mailer'), row('router', 'dns')]
    expect(offered(calls, true)).toEqual([
      'Breakers on this line of router, by what it calls',
      'mailer',
      'dns',
    ])
  })

  it('say whom they share, and who they are', () => {
    const [a, b, c, d] = lines.map((one) => one.row) as [CircuitRow, CircuitRow, CircuitRow, CircuitRow]
    expect(sharedParty([a, b])).toBe('agent:router')
    expect(sharedParty([a, d])).toBe('workflow:a')
    expect(sharedParty([a])).toBeUndefined()
    expect(bundleWords([a])).toBe('a to router')
    expect(bundleWords([c, a, b])).toBe('3 callers of router: a, b, c')
    expect(bundleWords([a, d])).toBe('a calls 2: mailer, router')
    const many = Array.from({ length: 14 }, (_, at) => row(`w${at + 10}`, 'router'))
    expect(bundleWords(many)).toBe(
      '14 callers of router: w10, w11, w12, w13, w14, w15, w16, w17, w18, w19, w20, w21 and 2 more',
    )
    expect(bundleWords(many.slice(1))).toContain('w22, w23')
    expect(bundleWords([])).toBe('')
  })
})
