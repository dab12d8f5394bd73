import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { allowlistAnswer, nameMatches, pathMatches, rootedAllowlist } from './allowlist'
import { allowing } from './fixtures'
import { absolutePath } from './roots'
import type { ToolCall } from './tool-call'

const read = (path: string): ToolCall => ({ tool: 'fs.read', path })
const get = (url: string, method = 'GET'): ToolCall => ({ tool: 'http.request', method, url })

describe('the three forms', () => {
  test.each([
    ['*', '/anything/at/all', true],
    ['/workspace/**', '/workspace', true],
    ['/workspace/**', '/workspace/a/b/c', true],
    ['/workspace/*', '/workspace/a/b/c', true],
    ['/workspace/**', '/workspaceother', false],
    ['/workspace/**', '/work', false],
    ['/**', '/etc/passwd', true],
    ['/etc/passwd', '/etc/passwd', true],
    ['/etc/passwd', '/etc/passwd2', false],
    ['', '/etc/passwd', false],
  ])('%s on %s: %s', (pattern, path, matches) => {
    expect(pathMatches(pattern, path)).toBe(matches)
  })

  test.each([
    '/data/*.txt',
    '/data/.*',
    '/da?a/x',
    '/data/[ab]/**',
    '/dat*',
    '^/data/.*$',
    '/*/x',
    '/data/{a,b}',
  ])('takes %s for the characters it is written with', (pattern) => {
    for (const path of ['/data/x.txt', '/data/a/x', '/data/a', '/data', '/x/x']) {
      expect(pathMatches(pattern, path)).toBe(false)
    }
    if (!pattern.endsWith('/**')) expect(pathMatches(pattern, pattern)).toBe(true)
  })

  test('let names of variables begin with a text', () => {
    expect(nameMatches('AGENTD_*', 'AGENTD_MODE')).toBe(true)
    expect(nameMatches('AGENTD_*', 'AGENTD_')).toBe(true)
    expect(nameMatches('AGENTD_*', 'AGENTD')).toBe(false)
    expect(nameMatches('AGENTD_*', 'XAGENTD_MODE')).toBe(false)
    expect(nameMatches('*', 'HOME')).toBe(true)
    expect(nameMatches('HOME', 'HOME2')).toBe(false)
    expect(nameMatches('HO*ME', 'HOxME')).toBe(false)
  })

  const segment = fc.stringMatching(/^[a-z.*?~ -]{1,6}$/)

  test('never name a path that does not begin with the prefix', () => {
    fc.assert(
      fc.property(
        fc.array(segment, { maxLength: 4 }),
        fc.array(segment, { maxLength: 6 }),
        (inside, path) => {
          const folder = `/${['srv', ...inside].join('/')}`
          const text = absolutePath(path.join('/'), '/')
          expect(pathMatches(`${folder}/**`, text)).toBe(text === folder || text.startsWith(`${folder}/`))
        },
      ),
    )
  })

  test('allow no spelling of a path with dots, doubled slashes or a NUL, whatever it leads to', () => {
    const crooked = fc
      .array(fc.constantFrom('..', '.', '', 'a', '%2e%2e', 'etc', '\0', ' '), { minLength: 1, maxLength: 8 })
      .map((parts) => `/srv/${parts.join('/')}`)
    fc.assert(
      fc.property(crooked, (path) => {
        const answer = allowlistAnswer(allowing({ read: ['/srv/**'] }), read(path))
        const isPlain = absolutePath(path, '/') === path && !path.includes('\0')
        expect(answer.allowed).toBe(isPlain && (path === '/srv' || path.startsWith('/srv/')))
      }),
    )
  })
})

describe('allowlistAnswer', () => {
  test('denies everything when nothing is named, and names tool and target', () => {
    const calls: ToolCall[] = [
      read('/a'),
      { tool: 'fs.write', path: '/a' },
      { tool: 'fs.delete', path: '/a' },
      { tool: 'fs.list', path: '/a' },
      { tool: 'env.read', key: 'HOME' },
      get('https://example.com/'),
      { tool: 'shell.run', command: '/bin/true', args: [] },
      { tool: 'mcp.tool', name: 'post' },
      { tool: 'mcp.resource', uri: 'docs://a' },
    ]
    for (const call of calls) {
      const answer = allowlistAnswer(allowing({}), call)
      expect(answer).toMatchObject({ allowed: false, code: 'policy_denied' })
      expect(answer.allowed === false && answer.sentence).toMatch(
        new RegExp(`^${call.tool.replace('.', '\\.')} denied on .+: policy\\.\\S+ names nothing$`),
      )
    }
  })

  test('says which rule allowed and which list has none', () => {
    const allow = allowing({ read: ['/docs/**', '/srv/**'], write: ['/tmp/agent-out/**'] })
    expect(allowlistAnswer(allow, read('/srv/x'))).toEqual({ allowed: true, rule: 'policy.fs.read: /srv/**' })
    expect(allowlistAnswer(allow, { tool: 'fs.write', path: '/srv/x' })).toMatchObject({
      sentence: 'fs.write denied on /srv/x: no rule of policy.fs.write names it',
    })
  })

  test('lists where it may read, until listing has rules of its own', () => {
    const list: ToolCall = { tool: 'fs.list', path: '/docs/a' }
    expect(allowlistAnswer(allowing({ read: ['/docs/**'] }), list)).toMatchObject({ allowed: true })
    expect(allowlistAnswer(allowing({ read: ['/docs/**'], list: ['/public/**'] }), list)).toMatchObject({
      allowed: false,
      rule: 'policy.fs.list',
    })
  })

  test('wants the URL and the method named, the method in any case', () => {
    const allow = allowing({ urls: ['http://api.internal.example/*'], methods: ['get', 'POST'] })
    expect(allowlistAnswer(allow, get('http://api.internal.example/x', 'post'))).toEqual({
      allowed: true,
      rule: 'policy.http.urls: http://api.internal.example/* (POST)',
    })
    expect(allowlistAnswer(allow, get('http://api.internal.example/x', 'DELETE'))).toMatchObject({
      rule: 'policy.http.methods',
      sentence:
        'http.request denied on DELETE http://api.internal.example/x: policy.http.methods allows get, POST only',
    })
    expect(allowlistAnswer(allowing({ urls: ['*'] }), get('https://example.com/', 'PURGE'))).toMatchObject({
      allowed: true,
    })
  })

  test('never repeats a query or credentials in a denial', () => {
    for (const url of [
      'https://ada:hunter2@example.com/?k=s3cret',
      'https://example.com/?token=s3cret#s3cret',
    ]) {
      expect(JSON.stringify(allowlistAnswer(allowing({}), get(url)))).not.toMatch(/hunter2|s3cret/)
    }
  })

  test('names commands, tools and resources', () => {
    const allow = allowing({
      commands: ['/usr/bin/git', '/opt/tools/*'],
      tools: ['comment_on_page'],
      resources: ['docs://pages/*'],
    })
    const run = (command: string): ToolCall => ({ tool: 'shell.run', command, args: ['--x'] })
    expect(allowlistAnswer(allow, run('/usr/bin/git'))).toMatchObject({ allowed: true })
    expect(allowlistAnswer(allow, run('/usr/bin/git2'))).toMatchObject({ allowed: false })
    expect(allowlistAnswer(allow, run('git'))).toMatchObject({ allowed: false })
    expect(allowlistAnswer(allow, run('/opt/tools/../../bin/sh'))).toMatchObject({ allowed: false })
    expect(allowlistAnswer(allow, { tool: 'mcp.tool', name: 'comment_on_page' })).toMatchObject({
      allowed: true,
    })
    expect(allowlistAnswer(allow, { tool: 'mcp.tool', name: 'delete_page' })).toMatchObject({
      allowed: false,
    })
    for (const [uri, allowed] of [
      ['docs://pages/42', true],
      ['docs://pages', true],
      ['docs://pages2/42', false],
      ['docs://pages/../secrets/1', false],
      ['docs://pages/%2e%2e/secrets/1', false],
    ] as const) {
      expect(allowlistAnswer(allow, { tool: 'mcp.resource', uri }).allowed).toBe(allowed)
    }
  })
})

describe('rootedAllowlist', () => {
  test('starts relative folders in the first folder, and lets none climb out of it', () => {
    const rooted = rootedAllowlist(
      allowing({ read: ['docs/**', './a.txt', '/abs/*', '*', '../**', 'a/../../b'] }),
      '/srv/files',
    )
    expect(rooted.fs.read).toEqual([
      '/srv/files/docs/**',
      '/srv/files/a.txt',
      '/abs/*',
      '*',
      '../**',
      'a/../../b',
    ])
  })
})
