import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApiToken } from '@/lib/auth/api-tokens'
import { sha256 } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import type { ApprovalCard, ApprovalRow } from '@/lib/view/approval-wire'
import type { Page } from '@/lib/view/wire'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { startRun } from '../runs'
import { ask, type Browser, TestConsole } from '../testing/console'
import { keepDerived } from '../workflows'
import { getApproval, listApprovals, postDecision, postEvent } from './approvals'

/** await_approval ─ Approved ▶ execute, ─ Rejected ▶ diagnose; a talk that people may end as well. */
const graph: WorkflowGraph = graphOf(
  {
    await_approval: {
      kind: 'await_event',
      label: 'await approval',
      config: { question: 'May the fix be applied?', role: 'operator:oncall', artifacts: ['note', 'fix'] },
    },
    execute: { kind: 'prompt_state', config: { prompt: 'executor', template: '', orchestration: 'hybrid' } },
    diagnose: { kind: 'terminate' },
    verify: { kind: 'terminate' },
  },
  [],
  {
    format: 'promptpack',
    order: 'stepwise',
    starts: [{ name: 'main', node: 'await_approval' }],
    edges: [
      { from: 'await_approval', to: 'execute', when: 'Approved', extra: {} },
      { from: 'await_approval', to: 'diagnose', when: 'Rejected', extra: {} },
      { from: 'execute', to: 'verify', when: 'FixApplied', extra: {} },
    ],
    artifacts: [
      { name: 'note', mediaType: 'text/plain', mode: 'append', extra: { description: 'What was seen' } },
      { name: 'fix', mediaType: 'application/json', mode: 'replace', extra: {} },
      { name: 'log', mediaType: 'application/json', mode: 'append', extra: {} },
    ],
  },
)

const action = {
  hash: sha256('what is asked'),
  consequence: 'read_only',
  target: '',
  sentence: 'May the fix be applied?',
  reads: [] as string[],
} as const

let at: TestConsole
let oncall: Browser
let operator: Browser
let run: RunId
let approval: string
beforeAll(async () => {
  at = await TestConsole.open()
  oncall = await at.person('oncall', 'operator:oncall')
  operator = await at.person('operator', 'operator')
})
afterAll(() => at.close())

beforeEach(async () => {
  const version = await keepDerived(at.house, graph, 'person:ada')
  run = await startRun(at.house, { version, input: {}, by: 'person:ada', dryRun: false })
  await at.house.book.execute(run, { type: 'ask', node: 'await_approval', visit: 1, action })
  const { body } = await oncall.ask<Page<ApprovalRow>>(listApprovals, 'GET')
  approval = body.items.find((row) => row.run === run)?.id ?? ''
})

const card = async () => (await oncall.ask<ApprovalCard>(getApproval, 'GET', { params: { approval } })).body
const decide = (who: Browser, body: object) =>
  who.ask<ApprovalCard & { code?: string; detail?: string; events?: string[] }>(postDecision, 'POST', {
    params: { approval },
    body: { verdict: 'event', action: action.hash, ...body },
  })
const give = (who: Browser, body: object) =>
  who.ask<Record<string, unknown>>(postEvent, 'POST', { params: { run }, body })
const folded = () =>
  at.house.book.read(run, ({ walk, artifactWrites }) => ({
    at: walk?.path.at(-1)?.visit.node,
    written: artifactWrites.map(({ artifact, by, mode }) => ({ artifact, by, mode })),
  }))

describe('the card of a state that waits for its event', () => {
  it('says which events there are, where each leads, and what may be written along', async () => {
    expect(await card()).toMatchObject({
      kind: 'event',
      role: 'operator:oncall',
      sentence: 'May the fix be applied?',
      mayDecide: true,
      verdicts: ['event'],
      events: [
        { event: 'Approved', to: 'execute', label: 'execute' },
        { event: 'Rejected', to: 'diagnose', label: 'diagnose' },
      ],
      slots: [
        { name: 'note', mediaType: 'text/plain', mode: 'append', description: 'What was seen' },
        { name: 'fix', mediaType: 'application/json', mode: 'replace' },
      ],
    })
  })

  it('takes the event with a comment and artifacts, and the run goes on that way', async () => {
    const { status, body } = await decide(oncall, {
      event: 'Approved',
      comment: 'Looks right.',
      artifacts: { note: 'seen at noon', fix: { action: 'restart' } },
    })
    expect(status).toBe(200)
    expect(body.decision).toMatchObject({ verdict: 'event', event: 'Approved', by: 'person:oncall' })
    expect(await folded()).toEqual({
      at: 'execute',
      written: [
        { artifact: 'note', by: 'person:oncall', mode: 'append' },
        { artifact: 'fix', by: 'person:oncall', mode: 'replace' },
      ],
    })
  })

  it('refuses an event it does not wait for, and names those there are', async () => {
    const { status, body } = await decide(oncall, { event: 'Maybe' })
    expect(status).toBe(400)
    expect(body.code).toBe('bad_request')
    expect(body.detail).toBe('"Maybe" is no event of "await approval"; give Approved or Rejected.')
    expect(body.events).toEqual(['Approved', 'Rejected'])
    expect((await decide(oncall, {})).body.detail).toBe('No event was named; give Approved or Rejected.')
  })

  it('refuses an artifact that is not its to write, and a value that is not of the slot’s type', async () => {
    const foreign = await decide(oncall, { event: 'Approved', artifacts: { log: [] } })
    expect(foreign.body.detail).toBe(
      '"await approval" does not write the artifact "log"; it may write note, fix.',
    )
    const typed = await decide(oncall, { event: 'Approved', artifacts: { note: 7 } })
    expect(typed.body).toMatchObject({ code: 'bad_request' })
    expect(typed.body.detail).toContain('"note" is text/plain; send its value as a text')
    expect((await folded()).at).toBe('await_approval')
  })

  it('is for the role it names, and an event goes with no other verdict', async () => {
    const refused = await decide(operator, { event: 'Approved' })
    expect(refused.status).toBe(403)
    expect(refused.body.detail).toContain('must be decided by operator:oncall; operator holds operator')
    expect((await decide(oncall, { verdict: 'approve', event: 'Approved' })).body.detail).toContain(
      'answer event',
    )
  })

  it('takes the first event alone: whoever is second is told who gave which', async () => {
    const answers = await Promise.all([
      decide(oncall, { event: 'Approved' }),
      decide(oncall, { event: 'Rejected' }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    // Sent at once, either may be first.
    const event = answers[0]?.status === 200 ? 'Approved' : 'Rejected'
    const late = await decide(oncall, { event: 'Rejected' })
    expect(late.body).toMatchObject({ code: 'approval_decided', event })
    expect(late.body.detail).toContain(`oncall already gave "${event}" for "await approval", visit 1`)
  })
})

describe('an event from another system', () => {
  it('answers the question that stands, with a token of the scope', async () => {
    const made = await createApiToken(
      at.house.auth,
      { kind: 'person', id: oncall.id, name: 'oncall', roles: ['operator:oncall'], session: '' },
      { name: 'pager', scopes: ['approvals:decide'], days: 1 },
    )
    const { status, body } = await ask<Record<string, unknown>>(postEvent, 'POST', {
      params: { run },
      body: { event: 'Approved', artifacts: { fix: ['x'] } },
      headers: { authorization: `Bearer ${made.secret}` },
    })
    expect({ status, body }).toEqual({
      status: 200,
      body: { run, event: 'Approved', node: 'await_approval', visit: 1 },
    })
    expect((await card()).decision).toMatchObject({ event: 'Approved', by: 'person:oncall+token:pager' })
  })

  it('moves a hybrid state on while its prompt is at work, for whoever holds the role', async () => {
    await give(oncall, { event: 'Approved' })
    const early = await give(operator, { event: 'FixApplied' })
    expect(early.status).toBe(409)
    expect(early.body.detail).toContain('hybrid and at work')
    expect(early.body.detail).toContain('Its events are FixApplied.')
    await at.house.book.execute(run, {
      type: 'begin',
      node: 'execute',
      visit: 1,
      action: { ...action, hash: sha256('another'), reads: [] },
    })
    const wrong = await give(operator, { event: 'Done' })
    expect(wrong.body.detail).toBe('"Done" is no event of execute; give FixApplied.')
    expect((await give(operator, { event: 'FixApplied', node: 'execute' })).status).toBe(200)
    expect((await folded()).at).toBe('verify')
  })

  it('is refused where nothing waits for it, naming where the run stands', async () => {
    await give(oncall, { event: 'Rejected' })
    const late = await give(oncall, { event: 'Approved', node: 'await_approval' })
    expect(late.status).toBe(409)
    expect(late.body.detail).toContain('await_approval is done')
    expect(late.body.detail).toContain('gave "Rejected" to visit 1')
    const unknown = await give(oncall, { event: 'Approved', node: 'nowhere' })
    expect(unknown.status).toBe(404)
    expect(unknown.body.detail).toContain(
      'has no state "nowhere"; events lead on from await_approval, execute',
    )
  })
})
