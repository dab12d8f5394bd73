import { describe, expect, it } from 'vitest'
import { readPackSource } from './source'

function read(text: string) {
  return readPackSource(text, 'pack.yaml')
}

function codesAt(text: string): string[] {
  return read(text).diagnostics.map(
    ({ code, line, column }) => `${code.replace('promptpack_', '')} ${line}:${column}`,
  )
}

function placeOf(text: string, path: (string | number)[], what: 'name' | 'value' = 'value'): string {
  const { line, column } = read(text).placed({ path, what, code: 'x', message: '', mend: '' })
  return `${line}:${column}`
}

describe('YAML', () => {
  it('is read as its 1.2 core schema says', () => {
    const { value } = read(
      'a: [1, -2.5, 0x1F, 1e3, true, null, ~]\nb: "x\\ty"\nc: yes\nd: 1.0.0\ne: 2026-01-31\nf: |\n  two\n  lines\ng:\n',
    )
    expect(value).toEqual({
      a: [1, -2.5, 31, 1000, true, null, null],
      b: 'x\ty',
      c: 'yes',
      d: '1.0.0',
      e: '2026-01-31',
      f: 'two\nlines\n',
      g: null,
    })
  })

  it('has texts for names, whatever they look like', () => {
    expect(read('true: a\n1.0: b\nnull: c\n"": d\non: e').value).toEqual({
      true: 'a',
      '1.0': 'b',
      null: 'c',
      '': 'd',
      on: 'e',
    })
    expect(codesAt('? [a]\n: b')).toEqual(['bad_name 1:3'])
    expect(codesAt(': b')).toEqual(['bad_name 1:1'])
    expect(codesAt('? &x a\n: b')).toEqual(['bad_name 1:6'])
    expect(codesAt('a: 1\nb:\n  c: 1\n  c: 2')).toEqual(['duplicate_name 4:3'])
  })

  it('keeps numbers exactly, or says that it cannot', () => {
    expect(read('a: [0.10, +1, .5, 9007199254740991]').value).toEqual({ a: [0.1, 1, 0.5, 9007199254740991] })
    expect(codesAt('a: 12345678901234567890\nb: .inf\nc: 0xFFFFFFFFFFFFFFFF\nd: .nan')).toEqual([
      'number_inexact 1:4',
      'number_inexact 2:4',
      'number_inexact 3:4',
      'number_inexact 4:4',
    ])
  })

  it('says where things stand: values and names, in blocks, flows and behind aliases', () => {
    const text = 'base: &b\n  x: 1\n\nlist:\n  - *b\n  - { y: [2, 3] }\nmine:\n  <<: *b\n  z: 4\n'
    expect(placeOf(text, ['list', 1, 'y', 1])).toBe('6:14')
    expect(placeOf(text, ['list', 1, 'y'], 'name')).toBe('6:7')
    expect(placeOf(text, ['list', 0, 'x'])).toBe('2:6')
    expect(placeOf(text, ['mine', 'x'])).toBe('2:6')
    expect(placeOf(text, ['mine', 'z'], 'name')).toBe('9:3')
    // What is not there is told at what is around it.
    expect(placeOf(text, ['mine', 'gone', 'deep'])).toBe('8:3')
    expect(placeOf(`\uFEFF${text}`, ['base', 'x'])).toBe('2:6')
    expect(placeOf(text.replaceAll('\n', '\r\n'), ['mine', 'z'])).toBe('9:6')
  })

  it('merges objects: what stands there itself comes first', () => {
    const text = 'a: &a { x: 1, y: 1 }\nb: &b { y: 2, z: 2 }\nc:\n  <<: [*a, *b]\n  x: 3\nd:\n  "<<": *a\n'
    expect(read(text).value).toMatchObject({
      c: { x: 3, y: 1, z: 2 },
      d: { '<<': { x: 1, y: 1 } },
    })
    expect(codesAt('a: &a [1]\nb:\n  <<: *a')).toEqual(['bad_merge 3:3'])
  })

  it('follows aliases to what their anchor was there', () => {
    expect(read('a: &x 1\nb: *x\nc: &x 2\nd: [*x, *x]').value).toEqual({ a: 1, b: 1, c: 2, d: [2, 2] })
    expect(codesAt('a: *gone')).toEqual(['bad_alias 1:4'])
    expect(codesAt('a: &x\n  b: *x')).toEqual(['bad_alias 2:6'])
    expect(codesAt('a: &x [*x]')).toEqual(['bad_alias 1:8'])
  })

  it('bounds what aliases unfold into, in values, characters and depth', () => {
    const laughs = Array.from({ length: 12 }, (_, at) =>
      at === 0 ? 'a0: &a0 [x, x, x, x, x, x, x, x, x]' : `a${at}: &a${at} [${`*a${at - 1}, `.repeat(9)}]`,
    ).join('\n')
    expect(codesAt(laughs)).toEqual([expect.stringMatching(/^too_many_values 6:/)])
    expect(codesAt(`a: &a "${'x'.repeat(100_000)}"\nb: [${'*a, '.repeat(200)}]`)).toEqual([
      expect.stringMatching(/^too_many_values 2:/),
    ])
    const merged = Array.from({ length: 30 }, (_, at) =>
      at === 0
        ? `a0: &a0 { ${Array.from({ length: 20_000 }, (_, key) => `k${key}: 1`).join(', ')} }`
        : `a${at}: &a${at}\n  <<: *a${at - 1}`,
    ).join('\n')
    expect(codesAt(merged)).toEqual([expect.stringMatching(/^too_many_values/)])
    // What is merged in weighs as much as where it came from.
    const hidden = Array.from({ length: 4 }, (_, at) => [
      `m${at}: &m${at} { a: ${at === 0 ? `[${'x, '.repeat(300)}]` : `*l${at - 1}`} }`,
      `n${at}: &n${at}\n  <<: *m${at}`,
      `l${at}: &l${at} [${`*n${at}, `.repeat(300)}]`,
    ])
    expect(codesAt(hidden.flat().join('\n'))).toEqual([expect.stringMatching(/^too_many_values/)])
    const deep = Array.from({ length: 70 }, (_, at) =>
      at === 0 ? 'a0: &a0 [x]' : `a${at}: &a${at} [*a${at - 1}]`,
    )
    expect(codesAt(deep.join('\n'))[0]).toMatch(/^too_deep/)
  })

  it('refuses what a pack cannot hold, each at its place', () => {
    expect(codesAt('a: !secret x\nb: !!binary aGk=')).toEqual(['tag 1:12', 'tag 2:13'])
    expect(codesAt('a: !!str 1')).toEqual([])
    expect(codesAt('a: 1\n---\nb: 2')).toEqual(['several_documents 2:1'])
    expect(codesAt('a: "\\ud800"')).toEqual(['half_character 1:4'])
    expect(codesAt('a: 1\n\tb: 2')[0]).toMatch(/^not_yaml/)
    expect(codesAt('a: [1, 2')[0]).toMatch(/^not_yaml/)
    expect(codesAt('- a')).toEqual(['no_object 1:1'])
    expect(codesAt('')).toEqual(['no_object 1:1'])
  })
})
