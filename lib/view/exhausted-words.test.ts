import { describe, expect, it } from 'vitest'
import type { ExhaustedLimit } from '@/lib/engine/facts'
import type { Exhaustion, Run } from '@/lib/engine/run'
import { exhaustedWords } from './exhausted-words'

function ended(
  exhausted: ExhaustedLimit | undefined,
  more: { walk?: Exhaustion; toolCalls?: number } = {},
): Run {
  return {
    state: { status: 'ended', exhausted },
    graph: {
      graph: { budget: { maxTotalVisits: 20, maxToolCalls: 200, maxActiveS: 1_800 } },
      nodes: new Map([['implement', { id: 'implement', label: '' }]]),
    },
    toolCalls: more.toolCalls ?? 0,
    walk: {
      entered: new Map([
        ['implement', 3],
        ['test', 1],
      ]),
      exhausted: more.walk,
    },
  } as unknown as Run
}

describe('the limit a run came to', () => {
  it('is told with both numbers', () => {
    const visits = { limit: 'max_visits', node: 'implement', bound: 3 } as const
    expect(exhaustedWords(ended('max_visits', { walk: visits }))).toBe(
      'implement was entered 3 times of at most 3',
    )
    expect(exhaustedWords(ended('max_total_visits'))).toBe('states were entered 4 times of at most 20')
    expect(exhaustedWords(ended('max_tool_calls', { toolCalls: 200 }))).toBe('200 tool calls of at most 200')
    expect(exhaustedWords(ended('max_tool_calls', { toolCalls: 1 }))).toBe('1 tool call of at most 200')
  })

  it('says of time that waiting for people is not in it', () => {
    expect(exhaustedWords(ended('max_wall_time_sec'))).toBe(
      '1,800 s was used up; time spent waiting for people does not count',
    )
  })

  it('is none for a run that came to none', () => {
    expect(exhaustedWords(ended(undefined))).toBeUndefined()
  })
})
