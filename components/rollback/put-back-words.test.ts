import { describe, expect, it } from 'vitest'
import type { PathStand, PutBack } from '@/lib/rollback/terms'
import { putBackWords, standsWords } from './put-back-words'

const file = (hash: string, mode = '0644'): PathStand => ({ stands: 'file', sizeBytes: 1234, hash, mode })
const nothing: PathStand = { stands: 'nothing' }
const folder: PathStand = { stands: 'folder' }
const words = (now: PathStand, after: PathStand, more: Partial<PutBack & { of: 'path' }> = {}) =>
  putBackWords({ of: 'path', target: 'a.conf', now, after, ...more })

describe('what putting back would undo', () => {
  it('is told by the lines alone where both are text', () => {
    expect(words(file('a'), file('b'))).toBe('')
    expect(words(file('a', '0600'), file('b'))).toBe('Its mode would be 0644 again; it is 0600 now.')
  })

  it('is nothing where it is as it was again', () => {
    for (const stand of [file('a'), folder, nothing]) {
      expect(words(stand, stand)).toBe('It is as it was before the step again: nothing would change.')
    }
  })

  it('says that it was deleted, or would be', () => {
    expect(words(nothing, file('a'))).toBe('It was deleted since and would be written again.')
    expect(words(nothing, folder)).toBe('The folder was deleted since and would be made again.')
    expect(words(file('a'), nothing)).toBe(
      'It did not exist before the step, so it would be deleted, with what it holds now.',
    )
    expect(words(folder, nothing)).toBe(
      'It did not exist before the step, so the folder would be deleted, if nothing is in it.',
    )
  })

  it('promises nothing where another kind of thing stands there', () => {
    expect(words(folder, file('a'))).toMatch(/^A folder is there now.*hand it to a person\.$/)
    expect(words(file('a'), folder)).toMatch(/^A file is there now.*hand it to a person\.$/)
  })

  it('says why it is not shown by its lines', () => {
    expect(words(file('a'), file('b'), { withheld: 'binary' })).toBe(
      'It is not text, so only sizes and hashes are compared.',
    )
    expect(words(file('a'), nothing, { withheld: 'too_large' })).toBe(
      'It did not exist before the step, so it would be deleted, with what it holds now. It is larger than 256 KiB, so only sizes and hashes are compared.',
    )
    expect([file('a'), folder, nothing].map(standsWords)).toEqual([
      '1,234 bytes',
      'A folder',
      'Nothing is there',
    ])
  })

  it('of an agent is known to the agent alone, which may tell', () => {
    const agent = 'spiffe://holdpoint.local/agent/dns-steering'
    const told = (now: string, after: string) =>
      putBackWords({ of: 'agent', agent, preview: { title: 'weights.json', now, after } })
    expect(told('71', '80')).toBe(
      'As dns-steering tells it, which keeps the state from before the step itself.',
    )
    expect(told('80', '80')).toBe('By what dns-steering says, nothing would change.')
    expect(putBackWords({ of: 'agent', agent })).toBe(
      'Only dns-steering knows what that would undo: it keeps the state from before the step itself, and Holdpoint has a receipt for it, with nothing to compare.',
    )
  })
})
