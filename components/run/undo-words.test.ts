import { describe, expect, it } from 'vitest'
import type { Json } from '@/lib/base/json'
import { undoWords } from './undo-words'

describe('how a step is undone', () => {
  const action = {
    sentence: 'Moves traffic of edge-router-07 from transit-a to transit-b',
    undoSentence: 'Puts the running configuration of edge-router-07 back, byte for byte',
  }

  it('is said in the words of its approval, not by what it does', () => {
    expect(undoWords(action, 'remote')).toBe(
      'Puts the running configuration of edge-router-07 back, byte for byte.',
    )
  })

  it('is said by its kind where the action does not say it, or is not read yet', () => {
    const { sentence } = action
    const unsaidOnes: (Json | undefined)[] = [
      undefined,
      { sentence },
      { undoSentence: ' ' },
      { undoSentence: 7 },
    ]
    for (const unsaid of unsaidOnes) {
      expect(undoWords(unsaid, 'restore')).toBe('Puts back the state sealed before it.')
    }
    expect(undoWords(undefined, 'remote')).toBe('Its agent puts back the state sealed before it.')
    expect(undoWords(undefined, 'compensate')).toBe('Another action makes up for it.')
  })
})
