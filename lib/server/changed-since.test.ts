/* Taking back a step whose target somebody else changed since: real files, and agents of the lab over HTTP. */
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { labId } from '@/examples/lab/lab-agent'
import type { RollbackId, RunId } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import type { ApprovalCard } from '@/lib/view/approval-wire'
import type { RollbackPlanView, RollbackView } from '@/lib/view/rollback-wire'
import { getApproval } from './handlers/approvals'
import { getRollback, postChoice, postPlan, postRollback } from './handlers/rollbacks'
import { startRun } from './runs'
import type { Browser } from './testing/console'
import { LabScene } from './testing/lab-scene'

type Step = { id: string; after?: string | undefined } & Record<string, unknown>

let scene: LabScene
let otto: Browser
beforeAll(async () => {
  scene = await LabScene.open()
  otto = await scene.at.person('otto', 'operator', 'coordinator')
})
afterAll(() => scene.close())

const text = (wfId: string, steps: Step[], more: object = {}) =>
  JSON.stringify({
    wf_id: wfId,
    description: 'Writes',
    policy: { roots: [{ path: 'conf', access: 'write' }] },
    nodes: steps.map(({ after: _after, ...step }) => ({ label: step.id, hitl_required: false, ...step })),
    edges: steps.flatMap(({ id, after }) => (after ? [{ from: after, to: id }] : [])),
    ...more,
  })

const write = (id: string, content: string, after?: string): Step => ({
  ...{ id, after, reversible: true },
  action: { type: 'write_file', path: 'conf/router.conf', content },
})

const steer = (id: string, share: number, after?: string): Step => ({
  ...{ id, after, agent: labId('dns-steering') },
  agent_config: { operation: 'shift-weight', input: { transit_b: share } },
})

async function done(steps: Step[], more?: object): Promise<RunId> {
  const run = await scene.start(await scene.workflow(text('writes', steps, more)))
  await ended(run)
  return run
}

async function ended(run: RunId): Promise<void> {
  const end = await scene.until(run, 'The end', ({ state }) => (state.status === 'ended' ? state : undefined))
  expect(end.terminal).toBe('success')
}

interface Reach {
  node: string
  scope?: 'single' | 'sub_dag' | 'full_workflow'
}

async function planned(run: RunId, { node, scope = 'sub_dag' }: Reach): Promise<RollbackPlanView> {
  const asked = { params: { run }, body: { node, scope } }
  return (await otto.ask<RollbackPlanView>(postPlan, 'POST', asked)).body
}

/** Asks for exactly what the plan shows. */
async function rollBack(run: RunId, reach: Reach, overwrite?: boolean): Promise<RollbackId> {
  const { digest, scope, node } = await planned(run, reach)
  const body = { node, scope, digest, overwrite }
  const { status, body: said } = await otto.ask<RollbackView>(postRollback, 'POST', { params: { run }, body })
  expect(status, JSON.stringify(said)).toBe(202)
  return said.id as RollbackId
}

const result = (run: RunId, rollback: RollbackId) =>
  scene.until(run, 'The result', ({ rollbacks }) => rollbacks.get(rollback)?.status)

async function goOn(run: RunId, rollback: RollbackId): Promise<void> {
  await otto.ask(postChoice, 'POST', { params: { run, rollback }, body: { choice: 'go_on' } })
  await scene.until(run, 'The rollback to be over', ({ state }) =>
    state.status === 'rolled_back' ? undefined : true,
  )
  await ended(run)
}

/** The steps of the plan that say so. */
const changed = (plan: RollbackPlanView) =>
  plan.steps.filter(({ changedSince }) => changedSince).map(({ node }) => node)

describe('a file', () => {
  const at = () => path.join(scene.at.folder, 'files/conf/router.conf')
  const content = () => fs.readFileSync(at(), 'utf8')
  beforeEach(() => {
    fs.mkdirSync(path.dirname(at()), { recursive: true })
    fs.writeFileSync(at(), 'S0')
  })

  it('that two runs changed is put back by neither without a word, in whatever order', async () => {
    const one = await done([write('write', 'S1')])
    const two = await done([write('write', 'S2')])
    const plan = await planned(one, { node: 'write' })
    expect(plan.steps).toMatchObject([
      {
        fate: 'restored',
        changedSince: true,
        changedBy: { run: two, workflow: 'writes', node: 'write', visit: 1, label: 'write' },
      },
    ])
    const who = `"write" of writes in ${two.slice(0, 8)}…${two.slice(-4)} on ${minuteOf(plan)} UTC`
    expect(plan.steps[0]?.sentence).toBe(
      `conf/router.conf was changed since "write" by ${who}; putting it back would undo that, too.`,
    )
    const rollback = await rollBack(one, { node: 'write' })
    const question = await scene.question(one, 'rollback_unprepared')
    expect(question.sentence).toBe(
      '"write" cannot be taken back: its target was changed since; nothing else is left to take back.',
    )
    const vote = (await scene.facts(one)).find(({ type }) => type === 'rollback_vote')
    expect(vote).toMatchObject({
      ...{ vote: 'cannot_prepare', reason: 'hash_mismatch', how: 'here' },
      ...{ changedBy: who, changedRun: two, changedNode: 'write' },
      description: plan.steps[0]?.sentence,
    })
    const { body: card } = await otto.ask(getApproval, 'GET', { params: { approval: question.id } })
    expect(card).toMatchObject({ about: { cannot: [{ changedBy: { run: two, node: 'write' } }] } })
    expect(content(), 'nothing was done').toBe('S2')
    await scene.answer(otto, question, 'abort')
    await result(one, rollback)

    // The second run is as it left it, and is put back. After that the first one is as it left it, too.
    expect(await result(two, await rollBack(two, { node: 'write' }))).toBe('completed')
    expect(content()).toBe('S1')
    expect(changed(await planned(one, { node: 'write' }))).toEqual([])
    expect(await result(one, await rollBack(one, { node: 'write' }))).toBe('completed')
    expect(content()).toBe('S0')
  })

  it('is put back all the same by whoever says so, and then the other run notices', async () => {
    const one = await done([write('write', 'S1')])
    const two = await done([write('write', 'S2')])
    const asked = (await planned(one, { node: 'write' })).digest
    const rollback = await rollBack(one, { node: 'write' }, true)
    expect(await result(one, rollback)).toBe('completed')
    expect(content()).toBe('S0')
    const request = (await scene.facts(one)).find(({ type }) => type === 'rollback_request')
    expect(request).toMatchObject({ overwrite: true, by: 'person:otto' })
    expect(asked).not.toBe((await planned(one, { node: 'write' })).digest)
    // What the second run sealed is what the first one had made of it: that is not put back, green.
    const [told] = (await planned(two, { node: 'write' })).steps
    expect(told).toMatchObject({ changedSince: true, changedBy: { run: one, node: 'write', undid: true } })
    expect(told?.sentence).toContain('by the rollback of "write" of writes in run_')
  })

  it('is put back all the same by whoever answers so when asked, with a reason; nothing else is', async () => {
    const one = await done([write('write', 'S1')])
    await done([write('write', 'S2')])
    const rollback = await rollBack(one, { node: 'write' })
    const question = await scene.question(one, 'rollback_unprepared')
    const { body: card } = await otto.ask<ApprovalCard>(getApproval, 'GET', {
      params: { approval: question.id },
    })
    expect(card.verdicts).toEqual(['go_on_without', 'abort', 'escalate', 'ask_again', 'overwrite'])
    await expect(scene.answer(otto, question, 'overwrite')).rejects.toThrow(/bad_request.*needs a reason/)
    expect(content(), 'nothing was done').toBe('S2')
    await scene.answer(otto, question, 'overwrite', 'S2 was wrong as well')
    expect(await result(one, rollback)).toBe('completed')
    expect(content()).toBe('S0')
    const facts = await scene.facts(one)
    expect(facts.find(({ type }) => type === 'approval_decided')).toMatchObject({
      ...{ verdict: 'overwrite', by: 'person:otto', comment: 'S2 was wrong as well' },
    })
    expect(facts.find(({ type }) => type === 'rollback_request')).not.toHaveProperty('overwrite')
    const { body: view } = await otto.ask<RollbackView>(getRollback, 'GET', {
      params: { run: one, rollback },
    })
    expect(view.overwritten).toMatchObject([{ by: 'person:otto', reason: 'S2 was wrong as well' }])
    expect(view.votes).toMatchObject([{ vote: 'prepared' }])
  })

  it('that somebody changed by hand is noticed at the last moment, too', async () => {
    const run = await done([write('write', 'S1')])
    const plan = await planned(run, { node: 'write' })
    expect(changed(plan)).toEqual([])
    fs.writeFileSync(at(), 'by hand')
    const stale = { params: { run }, body: { node: 'write', scope: plan.scope, digest: plan.digest } }
    const refused = await otto.ask(postRollback, 'POST', stale)
    expect(refused).toMatchObject({ status: 409, body: { code: 'rollback_plan_changed' } })
    fs.writeFileSync(at(), 'S1')
    const rollback = await rollBack(run, { node: 'write' })
    expect(await result(run, rollback)).toBe('completed')
  })

  it('that is as before already, or gone as it was, needs nobody', async () => {
    const back = await done([write('write', 'S1')])
    fs.writeFileSync(at(), 'S0')
    expect(changed(await planned(back, { node: 'write' }))).toEqual([])
    fs.rmSync(path.dirname(at()), { recursive: true })
    const made = await done([write('write', 'S1')])
    fs.rmSync(at())
    expect(changed(await planned(made, { node: 'write' }))).toEqual([])
    expect(await result(made, await rollBack(made, { node: 'write' }))).toBe('completed')
    expect(fs.existsSync(path.dirname(at())), 'the folder made for it').toBe(false)
  })

  it('that the run itself changed again is put back through all of it, and again after going on', async () => {
    const run = await done([write('one', 'S1'), write('two', 'S2', 'one'), write('three', 'S3', 'two')])
    for (const node of ['one', 'two', 'one']) {
      expect(changed(await planned(run, { node }))).toEqual([])
      const rollback = await rollBack(run, { node })
      expect(await result(run, rollback)).toBe('completed')
      expect(content()).toBe(node === 'one' ? 'S0' : 'S1')
      await goOn(run, rollback)
      expect(content()).toBe('S3')
    }
    expect(changed(await planned(run, { node: 'one', scope: 'single' })), 'S3 is its own doing').toEqual([])
    fs.writeFileSync(at(), 'by hand')
    const { steps } = await planned(run, { node: 'one' })
    expect(steps.map(({ node, changedSince }) => [node, changedSince])).toEqual([
      ['three', true],
      ['two', true],
      ['one', true],
    ])
    for (const step of steps) {
      expect(step).not.toHaveProperty('changedBy')
      expect(step.sentence).toContain('by somebody outside this installation, as far as its runs tell;')
    }
  })

  it('that was changed by hand in between is noticed where the change would be lost', async () => {
    const hold = { ...write('two', 'S2', 'one'), hitl_required: true }
    const run = await scene.start(await scene.workflow(text('held', [write('one', 'S1'), hold])))
    const question = await scene.question(run, 'approval')
    fs.writeFileSync(at(), 'by hand')
    await scene.answer(otto, question, 'approve')
    await ended(run)
    expect(changed(await planned(run, { node: 'one' }))).toEqual(['one'])
    const rollback = await rollBack(run, { node: 'one' })
    await scene.answer(otto, await scene.question(run, 'rollback_unprepared'), 'go_on_without')
    expect(await result(run, rollback)).toBe('partial')
    expect(content()).toBe('by hand')
  })

  it('names the run that a later step went on from', async () => {
    const hold = { ...write('two', 'S2', 'one'), hitl_required: true }
    const run = await scene.start(await scene.workflow(text('held', [write('one', 'S1'), hold])))
    const question = await scene.question(run, 'approval')
    const other = await done([write('write', 'S5')])
    await scene.answer(otto, question, 'approve')
    await ended(run)
    const { steps } = await planned(run, { node: 'one' })
    expect(steps).toMatchObject([{ node: 'two' }, { node: 'one', changedBy: { run: other, node: 'write' } }])
    expect(steps[0]).not.toHaveProperty('changedSince')
  })

  it('claims nothing where a later step of the run may have changed it and does not say so', async () => {
    const append = table('append', 'shell_run', 'command = "/bin/sh"', 'args_from = "trigger.args"')
    const run = await walked(
      [writes('first'), append],
      { args: ['-c', `printf x >> '${at()}'`] },
      '[policy.shell]\ncommands = ["/bin/sh", "/bin/dash", "/usr/bin/dash", "/bin/bash", "/usr/bin/bash"]\n',
    )
    expect(content()).toBe('S1x')
    expect(changed(await planned(run, { node: 'write' }))).toEqual([])
  })

  it('that runs below the run changed as well is its own doing, and nobody else’s is not', async () => {
    await scene.workflow(toml('below', [writes('second')]), 'below.toml')
    const below = table('go', 'call', 'workflow = "below"', 'input_from = "trigger"')
    const run = await walked([writes('first'), below])
    expect(content()).toBe('S2')
    expect(changed(await planned(run, { node: 'write', scope: 'single' })), 'the child did that').toEqual([])
    const rollback = await rollBack(run, { node: 'write' })
    expect(await result(run, rollback)).toBe('completed')
    expect(content()).toBe('S0')

    const other = await walked([writes('first'), below])
    fs.writeFileSync(at(), 'by hand')
    expect(changed(await planned(other, { node: 'write', scope: 'single' }))).toEqual(['write'])
    const [child] = await scene.at.house.ports.childrenOf(other, 'go', 1)
    expect(changed(await planned(child as RunId, { node: 'write' }))).toEqual(['write'])
  })
})

/** A node's table in agentd's words. */
const table = (id: string, type: string, ...lines: string[]) =>
  `[[nodes]]\nid = "${id}"\ntype = "${type}"\n${lines.join('\n')}\n`

const writes = (content: 'first' | 'second') =>
  table('write', 'write_file', 'path_from = "trigger.path"', `content_from = "trigger.${content}"`)

/** A workflow of these nodes, one after the other. */
function toml(name: string, nodes: string[], more = ''): string {
  const ids = nodes.flatMap((node) => /^id = "(.+)"$/m.exec(node)?.[1] ?? [])
  const edges = ids.slice(1).map((to, at) => `[[edges]]\nfrom = "${ids[at]}"\nto = "${to}"\n`)
  const start = `[[start_nodes]]\nname = "main"\nsource = "manual"\nentry_node = "${ids[0]}"\n`
  return [`name = "${name}"\n`, start, '[policy.fs]\nwrite = ["conf/**"]\n', more, ...nodes, ...edges].join(
    '\n',
  )
}

/** A run of them that came to its end. */
async function walked(nodes: string[], input: JsonObject = {}, more = ''): Promise<RunId> {
  const version = await scene.workflow(toml('walk', nodes, more), 'walk.toml')
  const given = { path: 'conf/router.conf', first: 'S1', second: 'S2', ...input }
  const run = await startRun(scene.at.house, { version, input: given, by: 'person:otto', dryRun: false })
  await ended(run)
  return run
}

/** When the target of a plan's first step was changed since, as sentences spell it. */
const minuteOf = ({ steps: [step] }: RollbackPlanView) =>
  new Date(step?.changedBy?.at ?? 0).toISOString().slice(0, 16).replace('T', ' at ')

describe('a change between vote and act', () => {
  const file = () => path.join(scene.at.folder, 'files/conf/router.conf')
  const weights = () => scene.stateOf('dns-steering', 'weights.json').toString()
  const both = () => done([steer('steer', 61), write('write', 'S1', 'steer')])
  const resultOf = async (run: RunId, node: string) => {
    const facts = await scene.facts(run)
    return facts.find((fact) => fact.type === 'rollback_act_result' && fact.node === node)
  }
  beforeEach(() => {
    fs.mkdirSync(path.dirname(file()), { recursive: true })
    fs.writeFileSync(file(), 'S0')
  })

  it('of a file is not overwritten: a person is asked', async () => {
    const run = await both()
    await done([steer('other', 62)])
    const rollback = await rollBack(run, { node: 'steer' })
    const question = await scene.question(run, 'rollback_unprepared')
    const votes = (await scene.facts(run)).flatMap((fact) =>
      fact.type === 'rollback_vote' ? [[fact.node, fact.vote]] : [],
    )
    expect(Object.fromEntries(votes)).toEqual({ write: 'prepared', steer: 'cannot_prepare' })
    fs.writeFileSync(file(), 'by hand')
    await scene.answer(otto, question, 'go_on_without')
    await result(run, rollback)
    expect(fs.readFileSync(file(), 'utf8')).toBe('by hand')
    expect(await resultOf(run, 'write')).toMatchObject({
      status: 'escalated',
      description:
        'conf/router.conf was changed since "write" by somebody outside this installation, as far as its runs tell; nothing was put back, since that would undo it, too',
    })
    const card = await scene.question(run, 'rollback_escalated')
    expect(card.sentence).toContain('write was not undone: conf/router.conf was changed since')
  })

  it('of an agent is left as it is by an agent of the kit, which was told what to expect', async () => {
    const run = await both()
    fs.writeFileSync(file(), 'by hand')
    const rollback = await rollBack(run, { node: 'steer' })
    const question = await scene.question(run, 'rollback_unprepared')
    await done([steer('other', 63)])
    const now = weights()
    await scene.answer(otto, question, 'go_on_without')
    await result(run, rollback)
    expect(weights()).toBe(now)
    const said = await resultOf(run, 'steer')
    expect(said).toMatchObject({
      ...{ status: 'escalated', evidence: expect.any(String) },
      description: 'It is in no state that the request expects; nothing was put back.',
    })
    expect(said).toHaveProperty('stateHashAfter', (said as { stateHashBefore?: string }).stateHashBefore)
  })
})

describe('an agent', () => {
  const weights = () => scene.stateOf('dns-steering', 'weights.json').toString()

  it('that two runs changed votes that it cannot, before it is asked; by the operator’s word it puts it back', async () => {
    const before = weights()
    const one = await done([steer('steer', 40)])
    const after = weights()
    const two = await done([steer('steer', 55)])
    const plan = await planned(one, { node: 'steer' })
    expect(plan.steps).toMatchObject([
      {
        agent: labId('dns-steering'),
        changedSince: true,
        changedBy: { run: two, workflow: 'writes', node: 'steer', label: 'steer' },
      },
    ])
    const first = await rollBack(one, { node: 'steer' })
    const question = await scene.question(one, 'rollback_unprepared')
    const vote = (await scene.facts(one)).find(({ type }) => type === 'rollback_vote')
    expect(vote).toMatchObject({
      ...{ agent: labId('dns-steering'), vote: 'cannot_prepare', reason: 'hash_mismatch', how: 'derived' },
    })
    await scene.answer(otto, question, 'abort')
    await result(one, first)
    expect(JSON.parse(weights())).toMatchObject({ 'transit-b': 55 })

    expect(await result(one, await rollBack(one, { node: 'steer' }, true))).toBe('completed')
    expect(weights()).toBe(before)
    // Not even the operator's word of the first rollback counts for this one.
    expect(changed(await planned(two, { node: 'steer' }))).toEqual(['steer'])
    expect(await result(two, await rollBack(two, { node: 'steer' }, true))).toBe('completed')
    expect(weights(), 'as the second run had found it').toBe(after)
  })

  it('that cannot say what state it is in the next time makes no other plan', async () => {
    const run = await done([steer('steer', 47)])
    const { digest } = await planned(run, { node: 'steer' })
    await scene.fail('dns-steering', { kind: 'errors' })
    const silent = await planned(run, { node: 'steer' })
    expect(silent.steps).toMatchObject([{ stateUnread: true }])
    expect(silent.digest).toBe(digest)
    await scene.fail('dns-steering', { kind: 'none' })
  })

  it('whose state the run changed step by step is put back through all of it', async () => {
    const before = weights()
    const run = await done([steer('one', 41), steer('two', 42, 'one'), steer('three', 43, 'two')])
    expect(changed(await planned(run, { node: 'one' }))).toEqual([])
    const rollback = await rollBack(run, { node: 'one' })
    expect(await result(run, rollback)).toBe('completed')
    expect(weights()).toBe(before)
    await goOn(run, rollback)
    expect(changed(await planned(run, { node: 'one' }))).toEqual([])
    expect(await result(run, await rollBack(run, { node: 'one' }))).toBe('completed')
    expect(weights()).toBe(before)
  })
})
