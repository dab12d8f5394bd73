/* What "put it back all the same" would undo, shown to whoever may say so: real files, and an agent of the lab over HTTP. */
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { labId } from '@/examples/lab/lab-agent'
import { sha256 } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import type { Approval } from '@/lib/engine/run'
import { putBackTextMaxBytes } from '@/lib/rollback/terms'
import type { ApprovalCard } from '@/lib/view/approval-wire'
import type { PutBackView, RollbackPlanView, RollbackView } from '@/lib/view/rollback-wire'
import { getApproval, getApprovalPutBack } from './handlers/approvals'
import { getPutBack } from './handlers/checkpoints'
import { postPlan, postRollback } from './handlers/rollbacks'
import type { Browser } from './testing/console'
import { LabScene } from './testing/lab-scene'

let scene: LabScene
let otto: Browser
beforeAll(async () => {
  scene = await LabScene.open()
  otto = await scene.at.person('otto', 'operator')
})
afterAll(() => scene.close())

const workflow = (step: object, more: object = {}) =>
  JSON.stringify({
    ...{ wf_id: 'changes', description: 'Changes something', edges: [] },
    policy: { roots: [{ path: 'conf', access: 'write' }] },
    nodes: [{ id: 'change', label: 'Change it', reversible: true, hitl_required: false, ...step }],
    ...more,
  })

const writes = (content: string, name = 'router.conf') =>
  workflow({ action: { type: 'write_file', path: `conf/${name}`, content } })

const steers = (share: number) =>
  workflow({
    agent: labId('dns-steering'),
    agent_config: { operation: 'shift-weight', input: { transit_b: share } },
  })

async function done(text: string): Promise<RunId> {
  const run = await scene.start(await scene.workflow(text))
  await scene.until(run, 'The end', ({ state }) => (state.status === 'ended' ? true : undefined))
  return run
}

interface Question {
  question: Approval
  checkpoint: string
}

/** The question that a rollback of the run waits for, and the checkpoint that it would be put back to. */
async function asked(run: RunId): Promise<Question> {
  const { scope, digest } = await planned(run)
  const body = { node: 'change', scope, digest }
  await otto.ask<RollbackView>(postRollback, 'POST', { params: { run }, body })
  const question = await scene.question(run, 'rollback_unprepared')
  const card = await otto.ask<ApprovalCard>(getApproval, 'GET', { params: { approval: question.id } })
  const about = card.body.about
  const checkpoint = about?.what === 'rollback' ? about.cannot[0]?.checkpoint : undefined
  return { question, checkpoint: checkpoint ?? '' }
}

async function planned(run: RunId): Promise<RollbackPlanView> {
  const wish = { params: { run }, body: { node: 'change', scope: 'sub_dag' } }
  return (await otto.ask<RollbackPlanView>(postPlan, 'POST', wish)).body
}

const look = ({ question, checkpoint }: Question, who = otto) =>
  who.ask<PutBackView & { code?: string; detail?: string }>(getApprovalPutBack, 'GET', {
    params: { approval: question.id, checkpoint },
  })

const lookAhead = async (run: RunId, who = otto) =>
  who.ask<PutBackView & { code?: string; detail?: string }>(getPutBack, 'GET', {
    params: { run, checkpoint: (await planned(run)).steps[0]?.checkpointId ?? '' },
  })

describe('of a file', () => {
  const at = (name = 'router.conf') => path.join(scene.at.folder, 'files/conf', name)
  beforeEach(() => {
    fs.mkdirSync(path.dirname(at()), { recursive: true })
    fs.writeFileSync(at(), 'mtu 1500\n', { mode: 0o644 })
  })

  it('it is the lines that are there now beside those that were sealed', async () => {
    const run = await done(writes('mtu 9000\n'))
    await done(writes('mtu 1400\n'))
    const question = await asked(run)
    const { status, headers, body } = await look(question)
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(body).toEqual({
      ...{ of: 'path', target: 'conf/router.conf', at: expect.any(Number) },
      now: { stands: 'file', sizeBytes: 9, hash: sha256('mtu 1400\n'), mode: '0644' },
      after: { stands: 'file', sizeBytes: 9, hash: sha256('mtu 1500\n'), mode: '0644' },
      text: { now: 'mtu 1400\n', after: 'mtu 1500\n' },
    })
    expect(fs.readFileSync(at(), 'utf8'), 'it was only looked at').toBe('mtu 1400\n')
    await scene.answer(otto, question.question, 'overwrite', 'both were wrong')
    await scene.until(run, 'The file', () =>
      fs.readFileSync(at(), 'utf8') === 'mtu 1500\n' ? true : undefined,
    )
    const over = await look(question)
    expect([over.status, over.body.code]).toEqual([409, 'approval_decided'])
  })

  it('it is made for those alone who may answer so, and for what the question is about', async () => {
    const run = await done(writes('mtu 9000\n'))
    await done(writes('mtu 1400\n'))
    const question = await asked(run)
    const vera = await scene.at.person('vera', 'viewer')
    const forbidden = await look(question, vera)
    expect([forbidden.status, forbidden.body.code]).toEqual([403, 'approval_role'])
    expect(forbidden.body.detail).toBe('"Change it" must be decided by operator; vera holds viewer.')
    const ahead = await lookAhead(run, vera)
    expect([ahead.status, ahead.body.code]).toEqual([403, 'role_missing'])
    const other = await look({ ...question, checkpoint: 'none' })
    expect([other.status, other.body.code]).toEqual([404, 'not_found'])
    expect(other.body.detail).toBe('This question names no checkpoint "none" whose target was changed since')
    expect(JSON.stringify([forbidden, ahead, other])).not.toContain('mtu')
  })

  it('it is told before anybody is asked, too, once somebody else changed it', async () => {
    const run = await done(writes('mtu 9000\n'))
    const unchanged = await lookAhead(run)
    expect([unchanged.status, unchanged.body.code]).toEqual([409, 'rollback_nothing'])
    expect(unchanged.body.detail).toBe(
      'Nobody else is known to have changed conf/router.conf since, so putting it back undoes nothing of theirs.',
    )
    fs.writeFileSync(at(), 'by hand\n')
    expect((await lookAhead(run)).body).toMatchObject({ text: { now: 'by hand\n', after: 'mtu 1500\n' } })
  })

  it('it says that it was deleted, or would be', async () => {
    fs.rmSync(at('new.conf'), { force: true })
    const made = await done(writes('made\n', 'new.conf'))
    fs.writeFileSync(at('new.conf'), 'by hand\n')
    expect((await lookAhead(made)).body).toMatchObject({
      ...{ now: { stands: 'file', sizeBytes: 8 }, after: { stands: 'nothing' } },
      text: { now: 'by hand\n', after: '' },
    })
    const wrote = await done(writes('mtu 9000\n'))
    fs.rmSync(at())
    expect((await lookAhead(wrote)).body).toMatchObject({
      ...{ now: { stands: 'nothing' }, after: { stands: 'file', sizeBytes: 9 } },
      text: { now: '', after: 'mtu 1500\n' },
    })
  })

  it('it is sizes and hashes alone where it is no text, or more than anybody reads', async () => {
    const binary = await done(writes('mtu 9000\n'))
    fs.writeFileSync(at(), Buffer.from([0, 1, 2]))
    const { body } = await lookAhead(binary)
    expect(body).toMatchObject({
      withheld: 'binary',
      now: { sizeBytes: 3, hash: sha256(Buffer.from([0, 1, 2])) },
    })
    expect(body).not.toHaveProperty('text')
    const most = 'x'.repeat(putBackTextMaxBytes)
    fs.writeFileSync(at(), most)
    expect((await lookAhead(binary)).body).toMatchObject({ text: { now: most } })
    fs.writeFileSync(at(), `${most}x`)
    const long = (await lookAhead(binary)).body
    expect(long).toMatchObject({
      withheld: 'too_large',
      now: { sizeBytes: putBackTextMaxBytes + 1 },
      after: { hash: sha256('mtu 1500\n') },
    })
    expect(long).not.toHaveProperty('text')
  })

  it('it is refused, without contents, where the target cannot be looked at', async () => {
    const run = await done(writes('mtu 9000\n'))
    fs.writeFileSync(at(), 'by hand\n')
    const question = await asked(run)
    fs.rmSync(at())
    fs.symlinkSync('elsewhere', at())
    const { status, body } = await look(question)
    expect([status, body.code]).toEqual([409, 'target_silent'])
    expect(body.detail).toMatch(
      /^conf\/router\.conf could not be looked at, so nobody can say what putting it back would undo: ".*router\.conf" /,
    )
    expect(JSON.stringify(body)).not.toContain('mtu')
    fs.rmSync(at())
  })
})

describe('of an agent', () => {
  const weights = () => scene.stateOf('dns-steering', 'weights.json').toString()

  it('it is what the agent tells, which holds the state itself', async () => {
    const before = weights()
    const run = await done(steers(41))
    await done(steers(56))
    const question = await asked(run)
    expect((await look(question)).body).toEqual({
      ...{ of: 'agent', agent: labId('dns-steering'), at: expect.any(Number) },
      preview: { title: 'weights.json', now: weights(), after: before },
    })
  })

  it('nobody here can tell while it does not answer', async () => {
    const run = await done(steers(42))
    await done(steers(57))
    const question = await asked(run)
    await scene.fail('dns-steering', { kind: 'errors' })
    const { status, body } = await look(question)
    await scene.fail('dns-steering', { kind: 'none' })
    expect([status, body.code]).toEqual([409, 'target_silent'])
    expect(body.detail).toMatch(
      /^weights\.json of dns-steering could not be looked at, so nobody can say what putting it back would undo: The agent dns-steering /,
    )
  })
})
