/* Forks of a pack's run: turns that are carried are not taken again, and tool calls of turns count as what may happen again. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RunId } from '@/lib/base/ids'
import type { Json, JsonObject } from '@/lib/base/json'
import { artifactValue } from '@/lib/worker/artifact-values'
import { startWorker, type Worker } from '@/lib/worker/worker'
import type { GraphEdge } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { forkPlan, forkRun } from './forks'
import { giveEvent } from './give-event'
import type { Installation } from './installation'
import { createLog } from './log'
import { outcomeOf } from './one-shot'
import { openInstallation } from './open-installation'
import { openReachable } from './reachable'
import { startRun } from './runs'
import { keepDerived } from './workflows'

let folder: string
let house: Installation
beforeEach(async () => {
  folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'hp-fork-packs-')))
  fs.mkdirSync(path.join(folder, 'data'))
  const answers = path.join(folder, 'answers.json')
  fs.writeFileSync(answers, JSON.stringify({ when: script }))
  fs.writeFileSync(
    path.join(folder, 'data/models.json'),
    JSON.stringify({ backends: [{ name: 'm', provider: 'scripted', path: answers }] }),
  )
  house = await openInstallation({
    dataDir: path.join(folder, 'data'),
    origin: 'http://localhost:3000',
    log: createLog('silent'),
    roots: [folder],
    unconfined: true,
    reachable: await openReachable(path.join(folder, 'data'), undefined, folder),
  })
})
afterEach(async () => {
  await house.close()
  fs.rmSync(folder, { recursive: true })
})

const says = (...calls: [string, JsonObject][]) => ({
  tool_calls: calls.map(([name, args]) => ({ name, args })),
})
const goes = (event: string) => says(['workflow__transition', { event }])
const set = (name: string, value: string): [string, JsonObject] => ['workflow__set_artifact', { name, value }]

/** What the model answers, by what it is told. */
const script = [
  {
    system: 'You are plan',
    answers: [says(set('note', 'planned'), ['workflow__transition', { event: 'Go' }])],
  },
  {
    system: 'You are code. Note: planned',
    answers: [says(['save', { name: 'x.txt', text: 'first' }]), goes('Go')],
  },
  {
    system: 'You are code. Note: edited',
    answers: [says(['save', { name: 'x.txt', text: 'from the edit' }]), goes('Go')],
  },
  { system: 'You are done', answers: ['All is done.', 'All is done.', 'All is done.'] },
]

const edges: GraphEdge[] = [
  { from: 'plan', to: 'code', when: 'Go', extra: {} },
  { from: 'code', to: 'done', when: 'Go', extra: {} },
]
const state = (template: string, more: JsonObject = {}) => ({
  kind: 'prompt_state',
  config: { prompt: 'p', template, backend: 'm', ...more },
})

const graph = () =>
  graphOf(
    {
      plan: state('You are plan', { artifacts: ['note'] }),
      code: state('You are code. Note: {{artifacts.note}}', { tools: ['save'] }),
      done: state('You are done', { terminal: true }),
    },
    [],
    {
      format: 'promptpack',
      order: 'stepwise',
      edges,
      starts: [{ name: 'main', node: 'plan' }],
      artifacts: [{ name: 'note', mediaType: 'text/plain', mode: 'replace', extra: {} }],
      policy: { roots: [{ path: folder, access: 'write' }], privateTargets: [] },
      tools: [
        {
          name: 'save',
          description: 'Saves a file',
          parameters: {
            type: 'object',
            properties: { name: { type: 'string' }, text: { type: 'string' } },
            required: ['name', 'text'],
          },
          binding: {
            kind: 'write_file',
            config: { path: `${folder}/{{args.name}}`, content_from: 'args.text' },
            artifacts: {},
          },
          extra: {},
        },
      ],
    },
  )

it('takes no turn again that was carried, and does the others with the artifacts it was given', async () => {
  const worker = startWorker(house.ports, 'test')
  const over = (run: RunId) =>
    outcomeOf(house, run, 'person:ada', { signal: new AbortController().signal, timeoutS: 60 })
  try {
    const version = await keepDerived(house, graph(), 'person:ada')
    const run = await startRun(house, { version, input: {}, by: 'person:ada', dryRun: false })
    expect(await over(run)).toMatchObject({ status: 'completed' })
    const file = path.join(folder, 'x.txt')
    expect(fs.readFileSync(file, 'utf8')).toBe('first')
    const rows = await house.store.ledger.rows(run, 0, 1000)

    const at = await house.book.read(run, ({ walk }) => walk?.path[0]?.visit.doneJti)
    const seq = (await house.store.ledger.row(run, at ?? ''))?.seq ?? 0
    const plan = await forkPlan(house, run, { at: seq })
    expect(plan).toMatchObject({ carried: 1, after: { event: 'Go' }, next: [{ node: 'code' }] })
    expect(plan.artifacts).toMatchObject([{ name: 'note', value: 'planned' }])
    // The turn is a run below; its tool call is what changed something.
    expect(plan.effects).toMatchObject([
      {
        label: expect.stringContaining('save'),
        happened: 'done',
        sentence: expect.stringContaining('x.txt'),
      },
    ])
    expect(plan.effects[0]?.run).not.toBe(run)

    const id = await forkRun(house, run, {
      at: seq,
      digest: plan.digest,
      artifacts: { note: 'edited' },
      dryRun: false,
      by: 'person:ada',
    })
    expect(await over(id)).toMatchObject({ status: 'completed' })
    expect(fs.readFileSync(file, 'utf8')).toBe('from the edit')
    const children = (await house.store.runs.list({ parent: id }, { limit: 10 })).items
    expect(children.map(({ parent }) => parent?.node).sort()).toEqual(['code', 'done'])
    const written = await house.book.read(id, ({ artifacts }) => artifacts.get('note')?.slice() ?? [])
    expect(await artifactValue(house.store.ledger, written)).toBe('edited')

    const dry = await forkRun(house, run, { at: seq, digest: plan.digest, dryRun: true, by: 'person:ada' })
    await over(dry)
    expect(fs.readFileSync(file, 'utf8')).toBe('from the edit')
    expect(await house.store.ledger.rows(run, 0, 1000)).toEqual(rows)
  } finally {
    await worker.stop()
  }
})

/** `plan` writes the note, `review` is asked, `code` acts on it; or review comes first. */
const reviewed = (...order: string[]) => {
  const { nodes: _, ...rest } = graph()
  const [from = '', second = '', third = ''] = order
  return graphOf(
    {
      plan: state('You are plan', { artifacts: ['note'] }),
      review: { kind: 'await_event', config: { question: 'May it?', events: ['Approved'] } },
      code: state('You are code. Note: {{artifacts.note}}', { tools: ['save'] }),
      done: state('You are done', { terminal: true }),
    },
    [],
    {
      ...rest,
      starts: [{ name: 'main', node: from }],
      edges: [from, second, third].map((node, at) => ({
        from: node,
        to: order[at + 1] ?? 'done',
        when: node === 'review' ? 'Approved' : 'Go',
        extra: {},
      })),
    },
  )
}

/** Waits until the run asks, and says Approved as ada. */
async function approved(run: RunId): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const look = () =>
      house.book
        .read(run, ({ openApprovals }) => {
          if (openApprovals.size === 0) return
          off()
          resolve()
        })
        .catch(reject)
    const off = house.store.onAppend((event) => void (event.runId === run && look()))
    void look()
  })
  const ada = { kind: 'person', id: 'ada', name: 'ada', roles: ['coordinator'], session: 's' } as const
  await giveEvent(house, run, { ...ada, roles: [...ada.roles] }, { event: 'Approved', comment: 'Fine' })
}

async function doneAt(run: RunId, node: string): Promise<number> {
  const jti = await house.book.read(
    run,
    ({ walk }) => walk?.path.find(({ visit }) => visit.node === node)?.visit.doneJti ?? '',
  )
  return (await house.store.ledger.row(run, jti))?.seq ?? 0
}

describe('a decision', () => {
  let worker: Worker
  beforeEach(() => {
    worker = startWorker(house.ports, 'test')
  })
  afterEach(() => worker.stop())

  const over = (run: RunId) =>
    outcomeOf(house, run, 'person:ada', { signal: new AbortController().signal, timeoutS: 60 })
  const file = () => path.join(folder, 'x.txt')
  async function ran(...order: string[]): Promise<RunId> {
    const version = await keepDerived(house, reviewed(...order), 'person:ada')
    const run = await startRun(house, { version, input: {}, by: 'person:ada', dryRun: false })
    await approved(run)
    expect(await over(run)).toMatchObject({ status: 'completed' })
    return run
  }
  async function forked(
    run: RunId,
    at: number,
    wish: { dryRun: boolean; input?: Json; artifacts?: JsonObject },
  ) {
    const { digest } = await forkPlan(house, run, { at })
    return forkRun(house, run, { at, digest, by: 'person:eve', ...wish })
  }

  it('is not carried for real onto a value or an input that was edited since', async () => {
    const run = await ran('plan', 'review', 'code')
    const at = await doneAt(run, 'review')
    const before = await doneAt(run, 'plan')
    const restsOn = {
      node: 'review',
      label: 'review',
      visit: 1,
      event: 'Approved',
      by: 'person:ada',
      at: before,
    }
    expect(await forkPlan(house, run, { at })).toMatchObject({
      artifacts: [{ name: 'note', restsOn }],
      input: { restsOn },
    })
    const words = (what: string) =>
      `ada gave "Approved" at review before ${what} is edited, so a fork for real would go on with a decision nobody made on it; fork from token ${before}, before that step, leave the value as it is, or fork as a dry run`
    await expect(forked(run, at, { dryRun: false, artifacts: { note: 'edited' } })).rejects.toMatchObject({
      code: 'fork_rests_on_decision',
      status: 422,
      message: words('the artifact "note"'),
      data: { restsOn, artifact: 'note' },
    })
    await expect(forked(run, at, { dryRun: false, input: { more: 1 } })).rejects.toMatchObject({
      code: 'fork_rests_on_decision',
      message: words('the input'),
    })
    expect(
      (await house.store.runs.list({ parent: 'none' }, { limit: 10 })).items.map(({ runId }) => runId),
    ).toEqual([run])
    expect(fs.readFileSync(file(), 'utf8')).toBe('first')
  })

  it('goes with the value it was made on, and may be looked past in a dry run', async () => {
    const run = await ran('plan', 'review', 'code')
    const at = await doneAt(run, 'review')
    const same = await forked(run, at, { dryRun: false, artifacts: { note: 'planned' } })
    expect(await over(same)).toMatchObject({ status: 'completed' })
    const dry = await forked(run, at, { dryRun: true, artifacts: { note: 'edited' }, input: { more: 1 } })
    await over(dry)
    expect(fs.readFileSync(file(), 'utf8')).toBe('first')
  })

  it('is asked for again by a fork from before it', async () => {
    const run = await ran('plan', 'review', 'code')
    const at = (await forkPlan(house, run, { at: await doneAt(run, 'review') })).input.restsOn?.at ?? 0
    const id = await forked(run, at, { dryRun: false, artifacts: { note: 'edited' } })
    await approved(id)
    expect(await over(id)).toMatchObject({ status: 'completed' })
    expect(fs.readFileSync(file(), 'utf8')).toBe('from the edit')
  })

  it('leaves alone what was written after it', async () => {
    const run = await ran('review', 'plan', 'code')
    const at = await doneAt(run, 'plan')
    const plan = await forkPlan(house, run, { at })
    expect(plan.artifacts[0]).not.toHaveProperty('restsOn')
    expect(plan.input.restsOn).toMatchObject({ node: 'review', at: 1 })
    const id = await forked(run, at, { dryRun: false, artifacts: { note: 'edited' } })
    expect(await over(id)).toMatchObject({ status: 'completed' })
    expect(fs.readFileSync(file(), 'utf8')).toBe('from the edit')
  })

  it('stays with a fork of the fork, and an edit of a dry run is not made real by forking that', async () => {
    const run = await ran('plan', 'review', 'code')
    const at = await doneAt(run, 'review')
    const plain = await forked(run, at, { dryRun: true })
    await over(plain)
    const later = await doneAt(plain, 'review')
    expect((await forkPlan(house, plain, { at: later })).input.restsOn).toMatchObject({
      by: 'person:ada',
      event: 'Approved',
    })
    await expect(
      forked(plain, later, { dryRun: false, artifacts: { note: 'edited' } }),
    ).rejects.toMatchObject({
      code: 'fork_rests_on_decision',
    })
    const edited = [{ artifacts: { note: 'edited' } }, { input: { more: 1 } }]
    for (const wish of edited) {
      const dry = await forked(run, at, { dryRun: true, ...wish })
      await over(dry)
      const given = await house.book.read(dry, ({ seq }) => seq)
      // As it stands, and through a dry run of that dry run.
      const deeper = await forked(dry, given, { dryRun: true })
      await over(deeper)
      for (const one of [dry, deeper]) {
        const end = await house.book.read(one, ({ seq }) => seq)
        expect((await forkPlan(house, one, { at: end })).held).toMatch(
          /^ada gave "Approved" at review before the (artifact "note"|input) was edited in a dry run/,
        )
        await expect(forked(one, end, { dryRun: false })).rejects.toMatchObject({
          code: 'fork_rests_on_decision',
        })
      }
    }
    const plainEnd = await house.book.read(plain, ({ seq }) => seq)
    await over(await forked(plain, plainEnd, { dryRun: false }))
  })
})
