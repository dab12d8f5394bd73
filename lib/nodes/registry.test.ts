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
    expect(faults('http_request', { ...config, method: 'FETCH' }).join()).toContain(
      'A method was expected: GET',
    )
    expect(faults('http_request', { ...config, method: 'get' })).toEqual([])
    expect(faults('http_request', { ...config, method: 'GET', body: 1 }).join()).toContain('has no "body"')
    expect(faults('http_request', { ...config, method: 'get', body: 1 }).join()).toContain('A GET request')
    expect(faults('http_request', { ...config, method: 'GET', body_from: 'a' })).toEqual([])
    expect(faults('http_request', { ...config, method: 'HEAD', compensate: config }).join()).toContain(
      'has no "compensate"',
    )
  })
})

describe('headers', () => {
  const headed = (value: string) =>
    faults('http_request', { method: 'GET', url: 'https://a.example', headers: { 'X-A': value } }).join()

  test('take secrets by name and nothing of the run', () => {
    expect(headed('Bearer {{secret:SALESFORCE_TOKEN}}')).toBe('')
    expect(headed('{{ secret:A.b-c }}, {{secret:B}}')).toBe('')
    for (const value of [
      '{{trigger.token}}',
      '{{secret:}}',
      '{{secret:a b}}',
      '{{secret:A',
      '{{Secret:A}}',
    ]) {
      expect(headed(value), value).toContain('no {{secret:NAME}}')
    }
  })
})

describe('shell_run', () => {
  test('takes a command by its place and arguments one by one', () => {
    expect(faults('shell_run', { command: '/usr/bin/git', args: ['log', '-1'] })).toEqual([])
    expect(faults('shell_run', { command: '/usr/bin/git', args_from: 'trigger.args' })).toEqual([])
    expect(faults('shell_run', { command: 'git' }).join()).toContain('An absolute path was expected')
    expect(faults('shell_run', { command: './git' }).join()).toContain('commands are not looked up')
    expect(faults('shell_run', { command: '/bin/sh', args: 'a b' }).join()).toContain('A list of texts')
    expect(faults('shell_run', { command: '/bin/sh', args: ['a', 1] }).join()).toContain('must be a text')
    expect(faults('shell_run', { command: '/bin/sh', args: ['a\0'] }).join()).toContain('no NUL character')
    expect(faults('shell_run', { command: '/bin/sh', args: ['a'.repeat(131_072)] }).join()).toContain(
      '128 KiB',
    )
    expect(
      faults('shell_run', { command: '/bin/sh', args: Array(9).fill('a'.repeat(131_071)) }).join(),
    ).toContain('1 MiB')
    expect(faults('shell_run', { command: '/bin/sh', timeout_secs: 86_401 }).join()).toContain('one day')
    expect(faults('shell_run', {}).join()).toContain('Neither "command" nor "command_from"')
  })

  test('cannot be undone unless its author declares how', () => {
    const kind = nodeKinds.shell_run
    expect(kind.consequence({ command: '/bin/sh' })).toBe('irreversible')
    expect(kind.consequence({ command: '/bin/sh', compensate: { command: '/bin/sh' } })).toBe('reversible')
  })
})

describe('labels', () => {
  test('say which branches a step can take', () => {
    expect(nodeKinds.condition.labels({ expr: 'a' })).toEqual(['true', 'false'])
    expect(nodeKinds.switch.labels({ expr: 'a' })).toBe('any')
    expect(nodeKinds.shell_run.labels({})).toEqual(['error'])
    expect(nodeKinds.merge.labels({})).toEqual([])
  })
})

test('respond keeps to what can be answered', () => {
  const body_template = 'ok'
  expect(faults('respond', { body_template, status: 599, content_type: 'text/xml; charset=utf-8' })).toEqual(
    [],
  )
  for (const status of [99, 600, 200.5]) {
    expect(faults('respond', { body_template, status }).join()).toContain('from 100 to 599')
  }
  for (const content_type of ['text', 'text/xml\r\nX: y', '', 'a b/c']) {
    expect(faults('respond', { body_template, content_type }).join()).toContain('A content type was expected')
  }
})

test('members for other kinds’ use are marked and need no example', () => {
  const internal = kindNames.flatMap((name) =>
    Object.entries<{ internal?: true }>(nodeKinds[name].fields)
      .filter(([, words]) => words.internal)
      .map(([field]) => `${name}.${field}`),
  )
  expect(internal).toEqual(
    expect.arrayContaining(['read_env.key_from', 'http_request.method_from', 'shell_run.command_from']),
  )
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
