import { describe, expect, it } from 'vitest'
import { sayingOf, toolAnswer } from './agent-transcript'

const said = (text: string) => [{ role: 'assistant', text }]

describe('a step of an agent loop in words', () => {
  it('has the prose around the action apart from it', () => {
    const text = 'I will look first. {"action":"tool","tool":"read_file","args":{"path":"a"}}'
    const action = { tool: 'read_file', node: 'read_file', args: { path: 'a' } }
    expect(sayingOf({ talk: said(text), action })).toEqual({
      does: 'tool',
      thought: 'I will look first.',
      tool: 'read_file',
      args: { path: 'a' },
    })
  })

  it('ends with a result, or with what ran out', () => {
    const talk = said('{"action":"final","result":1}')
    expect(sayingOf({ talk, action: null, outcome: { result: 1 } })).toMatchObject({
      does: 'final',
      result: 1,
    })
    const outcome = { result: null, reason: 'step cap exhausted' }
    expect(sayingOf({ talk, action: null, outcome })).toMatchObject({
      does: 'exhausted',
      why: 'step cap exhausted',
    })
  })

  it('says why an answer was no use, in the words the model was told', () => {
    const talk = [...said('hm'), { role: 'user', text: '{"error":"Your reply was no valid action."}' }]
    expect(sayingOf({ talk, action: null })).toEqual({
      does: 'again',
      thought: 'hm',
      why: 'Your reply was no valid action.',
    })
  })

  it('is nothing for a value that is none, whatever stands in it', () => {
    for (const value of [null, 'x', 3, []]) expect(sayingOf(value)).toBeUndefined()
    expect(sayingOf({ talk: 'no list', action: null })).toMatchObject({ does: 'again' })
  })
})

describe('what a tool gave', () => {
  const done = { status: 'done', output: 'h', since: 0, tookMs: 1 } as const

  it('is a refusal when the tool’s step took its error edge', () => {
    expect(toolAnswer({ error: 'fs.write denied' }, { ...done, label: 'error' }).refused).toBe(
      'fs.write denied',
    )
  })

  it('is an answer even when a member is called error', () => {
    expect(toolAnswer({ error: 'in the page' }, done).refused).toBeUndefined()
  })
})
