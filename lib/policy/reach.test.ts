import { describe, expect, it } from 'vitest'
import type { GraphNode, Root } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { type KnownHere, reachProblems } from './reach'

interface Policy {
  roots?: Root[]
  privateTargets?: string[]
}

/** What is said of one node `n`: the code, and the last part of the place. */
function said(node: Partial<GraphNode>, { roots = [], privateTargets = [] }: Policy = {}, known?: KnownHere) {
  const graph = graphOf({ n: node }, [], { policy: { roots, privateTargets } })
  return reachProblems(graph, known).map(({ code, path }) => `${code} ${path.slice(2).join('.')}`)
}

const request = (url: string, more = {}): Partial<GraphNode> => ({
  kind: 'http_request',
  config: { method: 'POST', url, ...more },
})
const write = (path: string): Partial<GraphNode> => ({
  kind: 'write_file',
  config: { path, content: 'x' },
})
const read = (path: string): Partial<GraphNode> => ({ kind: 'read_file', config: { path } })
const outside = ['path_outside_roots config.path']

describe('targets', () => {
  it('that are private in any spelling, unless the policy names them', () => {
    for (const url of [
      'http://127.0.0.1:8080/x',
      'http://127.1/x',
      'http://2130706433/x',
      'http://localhost./x',
      'http://metrics.localhost/x',
      'http://169.254.169.254/latest',
      'http://100.64.0.1/',
      'http://0.0.0.0/',
      'http://[::1]:80/',
      'http://[fd00::1]/',
      'http://[::ffff:10.0.0.1]/',
    ]) {
      expect(said(request(url)), url).toEqual(['target_private config.url'])
      expect(said(request(url), { privateTargets: ['192.168.7.7:1'] }), url).toHaveLength(1)
    }
    expect(said(request('http://127.0.0.1:8080/x'), { privateTargets: ['127.0.0.1:8080'] })).toEqual([])
    expect(said(request('http://127.0.0.1:8081/x'), { privateTargets: ['127.0.0.1:8080'] })).toHaveLength(1)
    expect(said(request('http://10.1.2.3/x'), { privateTargets: ['10.0.0.0/8'] })).toEqual([])
    expect(said(request('https://api.example.com/x'))).toEqual([])
  })

  it('that no request goes to, whatever the policy says', () => {
    for (const url of ['ftp://example.com/x', 'https://ada:secret@example.com/', 'nothing', 'http://a b/']) {
      expect(said(request(url)), url).toEqual(['url_refused config.url'])
    }
  })

  it('of the request that takes it back, with what is filled in later', () => {
    const compensate = { method: 'DELETE', url: 'http://10.0.0.1/orders/{{response.body.id}}' }
    expect(said(request('https://api.example.com/orders', { compensate }))).toEqual([
      'target_private config.compensate.url',
    ])
  })

  it('that come from the run are left to the run', () => {
    expect(said({ kind: 'http_request', config: { method: 'GET', url_from: 'trigger.url' } })).toEqual([])
  })
})

describe('paths', () => {
  const notes: Root = { path: 'notes', access: 'write' }
  const configs: Root = { path: 'configs', access: 'read' }

  it('in no declared folder, as the text alone can tell', () => {
    expect(said(write('notes/a.md'), { roots: [notes] })).toEqual([])
    expect(said(write('notes/../notes/a.md'), { roots: [notes] })).toEqual([])
    expect(said(write('notes/../a.md'), { roots: [notes] })).toEqual(outside)
    expect(said(write('notes/../../x'), { roots: [notes] })).toEqual(outside)
    expect(said(write('notesx/a.md'), { roots: [notes] })).toEqual(outside)
    expect(said(read('configs/a'), { roots: [notes, configs] })).toEqual([])
    expect(said(write('configs/a'), { roots: [notes, configs] })).toEqual(outside)
    expect(said({ kind: 'create_dir', config: { path: 'configs/a' } }, { roots: [configs] })).toEqual(outside)
    expect(said(read('/etc/passwd'), { roots: [{ path: '/srv', access: 'read' }] })).toEqual(outside)
  })

  it('whose place only the installation knows stay open', () => {
    expect(said(read('/srv/notes/a'), { roots: [notes] })).toEqual([])
    expect(said(read('a'), { roots: [{ path: '/srv', access: 'read' }] })).toEqual([])
    const here = { installationRoots: ['/srv/files'] }
    expect(said(read('/srv/files/notes/a'), { roots: [notes] }, here)).toEqual([])
    expect(said(read('/srv/notes/a'), { roots: [notes] }, here)).toEqual(outside)
  })

  it('of a workflow that declares no folder, from the run too', () => {
    expect(said(write('notes/a.md'))).toEqual(outside)
    expect(said({ kind: 'read_file', config: { path_from: 'trigger.path' } })).toEqual([
      'path_outside_roots config.path_from',
    ])
    expect(said({ kind: 'read_file', config: { path_from: 'trigger.path' } }, { roots: [notes] })).toEqual([])
  })

  it('and declared folders that are none of the installation’s', () => {
    const graph = graphOf({}, [], {
      policy: { roots: [notes, { path: '/etc', access: 'read' }], privateTargets: [] },
    })
    expect(reachProblems(graph)).toEqual([])
    expect(reachProblems(graph, { installationRoots: ['/srv/files'] })).toEqual([
      {
        severity: 'warning',
        code: 'path_outside_roots',
        message: 'The declared folder "/etc" lies outside this installation’s folders.',
        mend: 'Declare one inside them, or have an administrator add it.',
        path: ['policy', 'roots', 1, 'path'],
      },
    ])
  })
})

describe('agents', () => {
  const node: Partial<GraphNode> = { kind: 'agent', config: { agent: 'spiffe://example.com/agent/router' } }

  it('that nobody registered here, where that is known', () => {
    expect(said(node)).toEqual([])
    expect(said(node, {}, { agents: new Set(['spiffe://example.com/agent/router']) })).toEqual([])
    expect(said(node, {}, { agents: new Set() })).toEqual(['agent_unknown config.agent'])
  })
})

it('says what was found and how to mend it, each once', () => {
  const graph = graphOf({ a: request('http://127.0.0.1:8080/x'), b: write('x') }, [], {
    policy: { roots: [{ path: 'notes', access: 'write' }], privateTargets: [] },
  })
  expect(reachProblems(graph).map(({ message, mend }) => [message, mend])).toEqual([
    [
      'Node "a" will be refused: "127.0.0.1" leads to a loopback address.',
      'Name "127.0.0.1:8080" in the workflow’s policy if the workflow shall reach it, under "private_targets" or as the host of a URL in policy.http.urls.',
    ],
    [
      'Node "b" will be refused: "x" leads outside the folders the workflow declares.',
      'Use a path inside them or declare its folder under "policy.roots".',
    ],
  ])
})
