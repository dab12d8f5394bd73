import { describe, expect, test } from 'vitest'
import { renderJson, renderTemplate } from './template'

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

  test('stays quick on hostile templates', () => {
    const started = performance.now()
    renderTemplate('{{'.repeat(100_000), {})
    renderTemplate(`{{${' '.repeat(200_000)}`, {})
    expect(performance.now() - started).toBeLessThan(2_000)
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
