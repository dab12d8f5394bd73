import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ActOrder } from './act-order'
import { onCriticalPath } from './critical-path'
import type { PlannedStep } from './plan'
import { actKey, judge, unpreparedSentence } from './votes'

function graphOf(order: string[], edges: readonly (readonly [string, string])[]) {
  const of = (
    pick: (edge: readonly [string, string]) => string,
    give: (edge: readonly [string, string]) => string,
  ) => new Map(order.map((node) => [node, edges.filter((edge) => pick(edge) === node).map(give)]))
  return {
    parents: of(
      ([, to]) => to,
      ([from]) => from,
    ),
    children: of(
      ([from]) => from,
      ([, to]) => to,
    ),
  }
}

const step = (node: string, more: Partial<PlannedStep> = {}): PlannedStep => ({
  node,
  label: node,
  visit: 1,
  fate: 'restored',
  checkpointId: `ckpt-${node}`,
  target: `target of ${node}`,
  sentence: '',
  ...more,
})

/*  a ─▶ b ─▶ c
 *  ╰──▶ d         */
const GRAPH = graphOf(
  ['a', 'b', 'c', 'd'],
  [
    ['a', 'b'],
    ['b', 'c'],
    ['a', 'd'],
  ],
)
const nodes = (acts: readonly { node: string }[]) => acts.map(({ node }) => node)

describe('the order of acts', () => {
  it('frees a step when all that followed from it is over, also across steps that stay', () => {
    const [a, c, d] = [step('a'), step('c'), step('d')]
    const order = new ActOrder([c, d, a], GRAPH)
    expect(nodes(order.take())).toEqual(['c', 'd'])
    order.over(d)
    expect(order.take()).toEqual([])
    order.over(c)
    expect(nodes(order.take())).toEqual(['a'])
    expect(order.isOver).toBe(false)
    order.over(a)
    expect(order.isOver).toBe(true)
  })

  it('takes the checkpoints of one step, and the visits of a walk, one by one', () => {
    const [late, early] = [step('b', { checkpointId: '2' }), step('b', { checkpointId: '1' })]
    const order = new ActOrder([late, early], GRAPH)
    expect(order.take()).toEqual([late])
    order.over(late)
    expect(order.take()).toEqual([early])

    const chain = new ActOrder([step('b'), step('a'), step('b')], 'chain')
    expect(chain.take().length).toBe(1)
    expect(chain.take()).toEqual([])
  })

  it('hands out every act once, never before what follows from it, whatever ends first', () => {
    const graphs = fc.integer({ min: 1, max: 9 }).chain((size) =>
      fc.record({
        size: fc.constant(size),
        edges: fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { maxLength: 20 }),
        stays: fc.array(fc.nat(size - 1)),
        turns: fc.array(fc.nat(), { minLength: size, maxLength: size }),
      }),
    )
    fc.assert(
      fc.property(graphs, ({ size, edges, stays, turns }) => {
        const order = Array.from({ length: size }, (_, at) => `n${at}`)
        const drawn = edges
          .filter(([from, to]) => from < to)
          .map(([from, to]) => [`n${from}`, `n${to}`] as const)
        const graph = graphOf(order, drawn)
        const acts = order.filter((_, at) => !stays.includes(at)).map((node) => step(node))
        const acting = new ActOrder(acts, graph)
        const inHand: PlannedStep[] = []
        const over = new Set<string>()
        for (let at = 0; !acting.isOver; at++) {
          for (const act of acting.take()) {
            const following = acts.filter(
              ({ node }) => node !== act.node && follows(node, act.node, graph.parents),
            )
            expect(following.every(({ node }) => over.has(node))).toBe(true)
            inHand.push(act)
          }
          const [ended] = inHand.splice((turns[at] as number) % inHand.length, 1)
          over.add((ended as PlannedStep).node)
          acting.over(ended as PlannedStep)
        }
        expect(over.size).toBe(acts.length)
      }),
    )
  })
})

function follows(node: string, from: string, parents: ReadonlyMap<string, readonly string[]>): boolean {
  return (parents.get(node) ?? []).some((parent) => parent === from || follows(parent, from, parents))
}

describe('the critical path', () => {
  const [a, b, c, d] = [step('a'), step('b'), step('c'), step('d')]
  const critical = (left: PlannedStep[], acts = [c, d, b, a]) =>
    nodes([...onCriticalPath(acts, new Set(left), GRAPH)])

  it('has every step on it that rests on one which would be undone', () => {
    expect(critical([a])).toEqual([])
    expect(critical([b])).toEqual(['b'])
    expect(critical([c])).toEqual(['c'])
    expect(critical([c, b, a])).toEqual([])
    expect(critical([a, b])).toEqual([])
  })

  it('has a step on it whose target another would be put back over', () => {
    const same = [step('c', { target: 'qos.conf' }), step('d', { target: 'qos.conf' })]
    const apart = graphOf(['c', 'd'], [])
    expect(nodes([...onCriticalPath(same, new Set(same.slice(0, 1)), apart)])).toEqual(['c'])
    expect(nodes([...onCriticalPath(same, new Set(same.slice(1)), apart)])).toEqual([])
  })

  it('is the whole of a walk but its first step', () => {
    const walk = [step('c'), step('b'), step('a')]
    expect(nodes([...onCriticalPath(walk, new Set(walk.slice(1, 2)), 'chain')])).toEqual(['b'])
    expect(nodes([...onCriticalPath(walk, new Set(walk.slice(2)), 'chain')])).toEqual([])
  })
})

describe('the votes', () => {
  const acts = [step('c'), step('d'), step('b'), step('a')]
  const votes = (cannot: string[]) =>
    new Map(
      acts.map((act) => [
        actKey(act),
        { vote: cannot.includes(act.node) ? ('cannot_prepare' as const) : ('prepared' as const) },
      ]),
    )

  it('let everything be done when all are prepared', () => {
    expect(judge(acts, votes([]), GRAPH)).toEqual({ decision: 'execute' })
  })

  it('surprise nobody with what the plan showed as impossible', () => {
    const shown = [step('c', { fate: 'irreversible' }), ...acts.slice(1)]
    expect(judge(shown, votes(['c']), GRAPH)).toEqual({ decision: 'execute' })
  })

  it.each([
    ['ask', ['a'], undefined],
    ['ask', ['a'], 'ask'],
    ['partial', ['a'], 'partial'],
    ['ask', ['b'], 'partial'],
    ['ask', ['a', 'b', 'c', 'd'], 'partial'],
    ['abort', ['a'], 'abort'],
  ] as const)('come to "%s" when %j cannot and the rule is %s', (decision, cannot, rule) => {
    expect(judge(acts, votes([...cannot]), GRAPH, rule).decision).toBe(decision)
  })

  it('count a holder that never answered as unprepared', () => {
    expect(judge(acts, new Map(), GRAPH)).toMatchObject({ decision: 'ask', unprepared: acts })
  })

  it('are told in a sentence that fits into a question', () => {
    const many = Array.from({ length: 20 }, (_, at) => ({
      label: `A step with a long name ${at}`,
      reason: 'expired' as const,
    }))
    const sentence = unpreparedSentence(many, many, 3)
    expect(sentence).toMatch(/and 17 more cannot be taken back; 3 other steps can be taken back without\./)
    expect(sentence.length).toBeLessThan(600)
    const changed = { label: 'Write the uplinks', reason: 'hash_mismatch', changedBy: 'somebody' } as const
    expect(unpreparedSentence([changed], [], 0)).toBe(
      '"Write the uplinks" cannot be taken back: its target was changed since; nothing else is left to take back.',
    )
  })
})
