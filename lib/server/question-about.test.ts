import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '@/lib/base/hash'
import { mintUuid, prefixed, type RollbackId, type RunId } from '@/lib/base/ids'
import type { CheckpointTaken } from '@/lib/engine/commands'
import type { Approval, Run } from '@/lib/engine/run'
import type { ApprovalCard, ApprovalRow } from '@/lib/view/approval-wire'
import type { Page } from '@/lib/view/wire'
import { jsonValue } from '@/lib/worker/values'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { getApproval, listApprovals, postDecision } from './handlers/approvals'
import { aboutOf, noteAbout } from './question-about'
import { startRun } from './runs'
import { type Browser, TestConsole } from './testing/console'
import { keepDerived } from './workflows'

const graph = graphOf(
  {
    plan: { kind: 'transform', label: 'Plan the change' },
    shift: {
      kind: 'agent',
      label: 'Shift traffic',
      config: { agent: 'spiffe://lab/agent/steer' },
      priority: 'critical',
    },
    tell: { kind: 'agent', label: 'Tell customers', config: { agent: 'spiffe://lab/agent/mailer' } },
  },
  ['plan>shift', 'shift>tell'],
)

let at: TestConsole
let operator: Browser
let run: RunId
beforeAll(async () => {
  at = await TestConsole.open()
  operator = await at.person('olga', 'operator')
})
afterAll(() => at.close())

beforeEach(async () => {
  const version = await keepDerived(at.house, graph, 'person:ada')
  run = await startRun(at.house, { version, input: {}, by: 'person:ada', dryRun: false })
})

async function done(node: string, reads: string[], checkpoint?: CheckpointTaken): Promise<void> {
  const { book } = at.house
  const action = {
    hash: sha256(node),
    consequence: checkpoint ? 'reversible' : 'read_only',
    target: node,
    sentence: '',
    reads,
  } as const
  await book.execute(run, { type: 'begin', node, visit: 1, action, ...(checkpoint && { checkpoint }) })
  await book.execute(run, { type: 'succeeded', node, visit: 1, attempt: 1, output: sha256(`${node} gave`) })
}

function sealed(node: string): CheckpointTaken {
  return {
    jti: mintUuid(),
    snapshot: sha256(`${node} before`),
    reversible: true,
    rollbackUri: 'http://127.0.0.1:9/.well-known/atd/rollback',
    target: `${node} of edge-router-07`,
    description: `State before ${node}`,
    ttlS: 3600,
    undo: 'remote',
  }
}

async function cardOf(kind: string): Promise<ApprovalCard> {
  const { body } = await operator.ask<Page<ApprovalRow>>(listApprovals, 'GET')
  const row = body.items.find((one) => one.run === run && one.kind === kind)
  return (await operator.ask<ApprovalCard>(getApproval, 'GET', { params: { approval: row?.id ?? 'none' } }))
    .body
}

const ask = (kind: 'circuit' | 'cascade' | 'agent_error' | 'resource_exhausted', node: string) =>
  at.house.book.execute(run, {
    type: 'ask_about',
    node,
    visit: 1,
    kind,
    role: 'operator',
    sentence: 'Something is wrong',
    reason: 'It was seen',
    par: [],
  })

describe('the card of a question about what was noticed', () => {
  it('says of a cascade its pattern, where it comes from and whom it reaches', async () => {
    await done('plan', [])
    const blastRadius = jsonValue({ origin: 'plan', agents: ['spiffe://lab/agent/steer', 'tell'], count: 5 })
    await at.house.book.execute(
      run,
      {
        type: 'cascade',
        node: 'plan',
        visit: 1,
        pattern: 'depth_first',
        affectedAgents: 5,
        blastRadius: blastRadius.hash,
        description: 'Errors run from plan to tell.',
        par: [],
      },
      { values: [blastRadius] },
    )
    await ask('cascade', 'plan')
    expect((await cardOf('cascade')).about).toMatchObject({
      what: 'cascade',
      pattern: 'depth_first',
      affected: 5,
      agents: ['spiffe://lab/agent/steer', 'tell'],
      origin: { node: 'plan', label: 'Plan the change', visit: 1 },
      description: 'Errors run from plan to tell.',
    })
  })

  it('says of an agent’s error whose it is and which checkpoint it names', async () => {
    await done('plan', [])
    const checkpoint = sealed('shift')
    await done('shift', ['plan'], checkpoint)
    await at.house.book.execute(run, {
      type: 'signal',
      errorId: 'err-1',
      agent: 'spiffe://lab/agent/steer',
      severity: 'critical',
      errorType: 'action_failed',
      checkpointId: checkpoint.jti,
      description: 'The weights did not take',
      upstream: ['err-0'],
    })
    await ask('agent_error', 'shift')
    expect((await cardOf('agent_error')).about).toMatchObject({
      what: 'error',
      agent: 'spiffe://lab/agent/steer',
      severity: 'critical',
      checkpoint: {
        token: checkpoint.jti,
        node: 'shift',
        label: 'Shift traffic',
        target: 'shift of edge-router-07',
      },
      upstream: ['err-0'],
    })
  })

  it('lists every breaker on the downstream that keeps failing, with who waits', async () => {
    const downstream = 'spiffe://lab/agent/steer'
    const { circuits } = at.house.store
    for (const caller of ['workflow:failover', 'workflow:hygiene']) {
      const circuit = { id: sha256(caller + run), wid: mintUuid(), caller, downstream }
      await circuits.ensure([
        {
          ...circuit,
          at: 1,
          state: {
            calculated: {
              status: 'open',
              since: 1,
              until: 9,
              cooldownS: 30,
              reopened: 1,
              errorRate: 0.75,
              calls: 8,
              failures: 6,
            },
          },
        },
      ])
    }
    await done('plan', [])
    await ask('circuit', 'shift')
    const { id } = await cardOf('circuit')
    await circuits.hold({ downstream, runId: run, approval: id, heldAt: 2 })
    const { about, verdicts } = await cardOf('circuit')
    expect(verdicts).toEqual(['release', 'hold'])
    expect(about).toMatchObject({
      what: 'circuit',
      downstream: { kind: 'agent', name: 'steer' },
      held: true,
      more: false,
    })
    const rows = about?.what === 'circuit' ? about.circuits : []
    expect(rows.map(({ caller }) => caller.name).sort()).toEqual(['failover', 'hygiene'])
    expect(rows[0]).toMatchObject({ status: 'open', errorRate: 0.75, calls: 8, failures: 6, waiting: 0 })
  })

  it('says which downstream it was about also when its hold is gone and its breakers moved on', () => {
    const met = (downstream: string, node: string) => ({ downstream, nodes: [node], at: 50 })
    const later = {
      visits: new Map(),
      circuits: new Map([
        ['c1', met('spiffe://lab/agent/steer', 'shift')],
        ['c2', met('spiffe://lab/agent/mailer', 'shift')],
      ]),
    } as unknown as Run
    const question = {
      kind: 'circuit',
      node: 'shift',
      askedAt: 5,
      sentence: 'The breaker on steer opened again after 3 probes; its probes are held until you decide',
    } as Approval
    expect(noteAbout(later, question)).toEqual({ what: 'circuit', downstream: 'spiffe://lab/agent/steer' })
  })

  it('says nothing that it does not know', async () => {
    await ask('resource_exhausted', 'plan')
    const card = await cardOf('resource_exhausted')
    expect(card.about).toBeUndefined()
    expect(card).toMatchObject({ sentence: 'Something is wrong', reason: 'It was seen' })
  })

  it('takes the answers of its kind, and no other', async () => {
    await ask('resource_exhausted', 'plan')
    const { id, action } = await cardOf('resource_exhausted')
    const decide = (verdict: string) =>
      operator.ask<ApprovalCard & { code?: string; detail?: string }>(postDecision, 'POST', {
        params: { approval: id },
        body: { verdict, action, comment: '' },
      })
    expect((await decide('go_on_without')).body).toMatchObject({
      code: 'bad_request',
      detail: expect.stringContaining('does not answer this question'),
    })
    expect((await decide('acknowledge')).status).toBe(200)
  })
})

describe('the card of a rollback that cannot be whole', () => {
  it('names who cannot and why, and leaves out what the plan had said before', async () => {
    const { book } = at.house
    await done('plan', [])
    const shift = sealed('shift')
    const tell = { ...sealed('tell'), reversible: false }
    await done('shift', ['plan'], shift)
    await done('tell', ['shift'], tell)
    const billing = 'spiffe://lab/agent/billing'
    const below = { run: 'run_1', workflow: 'Pay', node: 'charge', visit: 1, label: 'Charge', agent: billing }
    const runsBelow = { count: 1, first: [{ run: 'run_1', workflow: 'Pay', agents: [billing] }] }
    const step = (node: string, fate: string, checkpointId: string) => ({
      node,
      visit: 1,
      label: node,
      fate,
      checkpointId,
    })
    const plan = jsonValue({
      steps: [
        step('tell', 'irreversible', tell.jti),
        { ...step('shift', 'restored', shift.jti), criticalBelow: [below], runsBelow },
      ],
    })
    const rollback = prefixed('rb', mintUuid()) as RollbackId
    const seq = await book.read(run, (folded) => folded.seq)
    await book.execute(
      run,
      {
        type: 'roll_back',
        rollback,
        scope: 'sub_dag',
        node: 'shift',
        checkpoints: [shift.jti],
        plan: plan.hash,
        seq,
        reason: 'It was the wrong peer',
        by: 'person:olga',
        deadlineS: 60,
      },
      { values: [plan] },
    )
    const vote = { type: 'voted', rollback, visit: 1, vote: 'cannot_prepare' } as const
    const agent = 'spiffe://lab/agent'
    await book.execute(run, {
      ...vote,
      node: 'tell',
      checkpointId: tell.jti,
      agent: `${agent}/mailer`,
      how: 'derived',
      reason: 'irreversible',
      description: 'Mail that has left stays sent',
    })
    await book.execute(run, {
      ...vote,
      node: 'shift',
      checkpointId: shift.jti,
      agent: `${agent}/steer`,
      how: 'asked',
      reason: 'unreachable',
      description: 'It gave no answer within 10 s',
    })
    const noted = await book.read(run, (folded) =>
      noteAbout(folded, { kind: 'rollback_unprepared', action: plan.hash } as Approval),
    )
    const about = await aboutOf(at.house, { id: 'appr_none' as Approval['id'] }, noted)
    expect(about).toMatchObject({
      what: 'rollback',
      rollback,
      by: 'person:olga',
      reason: 'It was the wrong peer',
      label: 'Shift traffic',
      can: 0,
      of: 1,
      critical: [
        { node: 'shift', label: 'Shift traffic' },
        { run: 'run_1', workflow: 'Pay', node: 'charge', label: 'Charge', agent: billing },
      ],
      holders: { agents: [billing], runs: runsBelow.first, here: false },
      now: { phase: 'preparing', status: 'executing' },
    })
    expect(about?.what === 'rollback' && about.cannot).toEqual([
      {
        node: 'shift',
        visit: 1,
        label: 'Shift traffic',
        agent: `${agent}/steer`,
        here: false,
        why: 'unreachable',
        description: 'It gave no answer within 10 s',
        runs: runsBelow,
      },
    ])
  })
})
