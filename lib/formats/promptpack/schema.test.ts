import { expect, it } from 'vitest'
import type { Diagnostic } from '@/lib/base/diagnostic'
import type { JsonObject } from '@/lib/base/json'
import { last, packOf, to } from './pack-fixture'
import { judgeForm } from './refusals'
import { readPackSource } from './source'

/** Which versions accept a pack, as `1.4.0`, `1.5.0`, `both` or `none`, and what was told of it. */
function judged(pack: JsonObject): { by: string; told: Diagnostic[] } {
  const { tell, diagnostics } = readPackSource(JSON.stringify(pack))
  const isAccepted = judgeForm(pack, tell)
  const words = diagnostics.find(({ code }) => code === 'promptpack_accepted_by')?.message ?? ''
  const by = words.includes('accept this') ? 'both' : (/^PromptPack (\S+) accepts/.exec(words)?.[1] ?? 'none')
  expect(isAccepted).toBe(by !== 'none')
  return { by, told: diagnostics.filter(({ code }) => code !== 'promptpack_accepted_by') }
}

const prompt = (members: JsonObject) => packOf({ a: last }, { prompts: { p: members } })
const variable = (members: JsonObject) =>
  prompt({ variables: [{ name: 'x', type: 'string', required: true, ...members }] })
const state = (members: JsonObject) => packOf({ a: { ...to('b'), ...members }, b: last })
const top = (pack: JsonObject) => packOf({ a: last }, { pack })
const evaluation = (members: JsonObject) =>
  top({ evals: [{ id: 'e', type: 't', trigger: 'every_turn', ...members }] })
const steps = (...list: JsonObject[]) => top({ compositions: { c: { version: 1, steps: list } } })
const step = (members: JsonObject): JsonObject => ({ id: 's', kind: 'tool', tool: 't', ...members })
const media = (members: JsonObject) => prompt({ media: { enabled: true, ...members } })
const without = (pack: JsonObject, name: string) => {
  const { [name]: _, ...rest } = pack
  return rest
}
// biome-ignore lint/suspicious/noThenProperty: the published name of the member.
const branch = (predicate: JsonObject) => steps(step({ kind: 'branch', predicate, then: 's' }))

it.each<[string, JsonObject, string]>([
  ['the smallest pack', packOf(undefined), 'both'],
  ['a workflow', state({}), 'both'],
  ['no prompts', { ...packOf(undefined), prompts: {} }, 'none'],
  ['an unknown member', top({ extra: 1 }), 'none'],
  ['no template engine', without(packOf(undefined), 'template_engine'), 'none'],
  ['an id in capitals', top({ id: 'Pack' }), 'none'],
  ['a name of 200 characters that are two units each', top({ name: '🚀'.repeat(200) }), 'both'],
  ['a name of 201 of them', top({ name: '🚀'.repeat(201) }), 'none'],
  ['a version of two parts', top({ version: '1.0' }), 'none'],
  ['a version with all its parts', top({ version: 'v1.0.0-rc.1+build.5' }), 'both'],
  // Where the two differ.
  ['compositions', steps(step({})), '1.5.0'],
  ['a state that is a composition', state({ orchestration: 'composition', composition: 'c' }), '1.5.0'],
  ['a composition without its name', state({ orchestration: 'composition' }), '1.4.0'],
  ['a state without a prompt', withoutInState(state({}), 'prompt_task'), 'none'],
  [
    'a composition without a prompt',
    withoutInState(state({ orchestration: 'composition', composition: 'c' }), 'prompt_task'),
    '1.5.0',
  ],
  ['a state without events', packOf({ a: {} }), '1.4.0'],
  ['a last state that is not', packOf({ a: { terminal: false } }), '1.4.0'],
  ['an orchestration of another runtime', state({ orchestration: 'swarm' }), '1.4.0'],
  ['a persistence of another runtime', state({ persistence: 'forever' }), '1.4.0'],
  ['an agent at a state', top({ agents: { entry: 'p', members: { p: { state: 'a' } } } }), '1.5.0'],
  ['a variable of another type', variable({ type: 'date' }), '1.4.0'],
  ['a variable that is bound', variable({ binding: { kind: 'user', auto_populate: true } }), '1.4.0'],
  ['a validator that does not say it is on', prompt({ validators: [{ type: 'v' }] }), '1.4.0'],
  [
    'a validator with a message',
    prompt({ validators: [{ type: 'v', enabled: true, message: 'm' }] }),
    '1.4.0',
  ],
  ['a validator that is on', prompt({ validators: [{ type: 'v', enabled: true }] }), 'both'],
  ['an eval at another time', evaluation({ trigger: 'nightly' }), '1.4.0'],
  ['an eval with a threshold', evaluation({ threshold: { operator: '>', value: 1 } }), '1.4.0'],
  ['a budget that is none', packOf({ a: last }, { engine: { budget: { max_total_visits: 'x' } } }), '1.5.0'],
  ['a budget of another member', packOf({ a: last }, { engine: { budget: { max_cost: 1 } } }), '1.5.0'],
  ['an engine of any members', packOf({ a: last }, { engine: { anything: [1] } }), 'both'],
  ['an image of another format', media({ image: { allowed_formats: ['tiff'] } }), '1.4.0'],
  // What each has alone, in one pack.
  [
    'compositions and a bound variable',
    { ...variable({ binding: {} }), compositions: { c: { version: 1, steps: [step({})] } } },
    'none',
  ],
  // Numbers, lists and forms.
  ['visits of none', state({ max_visits: 0 }), 'none'],
  ['visits of one and a half', state({ max_visits: 1.5 }), 'none'],
  ['visits beyond counting', state({ max_visits: 1e300 }), 'both'],
  ['no limit to top_k', prompt({ parameters: { top_k: null } }), 'both'],
  ['a temperature of three', prompt({ parameters: { temperature: 3 } }), 'none'],
  ['an artifact of another mode', state({ artifacts: { x: { type: 'a/b', mode: 'merge' } } }), 'none'],
  ['a tool without parameters', packOf({ a: last }, { tools: { t: {} } }), 'both'],
  [
    'a tool whose parameters are a list',
    packOf({ a: last }, { tools: { t: { parameters: { type: 'array' } } } }),
    'none',
  ],
  [
    'skills in three forms',
    top({ skills: ['s', { path: 'p' }, { name: 'n', description: 'd', instructions: 'i' }] }),
    'both',
  ],
  ['a skill of mixed form', top({ skills: [{ path: 'p', name: 'n' }] }), 'none'],
  ['media of its own kind', media({ model3d: { validation_params: {}, faces: 9 } }), 'both'],
  ['media that could be of any kind', media({ model3d: { max_size_mb: 5 } }), 'none'],
  ['steps of every kind', steps(step({}), step({ kind: 'prompt', prompt_task: 'p', input: 'x' })), '1.5.0'],
  ['a step of another kind', steps(step({ kind: 'vendor.judge' })), 'none'],
  [
    'an agent step that says when it ends',
    steps(step({ kind: 'agent', prompt_task: 'p', termination: { max_steps: 2 } })),
    '1.5.0',
  ],
  [
    'an agent step that never ends',
    steps(step({ kind: 'agent', prompt_task: 'p', termination: {} })),
    'none',
  ],
  [
    'a branch by predicates inside each other',
    branch({ not: { any_of: [{ path: 'p', exists: true }] } }),
    '1.5.0',
  ],
  ['a predicate of two forms', branch({ path: 'p', exists: true, op: 'in', value: 1 }), 'none'],
  [
    'a branch in parallel alone',
    steps(step({ kind: 'parallel', branches: [step({})], reduce: { strategy: 'append', into: 'x' } })),
    'none',
  ],
])('%s: accepted by %3$s', (_, pack, versions) => {
  expect(judged(pack).by).toBe(versions)
})

/** The workflow's first state without a member. */
function withoutInState(pack: JsonObject, name: string): JsonObject {
  const workflow = pack.workflow as JsonObject & { states: Record<string, JsonObject> }
  const states = { ...workflow.states, a: without(workflow.states.a ?? {}, name) }
  return { ...pack, workflow: { ...workflow, states } }
}

it('warns of tool names with spaces and of nothing else in them', () => {
  const named = (name: string) => packOf({ a: last }, { tools: { run_tests: { name } } })
  expect(judged(named('Run Tests'))).toMatchObject({
    by: 'both',
    told: [
      {
        severity: 'warning',
        code: 'promptpack_tool_name_spaces',
        message:
          'The tool "run_tests" calls itself "Run Tests"; the published schemas want a name without spaces.',
        path: '/tools/run_tests/name',
      },
    ],
  })
  expect(judged(named('run-tests')).by).toBe('none')
  expect(judged(named('1 test')).by).toBe('none')
})

it('says what refuses a pack: what all versions do, or else the one that comes nearest', () => {
  expect(judged(prompt({ verson: '1' })).told).toMatchObject([
    {
      code: 'promptpack_unknown_member',
      message: expect.stringMatching(/^Prompt "p" has no member "verson"; it takes id, name, /),
      mend: 'Did you mean "version"?',
      path: '/prompts/p/verson',
    },
  ])
  expect(judged(without(packOf(undefined), 'prompts')).told).toMatchObject([
    { code: 'promptpack_missing', message: 'The pack has no "prompts".', path: '' },
  ])
  const [mixed] = judged({
    ...variable({ binding: {} }),
    compositions: { c: { version: 1, steps: [step({})] } },
  }).told
  expect(mixed?.message).toMatch(/^PromptPack 1\.\d\.0, which comes nearest, refuses this: /)
})

it('says why one version alone does not accept a pack', () => {
  const { tell, diagnostics } = readPackSource('{}')
  judgeForm(packOf({ a: {} }), tell)
  expect(diagnostics).toMatchObject([
    {
      severity: 'info',
      message: 'PromptPack 1.4.0 accepts this pack; 1.5.0 does not: State "a" has no "on_event".',
    },
  ])
})
