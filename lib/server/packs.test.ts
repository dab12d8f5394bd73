/* Prompt states through the whole engine: a real store, real files and commands, a scripted model. */
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RunId } from '@/lib/base/ids'
import type { Json, JsonObject } from '@/lib/base/json'
import type { Run } from '@/lib/engine/run'
import type { Script } from '@/lib/runners/models/scripted-backend'
import { artifactValue } from '@/lib/worker/artifact-values'
import { executePlan } from '@/lib/worker/execute-plan'
import { makePlan } from '@/lib/worker/plan'
import { readJson } from '@/lib/worker/run-book'
import { startWorker } from '@/lib/worker/worker'
import type { GraphEdge, GraphNode, WorkflowGraph } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
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
  folder = await realpath(await mkdtemp(path.join(tmpdir(), 'hp-packs-')))
  await mkdir(path.join(folder, 'work'))
})
afterEach(async () => {
  await house?.close()
  await rm(folder, { recursive: true })
})

interface Pack {
  states: Record<string, JsonObject & { max?: number; onMax?: string }>
  /** `from Event to`. */
  events: string[]
  more?: Partial<WorkflowGraph>
}

function pack({ states, events, more = {} }: Pack): WorkflowGraph {
  const nodes: Record<string, Partial<GraphNode>> = {}
  for (const [id, { max, onMax, kind, ...config }] of Object.entries(states)) {
    nodes[id] = {
      kind: typeof kind === 'string' ? kind : 'prompt_state',
      config:
        kind === 'await_event'
          ? config
          : { prompt: `p-${id}`, template: `You are ${id}.`, backend: 'm', ...config },
      ...(max !== undefined && { maxVisits: max as number }),
      ...(onMax !== undefined && { onMaxVisits: onMax as string }),
    }
  }
  const edges: GraphEdge[] = events.map((text) => {
    const [from = '', when = '', to = ''] = text.split(' ')
    return { from, to, when, extra: {} }
  })
  const [first = ''] = Object.keys(states)
  return graphOf(nodes, [], {
    format: 'promptpack',
    order: 'stepwise',
    edges,
    starts: [{ name: 'main', node: first }],
    policy: { roots: [{ path: folder, access: 'write' }], privateTargets: [] },
    ...more,
  })
}

const says = (...calls: [string, JsonObject][]) => ({
  tool_calls: calls.map(([name, args]) => ({ name, args })),
})
const goes = (event: string) => says(['workflow__transition', { event }])
const slot = (name: string, mediaType = 'text/plain', mode: 'replace' | 'append' = 'replace') => ({
  name,
  mediaType,
  mode,
  extra: {},
})

async function begin(graph: WorkflowGraph, script: Script, input: Json = {}, dryRun = false): Promise<RunId> {
  const file = path.join(folder, 'answers.json')
  await writeFile(file, JSON.stringify(script))
  await mkdir(path.join(folder, 'data'))
  await writeFile(
    path.join(folder, 'data/models.json'),
    JSON.stringify({ backends: [{ name: 'm', provider: 'scripted', path: file }] }),
  )
  house = await openInstallation({
    dataDir: path.join(folder, 'data'),
    origin: 'http://localhost:3000',
    log: createLog('silent'),
    roots: [folder],
    authoredFolders: [folder],
    unconfined: true,
    reachable: await openReachable(path.join(folder, 'data'), undefined, folder),
  })
  const version = await keepDerived(house, graph, 'person:ada')
  return startRun(house, { version, input, by: 'person:ada', dryRun })
}

async function worked(runId: RunId) {
  const worker = startWorker(house.ports, 'test')
  try {
    return await outcomeOf(house, runId, 'person:ada', { signal: new AbortController().signal, timeoutS: 60 })
  } finally {
    await worker.stop()
  }
}

async function ran(graph: WorkflowGraph, script: Script, input: Json = {}) {
  const runId = await begin(graph, script, input)
  return { runId, outcome: await worked(runId) }
}

const look = <T>(runId: RunId, reader: (run: Run) => T) => house.book.read(runId, reader)
const pathOf = (runId: RunId) =>
  look(runId, ({ walk }) => walk?.path.map(({ visit: { node, visit } }) => `${node} ${visit}`).join(', '))
const artifact = async (runId: RunId, name: string) =>
  artifactValue(house.store.ledger, await look(runId, (run) => run.artifacts.get(name)?.slice() ?? []))
const ask = (system: string, ...answers: Script['answers'] & object) => ({ system, answers })

describe('states and events', () => {
  it('go on by the event that the model names, until a terminal state gives the last word', async () => {
    const graph = pack({
      states: { plan: {}, build: {}, done: { terminal: true } },
      events: ['plan PlanReady build', 'build CodeReady done'],
    })
    const { runId, outcome } = await ran(graph, {
      when: [
        ask('You are plan', goes('PlanReady')),
        ask('You are build', 'Done.\n{"event": "CodeReady"}'),
        ask('You are done', 'All is built.'),
      ],
    })
    expect(outcome).toMatchObject({ status: 'completed', reason: '', finalValue: { text: 'All is built.' } })
    expect(await pathOf(runId)).toBe('plan 1, build 1, done 1')
  })

  it('asks again for an event that is none, and fails when no round is left', async () => {
    const graph = pack({ states: { a: { max_rounds: 2 }, b: { terminal: true } }, events: ['a Ready b'] })
    const { outcome } = await ran(graph, { answers: [goes('Nonsense'), 'I think it is ready.'] })
    expect(outcome).toMatchObject({ status: 'errored', lastNode: 'a' })
    expect(outcome.reason).toContain('named no event within 2 rounds; expected one of Ready')
  })

  it('stops at max_visits where the state says no way on: budget-exhausted, artifacts still there', async () => {
    const graph = pack({
      states: { a: { max: 3, artifacts: ['note'] } },
      events: ['a Again a'],
      more: { artifacts: [slot('note')] },
    })
    const answers = [1, 2, 3].map((n) =>
      says(
        ['workflow__set_artifact', { name: 'note', value: `try ${n}` }],
        ['workflow__transition', { event: 'Again' }],
      ),
    )
    const { runId, outcome } = await ran(graph, { answers })
    expect(await pathOf(runId)).toBe('a 1, a 2, a 3')
    expect(outcome.status).toBe('failed')
    expect(outcome.reason).toBe(
      'budget-exhausted: max_visits, "a" was entered 3 times and may not be entered again',
    )
    expect(await look(runId, ({ state }) => state)).toMatchObject({
      status: 'ended',
      exhausted: 'max_visits',
    })
    expect(await artifact(runId, 'note')).toBe('try 3')
    expect(outcome.finalValue).toEqual({ artifacts: { note: 'try 3' } })
  })

  it('goes to on_max_visits instead, and on from there when that one is at its limit too', async () => {
    const graph = pack({
      states: { a: { max: 2, onMax: 'b' }, b: { max: 1, onMax: 'c' }, c: { terminal: true } },
      events: ['a Again a', 'b Back a'],
    })
    const { runId, outcome } = await ran(graph, {
      when: [
        { ...ask('You are a', goes('Again')), repeat: true },
        ask('You are b', goes('Back')),
        ask('You are c', 'Enough.'),
      ],
    })
    expect(outcome.status).toBe('completed')
    // a may be entered twice: its third entry becomes b, and the one after that passes b too.
    expect(await pathOf(runId)).toBe('a 1, a 2, b 1, c 1')
    expect(await look(runId, ({ walk }) => walk?.path.map(({ insteadOf }) => insteadOf))).toEqual([
      undefined,
      undefined,
      ['a'],
      ['a', 'b'],
    ])
  })

  it('stops at max_total_visits, whatever the states allow', async () => {
    const graph = pack({ states: { a: {} }, events: ['a Again a'], more: { budget: { maxTotalVisits: 4 } } })
    const { runId, outcome } = await ran(graph, {
      when: [{ ...ask('You are a', goes('Again')), repeat: true }],
    })
    expect(outcome.reason).toBe('budget-exhausted: max_total_visits, states were entered 4 times in all')
    expect(await look(runId, ({ walk }) => walk?.path.length)).toBe(4)
  })
})

describe('prompts', () => {
  it('are filled in one pass: variables, artifacts, empty before they are written', async () => {
    const graph = pack({
      states: {
        a: {
          template: 'A {{goal}} [{{artifacts.note}}] {{unknown}} {{tone}}',
          variables: [{ name: 'goal', required: true }, { name: 'tone' }],
          artifacts: ['note'],
        },
        b: { template: 'B {{artifacts.note}}', terminal: true },
      },
      events: ['a Next b'],
      more: { artifacts: [slot('note')] },
    })
    const { runId } = await ran(
      graph,
      {
        when: [
          ask(
            'A {{artifacts.note}} [] {{unknown}} ',
            says(
              ['workflow__set_artifact', { name: 'note', value: '{{goal}}' }],
              ['workflow__transition', { event: 'Next' }],
            ),
          ),
          ask('B {{goal}}', 'Seen as it is.'),
        ],
      },
      { goal: '{{artifacts.note}}' },
    )
    expect(await look(runId, ({ state }) => state)).toMatchObject({ terminal: 'success' })
  })

  it('need their required variables', async () => {
    const graph = pack({
      states: { a: { template: '{{goal}}', variables: [{ name: 'goal', required: true }], terminal: true } },
      events: [],
    })
    const { outcome } = await ran(graph, { answers: ['x'] })
    expect(outcome.reason).toContain('needs the variable "goal"')
  })

  it('keep the talk on entry to a persistent state, and begin anew on entry to a transient one', async () => {
    const graph = pack({
      states: { a: {}, b: { persistence: 'persistent' }, c: { terminal: true } },
      events: ['a Next b', 'b Next c'],
    })
    const { runId } = await ran(graph, {
      answers: [goes('Next'), goes('Next'), 'done'],
    })
    const told = async (node: string) => {
      const hash = await look(runId, (run) => run.visits.get(node)?.state)
      const output = (await readJson(house.store.ledger, (hash as { output: string }).output)) as {
        talk: { role: string }[]
      }
      return output.talk.map(({ role }) => role).join(' ')
    }
    expect(await told('a')).toBe('user assistant tool')
    expect(await told('b')).toBe('user assistant tool user assistant tool')
    expect(await told('c')).toBe('user assistant')
  })
})

describe('tools', () => {
  const writer = (): NonNullable<WorkflowGraph['tools']> => [
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
        config: { path: `${folder}/work/{{args.name}}`, content_from: 'args.text' },
        artifacts: { saved: 'path' },
      },
      extra: {},
    },
    {
      name: 'count',
      description: 'Counts',
      parameters: { type: 'object', properties: { file: { type: 'string' } }, required: ['file'] },
      binding: {
        kind: 'shell_run',
        config: { command: '/usr/bin/wc', args: ['-c', '{{args.file}}'] },
        artifacts: { size: 'stdout' },
      },
      extra: {},
    },
  ]

  it('are steps of their own: files really change, results fill artifacts, checkpoints are taken', async () => {
    const graph = pack({
      states: { a: { tools: ['save', 'count'], artifacts: ['saved', 'size'] }, b: { terminal: true } },
      events: ['a Next b'],
      more: { tools: writer(), artifacts: [slot('saved'), slot('size')] },
    })
    const { runId, outcome } = await ran(graph, {
      when: [
        ask(
          'You are a',
          says(['save', { name: 'x.txt', text: 'hello' }], ['count', { file: `${folder}/work/x.txt` }]),
          goes('Next'),
        ),
        ask('You are b', 'ok'),
      ],
    })
    expect(outcome).toMatchObject({ status: 'completed' })
    expect(await readFile(path.join(folder, 'work/x.txt'), 'utf8')).toBe('hello')
    expect(await artifact(runId, 'size')).toContain('5 ')
    expect(await artifact(runId, 'saved')).toContain('x.txt')
    expect(await look(runId, ({ toolCalls }) => toolCalls)).toBe(2)
  })

  it('are refused, and told so, when unknown, with arguments that do not fit, or with an option for an argument', async () => {
    const graph = pack({
      states: { a: { tools: ['count'], max_rounds: 5 }, b: { terminal: true } },
      events: ['a Next b'],
      more: { tools: writer() },
    })
    const { runId } = await ran(graph, {
      answers: [
        says(['rm', {}]),
        says(['count', { file: 5 }]),
        says(['count', { file: '--files0-from=/etc/passwd' }]),
        goes('Next'),
        'ok',
      ],
    })
    const output = await look(runId, (run) => run.walk?.path[0]?.visit.state)
    const { talk } = (await readJson(house.store.ledger, (output as { output: string }).output)) as {
      talk: { role: string; text: string }[]
    }
    const results = talk.filter(({ role }) => role === 'tool').map(({ text }) => text)
    expect(results[0]).toContain('There is no such tool here; there are: count')
    expect(results[1]).toContain('/file must be string')
    expect(results[2]).toContain('which the command would read as an option')
  })

  it('end the run as budget-exhausted when the run may call no more of them', async () => {
    const graph = pack({
      states: { a: { tools: ['count'] }, b: { terminal: true } },
      events: ['a Next b', 'a Again a'],
      more: { tools: writer(), budget: { maxToolCalls: 2 } },
    })
    await writeFile(path.join(folder, 'work/y.txt'), 'y')
    const call = says(['count', { file: `${folder}/work/y.txt` }])
    const { runId, outcome } = await ran(graph, { answers: [call, goes('Again'), call, call] })
    expect(outcome.reason).toBe('budget-exhausted: max_tool_calls, models called tools 2 times in all')
    expect(await look(runId, ({ toolCalls }) => toolCalls)).toBe(2)
  })
})

it('a turn that outlasts the time that the run may work is given up first, and the run is budget-exhausted', async () => {
  const graph = pack({
    states: { a: {}, b: { terminal: true } },
    events: ['a Next b'],
    more: { budget: { maxActiveS: 2 } },
  })
  const { runId, outcome } = await ran(graph, { answers: [{ fault: 'slow' }] })
  expect(outcome.status).toBe('failed')
  expect(await look(runId, (run) => run.state)).toMatchObject({ exhausted: 'max_wall_time_sec' })
  expect(outcome.reason).toMatch(/^budget-exhausted: max_wall_time_sec, .*The turn was not over in time/)
  expect(await look(runId, ({ visits }) => visits.get('a')?.state)).toMatchObject({
    status: 'failed',
    error: { code: 'run_worked_up' },
  })
  // It ended by itself: nobody had to stop it.
  expect(await look(runId, ({ lastAt, start }) => lastAt - (start?.at ?? 0))).toBeLessThan(2_000)
})

describe('artifacts', () => {
  it('are appended to, one entry each time, and read as a list', async () => {
    const graph = pack({
      states: {
        a: { max: 2, onMax: 'b', artifacts: ['log'] },
        b: { template: 'Log {{artifacts.log}}', terminal: true },
      },
      events: ['a Again a'],
      more: { artifacts: [slot('log', 'application/json', 'append')] },
    })
    const entry = (n: number) =>
      says(
        ['workflow__set_artifact', { name: 'log', value: `{"n":${n}}` }],
        ['workflow__transition', { event: 'Again' }],
      )
    const { runId, outcome } = await ran(graph, {
      when: [ask('You are a', entry(1), entry(2)), ask('Log [{"n":1},{"n":2}]', 'ok')],
    })
    expect(outcome.status).toBe('completed')
    expect(await artifact(runId, 'log')).toEqual([{ n: 1 }, { n: 2 }])
  })
})

describe('events from outside', () => {
  const gate = () =>
    pack({
      states: {
        a: { artifacts: ['fix'] },
        gate: { kind: 'await_event', question: 'May the fix be applied?' },
        done: { terminal: true },
      },
      events: ['a Ready gate', 'gate Approved done', 'gate Rejected a'],
      more: { artifacts: [slot('fix')] },
    })
  const script: Script = {
    when: [{ ...ask('You are a', goes('Ready')), repeat: true }, ask('You are done', 'ok')],
  }

  it('are waited for by an external state, and a person gives one', async () => {
    const { runId, outcome } = await ran(gate(), script)
    expect(outcome).toMatchObject({ status: 'paused', lastNode: 'gate' })
    const [approval] = await look(runId, (run) => [...run.openApprovals].map((id) => run.approvals.get(id)))
    expect(approval).toMatchObject({ kind: 'event', sentence: 'May the fix be applied?', role: 'operator' })
    const decide = (event: string) =>
      house.book.execute(runId, {
        type: 'decide',
        approval: approval?.id as never,
        verdict: 'event',
        event,
        by: 'person:ada',
        action: approval?.action ?? '',
        comment: 'too risky',
      })
    await expect(decide('Maybe')).rejects.toThrow(
      '"Maybe" is no event of gate; expected Approved or Rejected',
    )
    await decide('Rejected')
    expect((await worked(runId)).status).toBe('paused')
    expect(await pathOf(runId)).toBe('a 1, gate 1, a 2, gate 2')
    const again = await look(runId, (run) => run.visits.get('a')?.state)
    const told = JSON.stringify(await readJson(house.store.ledger, (again as { output: string }).output))
    expect(told).toContain(JSON.stringify('ada gave the event Rejected and said: "too risky".').slice(1, -1))
  })

  it('may come to a hybrid state while its prompt is at work, or after it named none', async () => {
    const graph = pack({
      states: { a: { orchestration: 'hybrid', max_rounds: 1 }, b: { terminal: true } },
      events: ['a Next b'],
    })
    const { runId, outcome } = await ran(graph, { answers: ['I do not know.', 'ok'] })
    expect(outcome.status).toBe('paused')
    await house.book.execute(runId, {
      type: 'give_event',
      node: 'a',
      visit: 1,
      event: 'Next',
      by: 'person:ada',
      comment: '',
    })
    expect((await worked(runId)).status).toBe('completed')
    expect(await pathOf(runId)).toBe('a 1, b 1')
  })
})

describe('a rollback', () => {
  it('puts back what the tools of a turn changed, and artifacts and visits to what they were', async () => {
    await writeFile(path.join(folder, 'work/f.txt'), 'before')
    const graph = pack({
      states: {
        a: { artifacts: ['note'] },
        b: { tools: ['save'], artifacts: ['note'], max: 2 },
        c: { terminal: true },
      },
      events: ['a Next b', 'b Next c'],
      more: {
        artifacts: [slot('note')],
        tools: [
          {
            name: 'save',
            description: '',
            parameters: {},
            binding: {
              kind: 'write_file',
              config: { path: `${folder}/work/f.txt`, content: 'after' },
              artifacts: {},
            },
            extra: {},
          },
        ],
      },
    })
    const note = (value: string) =>
      ['workflow__set_artifact', { name: 'note', value }] as [string, JsonObject]
    const runId = await begin(graph, {
      when: [
        ask('You are a', says(note('one'), ['workflow__transition', { event: 'Next' }])),
        {
          ...ask(
            'You are b',
            says(['save', {}]),
            says(note('two'), ['workflow__transition', { event: 'Next' }]),
          ),
          repeat: true,
        },
        { ...ask('You are c', 'ok'), repeat: true },
      ],
    })
    expect((await worked(runId)).status).toBe('completed')
    expect(await artifact(runId, 'note')).toBe('two')
    const plan = await makePlan(house.ports, runId, { node: 'b', mayCoordinate: true })
    expect(plan.forbidden).toBeUndefined()
    await executePlan(house.ports, runId, plan, {
      by: 'person:ada',
      reason: 'wrong',
      rollback: 'rb_1' as never,
    })
    expect((await worked(runId)).waitsFor).toEqual(['an operator to end the run or go on'])
    expect(await readFile(path.join(folder, 'work/f.txt'), 'utf8')).toBe('before')
    await house.book.execute(runId, {
      type: 'choose',
      rollback: 'rb_1' as never,
      choice: 'go_on',
      by: 'person:ada',
    })
    expect(await artifact(runId, 'note')).toBe('one')
    expect((await worked(runId)).status).toBe('completed')
    expect(await pathOf(runId)).toBe('a 1, b 2, c 2')
    expect(await readFile(path.join(folder, 'work/f.txt'), 'utf8')).toBe('after')
  })
})

describe('a person', () => {
  const asking = (binding: object) =>
    pack({
      states: { a: { tools: ['t'] }, b: { terminal: true } },
      events: ['a Next b'],
      more: {
        budget: { maxActiveS: 3600 },
        tools: [
          {
            name: 't',
            description: '',
            parameters: { type: 'object', properties: { q: { type: 'string' } } },
            binding: { artifacts: {}, ...binding } as never,
            extra: {},
          },
        ],
      },
    })
  const openIn = async (runId: RunId) => {
    const { items } = await house.store.runs.list({ parent: runId }, { limit: 10 })
    const child = items[0]?.runId as RunId
    const [approval] = await look(child, (run) => [...run.openApprovals].map((id) => run.approvals.get(id)))
    return { child, approval }
  }

  it('answers a tool that is bound to people; the run above says that it waits, and does not count the time', async () => {
    const graph = asking({ kind: 'await_event', config: { question: 'Asked: {{args.q}}' } })
    const { runId, outcome } = await ran(graph, {
      answers: [says(['t', { q: 'Is it safe?' }]), goes('Next'), 'ok'],
    })
    expect(outcome.status).toBe('paused')
    expect(await look(runId, (run) => run.heldSince)).toBeDefined()
    const { child, approval } = await openIn(runId)
    expect(approval).toMatchObject({ kind: 'event', sentence: 'Asked: Is it safe?' })
    await house.book.execute(child, {
      type: 'decide',
      approval: approval?.id as never,
      verdict: 'event',
      event: 'Answered',
      by: 'person:ada',
      action: approval?.action ?? '',
      comment: 'Yes, it is.',
    })
    expect((await worked(runId)).status).toBe('completed')
    expect(await look(runId, (run) => run.heldSince)).toBeUndefined()
    const state = await look(runId, (run) => run.walk?.path[0]?.visit.state)
    const text = JSON.stringify(await readJson(house.store.ledger, (state as { output: string }).output))
    expect(text).toContain('Yes, it is.')
  })

  it('decides on a tool call that its author holds, before anything is done', async () => {
    const graph = asking({
      kind: 'write_file',
      config: { path: `${folder}/work/held.txt`, content: 'x' },
      approval: { role: 'operator', reason: 'It writes', onSilence: 'hold' },
    })
    const { runId, outcome } = await ran(graph, { answers: [says(['t', {}]), goes('Next'), 'ok'] })
    expect(outcome.status).toBe('paused')
    await expect(readFile(path.join(folder, 'work/held.txt'))).rejects.toThrow('ENOENT')
    const { child, approval } = await openIn(runId)
    await house.book.execute(child, {
      type: 'decide',
      approval: approval?.id as never,
      verdict: 'approve',
      by: 'person:ada',
      action: approval?.action ?? '',
      comment: '',
    })
    expect((await worked(runId)).status).toBe('completed')
    expect(await readFile(path.join(folder, 'work/held.txt'), 'utf8')).toBe('x')
  })
})

describe('a dry run', () => {
  it('asks the model and does none of what its tools would', async () => {
    const graph = pack({
      states: { a: { tools: ['save'] }, b: { terminal: true } },
      events: ['a Next b'],
      more: {
        tools: [
          {
            name: 'save',
            description: '',
            parameters: {},
            binding: {
              kind: 'write_file',
              config: { path: `${folder}/work/no.txt`, content: 'x' },
              artifacts: {},
            },
            extra: {},
          },
        ],
      },
    })
    const runId = await begin(graph, { answers: [says(['save', {}]), goes('Next'), 'ok'] }, {}, true)
    expect((await worked(runId)).status).toBe('completed')
    await expect(readFile(path.join(folder, 'work/no.txt'))).rejects.toThrow('ENOENT')
  })
})
