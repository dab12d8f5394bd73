import { describe, expect, test } from 'vitest'
import { narrowed } from './node-kind'
import { kindNames, nodeKind, nodeKinds } from './registry'

/** What a config is refused for, as `path: words` lines. */
function faults(kind: string, config: unknown): string[] {
  const parsed = nodeKind(kind)?.config.safeParse(config)
  if (!parsed || parsed.success) return []
  return parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
}

describe('every kind', () => {
  test.each(kindNames)('%s has words for each of its fields, and no others', (name) => {
    const kind = nodeKinds[name]
    const shape = (kind.config as unknown as { shape: Record<string, unknown> }).shape
    expect(Object.keys(kind.fields)).toEqual(expect.arrayContaining(Object.keys(shape)))
    expect(Object.keys(kind.fields)).toHaveLength(Object.keys(shape).length)
    expect(kind.kind).toBe(name)
  })

  test.each(kindNames)('%s shows examples that its own schema takes', (name) => {
    const kind = nodeKinds[name]
    const shape = (
      kind.config as unknown as { shape: Record<string, { safeParse(v: unknown): { success: boolean } }> }
    ).shape
    for (const [field, words] of Object.entries(kind.fields)) {
      if (words.example !== undefined)
        expect(shape[field]?.safeParse(words.example).success, field).toBe(true)
    }
  })

  test.each(kindNames)('%s refuses an unknown field by name', (name) => {
    expect(faults(name, { pathh: 'x' }).join('\n')).toContain('There is no field "pathh" here')
  })
})

test('nodeKind knows no names of object prototypes', () => {
  for (const name of ['constructor', '__proto__', 'toString', 'nothing'])
    expect(nodeKind(name)).toBeUndefined()
})

describe('pairs', () => {
  test('give one of two, not both and not neither', () => {
    expect(faults('read_file', { path: 'a' })).toEqual([])
    expect(faults('read_file', { path_from: 'trigger.path' })).toEqual([])
    expect(faults('read_file', {})).toEqual([
      'path: Neither "path" nor "path_from" is given; give exactly one of them.',
    ])
    expect(faults('read_file', { path: 'a', path_from: 'b' })).toEqual([
      'path_from: Both "path" and "path_from" are given; give one of them.',
    ])
    expect(faults('write_file', {})).toHaveLength(2)
  })

  test('take an empty text and false as content', () => {
    expect(faults('write_file', { path: 'a', content: '' })).toEqual([])
    expect(faults('write_file', { path: 'a', content: false })).toEqual([])
    expect(faults('write_file', { path: 'a', content: null })).toEqual([])
  })
})

describe('http_request', () => {
  const config = { method: 'POST', url: 'https://api.example.com/orders' }

  test('is reversible only with a request that takes it back', () => {
    const kind = nodeKinds.http_request
    expect(kind.consequence({ ...config, method: 'GET' })).toBe('read_only')
    expect(kind.consequence({ ...config, method: 'POST' })).toBe('irreversible')
    expect(kind.consequence({ ...config, method: 'POST', compensate: { method: 'DELETE', url: 'x' } })).toBe(
      'reversible',
    )
  })

  test.each([
    [{ 'X-A': 'a\r\nX-B: b' }, 'line break'],
    [{ 'X-A': 'a\nb' }, 'line break'],
    [{ 'X-A\r\n': 'a' }, 'is not a header name'],
    [{ 'X A': 'a' }, 'is not a header name'],
    [{ '': 'a' }, 'is not a header name'],
    [{ Host: 'evil' }, 'is set by the request itself'],
    [{ 'Content-Length': '0' }, 'is set by the request itself'],
    [{ 'idempotency-key': 'x' }, 'is set by the request itself'],
    [{ 'X-A': 'snowman ☃' }, 'plain ASCII'],
    [{ A: '1', a: '2' }, 'given twice'],
  ])('refuses the headers %j', (headers, words) => {
    expect(faults('http_request', { ...config, headers }).join('\n')).toContain(words)
    expect(faults('http_request', { ...config, compensate: { ...config, headers } }).join('\n')).toContain(
      words,
    )
  })

  test('refuses unknown methods and a body where there can be none', () => {
    expect(faults('http_request', { ...config, method: 'get' }).join()).toContain(
      'A method was expected: GET',
    )
    expect(faults('http_request', { ...config, method: 'GET', body: 1 }).join()).toContain('has no "body"')
    expect(faults('http_request', { ...config, method: 'HEAD', compensate: config }).join()).toContain(
      'has no "compensate"',
    )
  })
})

test('an author can only narrow what a kind says', () => {
  const node = { reversible: false } as Parameters<typeof narrowed>[1]
  expect(narrowed('reversible', node)).toBe('irreversible')
  expect(narrowed('read_only', node)).toBe('read_only')
  expect(narrowed('irreversible', { ...node, reversible: true })).toBe('irreversible')
})

test('pause_for_approval takes each meaning of silence', () => {
  for (const silence of ['hold', 'deny', 'rollback', 'continue', { escalate_to: 'coordinator' }]) {
    expect(faults('pause_for_approval', { on_silence: silence })).toEqual([])
  }
  expect(faults('pause_for_approval', { on_silence: 'approve' }).join()).toContain('Expected hold, deny')
})

test('agent wants a SPIFFE id', () => {
  expect(faults('agent', { agent: 'spiffe://example.com/agent/router' })).toEqual([])
  expect(faults('agent', { agent: 'https://example.com' }).join()).toContain('A SPIFFE id was expected')
})
