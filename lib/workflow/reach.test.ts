import { expect, it } from 'vitest'
import { checkGraph } from './checks'
import { graphOf } from './graph-fixture'

it('warns of targets and paths that the policy will refuse', () => {
  const nodes = {
    a: { kind: 'http_request', config: { method: 'GET', url: 'http://127.0.0.1:8080/x' } },
    b: { kind: 'http_request', config: { method: 'GET', url: 'https://api.example.com/x' } },
    c: { kind: 'write_file', config: { path: 'notes/../../x', content: 'x' } },
    d: { kind: 'write_file', config: { path: 'notes/../x', content: 'x' } },
  }
  const said = (targets: string[]) =>
    checkGraph(graphOf(nodes, [], { policy: { roots: [], privateTargets: targets } })).map(
      ({ severity, code, path }) => `${severity} ${code} ${path[1]}`,
    )
  expect(said([])).toEqual(['warning target_private 0', 'warning path_outside_roots 2'])
  expect(said(['127.0.0.1:8080'])).toEqual(['warning path_outside_roots 2'])
})
