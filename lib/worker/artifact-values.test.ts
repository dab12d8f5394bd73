import { describe, expect, it } from 'vitest'
import type { StoredValue } from '@/lib/engine/ports'
import { artifactValue, maxArtifactBytes, storedArtifact } from './artifact-values'

const slot = (mediaType: string) => ({ name: 'a', mediaType, mode: 'replace', extra: {} }) as const
const text = ({ bytes }: StoredValue) => Buffer.from(bytes).toString()

describe('an artifact as it is kept', () => {
  it('is a text as it is written, of whatever type of text, also where it looks like base64', () => {
    for (const type of [
      'text/plain',
      'text/markdown',
      'application/yaml',
      'application/xml',
      'image/svg+xml',
    ]) {
      expect(text(storedArtifact(slot(type), 'name')), type).toBe('name')
    }
  })

  it('is the bytes that base64 stands for, where no text is of its type', async () => {
    const stored = storedArtifact(slot('image/png'), Buffer.from([137, 80, 78, 71]).toString('base64'))
    expect([...stored.bytes]).toEqual([137, 80, 78, 71])
    const ledger = { value: async () => stored }
    const write = { value: stored.hash, mediaType: 'image/png', mode: 'replace' } as const
    expect(await artifactValue(ledger, [write])).toBe('(image/png, 4 bytes)')
  })

  it('is canonical JSON, and is read back as it was', async () => {
    const stored = storedArtifact(slot('application/json'), { b: 1, a: [2] })
    expect(text(stored)).toBe('{"a":[2],"b":1}')
    const write = { value: stored.hash, mediaType: 'application/json', mode: 'append' } as const
    expect(await artifactValue({ value: async () => stored }, [write, write])).toEqual([
      { a: [2], b: 1 },
      { a: [2], b: 1 },
    ])
  })

  it('is refused past its bound, with a word on what to write instead', () => {
    const long = 'a'.repeat(maxArtifactBytes + 1)
    expect(() => storedArtifact(slot('text/plain'), long)).toThrow('Write where it lies instead.')
  })
})
