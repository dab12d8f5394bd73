/* Forks of a pack's run: turns that are carried are not taken again, and tool calls of turns count as what may happen again. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { RunId } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import { artifactValue } from '@/lib/worker/artifact-values'
import { startWorker } from '@/lib/worker/worker'
import type { GraphEdge } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { forkPlan, forkRun } from './forks'
import { type Installation, openInstallation } from './installation'
import { createLog } from './log'
import { outcomeOf } from './one-shot'
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
