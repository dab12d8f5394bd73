/** Values that are meant to hold a step up, or to reach what is no value: bounded, and only what the value itself holds. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '@/lib/base/json'
import { parseJson } from '../http/body'
import { node, Scene, workflow } from './scene'

let scene: Scene
beforeEach(async () => {
  scene = await Scene.open()
})
afterEach(async () => {
  expect(await scene.close()).toEqual([])
})

const parsing = workflow('go', node('go', 'parse_json', 'input_from = "trigger.text"'))
const diffing = workflow(
  'go',
  node('go', 'diff_compute', 'left_from = "trigger.left"', 'right_from = "trigger.right"'),
)
const rendering = (template: string) =>
  workflow(
    'go',
    node('go', 'template_render', `template = ${JSON.stringify(template)}`, 'input_from = "trigger"'),
  )
const selecting = (path: string) =>
  workflow('go', node('go', 'json_select', 'input_from = "trigger"', `path = ${JSON.stringify(path)}`))

describe('a value', () => {
  it.each<[string, string]>([
    ['nested 200,000 deep', '['.repeat(200_000)],
    ['nested and closed', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['objects in objects', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`],
    ['no JSON with a secret in it', '{"password": hunter2}'],
    ['a number beyond all numbers', `[1e999, ${'9'.repeat(100_000)}]`],
    ['half a character', '["\\ud800", {"\\udfff": "\\ud83d"}]'],
  ])('that is %s is parsed or refused at once, and never repeated', async (_name, text) => {
    const outcome = await scene.served(parsing, { input: { text } })
    expect(outcome.status).toMatch(/completed|errored/)
    expect(outcome.reason).not.toContain('hunter2')
    expect(outcome.reason.length).toBeLessThan(400)
  })

  it('that nothing can be said of in a canonical text is no input', async () => {
    for (const text of ['\ud800', { '\udfff': 1 }, [Number.POSITIVE_INFINITY]]) {
      await expect(scene.served(parsing, { input: { text } as Json })).rejects.toMatchObject({
        code: 'input_invalid',
        message: expect.stringContaining('half a character'),
      })
    }
  })

  it.each(['["\\ud800"]', '{"\\udfff":1}', '[1e999]'])('%s is no body of a request', (text) => {
    expect(() => parseJson(Buffer.from(text))).toThrow(/half a character or a number too large/)
  })

  it('with members that objects have by themselves has only its own', async () => {
    const text = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'
    const outcome = await scene.served(parsing, { input: { text } })
    expect(outcome.status).toBe('completed')
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
    for (const path of [
      '__proto__',
      'constructor.name',
      'toString',
      'a.length',
      'a.__proto__.constructor',
      'a.0.constructor',
    ]) {
      const { finalValue } = await scene.served(selecting(path), { input: { a: ['x'] } })
      expect({ path, finalValue }).toEqual({ path, finalValue: expect.objectContaining({ found: false }) })
    }
    const { finalValue } = await scene.served(
      rendering('{{__proto__}} {{constructor.name}} {{a.length}} {{toString}}'),
      {
        input: { a: 'x' },
      },
    )
    expect(finalValue).toEqual({ rendered: '{{__proto__}} {{constructor.name}} {{a.length}} {{toString}}' })
  })

  it.each<[string, Json, Json]>([
    [
      'two long lists',
      Array.from({ length: 40_000 }, (_, at) => at),
      Array.from({ length: 40_000 }, (_, at) => -at),
    ],
    [
      'two long objects',
      Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`a${at}`, at])),
      Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`b${at}`, at])),
    ],
    ['two long texts', 'a'.repeat(400_000), 'b'.repeat(400_000)],
  ])('compared with another, %s, is done in bounded time', async (_name, left, right) => {
    const outcome = await scene.served(diffing, { input: { left, right } })
    expect(outcome.status).toMatch(/completed|errored/)
  })

  it.each<[string, string]>([
    ['only opening braces', '{{'.repeat(30_000)],
    ['only spaces in a marker', `{{${' '.repeat(60_000)}`],
    ['a path of many parts', `{{${Array(30_000).fill('a').join('.')}}}`],
    ['markers in markers', `${'{{a'.repeat(15_000)}${'}}'.repeat(15_000)}`],
  ])('in a template of %s is looked up in bounded time', async (_name, template) => {
    const outcome = await scene
      .served(rendering(template), { input: { a: 1 } })
      .catch((error: Error) => error)
    expect(outcome instanceof Error ? outcome.message.length : 1).toBeLessThan(1_000)
  })
})
