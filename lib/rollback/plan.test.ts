import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256 } from '@/lib/base/hash'
import { isProblem } from '@/lib/base/problem'
import { rollbackDeadline } from './deadline'
import { overallStatus, statusWithoutAct } from './outcome'
import { checkExecutable, type PlanInput, planRollback, type StepCheckpoint, type StepNow } from './plan'
import { rollbackScopes, scopeOfCascade } from './scope'
import { planSentence } from './sentence'
import type { RollbackStatus } from './terms'

const NOW = 1_795_252_471_000

function graphOf(order: string[], edges: readonly (readonly [string, string])[]) {
  const parents = new Map(
    order.map((node) => [node, edges.filter(([, to]) => to === node).map(([from]) => from)]),
  )
  const children = new Map(
    order.map((node) => [node, edges.filter(([from]) => from === node).map(([, to]) => to)]),
  )
  return { order, parents, children }
}

function sealed(over: Partial<StepCheckpoint> & { of: string }): StepCheckpoint {
  const { of, ...rest } = over
  return {
    jti: `ckpt-${of}`,
    snapshot: sha256(of),
    undo: 'restore',
    reversible: true,
    at: NOW - 60_000,
    ttlS: 86_400,
    target: `the config of ${of}`,
    description: '',
    verification: 'ok',
    ...rest,
  }
}

const step = (node: string, over: Partial<StepNow> = {}): StepNow => ({
  node,
  label: node,
  visit: 1,
  status: 'done',
  reads: [],
  consequence: 'read_only',
  ...over,
})
const changed = (
  node: string,
  over: Partial<StepNow> = {},
  checkpoint: Partial<StepCheckpoint> = {},
): StepNow =>
  step(node, { consequence: 'reversible', checkpoint: sealed({ of: node, ...checkpoint }), ...over })

/*  validate ─▶ update ─▶ verify
 *                 ╰────▶ notify        */
const GRAPH = graphOf(
  ['validate', 'update', 'verify', 'notify'],
  [
    ['validate', 'update'],
    ['update', 'verify'],
    ['update', 'notify'],
  ],
)

function planOf(steps: StepNow[], over: Partial<PlanInput> = {}) {
  return planRollback({
    run: 'run_7f',
    seq: 40,
    now: NOW,
    node: 'update',
    role: { mayCoordinate: true },
    graph: GRAPH,
    steps: new Map(steps.map((one) => [one.node, one])),
    ...over,
  })
}

const fates = (plan: ReturnType<typeof planOf>) => plan.steps.map(({ node, fate }) => `${node} ${fate}`)

describe('a rollback plan', () => {
  it('leaves what a fork carried over, and does not begin there', () => {
    const steps = [step('validate', { carried: true }), step('update', { carried: true }), changed('verify')]
    const there = planOf(steps)
    expect(there.forbidden).toMatchObject({ code: 'rollback_forbidden', node: 'update' })
    expect(there.forbidden?.sentence).toMatch(/^"update" was carried over .* only that run can take it back/)
    const all = planOf(steps, { scope: 'full_workflow' })
    expect(all.forbidden).toBeUndefined()
    expect(fates(all)).toEqual(['verify restored'])
    expect(all.sentence).toBe('Restores 1 step, leaves 3.')
    expect(all.untouched).toContain('update')
    const carried = steps.slice(0, 2)
    expect(planOf(carried, { scope: 'full_workflow' }).forbidden).toMatchObject({
      code: 'rollback_nothing',
      sentence:
        'Only steps that were carried over from the run this one was forked from are done; roll back there',
    })
  })

  it('takes back one step when nobody used its output, and leaves the rest', () => {
    const plan = planOf([
      step('validate'),
      changed('update'),
      step('verify', { status: 'failed', reads: ['update'] }),
    ])
    expect(plan.scope).toBe('single')
    expect(fates(plan)).toEqual(['update restored'])
    expect(plan.untouched).toEqual(['validate', 'verify', 'notify'])
    expect(plan.sentence).toBe('Restores 1 step, leaves 3.')
    expect(plan.steps[0]).toMatchObject({
      checkpointId: 'ckpt-update',
      sealedHash: sha256('update'),
      sentence: 'Puts the config of update back to its state before "update".',
    })
    expect(plan.forbidden).toBeUndefined()
  })

  it('takes back only what was made from a step, where that is wished for', () => {
    const steps = [
      step('validate'),
      changed('update'),
      changed('verify', { reads: ['update'] }),
      changed('notify'),
    ]
    const made = planOf(steps, { scope: 'sub_dag', only: 'dependents' })
    expect(fates(made)).toEqual(['verify restored', 'update restored'])
    expect(made).toMatchObject({ scope: 'sub_dag', only: 'dependents' })
    const all = planOf(steps, { scope: 'sub_dag' })
    expect(fates(all)).toContain('notify restored')
    expect(all.digest).not.toBe(made.digest)
  })

  it('takes a group back by what it groups, the latest first', () => {
    const [late, early] = [sealed({ of: 'late' }), sealed({ of: 'early' })]
    const plan = planOf([step('validate'), { ...changed('update'), checkpoint: late, group: [late, early] }])
    expect(plan.steps.map(({ node, checkpointId }) => `${node} ${checkpointId}`)).toEqual([
      'update ckpt-late',
      'update ckpt-early',
    ])
    expect(plan.counts.untouched).toBe(3)
  })

  it('preselects the sub-DAG when a finished step used the output, and locks the smaller scope', () => {
    const steps = [step('validate'), changed('update'), changed('verify', { reads: ['update'] })]
    const plan = planOf(steps)
    expect(plan.scope).toBe('sub_dag')
    expect(fates(plan)).toEqual(['verify restored', 'update restored'])
    expect(plan.scopes).toEqual([
      {
        scope: 'single',
        sentence: 'Leaves everything as it is.',
        forbidden:
          '"verify" has finished and used the output of "update"; choose a wider scope that takes both back',
      },
      { scope: 'sub_dag', sentence: 'Restores 2 steps.' },
      { scope: 'full_workflow', sentence: 'Restores 2 steps, only sets back 1.' },
    ])
    const single = planOf(steps, { scope: 'single' })
    expect(fates(single)).toEqual(['update locked'])
    expect(single.forbidden).toMatchObject({ code: 'rollback_forbidden', node: 'verify', output: 'update' })
    expect(single.steps[0]?.sentence).toBe('"verify" has finished and used the output of "update".')
  })

  it('goes by what was read, not by what is drawn', () => {
    expect(planOf([changed('update'), changed('verify', { reads: [] })]).scope).toBe('single')
  })

  it('sees a reader that no edge leads to', () => {
    const graph = graphOf(['update', 'audit'], [])
    const plan = planOf([changed('update'), step('audit', { reads: ['update'] })], {
      graph,
      scope: 'sub_dag',
    })
    expect(plan.forbidden).toMatchObject({ code: 'rollback_forbidden', node: 'audit' })
    expect(planOf([changed('update'), step('audit', { reads: ['update'] })], { graph }).scope).toBe(
      'full_workflow',
    )
  })

  it('says what cannot be undone and why', () => {
    const steps = [
      changed('validate', {}, { reversible: false }),
      changed('update', { agent: 'spiffe://example.com/router' }, { undo: 'remote' }),
      changed('verify', {}, { undo: 'compensate' }),
      changed('notify', {}, { at: NOW - 86_400_000 }),
    ]
    const plan = planOf(steps, { scope: 'full_workflow' })
    expect(new Set(fates(plan))).toEqual(
      new Set(['notify refused', 'verify compensated', 'update restored', 'validate irreversible']),
    )
    expect(plan.sentence).toBe('Restores 1 step on 1 agent, compensates 1, cannot undo 1, cannot restore 1.')
    expect(plan.steps.map((one) => one.sentence)).toEqual(
      expect.arrayContaining([
        'the config of notify is not put back: its checkpoint has expired.',
        'router puts the config of update back to its state before "update".',
        'Runs the compensating action that "verify" declares against the config of verify.',
        '"validate" cannot be undone: a person is told what it did to the config of validate.',
      ]),
    )
  })

  it.each([
    ['tampered', 'its checkpoint does not verify'],
    ['missing', 'its sealed state is no longer stored'],
    ['expired', 'its checkpoint has expired'],
  ] as const)('refuses a step whose checkpoint is %s', (verification, words) => {
    const plan = planOf([changed('update', {}, { verification })])
    expect(plan.steps[0]).toMatchObject({ fate: 'refused', sentence: expect.stringContaining(words) })
  })

  it('tells a step without checkpoint by whether it can have had an effect', () => {
    const fateOf = (over: Partial<StepNow>) => planOf([step('update', over)]).steps[0]?.fate
    expect(fateOf({ consequence: 'read_only' })).toBe('reset')
    expect(fateOf({ consequence: 'reversible', status: 'failed' })).toBe('reset')
    expect(fateOf({ consequence: 'reversible', status: 'waiting' })).toBe('reset')
    expect(fateOf({ consequence: 'reversible', status: 'done' })).toBe('refused')
    expect(fateOf({ consequence: 'irreversible', status: 'done' })).toBe('irreversible')
  })

  it('takes back what a failed or retried attempt may have done', () => {
    for (const status of ['failed', 'waiting', 'escalated'] as const) {
      expect(fates(planOf([changed('update', { status })]))).toEqual(['update restored'])
    }
  })

  it('leaves alone what is rolled back already', () => {
    const steps = [changed('validate'), changed('update', { status: 'rolled_back' }), changed('verify')]
    const plan = planOf(steps, { scope: 'full_workflow' })
    expect(plan.steps.map(({ node }) => node)).toEqual(['verify', 'validate'])
    expect(plan.untouched).toEqual(['update', 'notify'])
    expect(planOf(steps, { scope: 'single' }).forbidden).toEqual({
      code: 'rollback_nothing',
      sentence: '"update" has not begun, or is rolled back already; there is nothing to take back',
    })
  })

  it('waits for a step that is running', () => {
    const inside = planOf([changed('update', { status: 'running' })], { scope: 'single' })
    expect(inside.forbidden).toMatchObject({ code: 'rollback_busy', node: 'update' })
    expect(inside.forbidden?.sentence).toBe(
      '"update" is running and would be rolled back; wait until it ends, or cancel the run',
    )
    const reader = planOf([changed('update'), step('verify', { status: 'running', reads: ['update'] })])
    expect(reader.forbidden?.sentence).toContain('"verify" is running with the output of "update"')
  })

  it('keeps the whole workflow for coordinators', () => {
    const plan = planOf([changed('update')], { scope: 'full_workflow', role: { mayCoordinate: false } })
    expect(plan.forbidden).toEqual({
      code: 'role_missing',
      sentence: 'Rolling back the whole workflow needs the coordinator role',
    })
  })

  it('knows its nodes', () => {
    expect(() => planOf([], { node: 'n9' })).toThrow('has no node "n9"')
  })

  it('undoes unrelated steps latest first', () => {
    const graph = graphOf(
      ['a', 'b', 'c', 'd'],
      [
        ['a', 'c'],
        ['b', 'd'],
      ],
    )
    const steps = [
      changed('a', {}, { at: NOW - 9_000 }),
      changed('b', {}, { at: NOW - 8_000 }),
      changed('c', {}, { at: NOW - 7_000 }),
      changed('d', {}, { at: NOW - 10 }),
    ]
    const plan = planOf(steps, { graph, node: 'a', scope: 'full_workflow' })
    expect(plan.steps.map(({ node }) => node)).toEqual(['d', 'c', 'b', 'a'])
  })

  it('keeps the order through a step that stays', () => {
    const graph = graphOf(
      ['a', 'b', 'c'],
      [
        ['a', 'b'],
        ['b', 'c'],
      ],
    )
    const steps = [
      changed('a', {}, { at: NOW }),
      changed('b', { status: 'rolled_back' }),
      changed('c', {}, { at: NOW - 1_000 }),
    ]
    expect(fates(planOf(steps, { graph, node: 'a', scope: 'sub_dag' }))).toEqual(['c restored', 'a restored'])
  })

  it('ends where a graph is cyclic', () => {
    const graph = graphOf(
      ['a', 'b'],
      [
        ['a', 'b'],
        ['b', 'a'],
      ],
    )
    const steps = [changed('a', {}, { at: NOW - 2 }), changed('b', {}, { at: NOW - 1 })]
    expect(planOf(steps, { graph, node: 'a', scope: 'sub_dag' }).steps.map(({ node }) => node)).toEqual([
      'b',
      'a',
    ])
  })
})

describe('a target that somebody else changed since', () => {
  const plan = (over: Partial<StepCheckpoint>) => planOf([changed('update', {}, over)], { scope: 'single' })

  it('is restored all the same in the plan, which says what that would undo', () => {
    const [told] = plan({ changedSince: true, target: '/etc/router.conf' }).steps
    expect(told).toMatchObject({
      ...{ fate: 'restored', changedSince: true },
      sentence:
        '/etc/router.conf was changed since "update" by somebody outside this installation, as far as its runs tell; putting it back would undo that, too.',
    })
    expect(told).not.toHaveProperty('changedBy')
    expect(plan({}).steps[0]).not.toHaveProperty('changedSince')
  })

  it('is told with the step of another run that did, its workflow and when', () => {
    const changedBy = {
      run: `run_${'7f3a'.repeat(8)}`,
      workflow: 'dns',
      node: 'steer',
      visit: 1,
      label: 'Steer',
      at: NOW,
    }
    const [told] = plan({ changedSince: true, changedBy, target: 'x' }).steps
    const when = new Date(NOW).toISOString().slice(0, 16).replace('T', ' at ')
    expect(told?.changedBy).toEqual(changedBy)
    expect(told?.sentence).toBe(
      `x was changed since "update" by "Steer" of dns in run_7f3a…7f3a on ${when} UTC; putting it back would undo that, too.`,
    )
    const undid = plan({ changedSince: true, changedBy: { ...changedBy, undid: true }, target: 'x' }).steps[0]
    expect(undid?.sentence).toContain('by the rollback of "Steer" of dns in run_7f3a…7f3a on')
    const long = { ...changedBy, label: 'l'.repeat(200), workflow: 'w'.repeat(200) }
    const clipped = plan({ changedSince: true, changedBy: long, target: 'x' }).steps[0]
    expect(clipped?.sentence).toContain(`"${'l'.repeat(39)}…" of ${'w'.repeat(39)}… in run_`)
  })

  it('is not promised by the plan or its scopes, but what comes of overwriting it is said', () => {
    const { counts, sentence, scopes } = plan({ changedSince: true })
    expect(counts).toMatchObject({ restored: 1, changed: 1, agents: 0 })
    expect(sentence).toMatch(/^Asks first about 1 step whose target was changed since/)
    expect(scopes[0]).toMatchObject({
      ...{ scope: 'single', sentence: 'Asks first about 1 step whose target was changed since.' },
      overwriting: 'Restores 1 step.',
    })
    expect(plan({}).counts).not.toHaveProperty('changed')
    expect(plan({}).scopes[0]).not.toHaveProperty('overwriting')
  })

  it('is no matter where nothing is put back', () => {
    for (const over of [
      { undo: 'compensate' },
      { reversible: false },
      { verification: 'expired' },
    ] as const) {
      expect(plan({ changedSince: true, ...over }).steps[0]).not.toHaveProperty('changedSince')
    }
  })

  it('makes it another plan', () => {
    const now = { stateHashNow: sha256('now') }
    expect(plan({ ...now, changedSince: true }).digest).not.toBe(plan(now).digest)
  })
})

describe('the digest of a plan', () => {
  it('is the same whether or not an agent says what state it is in, as long as that changes nothing', () => {
    const of = (over: Partial<StepCheckpoint>) =>
      planOf([changed('update', {}, { undo: 'remote', ...over })], { scope: 'single' }).digest
    const silent = of({ stateUnread: true })
    expect(of({ stateHashNow: sha256('as it was left') })).toBe(silent)
    expect(of({})).toBe(silent)
    const foreign = of({ stateHashNow: sha256('by somebody else'), changedSince: true })
    expect(foreign).not.toBe(silent)
    expect(of({ stateHashNow: sha256('and changed once more'), changedSince: true })).not.toBe(foreign)
    expect(of({ verification: 'expired' })).not.toBe(silent)
  })

  const steps = (over: Partial<StepCheckpoint> = {}) => [step('validate'), changed('update', {}, over)]
  const digest = (over: Partial<StepCheckpoint> = {}, input: Partial<PlanInput> = {}) =>
    planOf(steps(over), input).digest

  it('does not change by waiting, by tokens elsewhere or by words', () => {
    expect(digest({}, { now: NOW + 3_600_000, seq: 99 })).toBe(digest())
    expect(digest({ target: 'the router', description: 'x' })).toBe(digest())
  })

  it('changes when the world moved', () => {
    const now = digest({ stateHashNow: sha256('before') })
    for (const other of [
      digest({ stateHashNow: sha256('after') }),
      digest({ stateHashNow: sha256('before'), jti: 'ckpt-2' }),
      digest({ stateHashNow: sha256('before'), snapshot: sha256('x') }),
      digest({ stateHashNow: sha256('before'), verification: 'tampered' }),
      digest({ stateHashNow: sha256('before') }, { now: NOW + 86_400_000 }),
      digest({ stateHashNow: sha256('before') }, { scope: 'full_workflow' }),
      digest({ stateHashNow: sha256('before') }, { run: 'run_00' }),
    ]) {
      expect(other).not.toBe(now)
    }
  })

  it('must be named to execute, and the plan must be one that may be', () => {
    const plan = planOf(steps())
    expect(() => checkExecutable(plan, plan.digest)).not.toThrow()
    try {
      checkExecutable(plan, sha256('old'))
      expect.unreachable()
    } catch (error) {
      expect(isProblem(error, 'rollback_plan_changed')).toBe(true)
      expect((error as Error).message).toContain(
        'nothing was done. The plan is now: Restores 1 step, leaves 3.',
      )
    }
    const busy = planOf([changed('update', { status: 'running' })])
    expect(() => checkExecutable(busy, busy.digest)).toThrow('is running and would be rolled back')
  })
})

describe('any plan', () => {
  const STATUSES = [
    'pending',
    'waiting',
    'approved',
    'running',
    'done',
    'failed',
    'rolled_back',
    'escalated',
  ] as const
  /** Random DAGs of up to 12 nodes; an edge goes from a lower number to a higher one. */
  const world = fc
    .record({
      size: fc.integer({ min: 1, max: 12 }),
      edges: fc.array(fc.tuple(fc.nat(11), fc.nat(11)), { maxLength: 30 }),
      status: fc.array(fc.constantFrom(...STATUSES), { minLength: 12, maxLength: 12 }),
      reads: fc.array(fc.array(fc.nat(11), { maxLength: 3 }), { minLength: 12, maxLength: 12 }),
      takenAt: fc.array(fc.option(fc.nat(100_000), { nil: undefined }), { minLength: 12, maxLength: 12 }),
      node: fc.nat(11),
    })
    .map(({ size, edges, status, reads, takenAt, node }) => {
      const name = (at: number) => `n${at % size}`
      const order = Array.from({ length: size }, (_, at) => `n${at}`)
      const pairs = edges
        .map(([a, b]) => [a % size, b % size].sort((x, y) => x - y) as [number, number])
        .filter(([a, b]) => a !== b)
        .map(([a, b]) => [`n${a}`, `n${b}`] as const)
      const graph = graphOf(order, [...new Map(pairs.map((pair) => [pair.join(), pair])).values()])
      const steps = order.map((id, at) =>
        step(id, {
          status: status[at] as StepNow['status'],
          reads: (reads[at] ?? []).map(name),
          ...(takenAt[at] === undefined
            ? {}
            : { consequence: 'reversible', checkpoint: sealed({ of: id, at: NOW - takenAt[at] }) }),
        }),
      )
      return { graph, steps, node: name(node) }
    })

  it('undoes exactly the steps of its scope that had begun', () => {
    fc.assert(
      fc.property(world, fc.constantFrom(...rollbackScopes), ({ graph, steps, node }, scope) => {
        const plan = planOf(steps, { graph, node, scope })
        const planned = plan.steps.map((one) => one.node)
        expect(new Set(planned).size).toBe(planned.length)
        expect([...planned, ...plan.untouched].sort()).toEqual([...graph.order].sort())
        for (const id of planned) {
          expect(['pending', 'rolled_back']).not.toContain(steps.find((one) => one.node === id)?.status)
        }
        expect(planOf(steps, { graph, node, scope }).digest).toBe(plan.digest)
      }),
    )
  })

  it('contains the plan of every smaller scope', () => {
    fc.assert(
      fc.property(world, ({ graph, steps, node }) => {
        const sets = rollbackScopes.map(
          (scope) => new Set(planOf(steps, { graph, node, scope }).steps.map((s) => s.node)),
        )
        expect([...(sets[0] as Set<string>)].every((id) => sets[1]?.has(id))).toBe(true)
        expect([...(sets[1] as Set<string>)].every((id) => sets[2]?.has(id))).toBe(true)
      }),
    )
  })

  it('never undoes a step before what follows from it', () => {
    fc.assert(
      fc.property(world, ({ graph, steps, node }) => {
        const order = planOf(steps, { graph, node, scope: 'full_workflow' }).steps.map((one) => one.node)
        for (const [at, id] of order.entries()) {
          const follows = new Set(graph.children.get(id))
          for (const child of follows) for (const next of graph.children.get(child) ?? []) follows.add(next)
          expect(order.slice(at + 1).filter((later) => follows.has(later))).toEqual([])
        }
      }),
    )
  })

  it('is forbidden exactly when a finished step outside used what it takes back, or something is in its way', () => {
    fc.assert(
      fc.property(world, fc.constantFrom(...rollbackScopes), ({ graph, steps, node }, scope) => {
        const plan = planOf(steps, { graph, node, scope })
        const taken = new Set(plan.steps.map((one) => one.node))
        const isUsed = (status: string) =>
          scope !== 'full_workflow' &&
          steps.some(
            (one) => one.status === status && !inScope.has(one.node) && one.reads.some((id) => taken.has(id)),
          )
        const inScope = new Set([node])
        if (scope === 'sub_dag')
          for (const id of inScope) for (const c of graph.children.get(id) ?? []) inScope.add(c)
        const runs = steps.some((one) => one.status === 'running' && taken.has(one.node))
        expect(plan.forbidden !== undefined).toBe(
          taken.size === 0 || runs || isUsed('done') || isUsed('running'),
        )
        if (plan.steps.some(({ fate }) => fate === 'locked')) expect(plan.forbidden).toBeDefined()
      }),
    )
  })

  it('preselects the smallest scope that may be chosen', () => {
    fc.assert(
      fc.property(world, ({ graph, steps, node }) => {
        const plan = planOf(steps, { graph, node })
        const smallest = plan.scopes.find(({ forbidden }) => forbidden === undefined)
        expect(plan.scope).toBe(smallest?.scope ?? 'single')
      }),
    )
  })
})

describe('words and outcomes', () => {
  it('count what happens', () => {
    const counts = {
      restored: 3,
      compensated: 1,
      irreversible: 0,
      refused: 0,
      reset: 0,
      untouched: 4,
      agents: 2,
    }
    expect(planSentence(counts)).toBe('Restores 3 steps on 2 agents, compensates 1, leaves 4.')
    expect(planSentence({ ...counts, changed: 2, agents: 1 })).toBe(
      'Restores 1 step on 1 agent, compensates 1, asks first about 2 whose targets were changed since, leaves 4.',
    )
    expect(planSentence({ ...counts, restored: 0, irreversible: 1, agents: 0 })).toBe(
      'Compensates 1 step, cannot undo 1, leaves 4.',
    )
    expect(planSentence({ ...counts, restored: 0, compensated: 0, reset: 2, agents: 0 })).toBe(
      'Only sets back 2 steps, leaves 4.',
    )
    expect(planSentence({ ...counts, restored: 0, compensated: 0, untouched: 0 })).toBe(
      'Leaves everything as it is.',
    )
  })

  it.each<[RollbackStatus[], RollbackStatus]>([
    [[], 'completed'],
    [['completed', 'completed'], 'completed'],
    [['completed', 'escalated'], 'partial'],
    [['failed', 'completed'], 'partial'],
    [['partial'], 'partial'],
    [['escalated', 'escalated'], 'escalated'],
    [['escalated', 'failed'], 'failed'],
    [['failed'], 'failed'],
  ])('of %j is %s', (results, status) => {
    expect(overallStatus(results)).toBe(status)
  })

  it('hand to a person what nothing is done for', () => {
    expect(statusWithoutAct('irreversible')).toBe('escalated')
    expect(statusWithoutAct('refused')).toBe('failed')
    expect(statusWithoutAct('restored')).toBeUndefined()
  })

  it('follow the drafts where a request names no scope or deadline', () => {
    expect([scopeOfCascade(true), scopeOfCascade(false)]).toEqual(['sub_dag', 'single'])
    expect(rollbackDeadline(NOW, [86_400, 300])).toBe(NOW + 60_000)
    expect(rollbackDeadline(NOW, [86_400, 90])).toBe(NOW + 45_000)
    expect(rollbackDeadline(NOW, [], 10)).toBe(NOW + 10_000)
  })
})
