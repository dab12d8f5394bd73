import { describe, expect, it } from 'vitest'
import { hashJson } from '@/lib/base/hash'
import type { GraphNode } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import type { Command } from './commands'
import { decide } from './decide'
import { maxParents } from './draft'
import { due } from './due'
import { evolve } from './evolve'
import type { FactBody, FactOf } from './facts'
import {
  actionOf,
  approvalAsked,
  approvalOf,
  approved,
  begun,
  cancelled,
  checkpointed,
  claimed,
  done,
  ended,
  failed,
  goneOn,
  momentAfter,
  offered,
  paused,
  retrying,
  rollbackAsked,
  rollbackOf,
  rolledBack,
  runOf,
  started,
  undone,
  uuidOf,
} from './histories'
import { projectionOf } from './projection'
import type { Run } from './run'

const asks: Partial<GraphNode> = { approval: { role: 'operator', reason: 'It matters', onSilence: 'hold' } }
const pair = graphOf({ a: {}, b: {} }, ['a>b'])

/** The facts a wish comes to, and the run after them. */
function granted(run: Run, wish: Command, afterMs?: number, chance?: number) {
  const { facts } = decide(run, wish, momentAfter(run, afterMs, chance))
  for (const fact of facts) evolve(run, fact)
  return { facts, types: facts.map(({ type }) => type), run }
}

/** The fact of that type among them. */
function factIn<T extends FactBody['type']>(facts: FactBody[], type: T): Extract<FactBody, { type: T }> {
  const found = facts.find((fact) => fact.type === type)
  if (!found) throw new Error(`No ${type} among ${facts.map((fact) => fact.type).join(', ')}`)
  return found as Extract<FactBody, { type: T }>
}

const action = (node: string, more: object = {}) => ({
  hash: actionOf(node),
  consequence: 'read_only' as const,
  target: node,
  sentence: `Does ${node}`,
  reads: [],
  ...more,
})
const begin = (node: string, more: object = {}): Command => ({
  type: 'begin',
  node,
  visit: 1,
  action: action(node),
  ...more,
})
const decided = (node: string, more: object = {}): Command => ({
  type: 'decide',
  approval: approvalOf(node),
  verdict: 'approve',
  by: 'person:cy',
  action: actionOf(node),
  comment: '',
  ...more,
})
const failure = (more: object = {}): Command => ({
  type: 'failed',
  node: 'a',
  visit: 1,
  attempt: 1,
  failure: {
    severity: 'error',
    errorType: 'action_failed',
    code: 'it_broke',
    description: 'It broke',
    retriable: true,
  },
  ...more,
})

describe('refuses', () => {
  const rollBack = (seq: number): Command => ({
    type: 'roll_back',
    rollback: rollbackOf('new'),
    scope: 'sub_dag',
    node: 'a',
    checkpoints: [],
    plan: hashJson('plan'),
    seq,
    reason: '',
    by: 'person:ada',
    deadlineS: 60,
  })
  const asked = graphOf({ a: asks, b: {} }, ['a>b'])
  const bounded = graphOf({ a: {}, b: {} }, [], { budget: { maxConcurrent: 1 } })

  it.each<[string, string, string, Run, Command]>([
    [
      'a wish to a run that has not begun',
      'not_found',
      'This run has not begun; start it first',
      runOf(pair, []),
      { type: 'finish' },
    ],
    [
      'a second start',
      'run_moved_on',
      'This run has begun already',
      runOf(pair, [begun()]),
      { type: 'start', version: '', input: '', by: '', dryRun: false },
    ],
    [
      'a step whose parents are not done',
      'run_moved_on',
      'b is pending in visit 1; it is not due',
      runOf(pair, [begun()]),
      begin('b'),
    ],
    ['a step that there is not', 'not_found', 'This run has no step "z"', runOf(pair, [begun()]), begin('z')],
    [
      'a step of another visit',
      'run_moved_on',
      'a is in visit 1 now, not in visit 2',
      runOf(pair, [begun()]),
      { ...begin('a'), visit: 2 } as Command,
    ],
    [
      'a step of a paused run',
      'run_moved_on',
      'This run is paused; it cannot be carried on now',
      runOf(pair, [begun(), paused()]),
      begin('a'),
    ],
    [
      'an end while there is work left',
      'run_moved_on',
      'This run has work left; it cannot end yet',
      runOf(pair, [begun()]),
      { type: 'finish' },
    ],
    [
      'one step more than may run at once',
      'run_moved_on',
      'b has to wait: as many steps are running as may at once',
      runOf(bounded, [begun(), started('a')]),
      begin('b'),
    ],
    [
      'a consequential step without a checkpoint',
      'checkpoint_missing',
      'a is consequential and came without a checkpoint',
      runOf(pair, [begun()]),
      begin('a', { action: action('a', { consequence: 'reversible' }) }),
    ],
    [
      'a step that needs a decision and has none',
      'approval_gone',
      'a needs a decision before it acts, and there is none',
      runOf(asked, [begun()]),
      begin('a'),
    ],
    [
      'another action than the approved one',
      'approval_digest',
      `a was approved as ${actionOf('a')} and now is ${actionOf('b')}; ask again`,
      runOf(asked, [begun(), approvalAsked('a'), approved('a')]),
      begin('a', { action: action('b') }),
    ],
    [
      'an approved action in a retry that is another',
      'approval_digest',
      'ask again',
      runOf(asked, [begun(), approvalAsked('a'), approved('a'), started('a'), retrying('a')]),
      begin('a', { action: action('b') }),
    ],
    [
      'another action in a retry',
      'approval_digest',
      'a retry may not change it',
      runOf(pair, [begun(), started('a'), retrying('a')]),
      begin('a', { action: action('b') }),
    ],
    [
      'a report of an attempt that is over',
      'run_moved_on',
      'Attempt 1 of a is over: the step is waiting now',
      runOf(pair, [begun(), started('a'), retrying('a')]),
      failure(),
    ],
    [
      'a decision on another action',
      'approval_digest',
      'look again',
      runOf(asked, [begun(), approvalAsked('a')]),
      decided('a', { action: actionOf('b') }),
    ],
    [
      'a verdict that is no answer',
      'bad_request',
      '"took_effect" does not answer this question; expected approve or refuse',
      runOf(asked, [begun(), approvalAsked('a')]),
      decided('a', { verdict: 'took_effect' }),
    ],
    [
      'an edit with a refusal',
      'approval_edit_refused',
      'An edit goes with an approval; refuse without one',
      runOf(asked, [begun(), approvalAsked('a')]),
      decided('a', { verdict: 'refuse', edited: action('b') }),
    ],
    [
      'a question that there is not',
      'not_found',
      'This run has no approval "appr_z_1"',
      runOf(asked, [begun()]),
      decided('z'),
    ],
    [
      'a question the run has moved on from',
      'approval_gone',
      'nobody needs to decide this',
      runOf(asked, [begun(), approvalAsked('a'), cancelled()]),
      decided('a'),
    ],
    [
      'silence before the deadline',
      'run_moved_on',
      `The deadline of ${approvalOf('a')} has not passed`,
      runOf(asked, [begun(), approvalAsked('a', { deadlineS: 60, onSilence: 'deny' })]),
      { type: 'silence', approval: approvalOf('a') },
    ],
    [
      'a second pause',
      'run_paused',
      'This run was paused by person:ada already',
      runOf(pair, [begun(), paused()]),
      { type: 'pause', by: 'person:bo', reason: '' },
    ],
    [
      'resuming what is not paused',
      'run_not_paused',
      'This run is running, not paused; there is nothing to resume',
      runOf(pair, [begun()]),
      { type: 'resume', by: 'person:bo' },
    ],
    [
      'cancelling what has ended',
      'run_ended',
      'This run ended as success; it cannot be cancelled any more',
      runOf(pair, [begun(), ended()]),
      { type: 'cancel', by: 'person:bo', reason: '' },
    ],
    [
      'claiming what nobody offered',
      'task_not_offered',
      'a is pending; only an offered task can be claimed',
      runOf(pair, [begun()]),
      { type: 'claim', node: 'a', visit: 1, agent: 'spiffe://x/a', claimS: 30 },
    ],
    [
      'claiming what is held',
      'task_claimed',
      'a is held by spiffe://x/a already',
      runOf(pair, [begun(), offered('a'), claimed('a', 'spiffe://x/a')]),
      { type: 'claim', node: 'a', visit: 1, agent: 'spiffe://x/b', claimS: 30 },
    ],
    [
      'the report of another agent',
      'claim_lost',
      'a is held by spiffe://x/a, not by spiffe://x/b',
      runOf(pair, [begun(), offered('a'), claimed('a', 'spiffe://x/a')]),
      failure({ claimant: 'spiffe://x/b' }),
    ],
    [
      'calling a claim lapsed that holds',
      'run_moved_on',
      'The claim on a has not lapsed',
      runOf(pair, [begun(), offered('a'), claimed('a', 'spiffe://x/a')]),
      { type: 'lapse', node: 'a', visit: 1 },
    ],
    [
      'a rollback of a plan that is behind',
      'rollback_plan_changed',
      'The run moved on since the plan: it had 2 tokens, now 3',
      runOf(pair, [begun(), started('a'), done('a')]),
      rollBack(2),
    ],
    [
      'a rollback of what is running',
      'rollback_busy',
      '"Move traffic" is running; pause the run and wait for it, or choose a smaller scope',
      runOf(graphOf({ a: { label: 'Move traffic' } }), [begun(), started('a')]),
      rollBack(2),
    ],
    [
      'a rollback during another',
      'rollback_conflict',
      'is under way, reaches the same steps and goes first',
      runOf(pair, [begun(), started('a'), done('a'), rollbackAsked('a')]),
      rollBack(4),
    ],
    [
      'a choice when there is nothing to choose',
      'run_moved_on',
      '"go_on" was chosen already',
      runOf(pair, [begun(), started('a'), done('a'), rollbackAsked('a'), rolledBack('a'), goneOn('a')]),
      { type: 'choose', rollback: rollbackOf('a'), choice: 'end', by: 'person:ada' },
    ],
    [
      'an end after a rollback while a step is at work',
      'rollback_busy',
      '"b" is still running; wait for it, then end the run',
      runOf(graphOf({ a: {}, b: {} }), [
        begun(),
        started('a'),
        done('a'),
        started('b'),
        rollbackAsked('a'),
        rolledBack('a'),
      ]),
      { type: 'choose', rollback: rollbackOf('a'), choice: 'end', by: 'person:ada' },
    ],
    [
      'a rollback URI that fits into no token',
      'bad_request',
      'at most 1000 bytes do',
      runOf(pair, [begun()]),
      begin('a', {
        checkpoint: {
          jti: uuidOf(9),
          snapshot: actionOf('a'),
          reversible: true,
          rollbackUri: `https://x/${'y'.repeat(1000)}`,
          target: '',
          description: '',
          ttlS: 1,
          undo: 'restore',
        },
      }),
    ],
  ])('%s', (_what, code, words, run, wish) => {
    const before = run.seq
    expect(() => decide(run, wish, momentAfter(run))).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(words) }),
    )
    expect(run.seq).toBe(before)
  })
})

describe('a decision', () => {
  const graph = graphOf({ a: asks })
  it('that comes second is told who was first, when, and what they said', () => {
    const run = runOf(graph, [begun(), approvalAsked('a'), approved('a', 'person:bo')])
    expect(() => decide(run, decided('a', { verdict: 'refuse' }), momentAfter(run))).toThrow(
      expect.objectContaining({
        code: 'approval_decided',
        message: `person:bo decided this at ${new Date(run.lastAt).toISOString()} (approve); your decision was not needed`,
        data: { by: 'person:bo', at: run.lastAt, verdict: 'approve' },
      }),
    )
  })

  it('that refuses fails the step, and says who and why', () => {
    const run = runOf(graph, [begun(), approvalAsked('a')])
    const { facts, types } = granted(run, decided('a', { verdict: 'refuse', comment: 'Not today' }))
    expect(types).toEqual(['approval_decided', 'error'])
    expect(factIn(facts, 'error').description).toBe('Refused by person:cy: Not today')
    expect(granted(run, { type: 'finish' }).run.state).toMatchObject({ status: 'ended', terminal: 'failed' })
  })

  it('that edits a hold lets it go on as edited', () => {
    const run = runOf(graphOf({ a: { kind: 'pause_for_approval' } }), [begun(), approvalAsked('a')])
    const { facts } = granted(run, decided('a', { edited: action('b') }))
    expect(factIn(facts, 'task_start').action).toBe(actionOf('b'))
    expect(run.visits.get('a')?.state.status).toBe('done')
  })
})

describe('silence', () => {
  const silent = (onSilence: Parameters<typeof approvalAsked>[1] & object) => {
    const run = runOf(graphOf({ a: asks }), [begun(), approvalAsked('a', { deadlineS: 5, ...onSilence })])
    return granted(run, { type: 'silence', approval: approvalOf('a') }, 5000)
  }
  it('denies where the author says so', () => {
    const { run, facts } = silent({ onSilence: 'deny' })
    expect(factIn(facts, 'approval_decided')).toMatchObject({ by: 'silence', verdict: 'refuse' })
    expect(run.visits.get('a')?.state.status).toBe('failed')
  })
  it('lets it go on only where the author spells it out', () => {
    const { run } = silent({ onSilence: 'continue' })
    expect(run.visits.get('a')?.state).toMatchObject({ status: 'approved', by: 'silence' })
  })
  it('asks the next role, which then may take its time', () => {
    const { run, facts } = silent({ onSilence: { escalateTo: 'coordinator' } })
    expect(factIn(facts, 'approval_asked')).toMatchObject({
      role: 'coordinator',
      onSilence: 'hold',
      deadlineAt: undefined,
    })
    expect(run.approvals.get(approvalOf('a'))?.state.status).toBe('void')
    expect(run.openApprovals.size).toBe(1)
  })
  it('refuses, and has the run taken back', () => {
    const { run } = silent({ onSilence: 'rollback' })
    expect(run.takeBack).toBe(approvalOf('a'))
    expect(() => decide(run, { type: 'finish' }, momentAfter(run))).toThrow('This run has work left')
  })
})

describe('a failed attempt', () => {
  const retry = { maxAttempts: 3, baseMs: 1000, factor: 4, maxMs: 3000, jitter: 0.5 }
  const graph = graphOf({ a: { retry } })
  it.each([
    ['after the base delay', 1, 0, 1000],
    ['later each time, up to the longest delay', 2, 0, 3000],
    ['earlier by as much as chance and jitter say', 1, 0.5, 750],
  ])('is tried again %s', (_when, attempt, chance, delayMs) => {
    const words = [begun(), started('a'), ...(attempt === 2 ? [retrying('a', 0), started('a')] : [])]
    const run = runOf(graph, words)
    const { facts } = granted(run, failure({ attempt }), 1000, chance)
    const error = factIn(facts, 'error')
    expect(error.severity).toBe('warning')
    expect(error.retryAt).toBe(run.lastAt + delayMs)
    expect(run.visits.get('a')?.state).toMatchObject({ status: 'waiting', for: 'retry' })
  })
  it('is the last one when there are no more', () => {
    const run = runOf(graph, [
      begun(),
      started('a'),
      retrying('a', 0),
      started('a'),
      retrying('a', 0),
      started('a'),
    ])
    expect(factIn(granted(run, failure({ attempt: 3 })).facts, 'error').severity).toBe('error')
    expect(run.visits.get('a')?.state.status).toBe('failed')
  })
  it('is not tried again in a run that is being cancelled', () => {
    const run = runOf(graph, [begun(), started('a'), cancelled()])
    granted(run, failure())
    expect(granted(run, { type: 'finish' }).run.state).toMatchObject({
      terminal: 'failed',
      reason: 'Cancelled by person:ada: Enough',
      cancelled: { by: 'person:ada', reason: 'Enough' },
    })
    expect(projectionOf(run, run.lastAt)).toMatchObject({ terminal: 'failed', stopped: 'cancelled' })
  })
  it('ends a run that the engine stops as failed: nobody cancelled it', () => {
    const run = runOf(graph, [begun(), started('a')])
    granted(run, { type: 'cancel', by: 'engine', reason: 'The run is out of its time budget' })
    granted(run, failure())
    const { state } = granted(run, { type: 'finish' }).run
    expect(state).toMatchObject({ terminal: 'failed', reason: 'The run is out of its time budget' })
    expect(state).toMatchObject({ cancelled: undefined })
    expect(projectionOf(run, run.lastAt).stopped).toBeUndefined()
  })
  it('of what cannot be undone is brought to a person', () => {
    const run = runOf(pair, [
      begun(),
      started('a', { consequence: 'irreversible' }),
      checkpointed('a', { reversible: false }),
    ])
    const { facts } = granted(run, failure())
    expect(factIn(facts, 'approval_asked')).toMatchObject({
      kind: 'irreversible_failed',
      sentence: 'a failed and cannot be undone',
    })
    expect(run.visits.get('a')?.state.status).toBe('escalated')
  })
  it('that never began is tried again too, from its resolution', () => {
    const run = runOf(graph, [begun()])
    const failure = {
      severity: 'error',
      errorType: 'timeout',
      code: 'silent',
      description: 'Silent',
      retriable: true,
    } as const
    granted(run, { type: 'unresolved', node: 'a', visit: 1, failure })
    const { visit, state } = run.visits.get('a') ?? {}
    expect(state).toMatchObject({ status: 'waiting', for: 'retry' })
    expect(due(run, run.lastAt + 5000).now).toEqual([{ do: 'prepare', node: 'a', visit }])
  })
})

describe('an unknown outcome', () => {
  const words = [
    begun(),
    started('a', { consequence: 'irreversible' }),
    checkpointed('a', { reversible: false }),
  ]
  const unknown: Command = { type: 'unknown', node: 'a', visit: 1, attempt: 1, sentence: 'Did it?' }
  const answer = (run: Run, verdict: string) => {
    const [id] = run.openApprovals
    return granted(run, decided('a', { approval: id, verdict }))
  }
  it('stays with people until one of them answers', () => {
    const { run } = granted(runOf(pair, words), unknown)
    expect(run.visits.get('a')?.state).toMatchObject({ status: 'waiting', for: 'person' })
    expect(() => decide(run, begin('a'), momentAfter(run))).toThrow('it is not due')
  })
  it('that took effect is done', () => {
    const { run } = granted(runOf(pair, words), unknown)
    expect(answer(run, 'took_effect').types).toEqual(['approval_decided', 'task_complete'])
    expect(run.ready.has('b')).toBe(true)
  })
  it('that was not taken is tried again, with the same action', () => {
    const { run } = granted(runOf(pair, words), unknown)
    answer(run, 'not_taken')
    expect(run.visits.get('a')?.state).toMatchObject({ status: 'waiting', for: 'retry' })
  })
  it('is escalated, never forgotten, when the run is cancelled', () => {
    const { run } = granted(runOf(pair, words), unknown)
    granted(run, { type: 'cancel', by: 'person:ada', reason: '' })
    expect(run.visits.get('a')?.state.status).toBe('escalated')
    expect(run.openApprovals.size).toBe(0)
  })
})

describe('more parents than a token may name', () => {
  it('are grouped by joins, the run’s end included', () => {
    const nodes = Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`n${index}`, {}]))
    const words = Object.keys(nodes).flatMap((id) => [started(id), done(id)])
    const { facts } = granted(runOf(graphOf(nodes), [begun(), ...words]), { type: 'finish' })
    expect(facts.map(({ type }) => type)).toEqual(['join', 'join', 'join', 'workflow_complete'])
    for (const { par } of facts) expect(par.length).toBeLessThanOrEqual(maxParents)
    const joined = new Set(facts.slice(0, 3).flatMap(({ par }) => par))
    expect(joined.size).toBe(251)
    expect(facts.at(-1)?.par).toEqual(facts.slice(0, 3).map(({ jti }) => jti))
  })
})

describe('a rollback', () => {
  const chain = graphOf({ a: {}, b: {}, c: {} }, ['a>b', 'b>c'])
  const story = [
    begun(),
    started('a'),
    done('a'),
    started('b', { consequence: 'reversible' }),
    checkpointed('b'),
    done('b'),
    started('c'),
    failed('c'),
    rollbackAsked('b'),
    undone('b', 'b'),
  ] as const
  const states = (run: Run) => [...run.visits.values()].map(({ state }) => state.status)
  it('takes back, once it is completed, what it covers and had nothing to undo', () => {
    expect(states(runOf(chain, [...story]))).toEqual(['done', 'rolled_back', 'failed'])
    const run = runOf(chain, [...story, rolledBack('b')])
    expect(states(run)).toEqual(['done', 'rolled_back', 'rolled_back'])
    expect(projectionOf(run, run.lastAt)).toMatchObject({ doneCount: 1, failedCount: 0 })
    expect(run.visits.get('c')?.state).toMatchObject({ rollback: rollbackOf('b'), since: run.lastAt })
  })
  const cameTo =
    (status: 'partial' | 'failed') =>
    (before: Run, at: number): FactBody => ({
      ...(rolledBack('b')(before, at) as FactOf<'rollback_result'>),
      status,
    })
  it('takes back what had nothing to undo also where something else of it cannot be undone', () => {
    const mailed = [
      ...story.slice(0, 6),
      started('c', { consequence: 'irreversible' }),
      done('c'),
      started('d'),
      failed('d'),
      ...story.slice(8),
    ]
    const four = graphOf({ a: {}, b: {}, c: {}, d: {} }, ['a>b', 'b>c', 'b>d'])
    const run = runOf(four, [...mailed, cameTo('partial')])
    expect(states(run)).toEqual(['done', 'rolled_back', 'done', 'rolled_back'])
  })
  it('leaves as it was what had nothing to undo where it failed', () => {
    expect(states(runOf(chain, [...story, cameTo('failed')]))).toEqual(['done', 'rolled_back', 'failed'])
  })
  it('sets back at once what waits behind its breaker', () => {
    const waits = (before: Run): FactBody => ({
      type: 'call_rejected',
      ...{
        node: 'c',
        visit: 1,
        attempt: 0,
        circuit: 'c1',
        caller: 'workflow:w',
        downstream: 'spiffe://lab/agent/c',
      },
      ...{ because: 'open', errorRate: 1, windowS: 60, cooldownS: 30 },
      ...{ retryAt: before.lastAt + 60_000, change: uuidOf(901) },
    })
    const before = runOf(chain, [...story.slice(0, 6), waits])
    expect(states(before)).toEqual(['done', 'done', 'waiting'])
    const run = runOf(chain, [...story.slice(0, 6), waits, ...story.slice(8), cameTo('partial')])
    expect(states(run)).toEqual(['done', 'rolled_back', 'pending'])
  })
})

describe('going on after a rollback', () => {
  const chain = graphOf({ a: {}, b: {}, c: {} }, ['a>b', 'b>c'])
  it('visits the scope anew and leaves what is done outside', () => {
    const run = runOf(chain, [
      begun(),
      started('a'),
      done('a'),
      started('b', { consequence: 'reversible' }),
      checkpointed('b'),
      done('b'),
      started('c'),
      failed('c'),
      rollbackAsked('b'),
      undone('b', 'b'),
      rolledBack('b'),
      goneOn('b'),
    ])
    expect(
      [...run.visits.values()].map(({ node, visit, state }) => `${node}${visit} ${state.status}`),
    ).toEqual(['a1 done', 'b2 pending', 'c2 pending'])
    expect(run.past.get('b')?.map(({ state }) => state.status)).toEqual(['rolled_back'])
    expect([...run.ready]).toEqual(['b'])
  })
  it('leaves a step behind it that is at work', () => {
    const run = runOf(chain, [
      begun(),
      started('a'),
      done('a'),
      started('b', { consequence: 'reversible' }),
      checkpointed('b'),
      rollbackAsked('a', 'single'),
      undone('a', 'a'),
      rolledBack('a'),
      goneOn('a'),
    ])
    expect(run.visits.get('a')?.visit).toBe(2)
    expect(run.visits.get('b')).toMatchObject({ visit: 1, state: { status: 'running' } })
  })
  it('asks anew what waited behind it', () => {
    const run = runOf(chain, [
      begun(),
      started('a'),
      done('a'),
      approvalAsked('b'),
      rollbackAsked('a', 'single'),
    ])
    expect(run.visits.get('b')?.state.status).toBe('pending')
    expect(run.approvals.get(approvalOf('b'))?.state.status).toBe('void')
  })
})

describe('a claim', () => {
  it('is not held past the step’s own time, however often the agent is heard of', () => {
    const graph = graphOf({ a: { timeoutS: 20 } })
    const run = runOf(graph, [begun(), offered('a')])
    granted(run, { type: 'claim', node: 'a', visit: 1, agent: 'spiffe://x/a', claimS: 15 })
    granted(run, { type: 'heartbeat', node: 'a', visit: 1, claimant: 'spiffe://x/a', claimS: 15 }, 10_000)
    expect(run.visits.get('a')?.state).toMatchObject({ claimUntil: run.lastAt + 10_000 })
    expect(granted(run, { type: 'lapse', node: 'a', visit: 1 }, 10_000).types).toEqual(['approval_asked'])
  })
  it('on read-only work that lapses is offered again', () => {
    const run = runOf(pair, [
      begun(),
      offered('a', 'read_only'),
      claimed('a', 'spiffe://x/a', 10, { consequence: 'read_only' }),
    ])
    granted(run, { type: 'lapse', node: 'a', visit: 1 }, 10_000)
    expect(
      granted(run, { type: 'claim', node: 'a', visit: 1, agent: 'spiffe://x/b', claimS: 30 }).types,
    ).toEqual(['task_start'])
  })
})
