import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import type { FlagView } from '@/lib/view/flag-wire'
import type { ProblemDetails } from '@/lib/view/wire'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { startRun } from '../runs'
import { type Browser, TestConsole } from '../testing/console'
import { keepDerived } from '../workflows'
import { postFlag } from './flags'

/** measure ▶ decide ▶ tell: each reads the one before; log follows measure and reads nothing of it. */
const graph = graphOf(
  {
    measure: { kind: 'transform', label: 'Measure' },
    decide: { kind: 'transform', label: 'Decide' },
    tell: { kind: 'transform', label: 'Tell' },
    log: { kind: 'transform', label: 'Log' },
  },
  ['measure>decide', 'decide>tell', 'measure>log'],
)

const reads: Record<string, string[]> = { measure: [], decide: ['measure'], tell: ['decide'], log: [] }
const order = ['measure', 'decide', 'tell', 'log']

let at: TestConsole
let operator: Browser
let viewer: Browser
let run: RunId
beforeAll(async () => {
  at = await TestConsole.open()
  operator = await at.person('olga', 'operator')
  viewer = await at.person('vera', 'viewer')
})
afterAll(() => at.close())

beforeEach(async () => {
  const version = await keepDerived(at.house, graph, 'person:ada')
  run = await startRun(at.house, { version, input: {}, by: 'person:ada', dryRun: false })
})

async function done(nodes: string[]): Promise<void> {
  const { book } = at.house
  for (const node of nodes) {
    const action = { hash: sha256(node), consequence: 'read_only', target: '', sentence: '' } as const
    await book.execute(run, {
      type: 'begin',
      node,
      visit: 1,
      action: { ...action, reads: reads[node] ?? [] },
    })
    await book.execute(run, { type: 'succeeded', node, visit: 1, attempt: 1, output: sha256(`${node} gave`) })
  }
}

const flag = (who: Browser, body: object, headers: Record<string, string> = {}) =>
  who.ask<FlagView & ProblemDetails>(postFlag, 'POST', { params: { run }, body, headers })
const stateOf = (node: string) =>
  at.house.book.read(run, (folded) => ({ run: folded.state.status, ...folded.visits.get(node)?.state }))

describe('a step that somebody calls wrong', () => {
  it('counts as failed, with who said so and why, and the answer names what was made from it', async () => {
    await done(order.slice(0, 3))
    const { status, body } = await flag(operator, {
      node: 'measure',
      visit: 1,
      reason: 'Read the wrong port',
    })
    expect(status).toBe(200)
    expect(body.dependents.map(({ node, direct, reads }) => ({ node, direct, reads }))).toEqual([
      { node: 'decide', direct: true, reads: ['measure'] },
      { node: 'tell', direct: false, reads: ['decide'] },
    ])
    expect(await stateOf('measure')).toMatchObject({
      status: 'failed',
      error: {
        jti: body.token,
        code: 'semantic_failure',
        description: 'person:olga finds that this is wrong: Read the wrong port',
      },
    })
  })

  it('is so in a run that has ended, too', async () => {
    await done(order)
    await at.house.book.execute(run, { type: 'finish' })
    expect(await stateOf('tell')).toMatchObject({ run: 'ended', status: 'done' })
    expect((await flag(operator, { node: 'tell', reason: 'It told the wrong people' })).status).toBe(200)
    expect(await stateOf('tell')).toMatchObject({ run: 'ended', status: 'failed' })
  })

  it('is said once, however often the same request is sent', async () => {
    await done(order.slice(0, 1))
    const wish = { node: 'measure', reason: 'Read the wrong port' }
    const key = { 'idempotency-key': 'one-finding-0123456789' }
    const first = await flag(operator, wish, key)
    const again = await flag(operator, wish, key)
    expect(first.status).toBe(200)
    expect([again.status, again.body]).toEqual([first.status, first.body])
    const other = await flag(operator, wish)
    expect(other.body).toMatchObject({
      status: 409,
      code: 'run_moved_on',
      detail: expect.stringContaining(
        'measure is failed; only what a finished step gave can be called wrong',
      ),
    })
  })

  it('must be finished, known, and said by an operator with a reason', async () => {
    await done(order.slice(0, 1))
    expect((await flag(operator, { node: 'decide', reason: 'no' })).body).toMatchObject({
      code: 'run_moved_on',
      detail: expect.stringContaining('decide is pending'),
    })
    expect((await flag(operator, { node: 'nobody', reason: 'no' })).body).toMatchObject({
      code: 'not_found',
      detail: expect.stringContaining('no step "nobody"'),
    })
    expect((await flag(operator, { node: 'measure', reason: '   ' })).body).toMatchObject({
      code: 'bad_request',
      detail: expect.stringContaining('say what is wrong'),
    })
    expect((await flag(viewer, { node: 'measure', reason: 'no' })).body).toMatchObject({
      status: 403,
      code: 'role_missing',
    })
  })
})
