/* Forks through the whole engine: the handlers, a real store, real files, a worker. */
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RunId } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import { verifyLedgerNode } from '@/lib/ect/ledger-verify-node'
import type { Fact } from '@/lib/engine/facts'
import type { Approval, Run } from '@/lib/engine/run'
import type { ForkPlanView, ForkTreeView } from '@/lib/view/fork-wire'
import type { RollbackPlanView } from '@/lib/view/rollback-wire'
import type { RunRow } from '@/lib/view/run-wire'
import type { Page, ProblemDetails } from '@/lib/view/wire'
import { artifactValue } from '@/lib/worker/artifact-values'
import { readJson } from '@/lib/worker/run-book'
import { startWorker, type Worker } from '@/lib/worker/worker'
import type { GraphEdge, WorkflowGraph } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { forkPointAt } from './fork-point'
import { forkRun } from './forks'
import { giveEvent } from './give-event'
import { getForks, postFork, postForkPlan } from './handlers/forks'
import { postPlan, postRollback } from './handlers/rollbacks'
import { listRuns } from './handlers/runs'
import { outcomeOf } from './one-shot'
import { startRun } from './runs'
import { type Answered, type Browser, TestConsole } from './testing/console'
import { importWorkflow, keepDerived } from './workflows'

const never = new AbortController().signal
let at: TestConsole
let worker: Worker
let ada: Browser
beforeEach(async () => {
  at = await TestConsole.open()
  fs.mkdirSync(path.join(at.folder, 'files'), { recursive: true })
  worker = startWorker(at.house.ports, 'test')
  ada = await at.person('ada', 'coordinator', 'author')
})
afterEach(async () => {
  await worker.stop()
  await at.close()
})

const file = (name: string) => path.join(at.folder, 'files', name)
const read = (name: string) => fs.readFileSync(file(name), 'utf8')
const look = <T>(run: string, reader: (run: Run) => T) => at.house.book.read(run as RunId, reader)
const rowsOf = (run: string) => at.house.store.ledger.rows(run as RunId, 0, 10_000)

/** Writes a file, reads it back, and writes a second one. */
const draft = (more = '') => `name = "notes"
[[start_nodes]]
name = "main"
source = "manual"
entry_node = "draft"
[[nodes]]
id = "draft"
type = "template_render"
template = "Hello {{name}}"
input_from = "trigger"
[[nodes]]
id = "first"
type = "write_file"
path_from = "trigger.first"
content_from = "draft.rendered"
[[nodes]]
id = "second"
type = "write_file"
path_from = "trigger.second"
content_from = "draft.rendered"
[[edges]]
from = "draft"
to = "first"
[[edges]]
from = "first"
to = "second"
${more}`

const input = { name: 'Ada', first: 'first.txt', second: 'second.txt', third: 'third.txt' }

async function ran(text: string, filename = 'notes.toml'): Promise<RunId> {
  const { record } = await importWorkflow(at.house, text, { by: 'person:ada', filename })
  const run = await startRun(at.house, { version: record.version, input, by: 'person:ada', dryRun: false })
  await over(run)
  return run
}

const over = (run: string) => outcomeOf(at.house, run as RunId, 'person:ada', { signal: never, timeoutS: 30 })

/** The number of the token that completed that visit of a step. */
async function doneAt(run: string, node: string, visit = 1): Promise<number> {
  const facts = await factsOf(run)
  return (
    facts.findIndex((fact) => fact.type === 'task_complete' && fact.node === node && fact.visit === visit) + 1
  )
}

async function factsOf(run: string): Promise<Fact[]> {
  const facts: Fact[] = []
  const { parseClaims } = await import('@/lib/ect/claims')
  const { unverifiedPayload } = await import('@/lib/ect/jws')
  const { factOf } = await import('@/lib/engine/fact-codec')
  for (const row of await rowsOf(run)) facts.push(factOf(parseClaims(unverifiedPayload(row.token))))
  return facts
}

async function planned(run: string, seq: number, more: JsonObject = {}): Promise<ForkPlanView> {
  const { status, body } = await ada.ask<ForkPlanView>(postForkPlan, 'POST', {
    params: { run },
    body: { at: seq, ...more },
  })
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

async function fork(run: string, seq: number, more: JsonObject = {}): Promise<string> {
  const { digest } = await planned(run, seq, more.version === undefined ? {} : { version: more.version })
  const { status, body } = await ada.ask<{ id: string }>(postFork, 'POST', {
    params: { run },
    body: { at: seq, digest, ...more },
  })
  expect(status, JSON.stringify(body)).toBe(201)
  return body.id
}

async function refused(
  run: string,
  body: unknown,
  who = ada,
): Promise<Answered<ProblemDetails>['body'] & { status: number }> {
  const answered = await who.ask(postFork, 'POST', { params: { run }, body })
  return { ...answered.body, status: answered.status }
}

async function expectVerified(run: string): Promise<void> {
  const heads = await at.house.store.ledger.heads(run as RunId)
  const header = await at.house.store.ledger.header(run as RunId)
  const verdict = await verifyLedgerNode({
    wid: header?.wid ?? '',
    rows: await rowsOf(run),
    heads,
    keys: at.house.keys.keys,
  })
  expect(verdict).toMatchObject({ holds: true })
}

const pathOf = (run: string) =>
  look(run, ({ walk }) => walk?.path.map(({ visit: { node, visit } }) => `${node} ${visit}`).join(', '))

describe('a plan', () => {
  it('says what is taken as done, where it goes on and what would happen again, and changes nothing', async () => {
    const run = await ran(draft())
    const before = await rowsOf(run)
    const seq = await doneAt(run, 'draft')
    const plan = await planned(run, seq)
    expect(plan).toMatchObject({
      at: seq,
      carried: 1,
      after: { node: 'draft', visit: 1 },
      next: [{ node: 'first', visit: 1 }],
      input: { json: input },
      artifacts: [],
      versions: [{ original: true }],
      moreEffects: false,
      originalIsDry: false,
    })
    expect(plan.effects).toMatchObject([
      {
        node: 'first',
        consequence: 'reversible',
        happened: 'done',
        run,
        target: expect.stringContaining('first.txt'),
      },
      { node: 'second', consequence: 'reversible', happened: 'done' },
    ])
    expect(plan.effects[0]?.sentence).toMatch(/first\.txt/)
    expect(await rowsOf(run)).toEqual(before)
    expect((await at.house.store.runs.list({}, { limit: 10 })).items).toHaveLength(1)
  })

  it('lists what a step that was under way may do again, and not what was carried', async () => {
    const run = await ran(draft())
    const started = (await factsOf(run)).findIndex(
      (fact) => fact.type === 'task_start' && fact.node === 'second',
    )
    const plan = await planned(run, started + 1)
    expect(plan.next).toEqual([{ node: 'second', label: 'second', visit: 1 }])
    expect(plan.effects.map(({ node }) => node)).toEqual(['second'])
    const last = (await rowsOf(run)).length
    expect(await planned(run, last)).toMatchObject({ next: [], nextCount: 0, effects: [], carried: 3 })
  })

  it('lists what child runs did, in place of the step that began them', async () => {
    await importWorkflow(at.house, draft().replace('"notes"', '"child"'), {
      by: 'person:ada',
      filename: 'child.toml',
    })
    const run = await ran(`name = "caller"
[[start_nodes]]
name = "main"
source = "manual"
entry_node = "call"
[[nodes]]
id = "call"
type = "call"
workflow = "child"
input_from = "trigger"
[[nodes]]
id = "second"
type = "write_file"
path_from = "trigger.third"
content_from = "trigger.name"
[[edges]]
from = "call"
to = "second"
`)
    const { items } = await at.house.store.runs.list({ parent: run }, { limit: 10 })
    const child = items[0]?.runId
    const plan = await planned(run, 1)
    expect(plan.effects.map((effect) => [effect.run, effect.workflow, effect.node, effect.happened])).toEqual(
      [
        [child, 'child', 'first', 'done'],
        [child, 'child', 'second', 'done'],
        [run, 'caller', 'second', 'done'],
      ],
    )
    expect((await planned(run, await doneAt(run, 'call'))).effects.map(({ node }) => node)).toEqual([
      'second',
    ])
    // Carried, the call is not made again: its child belongs to the original.
    const id = await fork(run, await doneAt(run, 'call'), { dry_run: false })
    await over(id)
    expect((await at.house.store.runs.list({ parent: id as RunId }, { limit: 10 })).items).toEqual([])
    const again = await fork(run, 1, { dry_run: false })
    await over(again)
    expect((await at.house.store.runs.list({ parent: again as RunId }, { limit: 10 })).items).toHaveLength(1)
    // A child forked is a run of its own.
    const own = await fork(child ?? '', await doneAt(child ?? '', 'draft'))
    await over(own)
    expect(await at.house.store.runs.get(own as RunId)).toMatchObject({ forkOf: child, terminal: 'success' })
    expect(await at.house.store.runs.get(own as RunId)).not.toHaveProperty('parent')
    await expectVerified(own)
  })
})

describe('a fork', () => {
  it('is a dry run unless it is said otherwise: no file is touched, and what was done is not done again', async () => {
    const run = await ran(draft())
    const before = await rowsOf(run)
    fs.writeFileSync(file('first.txt'), 'changed since')
    const id = await fork(run, await doneAt(run, 'draft'), { reason: 'To look' })
    const outcome = await over(id)
    expect(outcome.status).toBe('completed')
    expect(read('first.txt')).toBe('changed since')
    expect(await look(id, ({ start }) => start)).toMatchObject({
      dryRun: true,
      forkSeq: await doneAt(run, 'draft'),
      forkReason: 'To look',
      by: 'person:ada',
    })
    expect((await factsOf(id)).filter((fact) => fact.type === 'task_start').map((fact) => fact.node)).toEqual(
      ['first', 'second'],
    )
    expect(await rowsOf(run)).toEqual(before)
    await expectVerified(id)
  })

  it('does it again for real when it is said', async () => {
    const run = await ran(draft())
    const before = await rowsOf(run)
    fs.rmSync(file('second.txt'))
    fs.writeFileSync(file('first.txt'), 'changed since')
    const id = await fork(run, await doneAt(run, 'first'), { dry_run: false })
    expect(await over(id)).toMatchObject({ status: 'completed' })
    expect(read('second.txt')).toBe('Hello Ada')
    expect(read('first.txt')).toBe('changed since')
    expect(await rowsOf(run)).toEqual(before)
    await expectVerified(id)
    await expectVerified(run)
  })

  it('begins with another input where it is given, checked as for any run', async () => {
    const run = await ran(draft())
    const id = await fork(run, 1, { dry_run: false, input: { ...input, name: 'Grace' } })
    expect(await over(id)).toMatchObject({ status: 'completed' })
    expect(read('first.txt')).toBe('Hello Grace')
    const begunWith = await look(id, ({ start }) => start?.input ?? '')
    expect(await readJson(at.house.store.ledger, begunWith)).toEqual({
      ...input,
      name: 'Grace',
      kind: 'manual',
    })
    const same = await fork(run, 1, { input })
    const before = await look(run, ({ start }) => start?.input)
    expect(await look(same, ({ start }) => start?.input)).toBe(before)
  })

  it('needs the plan as it is now', async () => {
    const run = await ran(draft())
    const seq = await doneAt(run, 'draft')
    const { digest } = await planned(run, seq)
    const other = await planned(run, seq + 1)
    expect(await refused(run, { at: seq, digest: other.digest })).toMatchObject({
      status: 409,
      code: 'fork_plan_changed',
      detail: expect.stringContaining('nothing was begun'),
      plan: { digest },
    })
    await rolledBack(run, 'second')
    const now = await refused(run, { at: seq, digest })
    expect(now).toMatchObject({ status: 409, code: 'fork_plan_changed' })
    expect((now.plan as ForkPlanView).effects).toMatchObject([
      { node: 'first', happened: 'done' },
      { node: 'second', happened: 'rolled_back' },
    ])
    expect((await at.house.store.runs.list({}, { limit: 10 })).items).toHaveLength(1)
  })

  it('says when what it takes as given was taken back since', async () => {
    const run = await ran(draft())
    const seq = await doneAt(run, 'first')
    expect((await planned(run, seq)).takenBack).toEqual([])
    await rolledBack(run, 'first')
    expect((await planned(run, seq)).takenBack).toEqual([{ node: 'first', label: 'first', visit: 1 }])
  })

  it('is begun once however often it is asked for with the same key', async () => {
    const run = await ran(draft())
    const seq = await doneAt(run, 'draft')
    const { digest } = await planned(run, seq)
    const asked = { params: { run }, body: { at: seq, digest }, headers: { 'idempotency-key': 'fork-1' } }
    const first = await ada.ask<{ id: string }>(postFork, 'POST', asked)
    const second = await ada.ask<{ id: string }>(postFork, 'POST', asked)
    expect(first.status).toBe(201)
    expect(second.body).toEqual(first.body)
    const tree = await ada.ask<ForkTreeView>(getForks, 'GET', { params: { run } })
    expect(tree.body.nodes).toHaveLength(2)
  })

  it('is for those who may start runs', async () => {
    const run = await ran(draft())
    const viewer = await at.person('vera', 'viewer')
    const { digest } = await planned(run, 1)
    expect(await refused(run, { at: 1, digest }, viewer)).toMatchObject({ status: 403, code: 'role_missing' })
    const author = await at.person('arthur', 'author')
    const { status } = await author.ask(postFork, 'POST', { params: { run }, body: { at: 1, digest } })
    expect(status).toBe(201)
  })

  it('takes back what it did and nothing that it carried', async () => {
    const run = await ran(draft())
    const id = await fork(run, await doneAt(run, 'first'), { dry_run: false })
    await over(id)
    fs.writeFileSync(file('second.txt'), 'Hello Ada')
    const carried = await ada.ask<RollbackPlanView>(postPlan, 'POST', {
      params: { run: id },
      body: { node: 'first' },
    })
    expect(carried.body.forbidden?.sentence).toBe(
      '"first" was carried over from the run this one was forked from, and only that run can take it back; choose a later step, or roll back there',
    )
    const all = await ada.ask<RollbackPlanView>(postPlan, 'POST', {
      params: { run: id },
      body: { node: 'draft', scope: 'full_workflow' },
    })
    expect(all.body.forbidden).toBeUndefined()
    expect(all.body.steps.map(({ node }) => node)).toEqual(['second'])
    await rolledBack(id, 'second', 'full_workflow')
    expect(read('first.txt')).toBe('Hello Ada')
    expect(await look(id, ({ walk }) => walk?.path.map(({ visit }) => visit.state.status))).toEqual([
      'done',
      'done',
      'rolled_back',
    ])
    await at.house.book.execute(id as RunId, {
      type: 'choose',
      rollback: await look(id, ({ rollbacks }) => [...rollbacks.keys()].at(-1) ?? 'rb_'),
      choice: 'go_on',
      by: 'person:ada',
    })
    await over(id)
    expect(await pathOf(id)).toBe('draft 1, first 1, second 2')
    await expectVerified(id)
  })

  it('of a run that failed goes on where it failed', async () => {
    fs.mkdirSync(file('second.txt'))
    const run = await ran(draft())
    expect(await look(run, ({ state }) => state.status === 'ended' && state.terminal)).toBe('failed')
    fs.rmdirSync(file('second.txt'))
    const id = await fork(run, (await rowsOf(run)).length, { dry_run: false })
    expect(await over(id)).toMatchObject({ status: 'completed' })
    expect(read('second.txt')).toBe('Hello Ada')
    expect(await pathOf(id)).toBe('draft 1, first 1, second 1')
  })

  it('of a run that was taken back and went on counts its visits anew', async () => {
    const run = await ran(draft())
    await rolledBack(run, 'first')
    const rollback = await look(run, ({ rollbacks }) => [...rollbacks.keys()].at(-1) ?? 'rb_')
    await at.house.book.execute(run, { type: 'choose', rollback, choice: 'go_on', by: 'person:ada' })
    await over(run)
    expect(await pathOf(run)).toBe('draft 1, first 2, second 2')
    const plan = await planned(run, await doneAt(run, 'first', 2))
    expect(plan).toMatchObject({ carried: 2, next: [{ node: 'second', visit: 1 }], takenBack: [] })
    // What was taken back before the position is past; what came after it is not.
    expect(plan.effects.map(({ node, visit }) => `${node} ${visit}`)).toEqual(['second 2'])
    const id = await fork(run, await doneAt(run, 'first', 2))
    await over(id)
    expect(await pathOf(id)).toBe('draft 1, first 1, second 1')
    await expectVerified(id)
  })

  it('may be forked again, and its tree is known from every run of it', async () => {
    const run = await ran(draft())
    const one = await fork(run, await doneAt(run, 'draft'))
    await over(one)
    const seq = (await rowsOf(one)).length
    const two = await fork(one, seq - 1, { reason: 'Deeper' })
    await over(two)
    const beside = await fork(run, 1)
    await over(beside)
    for (const id of [run, one, two, beside]) {
      const { body } = await ada.ask<ForkTreeView>(getForks, 'GET', { params: { run: id } })
      expect(body.run).toBe(id)
      expect(body.nodes.map(({ row, depth, of }) => [row.id, depth, of])).toEqual([
        [run, 0, undefined],
        [one, 1, run],
        [two, 2, one],
        [beside, 1, run],
      ])
    }
    const { body } = await ada.ask<ForkTreeView>(getForks, 'GET', { params: { run: two } })
    expect(body.nodes[2]).toMatchObject({ at: seq - 1, dryRun: true, reason: 'Deeper', row: { forkOf: one } })
    const { body: list } = await ada.ask<Page<RunRow>>(listRuns, 'GET')
    expect(list.items.find(({ id }) => id === one)?.forkOf).toBe(run)
    await expectVerified(two)
  })
})

describe('a fork of a graph in topological order', () => {
  const atd = JSON.stringify({
    wf_id: 'pair',
    description: 'Writes two notes side by side, then reads one',
    policy: { roots: [{ path: 'notes', access: 'write' }] },
    nodes: [
      ['render', { type: 'template_render', template: 'Hello {{name}}', input_from: 'trigger' }],
      ['left', { type: 'write_file', path: 'notes/left.txt', content_from: 'render.rendered' }],
      ['right', { type: 'write_file', path: 'notes/right.txt', content_from: 'render.rendered' }],
      ['read', { type: 'read_file', path: 'notes/left.txt' }],
    ].map(([id, action]) => ({
      id,
      label: id,
      reversible: true,
      hitl_required: false,
      resource_hints: { priority: 'normal', timeout_s: 30 },
      action,
    })),
    edges: [
      { from: 'render', to: 'left' },
      { from: 'render', to: 'right' },
      { from: 'left', to: 'read' },
      { from: 'right', to: 'read' },
    ],
  })

  it('carries every step that is done, and does the others', async () => {
    fs.mkdirSync(file('notes'))
    const run = await ran(atd, 'pair.atd.json')
    expect(await look(run, ({ state }) => state.status === 'ended' && state.terminal)).toBe('success')
    const before = await rowsOf(run)
    const seq = Math.min(await doneAt(run, 'left'), await doneAt(run, 'right'))
    const [first, other] = (await doneAt(run, 'left')) === seq ? ['left', 'right'] : ['right', 'left']
    const plan = await planned(run, seq)
    expect(plan).toMatchObject({ carried: 2, next: [{ node: other, visit: 1 }] })
    expect(plan).not.toHaveProperty('after')
    expect(plan.effects.map(({ node }) => node)).toEqual([other])
    fs.rmSync(file(`notes/${other}.txt`))
    fs.writeFileSync(file(`notes/${first}.txt`), 'changed since')
    const id = await fork(run, seq, { dry_run: false })
    await over(id)
    expect(read(`notes/${other}.txt`)).toBe('Hello Ada')
    expect(read(`notes/${first}.txt`)).toBe('changed since')
    expect(await look(id, ({ state }) => state.status === 'ended' && state.terminal)).toBe('success')
    expect(await rowsOf(run)).toEqual(before)
    await expectVerified(id)
    // All that it did can be taken back, and nothing that it carried is.
    await rolledBack(id, 'render', 'full_workflow')
    expect(fs.existsSync(file(`notes/${other}.txt`))).toBe(false)
    expect(read(`notes/${first}.txt`)).toBe('changed since')
    expect(await look(id, ({ visits }) => visits.get(first ?? '')?.state.status)).toBe('done')
  })

  it('carries no approval onto another input for real', async () => {
    const run = await startRun(at.house, {
      version: await keepDerived(
        at.house,
        graphOf({ hold: { kind: 'pause_for_approval', config: { reason: 'Look' } } }, []),
        'person:ada',
      ),
      input: {},
      by: 'person:ada',
      dryRun: false,
    })
    const asked = await new Promise<Approval>((resolve, reject) => {
      const ask = () =>
        look(run, ({ openApprovals, approvals }) => {
          const [id] = openApprovals
          const found = id && approvals.get(id)
          if (!found) return
          off()
          resolve(structuredClone(found))
        }).catch(reject)
      const off = at.house.store.onAppend((event) => void (event.runId === run && ask()))
      void ask()
    })
    await at.house.book.execute(run, {
      type: 'decide',
      approval: asked.id,
      verdict: 'approve',
      by: 'person:ada',
      action: asked.action,
      comment: '',
    })
    await over(run)
    const seq = await doneAt(run, 'hold')
    const { digest, input: shown } = await planned(run, seq)
    expect(shown.restsOn).toMatchObject({ node: 'hold', by: 'person:ada', at: seq - 1 })
    expect(await refused(run, { at: seq, digest, dry_run: false, input: { other: 1 } })).toMatchObject({
      status: 422,
      code: 'fork_rests_on_decision',
      detail: expect.stringContaining('ada approved at hold before the input is edited'),
    })
    expect((await planned(run, seq - 1)).input).not.toHaveProperty('restsOn')
  })
})

describe('a newer version', () => {
  it('takes the run over where it leads the same way so far', async () => {
    const run = await ran(draft())
    const newer = draft().replace('path_from = "trigger.second"', 'path_from = "trigger.third"')
    const { record } = await importWorkflow(at.house, newer, { by: 'person:ada', filename: 'notes.toml' })
    const seq = await doneAt(run, 'first')
    const plan = await planned(run, seq)
    expect(plan.versions.map(({ version, original, refusal }) => [version, original, refusal])).toEqual([
      [record.version, false, undefined],
      [plan.version, true, undefined],
    ])
    const id = await fork(run, seq, { version: record.version, dry_run: false })
    await over(id)
    expect(read('third.txt')).toBe('Hello Ada')
    expect((await at.house.store.runs.get(id as RunId))?.version).toBe(record.version)
  })

  it('is refused with what is different', async () => {
    const run = await ran(draft())
    const seq = await doneAt(run, 'first')
    const without = draft().replaceAll('"draft"', '"render"').replaceAll('draft.', 'render.')
    const detour = draft()
      .replace('[[edges]]\nfrom = "draft"\nto = "first"', '[[edges]]\nfrom = "draft"\nto = "second"')
      .replace('[[edges]]\nfrom = "first"\nto = "second"', '[[edges]]\nfrom = "second"\nto = "first"')
    const otherKind = draft().replace(
      'type = "write_file"\npath_from = "trigger.first"\ncontent_from = "draft.rendered"',
      'type = "template_render"\ntemplate = "x"\ninput_from = "draft"',
    )
    const refusals: string[] = []
    for (const text of [without, detour, otherKind]) {
      const { record } = await importWorkflow(at.house, text, { by: 'person:ada', filename: 'notes.toml' })
      const { status, body } = await ada.ask(postForkPlan, 'POST', {
        params: { run },
        body: { at: seq, version: record.version },
      })
      expect([status, body.code]).toEqual([422, 'fork_impossible'])
      refusals.push(body.detail)
    }
    expect(refusals).toEqual([
      'This version cannot take the run over: it has no step "draft", which is done',
      'This version cannot take the run over: it leads to "second", where the run went to "first"',
      'This version cannot take the run over: it has "first" as template_render, and it was done as write_file',
    ])
    const plan = await planned(run, seq)
    expect(plan.versions.filter(({ refusal }) => refusal !== undefined)).toHaveLength(3)
  })

  it('of another workflow, an older one and one that nobody knows are refused', async () => {
    const older = await importWorkflow(at.house, draft('# old\n').replace('Hello', 'Hi'), {
      by: 'person:ada',
      filename: 'notes.toml',
    })
    const other = await importWorkflow(at.house, draft().replace('"notes"', '"others"'), {
      by: 'person:ada',
      filename: 'others.toml',
    })
    const run = await ran(draft())
    const detail = async (version: string) => {
      const { body } = await ada.ask(postForkPlan, 'POST', { params: { run }, body: { at: 1, version } })
      expect(body.code).toBe('fork_impossible')
      return body.detail
    }
    expect(await detail(older.record.version)).toMatch(/is older than the run's own/)
    expect(await detail(other.record.version)).toMatch(/is of another workflow, others/)
    expect(await detail('x'.repeat(43))).toMatch(/No workflow version is stored/)
  })
})

/** A walk of nodes, whose edges are `from Event to`. */
function stepwise(
  nodes: Parameters<typeof graphOf>[0],
  events: string[],
  more: Partial<WorkflowGraph> = {},
): WorkflowGraph {
  const edges: GraphEdge[] = events.map((text) => {
    const [from = '', when = '', to = ''] = text.split(' ')
    return { from, to, ...(when !== '-' && { when }), extra: {} }
  })
  const [first = ''] = Object.keys(nodes)
  return graphOf(nodes, [], { order: 'stepwise', edges, starts: [{ name: 'main', node: first }], ...more })
}

describe('artifacts', () => {
  const slots = [
    { name: 'note', mediaType: 'text/plain', mode: 'replace', extra: { description: 'What to say' } },
    { name: 'facts', mediaType: 'application/json', mode: 'replace', extra: {} },
    { name: 'log', mediaType: 'text/plain', mode: 'append', extra: {} },
    { name: 'list', mediaType: 'application/json', mode: 'append', extra: {} },
    { name: 'empty', mediaType: 'text/plain', mode: 'replace', extra: {} },
  ] as const
  const names = slots.map(({ name }) => name)
  const asked = { kind: 'await_event', config: { question: 'Which?', artifacts: names } }
  const graph = () =>
    stepwise(
      {
        plan: asked,
        test: asked,
        write: { kind: 'write_file', config: { path: 'note.txt', content_from: 'artifacts.note' } },
      },
      ['plan Ready test', 'test Failed plan', 'test Passed write'],
      {
        artifacts: slots.map((slot) => ({ ...slot })),
        policy: { roots: [{ path: '.', access: 'write' }], privateTargets: [] },
      },
    )

  async function asking(run: string, node: string, visit: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const ask = () =>
        look(run, (now) => {
          const place = now.walk?.path.at(-1)?.visit
          if (place?.node !== node || place.visit !== visit || now.openApprovals.size === 0) return
          off()
          resolve()
        }).catch(reject)
      const off = at.house.store.onAppend((event) => void (event.runId === run && ask()))
      void ask()
    })
  }
  async function given(run: string, node: string, visit: number, event: string, artifacts: JsonObject = {}) {
    await asking(run, node, visit)
    const principal = {
      kind: 'person',
      id: ada.id,
      name: 'ada',
      roles: ['coordinator'],
      session: 's',
    } as const
    await giveEvent(
      at.house,
      run as RunId,
      { ...principal, roles: [...principal.roles] },
      { event, comment: '', artifacts },
    )
  }
  const artifact = async (run: string, name: string) =>
    artifactValue(at.house.store.ledger, await look(run, (now) => now.artifacts.get(name)?.slice() ?? []))

  async function looped(): Promise<RunId> {
    const version = await keepDerived(at.house, graph(), 'person:ada')
    const run = await startRun(at.house, { version, input: {}, by: 'person:ada', dryRun: false })
    await given(run, 'plan', 1, 'Ready', { note: 'one', log: 'a', list: { n: 1 } })
    await given(run, 'test', 1, 'Failed', { log: 'b', facts: { failed: 2 } })
    await given(run, 'plan', 2, 'Ready', { note: 'two', log: 'c', list: { n: 2 } })
    await given(run, 'test', 2, 'Passed')
    await over(run)
    return run
  }

  it('are what they were at the position, or what they are given', async () => {
    const run = await looped()
    expect(read('note.txt')).toBe('two')
    const seq = await doneAt(run, 'test', 1)
    const plan = await planned(run, seq)
    expect(plan).toMatchObject({
      carried: 2,
      after: { node: 'test', event: 'Failed' },
      next: [{ node: 'plan', visit: 2 }],
    })
    expect(plan.artifacts.map(({ name, value, entries }) => [name, value, entries])).toEqual([
      ['note', 'one', 1],
      ['facts', { failed: 2 }, 1],
      ['log', 'a\nb', 2],
      ['list', [{ n: 1 }], 1],
      ['empty', undefined, 0],
    ])
    // For real this would carry what was decided on the values as they were.
    const id = await fork(run, seq, {
      artifacts: { note: 'edited', list: [{ n: 7 }, { n: 8 }], log: 'anew' },
    })
    expect(await artifact(id, 'note')).toBe('edited')
    expect(await artifact(id, 'facts')).toEqual({ failed: 2 })
    expect(await look(id, ({ artifactWrites }) => artifactWrites.at(-1))).toMatchObject({
      by: 'person:ada',
      node: 'plan',
      visit: 2,
    })
    await given(id, 'plan', 2, 'Ready', { list: { n: 9 }, log: 'more' })
    expect(await artifact(id, 'list')).toEqual([{ n: 7 }, { n: 8 }, { n: 9 }])
    expect(await artifact(id, 'log')).toBe('anew\nmore')
    await given(id, 'test', 2, 'Passed')
    await over(id)
    expect(read('note.txt')).toBe('two')
    await expectVerified(id)
  })

  it('keep the edits of a fork in a fork of it, before its first step as after', async () => {
    const run = await looped()
    const one = await fork(run, await doneAt(run, 'test', 1), { artifacts: { note: 'edited' } })
    const first = await asking(one, 'plan', 2).then(() => rowsOf(one))
    const start = await fork(one, first.findLastIndex(() => true) + 1)
    expect(await artifact(start, 'note')).toBe('edited')
    expect(await look(start, ({ walk }) => walk?.path.at(-1)?.writes)).toBe(
      await look(start, ({ artifactWrites }) => artifactWrites.length),
    )
    await given(one, 'plan', 2, 'Ready')
    const later = await fork(one, (await rowsOf(one)).length)
    expect(await artifact(later, 'note')).toBe('edited')
    expect(await pathOf(later)).toBe('plan 1, test 1, plan 2, test 2')
  })

  it('are refused where they do not fit their slot', async () => {
    const run = await looped()
    const { digest } = await planned(run, 1)
    const refusal = async (artifacts: unknown) => {
      const { status, code, detail } = await refused(run, { at: 1, digest, artifacts })
      return [status, code, detail]
    }
    expect(await refusal({ note: { a: 1 } })).toEqual([
      400,
      'bad_request',
      'The artifact "note" is text/plain; send its value as a text',
    ])
    expect(await refusal({ list: { n: 1 } })).toEqual([
      400,
      'bad_request',
      'The artifact "list" is a list that is added to; send its value as a list',
    ])
    expect(await refusal({ nope: 'x' })).toEqual([
      400,
      'bad_request',
      'The workflow declares no artifact "nope"; it has note, facts, log, list, empty',
    ])
    expect((await refusal(JSON.parse('{"__proto__": "x"}')))[2]).toMatch(
      /^The workflow declares no artifact "__proto__"/,
    )
    expect(await refusal({ note: 'x'.repeat(1024 * 1024 + 1) })).toEqual([
      413,
      'too_large',
      'The artifact "note" would have 1,048,577 bytes; a fork gives at most 1,048,576',
    ])
    expect(await refusal({ note: 'half \ud800' })).toMatchObject([400, 'body_not_json', expect.any(String)])
    expect(await refusal('note')).toMatchObject([400, 'bad_request', expect.any(String)])
    expect((await at.house.store.runs.list({}, { limit: 10 })).items).toHaveLength(1)
  })
})

describe('what nobody should send', () => {
  it('is refused before anything is read or begun', async () => {
    const run = await ran(draft())
    const tokens = (await rowsOf(run)).length
    const plan = (body: unknown, id = run) => ada.ask(postForkPlan, 'POST', { params: { run: id }, body })
    for (const seq of [0, -1, 1.5, '3', null, 1e12, Number.NaN]) {
      expect((await plan({ at: seq })).status).toBe(400)
    }
    expect((await plan({ at: tokens + 1 })).body).toMatchObject({
      code: 'bad_request',
      detail: `The run has ${tokens} tokens, so it cannot be forked at token ${tokens + 1}; give one of those there are`,
    })
    expect((await plan({ at: 1, more: true })).status).toBe(400)
    expect((await plan({ at: 1 }, 'run_x' as RunId)).body.code).toBe('not_found')
    expect((await plan({ at: 1 }, `run_${'0'.repeat(32)}`)).body.code).toBe('not_found')
    expect((await ada.ask(getForks, 'GET', { params: { run: `run_${'0'.repeat(32)}` } })).status).toBe(404)
    const { digest } = await planned(run, 1)
    expect(await refused(run, { at: 1 })).toMatchObject({ status: 400 })
    expect(await refused(run, { at: 1, digest, dry_run: 'no' })).toMatchObject({ status: 400 })
    expect(await refused(run, { at: 1, digest, input: { text: 'half \ud800' } })).toMatchObject({
      code: 'body_not_json',
    })
    expect((await at.house.store.runs.list({}, { limit: 10 })).items).toHaveLength(1)
  })

  it('does not begin half a fork: what cannot be carried is refused as a whole', async () => {
    const run = await ran(draft())
    const { point } = await forkPointAt(at.house, run, (await rowsOf(run)).length)
    expect(point.carried.map(({ type }) => type)).toEqual(['step_carried', 'step_carried', 'step_carried'])
    await expect(
      forkRun(at.house, run, { at: 5, digest: 'x', dryRun: true, by: 'person:ada' }),
    ).rejects.toMatchObject({ code: 'fork_plan_changed' })
  })
})

async function rolledBack(run: string, node: string, scope = 'sub_dag'): Promise<void> {
  const { body: plan } = await ada.ask<RollbackPlanView>(postPlan, 'POST', {
    params: { run },
    body: { node, scope },
  })
  const { status } = await ada.ask(postRollback, 'POST', {
    params: { run },
    body: { node, scope, digest: plan.digest, reason: 'Wrong' },
  })
  expect(status).toBe(202)
  await new Promise<void>((resolve, reject) => {
    const ask = () =>
      look(run, ({ state }) => {
        if (state.status !== 'rolled_back') return
        off()
        resolve()
      }).catch(reject)
    const off = at.house.store.onAppend((event) => void (event.runId === run && ask()))
    void ask()
  })
}
