import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '@/lib/base/json'
import type { ToolCall } from '@/lib/policy/tool-call'
import { actionFor, described, effectsWith, failureOf, nodeOf, runnerFor } from './fixtures'
import { EffectFailed } from './runner'

async function run(
  kind: string,
  config: JsonObject,
  values: Record<string, Json> = {},
  effects = effectsWith(),
) {
  const action = await actionFor(nodeOf(kind, config), effects, values)
  expect(action).toMatchObject({ kind, consequence: 'read_only' })
  return runnerFor(kind).perform(action, effects)
}

describe('condition', () => {
  test.each<[Json, string]>([
    [null, 'false'],
    [false, 'false'],
    ['', 'false'],
    [0, 'false'],
    [-0, 'false'],
    [[], 'false'],
    [{}, 'false'],
    [true, 'true'],
    ['false', 'true'],
    ['0', 'true'],
    [' ', 'true'],
    [0.1, 'true'],
    [-1, 'true'],
    [[0], 'true'],
    [{ a: null }, 'true'],
  ])('takes %j for %s', async (value, label) => {
    expect(await run('condition', { expr: 'a.b' }, { 'a.b': value })).toEqual({ output: { value }, label })
  })

  test('takes what is not there for false', async () => {
    expect(await run('condition', { expr: 'no.such' })).toEqual({ output: { value: null }, label: 'false' })
  })
})

describe('switch', () => {
  test.each<[Json, string]>([
    ['comment', 'comment'],
    [' As It Is ', ' As It Is '],
    ['', ''],
    [true, 'true'],
    [false, 'false'],
    [42, '42'],
    [1.5, '1.5'],
    [null, 'null'],
    [[1], 'array'],
    [{ a: 1 }, 'object'],
  ])('takes for %j the edge %j', async (value, label) => {
    expect(await run('switch', { expr: 'a.b' }, { 'a.b': value })).toEqual({ output: { value }, label })
  })

  test('takes "null" for what is not there, and no label without end', async () => {
    expect(await run('switch', { expr: 'no.such' })).toMatchObject({ label: 'null' })
    const long = await run('switch', { expr: 'a' }, { a: 'x'.repeat(100_000) })
    expect(long.label).toHaveLength(256)
    expect(long.output).toEqual({ value: 'x'.repeat(100_000) })
  })
})

describe('merge, terminate and fail', () => {
  test('only complete; what becomes of the run is the engine’s', async () => {
    expect(await run('merge', {})).toEqual({ output: null })
    expect(await run('terminate', {})).toEqual({ output: null })
    expect(await run('fail', {})).toEqual({ output: { reason: 'workflow failed' } })
    expect(await run('fail', { reason: 'nope' })).toEqual({ output: { reason: 'nope' } })
  })
})

describe('respond', () => {
  const body_template = '<Say>{{reply}}</Say>'

  test('says what the caller is answered', async () => {
    const config = { status: 201, content_type: 'text/xml', body_template, input_from: 'classify.parsed' }
    expect(await run('respond', config, { 'classify.parsed': { reply: 'Hello' } })).toEqual({
      output: { status: 201, content_type: 'text/xml', body: '<Say>Hello</Say>' },
    })
  })

  test('fills from the run’s input unless it says otherwise', async () => {
    expect(await run('respond', { body_template }, { trigger: { kind: 'http', reply: 'Hi' } })).toEqual({
      output: { status: 200, content_type: 'application/json', body: '<Say>Hi</Say>' },
    })
    expect((await failureOf(run('respond', { body_template, input_from: 'no' }))).code).toBe('value_missing')
  })
})

describe('diff_compute', () => {
  const config = { left_from: 'old', right_from: 'new' }

  test('compares two values of the run', async () => {
    expect(await run('diff_compute', config, { old: { a: [1] }, new: { a: [2] } })).toEqual({
      output: { added: {}, removed: {}, changed: { 'a[0]': { from: 1, to: 2 } }, unchanged: false },
    })
    expect(await run('diff_compute', config, { old: null, new: null })).toEqual({
      output: { added: {}, removed: {}, changed: {}, unchanged: true },
    })
  })

  test('needs both', async () => {
    const failure = await failureOf(run('diff_compute', config, { old: 1 }))
    expect(failure).toMatchObject({ code: 'value_missing' })
    expect(failure.message).toContain('"new"')
  })
})

describe('json_select', () => {
  test('takes all of a value for an empty path', async () => {
    const select = (path: string) => run('json_select', { input_from: 'a', path }, { a: { b: [7] } })
    expect(await select('')).toEqual({ output: { value: { b: [7] }, found: true } })
    expect(await select('b.0')).toEqual({ output: { value: 7, found: true } })
    expect(await select('b[0]')).toEqual({ output: { value: 7, found: true } })
    expect(await select('b.1')).toEqual({ output: { value: null, found: false } })
  })
})

describe('template_render', () => {
  test('that would fill 10 MB is a clear failure', async () => {
    const values = { t: { big: 'x'.repeat(500_000) } }
    const failure = await failureOf(
      run('template_render', { template: '{{big}}'.repeat(20), input_from: 't' }, values),
    )
    expect(failure).toMatchObject({ code: 'too_large', retriable: false })
    expect(failure.message).toContain('larger than 1 MiB')
  })
})

describe('read_env', () => {
  test('gives a variable, or says that it is not set', async () => {
    process.env.CONTROL_TEST = 'hello'
    expect(await run('read_env', { key: 'CONTROL_TEST' })).toEqual({
      output: { key: 'CONTROL_TEST', value: 'hello' },
    })
    process.env.CONTROL_TEST = ''
    expect(await run('read_env', { key: 'CONTROL_TEST' })).toEqual({
      output: { key: 'CONTROL_TEST', value: '' },
    })
    delete process.env.CONTROL_TEST
    expect(await run('read_env', { key: 'CONTROL_TEST' })).toEqual({
      output: { key: 'CONTROL_TEST', value: null, missing: true },
    })
    expect((await run('read_env', { key: 'toString' })).output).toMatchObject({ missing: true })
  })

  test('asks the policy, before and again when it reads', async () => {
    const asked: ToolCall[] = []
    await run('read_env', { key: 'HOME' }, {}, effectsWith({ allow: async (call) => void asked.push(call) }))
    expect(asked).toEqual(Array(2).fill({ tool: 'env.read', key: 'HOME' }))
    const allow = async () => {
      throw new EffectFailed('policy_denied', 'env.read denied on HOME: no rule names it')
    }
    const action = await actionFor(nodeOf('read_env', { key: 'HOME' }), effectsWith())
    expect((await failureOf(runnerFor('read_env').perform(action, effectsWith({ allow })))).code).toBe(
      'policy_denied',
    )
  })

  test('never gives away Holdpoint’s own settings', async () => {
    for (const key of ['HOLDPOINT_DATA', 'holdpoint_key']) {
      const failure = await failureOf(described(nodeOf('read_env', { key }), effectsWith()))
      expect(failure.code).toBe('policy_denied')
      expect(failure.message).toContain(`env.read denied on ${key}`)
    }
  })
})
