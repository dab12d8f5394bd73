import { describe, expect, it } from 'vitest'
import type { Json } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { graphOf } from './graph-fixture'
import { checkInput, formFields, inputSchemaFault, readInput } from './input-form'

const asking = graphOf({ a: {} }, [], {
  input: {
    type: 'object',
    required: ['title', 'count', 'user'],
    additionalProperties: false,
    properties: {
      title: { type: 'string', minLength: 3, title: 'The title', description: 'What it is called.' },
      count: { type: 'integer', minimum: 1, default: 1 },
      tone: { enum: ['warm', 'dry'] },
      sure: { type: 'boolean' },
      tags: { type: 'array', items: { type: 'string' } },
      user: { properties: { name: { type: 'string' } }, required: ['name'] },
    },
  },
})

function refusal(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    expect(error).toBeInstanceOf(Problem)
    return `${(error as Problem).code}: ${(error as Problem).message}`
  }
  throw new Error('Nothing was refused')
}

describe('a form made from a schema', () => {
  it('has a field for each leaf', () => {
    expect(formFields(asking).map((f) => `${f.name} ${f.type}${f.required ? ' required' : ''}`)).toEqual([
      'title text required',
      'count integer required',
      'tone choice',
      'sure boolean',
      'tags json',
      'user.name text required',
    ])
    expect(formFields(asking)[0]).toMatchObject({ label: 'The title', help: 'What it is called.' })
    expect(formFields(asking)[1]?.default).toBe(1)
    expect(formFields(asking)[2]?.enum).toEqual(['warm', 'dry'])
  })

  it('reads what was entered', () => {
    const values = { title: 'Note', count: '2', tone: 'dry', sure: 'on', tags: '["x"]', 'user.name': 'Ada' }
    expect(readInput(asking, formFields(asking), values)).toEqual({
      title: 'Note',
      count: 2,
      tone: 'dry',
      sure: true,
      tags: ['x'],
      user: { name: 'Ada' },
    })
  })

  it('names every place that does not fit', () => {
    const values = { title: 'No', count: 'many', tone: 'loud', tags: '[1]' }
    expect(refusal(() => readInput(asking, formFields(asking), values))).toBe(
      'input_invalid: The input does not fit the workflow: "count" must be a number; "tone" is not one of "warm", "dry"; "user/name" is missing; "title" must have at least 3 characters; "tags/0" is a number; text was expected.',
    )
  })
})

it('checks an input of the API against the schema', () => {
  expect(refusal(() => checkInput(asking, { title: 'Note', count: 0, user: {}, extra: 1 } as Json))).toBe(
    'input_invalid: The input does not fit the workflow: "count" must be at least 1; "user/name" is missing; "extra" is not asked for.',
  )
  expect(refusal(() => checkInput(asking, 'text'))).toContain('the input is text; an object was expected')
  checkInput(graphOf({ a: {} }), { anything: true })
})

it('says in the author’s words what form a value should have', () => {
  const graph = graphOf({ a: {} }, [], {
    input: {
      type: 'object',
      properties: {
        told: { type: 'string', pattern: '^x', description: 'A name that begins with x.' },
        bare: { type: 'string', pattern: '^x' },
        mail: { type: 'string', format: 'email' },
        either: { type: ['string', 'null'] },
      },
    },
  })
  expect(refusal(() => checkInput(graph, { told: 'a', bare: 'a', mail: 'a', either: 1 }))).toBe(
    'input_invalid: The input does not fit the workflow: "told" is not as asked for: A name that begins with x; "bare" does not have the form the workflow asks for (pattern /^x/); "mail" is not an e-mail address; "either" is a number; text or null was expected.',
  )
})

it('infers a form from what the nodes read of trigger', () => {
  const graph = graphOf({
    load: { config: { path_from: 'trigger.file.path', input_from: 'trigger' } },
    say: { config: { template: 'Hi {{name}} on {{trigger.day}}', input_from: 'trigger.user' } },
    list: { config: { input_from: 'trigger.items.0.id', body_from: 'load.content' } },
    bad: { config: { input_from: 'trigger.__proto__.x' } },
  })
  const fields = formFields(graph)
  expect(fields.map((f) => `${f.name} ${f.type}`)).toEqual([
    'file.path text',
    'user.name text',
    'day text',
    'items json',
  ])
  expect(
    readInput(graph, fields, { 'file.path': 'x', day: 'Monday', 'user.name': 'Ada', items: '[]' }),
  ).toEqual({
    file: { path: 'x' },
    day: 'Monday',
    user: { name: 'Ada' },
    items: [],
  })
  expect(refusal(() => readInput(graph, fields, {}))).toContain(
    '"file/path" is missing; "user/name" is missing',
  )
})

it('says why a schema cannot be used', () => {
  expect(inputSchemaFault({ type: 'array' })).toContain('must be "object"')
  expect(inputSchemaFault({ type: 'object', if: {} })).toContain('not supported')
  expect(inputSchemaFault({ type: 'object', properties: { a: { pattern: '(', type: 'string' } } })).toContain(
    'regular',
  )
  expect(inputSchemaFault({ type: 'object' })).toBeUndefined()
  expect(inputSchemaFault({ $ref: '#' })).toBe('it refers to itself without end')
})

it('survives a schema whose definition is itself', () => {
  const input = {
    type: 'object',
    $defs: { n: { $ref: '#/$defs/n' } },
    properties: { a: { $ref: '#/$defs/n' } },
  }
  const graph = graphOf({ a: {} }, [], { input })
  expect(formFields(graph).map((field) => field.type)).toEqual(['json'])
  expect(refusal(() => checkInput(graph, { a: 'x' }))).toContain('the schema refers to itself')
})
