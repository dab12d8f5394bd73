import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { markerFaults, renderJson, renderTemplate } from './template'

describe('renderTemplate', () => {
  test('fills keys and leaves unknown ones visible', () => {
    expect(
      renderTemplate('Hi {{user.name}}, {{ user.age }}, {{ user.x }}.', { user: { name: 'Ada', age: 36 } }),
    ).toEqual({
      text: 'Hi Ada, 36, {{user.x}}.',
      missing: ['user.x'],
    })
  })

  test('writes what is no text as canonical JSON', () => {
    expect(renderTemplate('{{a}} {{b}} {{c}}', { a: { z: 1, y: [true] }, b: null, c: false }).text).toBe(
      '{"y":[true],"z":1} null false',
    )
  })

  test('never expands what a value brings along', () => {
    expect(renderTemplate('{{a}}{{b}}', { a: '{{secret}}', b: '{{a}}', secret: 's' }).text).toBe(
      '{{secret}}{{a}}',
    )
    expect(renderTemplate('{{a}}b}}', { a: '{{', b: 'x' }).text).toBe('{{b}}')
  })

  test('takes no special meaning from dollar signs', () => {
    expect(renderTemplate('[{{a}}]', { a: '$& $1 $$' }).text).toBe('[$& $1 $$]')
  })

  test('stops at 1 MiB', () => {
    const half = 'é'.repeat(262_144)
    expect(renderTemplate('{{a}}{{a}}', { a: half }).text).toHaveLength(524_288)
    expect(() => renderTemplate('{{a}}{{a}}!', { a: half })).toThrow(/larger than 1 MiB/)
  })

  // Whoever looked from every brace to the end would be at it for hours.
  test('gets to the end of hostile templates', () => {
    const open = '{{'.repeat(500_000)
    expect(renderTemplate(open, {}).text).toBe(open)
    const blank = `{{${' '.repeat(1_000_000)}`
    expect(renderTemplate(blank, {}).text).toBe(blank)
  })
})

describe('markers', () => {
  test('reach from two braces to the next two, whatever is between', () => {
    expect(renderTemplate('{"a":{{x}}}', { x: 1 }).text).toBe('{"a":1}')
    expect(renderTemplate('{{{x}}}', { x: 1 }).text).toBe('{{{x}}}')
    expect(renderTemplate('{{ {{x}} {{x}}', { x: 1 }).text).toBe('{{{{x}} 1')
    expect(renderTemplate('{{x}} {{x', { x: 1 }).text).toBe('1 {{x')
    expect(renderTemplate('{{a.0.b}} {{a[0].b}} {{a.1}}', { a: [{ b: 'é' }] }).text).toBe('é é {{a.1}}')
  })

  test('with nothing in them stand for the whole value', () => {
    expect(renderTemplate('{{}} {{ }} {{.}}', { a: [1] }).text).toBe('{"a":[1]} {"a":[1]} {"a":[1]}')
    expect(renderTemplate('{{}} {{a}}', null).text).toBe('null {{a}}')
  })

  test('are all there is: any other text stays as it is, and each filling stands where its marker stood', () => {
    const text = fc.string({ unit: 'binary' }).map((one) => one.replaceAll('{{', '').replace(/[{}]$/, ''))
    const piece = fc.record({
      before: text,
      value: fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.constant(undefined)),
    })
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const template = pieces.map(({ before }, at) => `${before}{{k${at}}}`).join('')
        const root = Object.fromEntries(
          pieces.flatMap(({ value }, at) => (value === undefined ? [] : [[`k${at}`, value]])),
        )
        const expected = pieces.map(({ before, value }, at) => `${before}${value ?? `{{k${at}}}`}`).join('')
        expect(renderTemplate(template, root).text).toBe(expected)
      }),
    )
  })

  test('never make more than 1 MiB, and stop long before a value is repeated a thousand times', () => {
    const root = { a: 'x'.repeat(100_000) }
    expect(() => renderTemplate('{{a}}'.repeat(50_000), root)).toThrow(/larger than 1 MiB/)
    expect(renderTemplate(`{{${'a'.repeat(1_000_000)}}}`, root).text).toHaveLength(1_000_004)
  })
})

describe('renderJson', () => {
  test('keeps the type of a text that is one marker', () => {
    expect(renderJson({ id: '{{r.id}}', say: 'no {{r.id}}', list: ['{{r.x}}'] }, { r: { id: 7 } })).toEqual({
      value: { id: 7, say: 'no 7', list: ['{{r.x}}'] },
      missing: ['r.x'],
    })
  })
})

describe('markerFaults', () => {
  test('tells markers that are not closed, empty, or have an empty part, each with its line', () => {
    const told = (template: string) => markerFaults(template).map(({ line, words }) => `${line} ${words}`)
    expect(told('hi {{ user.name')).toEqual(['1 has a marker that begins with "{{" and is not closed'])
    expect(told('{{ a\n{{b}} {{c}}\n{{')).toEqual([
      '1 has a marker that begins with "{{" and is not closed',
      '3 has a marker that begins with "{{" and is not closed',
    ])
    expect(told('x\n{{}}')).toEqual(['2 has an empty marker "{{}}", which stands for the whole input'])
    expect(told('{{user..name}}')).toEqual([
      '1 has the marker "{{user..name}}", whose path has an empty part',
    ])
  })

  test('leaves markers alone that may be meant', () => {
    expect(markerFaults('{{a}} {{ a.b[0].c }} {"x": {"y": 1}} {{"no": "path.."}}')).toEqual([])
  })

  test('is bounded', () => {
    expect(markerFaults('{{}}'.repeat(60_000))).toHaveLength(10)
    expect(markerFaults('{{ '.repeat(80_000))).toHaveLength(1)
  })
})
