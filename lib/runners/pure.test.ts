import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '@/lib/base/json'
import { kindNames } from '@/lib/nodes/registry'
import { actionFor, described, effectsWith, failureOf, nodeOf, runnerFor } from './fixtures'
import { deeperThan, parseBounded } from './parse-bounded'
import { resolverOf, runnerOf } from './registry'
import { oneLine, previewText, textOf } from './words'

async function run(kind: string, config: JsonObject, values: Record<string, Json> = {}) {
  const action = await actionFor(nodeOf(kind, config), effectsWith(), values)
  expect(action.consequence).toBe('read_only')
  return (await runnerFor(kind).perform(action, effectsWith())).output
}

describe('template_render', () => {
  test('fills from its input', async () => {
    const values = { trigger: { user: { name: 'Ada' } } }
    expect(
      await run('template_render', { template: 'Hi {{user.name}}', input_from: 'trigger' }, values),
    ).toEqual({ rendered: 'Hi Ada' })
  })

  test('leaves every key visible without an input', async () => {
    expect(await run('template_render', { template: 'Hi {{a}}' })).toEqual({ rendered: 'Hi {{a}}' })
  })

  test('refuses to grow past 1 MiB', async () => {
    const values = { big: { a: 'x'.repeat(600_000) } }
    const failure = await failureOf(
      run('template_render', { template: '{{a}}{{a}}', input_from: 'big' }, values),
    )
    expect(failure).toMatchObject({ code: 'too_large', errorType: 'constraint_violation' })
  })
})

describe('parse_json', () => {
  test('reads a text', async () => {
    expect(await run('parse_json', { input_from: 'load.content' }, { 'load.content': '{"a":[1]}' })).toEqual({
      parsed: { a: [1] },
    })
  })

  test('says where the text stops being JSON, and not what it says', async () => {
    const failure = await failureOf(
      run('parse_json', { input_from: 't' }, { t: '{\n  "password": hunter2\n}' }),
    )
    expect(failure.code).toBe('not_json')
    expect(failure.message).toBe(
      'The text given to node n1 is not JSON (line 2, column 15); one JSON value was expected.',
    )
  })

  test('refuses what is nested too deep to fold over', async () => {
    const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    expect((await failureOf(run('parse_json', { input_from: 't' }, { t: deep(200_000) }))).code).toBe(
      'too_deep',
    )
    expect(() => parseBounded(deep(100), 'It')).not.toThrow()
    expect(() => parseBounded(deep(102), 'It')).toThrow(/deeper than 100 levels/)
    expect((await failureOf(run('parse_json', { input_from: 't' }, { t: '['.repeat(200_000) }))).code).toBe(
      'not_json',
    )
  })

  test('says when there is no value, or no text', async () => {
    const missing = await failureOf(run('parse_json', { input_from: 'load.content' }))
    expect(missing).toMatchObject({ code: 'value_missing' })
    expect(missing.message).toContain('Node n1 takes its text from "load.content", and nothing stands there')
    const wrong = await failureOf(run('parse_json', { input_from: 'load' }, { load: { a: 1 } }))
    expect(wrong.message).toContain('which holds an object; a text was expected')
  })
})

describe('json_select', () => {
  test('takes a part and says whether it was there', async () => {
    const values = { body: { user: { name: 'Ada', none: null } } }
    const select = (path: string) => run('json_select', { input_from: 'body', path }, values)
    expect(await select('user.name')).toEqual({ value: 'Ada', found: true })
    expect(await select('user.none')).toEqual({ value: null, found: true })
    expect(await select('user.nope')).toEqual({ value: null, found: false })
    expect(await select('constructor')).toEqual({ value: null, found: false })
  })
})

describe('kinds the engine handles itself', () => {
  test('say what they are', async () => {
    const pause = await described(
      nodeOf('pause_for_approval', { reason: 'Review the change' }),
      effectsWith(),
    )
    expect(pause.action).toMatchObject({
      consequence: 'read_only',
      sentence: 'Review the change',
      do: { reason: 'Review the change' },
    })
    const task = await described(nodeOf('task', { instructions: 'Drain it' }), effectsWith())
    expect(task.action).toMatchObject({
      consequence: 'reversible',
      sentence: 'Hand "Step one" to an agent',
      do: { instructions: 'Drain it', input: { before: { answer: 42 } } },
    })
    const final = await described(nodeOf('task', {}, { reversible: false }), effectsWith())
    expect(final.action).toMatchObject({ consequence: 'irreversible' })
  })
})

describe('the registry', () => {
  test('describes every kind and runs all but those of the engine', () => {
    for (const name of kindNames) {
      expect(resolverOf(name), name).toBeDefined()
      expect(runnerOf(name) === undefined, name).toBe(
        ['task', 'pause_for_approval', 'await_event'].includes(name),
      )
    }
    expect(runnerOf('constructor')).toBeUndefined()
    expect(resolverOf('__proto__')).toBeUndefined()
  })
})

describe('words', () => {
  test('become one harmless line', () => {
    expect(oneLine('a\r\n\tb \u202e\u200bc\u0007')).toBe('a b c')
    expect(oneLine('x'.repeat(400))).toHaveLength(300)
    expect(oneLine(`${'x'.repeat(298)}😀😀`)).toBe(`${'x'.repeat(298)}…`)
  })

  test('know text from other bytes', () => {
    expect(textOf(Buffer.from('é'))).toBe('é')
    expect(textOf(Buffer.from([0xc3]))).toBeUndefined()
    expect(textOf(Buffer.from('a\0b'))).toBeUndefined()
  })

  test('keep previews within 256 KiB', () => {
    expect(Buffer.byteLength(previewText('é'.repeat(300_000)))).toBeLessThanOrEqual(262_144)
    expect(previewText('short')).toBe('short')
  })

  test('count levels without running out of stack', () => {
    expect(deeperThan([[1]], 2)).toBe(false)
    expect(deeperThan([[[1]]], 2)).toBe(true)
  })
})
