import { expect, it } from 'vitest'
import { shortValue } from './short-value'
import { contentOf } from './value-content'

const short = (text: string, mediaType = 'application/json') => {
  const bytes = new TextEncoder().encode(text)
  return shortValue(contentOf(mediaType, bytes), bytes.length)
}

it('reads a test report as its score', () => {
  expect(short('{"pass":2,"total":5,"cases":[]}')).toBe('2/5 pass')
  expect(short('{"passed":2,"failed":3}')).toBe('2/5 pass')
})
it('names the first members of an object, and counts a list', () => {
  expect(short('{"action":"restart","target":"edge-7","steps":[1,2],"why":"x"}')).toBe(
    'action restart, target edge-7, steps [2], 1 more',
  )
  expect(short('[1,2,3]')).toBe('3 items')
  expect(short('{}')).toBe('empty object')
  expect(short('"abc123"')).toBe('abc123')
})
it('takes a text for its first line, however long it is', () => {
  expect(short('\n\n# Plan\nmore', 'text/markdown')).toBe('# Plan')
  expect(short('x'.repeat(1e6), 'text/plain')).toHaveLength(80)
  expect(short('', 'text/plain')).toBe('empty')
})
it('leaves markup and braces as they are', () => {
  expect(short('<img src=x onerror=alert(1)>', 'text/html')).toBe('<img src=x onerror=alert(1)>')
  expect(short('{{artifacts.plan}}', 'text/plain')).toBe('{{artifacts.plan}}')
})
it('says how many bytes it is that are no text', () => {
  const bytes = new Uint8Array([0xff, 0xfe, 0x00, 0x80])
  expect(shortValue(contentOf('image/png', bytes), 4)).toBe('4 B of bytes')
})
