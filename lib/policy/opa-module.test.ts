import { describe, expect, test } from 'vitest'
import { movedModule, OpaRefused, queryPath } from './opa-module'

function refusal(text: string): OpaRefused {
  try {
    movedModule(text, 'p_1')
  } catch (error) {
    if (error instanceof OpaRefused) return error
    throw error
  }
  throw new Error('Expected a refusal')
}

describe('movedModule', () => {
  test('moves the package and every reference to data, and nothing else', () => {
    const text = [
      'package agent # data.agent',
      'import data.agent.lib',
      'import rego.v1',
      'default allow = false',
      'allow if {',
      '\tinput.data.x == data.region',
      '\tdata["tenant"] == "data.tenant \\" data"',
      '\tinput.y == `data.raw`',
      '\tmetadata := [d | some d in data.list]',
      '\tnot data.agent.lib.blocked[input.tool]',
      '}',
    ].join('\n')
    expect(movedModule(text, 'p_1').split('\n')).toEqual([
      'package holdpoint.p_1.agent # data.agent',
      'import data.holdpoint.p_1.agent.lib',
      'import rego.v1',
      'default allow = false',
      'allow if {',
      '\tinput.data.x == data.holdpoint.p_1.region',
      '\tdata.holdpoint.p_1["tenant"] == "data.tenant \\" data"',
      '\tinput.y == `data.raw`',
      '\tmetadata := [d | some d in data.holdpoint.p_1.list]',
      '\tnot data.holdpoint.p_1.agent.lib.blocked[input.tool]',
      '}',
    ])
  })

  test.each([
    ['package a\nx := http.send({})', 2, 6, 'reaches out'],
    ['package a\n  x := opa.runtime()', 2, 8, 'reaches out'],
    ['package a\nx := net.lookup_ip_addr("a")', 2, 6, 'reaches out'],
    ['package a\npackage b', 1, 1, 'several packages'],
    ['allow := true', 1, 1, 'no package'],
    ['package a\nx := "open', 2, 6, 'not closed'],
    ['package a\nx := $"{data.y}"', 2, 6, 'template'],
    ['package\na', 1, 1, 'plain name'],
  ])('refuses %j with its place', (text, line, column, words) => {
    const error = refusal(text)
    expect(error.message).toContain(words)
    expect([error.line, error.column]).toEqual([line, column])
  })
})

describe('queryPath', () => {
  test('reads the address of one rule and takes no other query', () => {
    expect(queryPath('data.agent.allow')).toBe('agent/allow')
    for (const query of [
      'true',
      'data',
      'data.a; true',
      'data.a == true',
      'data.a/../b',
      'data["a"]',
      'input.x',
    ]) {
      expect(() => queryPath(query)).toThrow(OpaRefused)
    }
  })
})
