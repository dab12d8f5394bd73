import { describe, expect, it } from 'vitest'
import type { Approval } from '@/lib/engine/run'
import { consequenceSentence } from './consequence-words'

const planned = { kind: 'agent', consequence: 'reversible' } as const
const asked = (action: string, kind: Approval['kind'] = 'approval') =>
  ({ kind, action, consequence: 'read_only' }) as Approval

describe('what a step does to the world', () => {
  it('is what its card says', () => {
    const visit = { action: 'sha-256:a', approvals: [asked('sha-256:a')] }
    expect(consequenceSentence(planned, visit)).toBe('It only reads.')
  })

  it('is no longer what was asked about another act, or about something beside it', () => {
    const changes = 'It changes something, and can be taken back.'
    for (const one of [asked('sha-256:b'), asked('sha-256:a', 'circuit')])
      expect(consequenceSentence(planned, { action: 'sha-256:a', approvals: [one] })).toBe(changes)
  })

  it('is not claimed of an agent before it said', () => {
    const notAsked = { action: undefined, approvals: [] }
    expect(consequenceSentence(planned, notAsked)).toContain('Its agent says what it changes')
    expect(consequenceSentence({ kind: 'write_file', consequence: 'reversible' }, notAsked)).toContain(
      'can be taken back',
    )
  })
})
